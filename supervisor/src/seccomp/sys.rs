//! The listener's ioctls. See seccomp_unotify(2); all exist since Linux 5.0 unless said otherwise.

#![expect(unsafe_code, reason = "the listener is driven by ioctls alone")]

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;

/// `ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV)`: takes the oldest unread notification, or blocks.
///
/// `ENOENT` means that its task died in between, which is ordinary.
pub(super) fn receive(listener: BorrowedFd<'_>) -> Result<libc::seccomp_notif, Errno> {
    // SAFETY: seccomp_notif is plain integers, for which zero is a value; RECV asks for it zeroed.
    let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    let request = libc::SECCOMP_IOCTL_NOTIF_RECV;
    // SAFETY: RECV writes one seccomp_notif, of the size encoded in the request number, which is
    // that of libc's struct (asserted below). The borrow keeps the descriptor open.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), request, &raw mut notification) };
    Errno::result(result).map(|_| notification)
}

/// `ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND)`: answers one notification.
pub(super) fn send(
    listener: BorrowedFd<'_>,
    mut response: libc::seccomp_notif_resp,
) -> Result<(), Errno> {
    let request = libc::SECCOMP_IOCTL_NOTIF_SEND;
    // SAFETY: SEND reads one seccomp_notif_resp, of the size encoded in the request number, and
    // keeps no pointer to it.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), request, &raw mut response) };
    Errno::result(result).map(drop)
}

/// `ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID)`: whether the asking task still waits.
pub(super) fn id_valid(listener: BorrowedFd<'_>, mut id: u64) -> Result<(), Errno> {
    let request = libc::SECCOMP_IOCTL_NOTIF_ID_VALID;
    // SAFETY: ID_VALID reads one u64 and keeps no pointer to it.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), request, &raw mut id) };
    Errno::result(result).map(drop)
}

// The request numbers carry these sizes; a kernel with larger structs answers ENOTTY.
const _: () = assert!(size_of::<libc::seccomp_notif>() == 80);
const _: () = assert!(size_of::<libc::seccomp_notif_resp>() == 24);
