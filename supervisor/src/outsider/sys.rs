//! The one ioctl of a pidfd: `PIDFD_GET_INFO`, of linux/pidfd.h (Linux 6.13).

#![expect(unsafe_code, reason = "no library has this call")]

use std::os::fd::{AsRawFd, BorrowedFd};

/// The wait status of a process that has been reaped; `None` of any other, and before Linux 6.15.
pub(super) fn exit_status(pidfd: BorrowedFd<'_>) -> Option<i32> {
    // SAFETY: pidfd_info is plain integers, for which zero is a value.
    let mut info: libc::pidfd_info = unsafe { std::mem::zeroed() };
    let wanted = u64::from(libc::PIDFD_INFO_EXIT);
    info.mask = wanted;
    // SAFETY: GET_INFO reads and writes one pidfd_info, of the size encoded in the request number, which
    // is that of libc's struct (asserted below). The borrow keeps the descriptor open.
    let result = unsafe { libc::ioctl(pidfd.as_raw_fd(), libc::PIDFD_GET_INFO, &raw mut info) };
    (result == 0 && info.mask & wanted != 0).then_some(info.exit_code)
}

// The request number carries the size of the first version.
const _: () = assert!(size_of::<libc::pidfd_info>() == libc::PIDFD_INFO_SIZE_VER0 as usize);
