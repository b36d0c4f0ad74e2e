//! The approver's terminal: the screen's alone while it is drawn on, and as it was afterwards.
//!
//! `TIOCEXCL` keeps everybody from opening it but root (ioctl_tty(2)), and whoever has it open already is
//! looked for. It is opened anew, so that a reader that is slow to take what is written blocks nobody.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, makedev};
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, ioctl_tiocexcl, ioctl_tiocnxcl, tcflush, tcgetattr,
    tcgetwinsize, tcsetattr,
};

use super::holders::{self, Holder};
use super::paint::{ENTER, LEAVE};

/// How long the terminal may take for the last that is written on it.
const FAREWELL: Duration = Duration::from_secs(1);

/// Most bytes of keys that are read at once.
const KEYS_MAX_BYTES: usize = 256;

/// Why the screen cannot have its terminal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalError {
    #[error("there is no terminal to draw on ({0}); `execward pending` lists what is open")]
    None(io::Error),
    #[error(
        "another program has this terminal for itself (TIOCEXCL); use another one, or `execward pending`"
    )]
    Taken,
    #[error(
        "{0} has this terminal open too, and could read and draw what you do; end it, or use another terminal"
    )]
    Shared(Holder),
    #[error("cannot use the terminal: {0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for TerminalError {
    fn from(errno: Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// A terminal that is drawn on. Dropped, it is as it was.
#[derive(Debug)]
pub(super) struct Terminal {
    before: Arc<Before>,
    /// What is to be written yet.
    unwritten: Vec<u8>,
}

/// What a terminal was before.
#[derive(Debug)]
struct Before {
    tty: OwnedFd,
    /// Of the device.
    number: u64,
    modes: Termios,
}

impl Terminal {
    /// Takes the terminal of this process, if nobody else has it.
    ///
    /// # Errors
    /// If there is none, or it is not to be had alone.
    pub(super) fn take() -> Result<Self, TerminalError> {
        let tty = open("/dev/tty")?;
        let number = device()?;
        let modes = tcgetattr(&tty)?;
        let before = Arc::new(Before { tty, number, modes });
        let terminal = Self {
            before,
            unwritten: Vec::new(),
        };
        terminal.before.restore_on_panic();
        terminal.seize()?;
        terminal.forget_keys()?;
        Ok(terminal)
    }

    /// Drops what was typed before there was anything to see.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn forget_keys(&self) -> io::Result<()> {
        Ok(tcflush(&self.before.tty, QueueSelector::IFlush)?)
    }

    /// Takes it, or takes it again after [`Terminal::give_back`].
    ///
    /// # Errors
    /// If it is not to be had alone any more.
    pub(super) fn seize(&self) -> Result<(), TerminalError> {
        let Before { tty, number, modes } = &*self.before;
        // First this, then a look: nobody opens it in between.
        ioctl_tiocexcl(tty)?;
        if let Some(holder) = holders::find(*number)? {
            ioctl_tiocnxcl(tty)?;
            return Err(TerminalError::Shared(holder));
        }
        let mut raw = modes.clone();
        raw.make_raw();
        tcsetattr(tty, OptionalActions::Now, &raw)?;
        Ok(write_within(tty, ENTER.as_bytes(), FAREWELL)?)
    }

    /// Leaves it as it was, for whoever has it while this process is stopped.
    ///
    /// # Errors
    /// If it cannot be.
    pub(super) fn give_back(&mut self) -> io::Result<()> {
        self.unwritten.clear();
        self.before.restore()
    }

    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = tcgetwinsize(&self.before.tty)?;
        Ok((size.ws_col, size.ws_row))
    }

    /// Whether all of it is on the terminal that was written.
    pub(super) fn is_written(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// Writes as much as the terminal takes now, and keeps the rest.
    ///
    /// # Errors
    /// If it is gone.
    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.unwritten.extend_from_slice(text);
        while !self.unwritten.is_empty() {
            match rustix::io::write(&self.before.tty, &self.unwritten) {
                Ok(len) => drop(self.unwritten.drain(..len)),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// The bytes of keys that were pressed.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; KEYS_MAX_BYTES];
        match rustix::io::read(&self.before.tty, &mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                bytes.truncate(len);
                Ok(bytes)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(Vec::new()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.before.tty.as_fd()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Err(error) = self.before.restore() {
            tracing::debug!(%error, "the terminal is gone");
        }
    }
}

impl Before {
    fn restore(&self) -> io::Result<()> {
        // A mode counts more than what is seen.
        let modes = tcsetattr(&self.tty, OptionalActions::Now, &self.modes);
        let shared = ioctl_tiocnxcl(&self.tty);
        write_within(&self.tty, LEAVE.as_bytes(), FAREWELL)?;
        Ok(modes.and(shared)?)
    }

    /// What a panic says is to be read afterwards.
    fn restore_on_panic(self: &Arc<Self>) {
        let (before, said) = (Arc::clone(self), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            if let Err(error) = before.restore() {
                tracing::debug!(%error, "the terminal is gone");
            }
            said(panic);
        }));
    }
}

fn open(path: &str) -> Result<OwnedFd, TerminalError> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::BUSY => TerminalError::Taken,
        errno => TerminalError::None(errno.into()),
    })
}

/// The number of this process's terminal itself, which is open by the name that every process has for its
/// own: proc_pid_stat(5), `tty_nr`.
fn device() -> io::Result<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // Behind the name, which may hold anything: state, ppid, pgrp, session, tty_nr.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
    let number = fields.and_then(|fields| fields.split_whitespace().nth(4));
    let number = number.and_then(|number| number.parse::<i32>().ok());
    let number = number.ok_or(io::ErrorKind::InvalidData)?.cast_unsigned();
    let (major, minor) = (number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xfff00);
    Ok(makedev(major, minor))
}

fn write_within(tty: &OwnedFd, mut text: &[u8], patience: Duration) -> io::Result<()> {
    let started = Instant::now();
    while !text.is_empty() {
        match rustix::io::write(tty, text) {
            Ok(len) => text = text.get(len..).unwrap_or_default(),
            Err(Errno::AGAIN) => {
                let left = patience.saturating_sub(started.elapsed());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                let left = Timespec::try_from(left).map_err(io::Error::other)?;
                let mut fds = [PollFd::new(tty, PollFlags::OUT)];
                poll(&mut fds, Some(&left))?;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}
