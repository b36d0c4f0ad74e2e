//! The process at the other end of a connection, held so that its number cannot become another's.
//!
//! A number says who sent a message only while its process lives. Whoever can make the gate wait
//! (SIGSTOP will do) can let a sender end, and its number go to somebody who may answer (tried: two
//! seconds of forks). So a connection speaks for the process that opened it, and no longer than that
//! process lives; what is sent by another, or read after its end, is nobody's word.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::{PeerCredentials, PeerPidfd};

use super::channel::ControlError;
use super::sender::Stranger;
use crate::audit::Approver;
use crate::tracee::{Tid, is_alive};

/// Who connected, or who listens.
#[derive(Debug)]
pub(super) struct Peer {
    pidfd: OwnedFd,
    process: Approver,
}

impl Peer {
    /// The peer of a connected socket, by `SO_PEERCRED` and `SO_PEERPIDFD` (Linux 6.5).
    ///
    /// # Errors
    /// If the kernel has no such option, or the process is gone already.
    pub(super) fn of(stream: &impl AsFd) -> io::Result<Self> {
        let pidfd = getsockopt(stream, PeerPidfd)?;
        let process = Approver::of(&getsockopt(stream, PeerCredentials)?);
        let process = process.ok_or_else(|| io::Error::other("it has no credentials"))?;
        Ok(Self { pidfd, process })
    }

    /// Makes sure that this kernel can name a peer so that its number cannot be another's.
    ///
    /// # Errors
    /// [`ControlError::Unsupported`] if it cannot, or what it answers instead.
    pub(super) fn check_support() -> Result<(), ControlError> {
        let (one, _other) = std::os::unix::net::UnixStream::pair()?;
        match Self::of(&one) {
            Ok(_) => Ok(()),
            Err(error) if error.raw_os_error() == Some(Errno::ENOPROTOOPT as i32) => {
                Err(ControlError::Unsupported)
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn process(&self) -> Approver {
        self.process
    }

    /// Whether a message of `sender`, about whom everything else has been read, is this peer's
    /// own. If it is alive now, the number was its own all the while.
    ///
    /// # Errors
    /// Why not.
    pub(super) fn vouches_for(&self, sender: Approver) -> Result<(), Stranger> {
        let (pid, connected) = (Tid::new(sender.pid), Tid::new(self.process.pid));
        if pid != connected {
            return Err(Stranger::Another { pid, connected });
        }
        if !is_alive(self.pidfd.as_fd()) {
            return Err(Stranger::Ended(pid));
        }
        Ok(())
    }
}
