//! The signals that a screen hears of instead of being ended by them: it leaves the terminal as it was first.

use std::io;

use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

/// By which a screen is ended.
pub(super) const ENDING: [Signal; 4] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
];

/// A descriptor from which they are read, and SIGTSTP, SIGCONT and SIGWINCH. From here on they are blocked.
///
/// # Errors
/// If the kernel has none: signalfd(2).
pub(super) fn hear() -> io::Result<SignalFd> {
    let mut heard = SigSet::empty();
    let others = [Signal::SIGTSTP, Signal::SIGCONT, Signal::SIGWINCH];
    for signal in ENDING.into_iter().chain(others) {
        heard.add(signal);
    }
    heard.thread_block()?;
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    Ok(SignalFd::with_flags(&heard, flags)?)
}

/// Stops as whoever does not catch SIGTSTP: in a process group that nobody could continue the kernel does
/// not stop it. Returns once it goes on.
///
/// # Errors
/// If it cannot be sent.
pub(super) fn stop(with_job: bool) -> io::Result<()> {
    let mut stop = SigSet::empty();
    stop.add(Signal::SIGTSTP);
    if with_job {
        kill(Pid::from_raw(0), Signal::SIGTSTP)?;
    } else {
        raise(Signal::SIGTSTP)?;
    }
    stop.thread_unblock()?;
    Ok(stop.thread_block()?)
}

/// Ends by `signal`, as whoever started this process is to see. Returns if it does not.
pub(super) fn end_by(signal: Signal) {
    let mut own = SigSet::empty();
    own.add(signal);
    let ended = raise(signal).and_then(|()| own.thread_unblock());
    if let Err(errno) = ended {
        tracing::debug!(%errno, "a signal did not end the screen");
    }
}
