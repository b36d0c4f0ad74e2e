//! The front as the first process of a pid namespace, as it is in a container that starts execward.
//!
//! Whatever it leaves behind is killed as it ends, pid_namespaces(7), and so would be the gate, before
//! its last record.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{Pid, getpid};

use super::Front;
use crate::tracee::Tid;

/// Whether `process`, of the caller's own namespace, is that namespace's first.
pub(crate) fn is_first(process: Pid) -> bool {
    process.as_raw() == 1
}

impl Front {
    /// Waits for the gate, if that is to write its last record while the front is there. It goes on while
    /// anybody is left whom it gates. Who tells the front to end then ends them.
    pub(super) fn outlast_gate(&mut self) {
        if !self.awaits_log && !is_first(getpid()) {
            return;
        }
        let gate = Tid::new(self.gate.id());
        loop {
            let mut fds = [
                PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) if fds.first().and_then(PollFd::any) == Some(false) => {}
                Err(Errno::EINTR) => {}
                Ok(_) | Err(_) => break,
            }
            if self.is_told_to_end() {
                self.kill_members(gate);
            }
        }
        while let Ok(Some(message)) = self.link.receive() {
            self.hear(message);
        }
    }
}
