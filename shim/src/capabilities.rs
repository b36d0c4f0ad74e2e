//! The capabilities that a session does without: capabilities(7).

use rustix::io::{self, Errno};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities,
};

/// Those by which a process makes or sees through what the gate rests on: mounts (over `/proc` too),
/// other processes' memory, the kernel's own code and memory, devices, time, limits.
pub const DROPPED: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::BPF)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::CHECKPOINT_RESTORE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::SYS_TIME)
    .union(CapabilitySet::SYS_RESOURCE);

/// Drops them from every set of the calling thread, for good.
///
/// With no_new_privs an exec permits nothing that was not permitted before (`cap_bprm_creds_from_file`
/// of the kernel), so a bounding set that may not be changed, for want of `CAP_SETPCAP`, gives nothing
/// back.
///
/// # Errors
/// What capset(2) or prctl(2) answer.
pub(crate) fn drop_for_good() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    if sets.effective.contains(CapabilitySet::SETPCAP) {
        for capability in DROPPED.iter() {
            match remove_capability_from_bounding_set(capability) {
                // One that this kernel does not know.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    sets.effective.remove(DROPPED);
    sets.permitted.remove(DROPPED);
    sets.inheritable.remove(DROPPED);
    set_capabilities(None, sets)
}

/// Drops every capability of the calling thread; those of the bounding set are of no use to it then.
///
/// # Errors
/// What capset(2) answers.
pub fn drop_all() -> io::Result<()> {
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )
}
