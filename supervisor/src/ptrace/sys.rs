//! The ptrace requests that nix narrows: a detach with any signal, real-time ones included.

#![expect(unsafe_code, reason = "ptrace(2) is one call with untyped arguments")]

use nix::errno::Errno;

use crate::tracee::Tid;

/// `ptrace(PTRACE_DETACH, tid, 0, signal)`: lets a stopped tracee go, with `signal` if not 0.
///
/// `ESRCH` if it is not a tracee of this thread that stands still, or died meanwhile.
pub(super) fn detach(tid: Tid, signal: i32) -> Result<(), Errno> {
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: DETACH ignores the address and takes the signal by value; it touches no memory of
    // this process.
    let result = unsafe {
        libc::ptrace(
            libc::PTRACE_DETACH,
            tid.as_raw(),
            none,
            libc::c_long::from(signal),
        )
    };
    Errno::result(result).map(drop)
}
