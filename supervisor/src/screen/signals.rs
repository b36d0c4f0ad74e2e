//! The signals that a screen hears of instead of being ended by them: it leaves the terminal as it was first.

use std::io;

use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

/// A descriptor from which every signal is read that would end the screen, and SIGTSTP, SIGCONT and SIGWINCH.
/// From here on they are blocked.
///
/// # Errors
/// If the kernel has none: signalfd(2).
pub(super) fn hear() -> io::Result<SignalFd> {
    let mut heard = SigSet::all();
    let others = [
        // In the background these are to stop it.
        Signal::SIGTTIN,
        Signal::SIGTTOU,
        // Of its own doing: an errno.
        Signal::SIGPIPE,
        Signal::SIGXFSZ,
        // By default ignored: signal(7).
        Signal::SIGCHLD,
        Signal::SIGURG,
    ];
    for signal in others {
        heard.remove(signal);
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

/// Ends by signal number `signal`, as whoever started this process is to see. Returns if it does not.
pub(super) fn end_by(signal: i32) {
    let ended =
        signal_hook::low_level::raise(signal).and_then(|()| Ok(SigSet::all().thread_unblock()?));
    if let Err(error) = ended {
        tracing::debug!(%error, "a signal did not end the screen");
    }
}
