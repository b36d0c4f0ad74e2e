//! Installing the filter: the one place where this crate calls the kernel by hand.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use seccompiler::sock_filter;

/// Installs `program` on the calling thread and returns its listener, close-on-exec.
///
/// `seccomp(SECCOMP_SET_MODE_FILTER)` with `NEW_LISTENER` and `WAIT_KILLABLE_RECV` (Linux 5.19):
/// a received notification is then undone by fatal signals alone. See seccomp(2).
///
/// # Errors
/// `EBUSY`: the tree already has a listener. `EINVAL`: the kernel lacks a flag. `EACCES`: neither
/// no_new_privs nor CAP_SYS_ADMIN. `ENOSYS`: no seccomp.
#[expect(
    unsafe_code,
    reason = "seccomp(2) has no safe wrapper that returns a listener"
)]
pub(crate) fn install(program: &[sock_filter]) -> io::Result<OwnedFd> {
    let too_long = |_| io::Error::from_raw_os_error(libc::EINVAL);
    let fprog = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(too_long)?,
        filter: program.as_ptr().cast::<libc::sock_filter>().cast_mut(),
    };
    let flags =
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

    // SAFETY: the call reads `fprog` and the `len` instructions behind `filter` and keeps neither.
    // Both live until it returns, `len` is the slice's own, and the kernel never writes through
    // `filter`. `sock_filter` is the kernel's layout in both crates (asserted below).
    let answer = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            &raw const fprog,
        )
    };
    let fd = RawFd::try_from(answer).map_err(|_| io::Error::from_raw_os_error(libc::EBADF))?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: with NEW_LISTENER a non-negative result is a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

const _: () = assert!(size_of::<sock_filter>() == size_of::<libc::sock_filter>());
const _: () = assert!(align_of::<sock_filter>() == align_of::<libc::sock_filter>());
// linux/seccomp.h: retyped constants have lost the wait-killable wish before.
const _: () = assert!(libc::SECCOMP_FILTER_FLAG_NEW_LISTENER == 1 << 3);
const _: () = assert!(libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV == 1 << 5);
