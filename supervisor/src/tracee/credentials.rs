//! Whose rights a path is walked with.
//!
//! A gate with more rights than the task must not lend them to it: what it could look up and the
//! task could not would show in the answer. So with more rights every open of a path that the
//! task named runs under the task's file-system ids and groups.

use nix::unistd::{Gid, Uid, setfsgid, setfsuid};
use rustix::io::Errno;
use rustix::thread::set_thread_groups;

/// A task's ids and effective capabilities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// Real, effective, saved user.
    pub(crate) uids: [u32; 3],
    /// Real, effective, saved group.
    pub(crate) gids: [u32; 3],
    /// The user that file access is checked for.
    pub(crate) fsuid: u32,
    /// The group that file access is checked for.
    pub(crate) fsgid: u32,
    /// Supplementary groups.
    pub(crate) groups: Vec<u32>,
    /// Effective capabilities: bit N is capability N.
    pub(crate) effective: u64,
}

/// What decides a look-up besides ids: `CAP_DAC_OVERRIDE`, and without it `CAP_DAC_READ_SEARCH`, of
/// linux/capability.h.
fn reach(capabilities: u64) -> u64 {
    const OVERRIDE: u64 = 1 << 1;
    const READ_SEARCH: u64 = 1 << 2;
    match capabilities & OVERRIDE {
        0 => capabilities & READ_SEARCH,
        all => all,
    }
}

impl Credentials {
    /// Whether ptrace(2) is open to it whosever the process is: `CAP_SYS_PTRACE` of
    /// linux/capability.h.
    pub(crate) fn may_trace_others(&self) -> bool {
        const SYS_PTRACE: u64 = 1 << 19;
        self.effective & SYS_PTRACE != 0
    }

    /// Whether a look-up by [`as_task`] with `own` ends as one of the task's does: it lends the
    /// task's ids, but not capabilities that only one of the two has.
    pub(crate) fn look_up_like(&self, own: &Self) -> bool {
        let lends = own.uids[1] == 0;
        let lent = if lends && self.fsuid != 0 {
            0
        } else {
            own.effective
        };
        (lends || self.has_ids_of(own)) && reach(self.effective) == reach(lent)
    }

    fn has_ids_of(&self, other: &Self) -> bool {
        self.fsuid == other.fsuid && self.fsgid == other.fsgid && self.groups == other.groups
    }
}

/// Runs `act` with the file-system ids and groups of `task`, where `own` has more rights.
///
/// setfsuid(2), setfsgid(2) and setgroups(2) of the calling thread alone; leaving user 0 also
/// takes the file capabilities away until it is back.
///
/// # Errors
/// If the ids cannot be taken on; `act` has not run then.
///
/// # Panics
/// If the thread's own ids cannot be taken back: it must not go on as someone else.
pub(crate) fn as_task<T>(
    task: &Credentials,
    own: &Credentials,
    act: impl FnOnce() -> T,
) -> Result<T, Errno> {
    if own.uids[1] != 0 || task.has_ids_of(own) {
        return Ok(act());
    }
    let borrowed = Borrowed { own };
    take_on(task)?;
    let result = act();
    drop(borrowed);
    Ok(result)
}

struct Borrowed<'a> {
    own: &'a Credentials,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if take_on(self.own).is_err() {
            std::process::abort();
        }
    }
}

/// Groups first on the way down and last on the way up would need two orders; user 0's
/// `CAP_SETGID` survives a change of fsuid, so one serves both.
fn take_on(to: &Credentials) -> Result<(), Errno> {
    let groups: Vec<_> = to
        .groups
        .iter()
        .map(|gid| rustix::fs::Gid::from_raw(*gid))
        .collect();
    set_thread_groups(&groups)?;
    let (uid, gid) = (Uid::from_raw(to.fsuid), Gid::from_raw(to.fsgid));
    setfsgid(gid);
    setfsuid(uid);
    // Both answer the *former* id and never fail visibly: ask again.
    if setfsgid(gid) == gid && setfsuid(uid) == uid {
        Ok(())
    } else {
        Err(Errno::PERM)
    }
}
