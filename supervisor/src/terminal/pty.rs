//! The terminal that CMD runs on: a pseudo-terminal, pty(7), between it and the user's.
//!
//! The gate leads the session on it, so that CMD, its child in a process group of its own, is stopped and
//! continued by keys as a shell's job is: the kernel stops no group that nobody in the session could continue.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::signal::Signal;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, ioctl_tiocsctty, kill_process_group, setsid};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    OptionalActions, Termios, Winsize, tcgetpgrp, tcsetattr, tcsetpgrp, tcsetwinsize,
};

/// The front's end.
#[derive(Debug)]
pub(super) struct Pty {
    master: OwnedFd,
}

impl Pty {
    /// One with these settings, and CMD's end of it.
    ///
    /// # Errors
    /// What `/dev/ptmx`, `TIOCGPTPEER` (Linux 4.13) or tcsetattr(3) answer.
    pub(super) fn open(settings: &Termios, size: Winsize) -> io::Result<(Self, OwnedFd)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags)?;
        unlockpt(&master)?;
        let command_end = ioctl_tiocgptpeer(&master, flags)?;
        tcsetattr(&command_end, OptionalActions::Now, settings)?;
        tcsetwinsize(&command_end, size)?;
        fcntl_setfl(&master, OFlags::RDWR | OFlags::NONBLOCK)?;
        Ok((Self { master }, command_end))
    }

    /// The kernel tells the foreground group of it (`SIGWINCH`).
    pub(super) fn resize(&self, size: Winsize) {
        if let Err(errno) = tcsetwinsize(&self.master, size) {
            tracing::debug!(%errno, "the command's terminal keeps its size");
        }
    }

    /// Sends `signal` to the process group that the terminal's keys mean.
    pub(super) fn signal_foreground(&self, signal: Signal) {
        let Some(named) = rustix::process::Signal::from_named_raw(signal as i32) else {
            return;
        };
        let group = tcgetpgrp(&self.master);
        if let Err(errno) = group.and_then(|group| kill_process_group(group, named)) {
            tracing::debug!(%errno, %signal, "no group of the command's terminal has it");
        }
    }
}

impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }
}

/// Has the calling process, which leads no group yet, lead a session on `terminal`, which is `owner`'s.
///
/// # Errors
/// What setsid(2), `TIOCSCTTY` or fchown(2) answer.
pub(crate) fn lead(terminal: &OwnedFd, owner: Option<u32>) -> io::Result<()> {
    setsid()?;
    ioctl_tiocsctty(terminal)?;
    if let Some(uid) = owner {
        rustix::fs::fchown(terminal, Some(rustix::fs::Uid::from_raw(uid)), None)?;
    }
    Ok(())
}

/// Makes `leader`'s process group the one that the keys of `terminal` mean: tcsetpgrp(3).
///
/// # Errors
/// What the kernel answers, as where that process is gone.
pub(crate) fn give(terminal: &OwnedFd, leader: u32) -> io::Result<()> {
    let group = i32::try_from(leader).ok().and_then(Pid::from_raw);
    let group = group.ok_or(io::ErrorKind::InvalidInput)?;
    Ok(tcsetpgrp(terminal, group)?)
}
