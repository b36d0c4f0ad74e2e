//! The listener: the one descriptor through which a session's execs are answered.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use nix::errno::Errno;

use super::notification::Notification;
use super::sys;

/// A seccomp user-notification listener. It exists in the gate alone; when it closes, every exec
/// of the session fails with `ENOSYS`.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: OwnedFd,
}

impl Listener {
    /// Takes the descriptor that the shim handed over, once it has shown that it is a listener.
    ///
    /// # Errors
    /// What the kernel answers for a descriptor of another kind.
    pub(crate) fn new(fd: OwnedFd) -> Result<Rc<Self>, Errno> {
        match sys::id_valid(fd.as_fd(), 0) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(errno) => return Err(errno),
        }
        // SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (Linux 6.6) stays off: it pulls the gate onto the task's
        // processor and the task after it, which was measured to cost more than it saves.
        Ok(Rc::new(Self { fd }))
    }

    /// The next notification. Poll first: without one this blocks.
    ///
    /// `None` if its task died before it was read.
    ///
    /// # Errors
    /// What the kernel answers, `ENOENT` and `EINTR` aside.
    pub(crate) fn receive(self: &Rc<Self>) -> Result<Option<Notification>, Errno> {
        match sys::receive(self.fd.as_fd()) {
            Ok(raw) => Ok(Some(Notification::new(Rc::clone(self), &raw))),
            Err(Errno::ENOENT | Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
