//! What a turn of the gate's loop waits for.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Gate;
use crate::messenger::Messenger;

/// What one poll found.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each descriptor is ready or not"
)]
pub(super) struct Ready {
    pub(super) notification: bool,
    pub(super) hangup: bool,
    pub(super) signal: bool,
    pub(super) reader: bool,
    pub(super) control: bool,
    pub(super) messenger: bool,
    pub(super) link: bool,
    pub(super) shim: bool,
    pub(super) command: bool,
}

impl Gate {
    /// # Errors
    /// What poll(2) answers.
    pub(super) fn wait<'s>(&'s self) -> Result<Ready, Errno> {
        let mut fds = vec![
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.listener.as_fd(), PollFlags::POLLIN),
        ];
        let mut watch = |fd: Option<BorrowedFd<'s>>, events| {
            fds.push(PollFd::new(fd?, events));
            Some(fds.len() - 1)
        };
        // Closed already, it would be ready for ever.
        let link = (!self.command.front_knows).then(|| self.link.as_fd());
        let link_at = watch(link, PollFlags::empty());
        let shim_at = watch(self.shim.as_ref().map(AsFd::as_fd), PollFlags::POLLIN);
        let command_at = watch(self.command.end(), PollFlags::POLLIN);
        let control = self.parking.control.as_ref().map(AsFd::as_fd);
        let control_at = watch(control, PollFlags::POLLIN);
        let messenger = self.messenger.as_ref().map(Messenger::socket);
        let messenger_at = watch(messenger, PollFlags::POLLIN);
        // Nothing is to be done but to wake up.
        fds.extend(
            self.granted
                .roots()
                .map(|fd| PollFd::new(fd, PollFlags::POLLIN)),
        );
        let readers_at = fds.len();
        if self.awaiting.readers() {
            fds.extend(
                self.readers
                    .sockets()
                    .map(|fd| PollFd::new(fd, PollFlags::POLLIN)),
            );
        }
        let texts = self.texts.socket();
        fds.extend(texts.map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
        match poll(&mut fds, self.time_out()) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Ready::default()),
            Err(errno) => return Err(errno),
        }
        let seen = |at: usize| {
            fds.get(at)
                .and_then(PollFd::revents)
                .unwrap_or(PollFlags::empty())
        };
        let listener = seen(1);
        let deadlines = [self.readers.next_deadline(), self.texts.next_deadline()];
        let next = deadlines.into_iter().flatten().min();
        let is_late = next.is_some_and(|at| at <= Instant::now());
        Ok(Ready {
            signal: seen(0).intersects(PollFlags::POLLIN),
            notification: listener.intersects(PollFlags::POLLIN),
            hangup: listener.intersects(PollFlags::POLLHUP | PollFlags::POLLERR),
            link: link_at.is_some_and(|at| seen(at).intersects(PollFlags::POLLHUP)),
            control: control_at.is_some_and(|at| !seen(at).is_empty()),
            messenger: messenger_at.is_some_and(|at| !seen(at).is_empty()),
            shim: shim_at.is_some_and(|at| !seen(at).is_empty()),
            command: command_at.is_some_and(|at| !seen(at).is_empty()),
            reader: is_late || (readers_at..fds.len()).any(|at| !seen(at).is_empty()),
        })
    }

    fn time_out(&self) -> PollTimeout {
        let next = [
            self.attached.next_interrupt(),
            self.readers.next_deadline(),
            self.texts.next_deadline(),
            self.parking.next_look(),
            self.granted.next_flush(),
            self.ledger.next_checkpoint(),
        ];
        let Some(next) = next.into_iter().flatten().min() else {
            return PollTimeout::NONE;
        };
        let left = next.saturating_duration_since(Instant::now());
        // Rounded up: a time-out that is too short would turn into a busy loop.
        PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::ZERO)
    }
}
