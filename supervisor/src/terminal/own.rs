//! The user's own terminal: closed to others, and raw while it is the front's to read.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::unistd::getpgrp;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, QueueSelector, Termios, Winsize, ioctl_tiocexcl, ioctl_tiocnxcl, tcflush,
    tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};

/// What a terminal counts as that does not know its size.
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

/// Dropped, it is as it was found.
#[derive(Debug)]
pub(super) struct Own {
    /// A description of its own: its flags are nobody else's.
    tty: OwnedFd,
    /// As it is to be for others.
    settings: Termios,
    is_raw: bool,
    is_closed: bool,
}

impl Own {
    /// The controlling terminal.
    ///
    /// # Errors
    /// If there is none, or somebody else has closed it.
    pub(super) fn open() -> Result<Self, Errno> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let tty = open("/dev/tty", flags, Mode::empty())?;
        let settings = tcgetattr(&tty)?;
        Ok(Self {
            tty,
            settings,
            is_raw: false,
            is_closed: false,
        })
    }

    /// Nobody can open it from here on (`TIOCEXCL`, ioctl_tty(2)) but who has `CAP_SYS_ADMIN`, which a session
    /// of root has not.
    ///
    /// # Errors
    /// What the terminal answers.
    pub(super) fn close_to_others(&mut self) -> Result<(), Errno> {
        ioctl_tiocexcl(&self.tty)?;
        self.is_closed = true;
        Ok(())
    }

    pub(super) fn settings(&self) -> &Termios {
        &self.settings
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> Winsize {
        let seen = tcgetwinsize(&self.tty).ok();
        let seen = seen.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        seen.unwrap_or(Winsize {
            ws_row: ROWS,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        })
    }

    pub(super) fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Whether keys are meant for the front's process group, and not for another job of the shell's.
    pub(super) fn is_in_foreground(&self) -> bool {
        let own = getpgrp().as_raw();
        tcgetpgrp(&self.tty).is_ok_and(|group| group.as_raw_nonzero().get() == own)
    }

    /// Whether it hung up.
    pub(super) fn is_gone(&self) -> bool {
        tcgetattr(&self.tty).is_err()
    }

    /// Takes the keys as they are, unless another job has the terminal. What others left it as is what it
    /// is given back as.
    pub(super) fn take(&mut self) {
        if !self.is_in_foreground() {
            self.is_raw = false;
            return;
        }
        if !self.is_raw
            && let Ok(settings) = tcgetattr(&self.tty)
        {
            self.settings = settings;
        }
        let mut raw = self.settings.clone();
        raw.make_raw();
        self.is_raw = tcsetattr(&self.tty, OptionalActions::Now, &raw).is_ok();
    }

    /// Leaves it as others left it; it stays closed to them.
    pub(super) fn give_back(&mut self) {
        if std::mem::take(&mut self.is_raw)
            && self.is_in_foreground()
            && let Err(errno) = tcsetattr(&self.tty, OptionalActions::Now, &self.settings)
        {
            tracing::warn!(%errno, "the terminal keeps its settings; `stty sane` resets them");
        }
    }

    /// Forgets what was typed and not read.
    pub(super) fn forget_typed(&self) {
        if let Err(errno) = tcflush(&self.tty, QueueSelector::IFlush) {
            tracing::debug!(%errno, "what was typed ahead is not flushed");
        }
    }
}

impl AsFd for Own {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tty.as_fd()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.give_back();
        if self.is_closed
            && let Err(errno) = ioctl_tiocnxcl(&self.tty)
        {
            tracing::debug!(%errno, "the terminal is gone");
        }
    }
}
