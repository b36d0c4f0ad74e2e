//! When somebody wants the shipper to end: SIGTERM, SIGINT. It ends between two batches, with its position written.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What hears of those signals. They stay unread: once asked, it is asked for good.
#[derive(Debug)]
pub(crate) struct Stop(SignalFd);

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Somebody wants it to end.
    Stopped,
    /// There is something to read.
    Readable,
    /// The time is over.
    Late,
}

impl Stop {
    /// Hears of them from here on, in this thread and those that it starts.
    ///
    /// # Errors
    /// If the kernel has none: signalfd(2).
    pub(crate) fn hear() -> io::Result<Self> {
        let mut heard = SigSet::empty();
        heard.add(Signal::SIGTERM);
        heard.add(Signal::SIGINT);
        heard.thread_block()?;
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        Ok(Self(SignalFd::with_flags(&heard, flags)?))
    }

    /// Waits for as long, or less where it is asked to end; whether it is.
    ///
    /// # Errors
    /// What poll(2) answers.
    pub(crate) fn within(&self, time: Duration) -> io::Result<bool> {
        Ok(self.wait(None, Some(time))? == Woken::Stopped)
    }

    /// Waits until there is something to read from `input`, until it is asked to end, or for as long; without a time
    /// for ever. Asked to end comes first.
    ///
    /// # Errors
    /// What poll(2) answers.
    pub(crate) fn wait(
        &self,
        input: Option<BorrowedFd<'_>>,
        time: Option<Duration>,
    ) -> io::Result<Woken> {
        // Longer than anybody waits here.
        let time = time.map(|time| Timespec::try_from(time).unwrap_or_default());
        let mut awaited = vec![PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        awaited.extend(input.map(|input| PollFd::from_borrowed_fd(input, PollFlags::IN)));
        match poll(&mut awaited, time.as_ref()) {
            // Whoever waits looks again.
            Ok(0) | Err(Errno::INTR) => return Ok(Woken::Late),
            Ok(_) => {}
            Err(errno) => return Err(errno.into()),
        }
        let is_asked = awaited.first().is_some_and(|own| !own.revents().is_empty());
        Ok(if is_asked {
            Woken::Stopped
        } else {
            Woken::Readable
        })
    }
}
