//! CMD's end of its terminal, on the way to CMD.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, fcntl};

use crate::own_process::close_each;

/// Dropped, the front has none of it any more.
#[derive(Debug)]
pub(crate) struct Guest {
    terminal: OwnedFd,
    /// Which standard descriptors are the user's terminal, and for CMD this one.
    standard: [bool; 3],
    /// Which of the others.
    others: Vec<RawFd>,
}

impl Guest {
    /// Puts it in the place of `inherited`, the caller's descriptors that lead to the user's terminal: CMD is
    /// to have none of these. Standard ones stay the front's own.
    ///
    /// # Errors
    /// If a number cannot be had again.
    pub(super) fn in_place_of(terminal: OwnedFd, inherited: Vec<RawFd>) -> io::Result<Self> {
        let standard = [0, 1, 2].map(|fd| inherited.contains(&fd));
        let mut guest = Self {
            terminal,
            standard,
            others: Vec::new(),
        };
        for fd in inherited.into_iter().filter(|fd| *fd > 2) {
            close_each(&[fd])?;
            let again = fcntl(&guest.terminal, FcntlArg::F_DUPFD(fd))?;
            guest.others.push(again);
            if again != fd {
                return Err(io::Error::other(format!("descriptor {fd} is taken")));
            }
        }
        Ok(guest)
    }

    /// What `process` has in the place of the user's terminal.
    pub(crate) fn dress(&self, process: &mut Command) -> io::Result<()> {
        let end = || self.terminal.try_clone().map(Stdio::from);
        let [stdin, stdout, stderr] = self.standard;
        if stdin {
            process.stdin(end()?);
        }
        if stdout {
            process.stdout(end()?);
        }
        if stderr {
            process.stderr(end()?);
        }
        Ok(())
    }
}

impl AsFd for Guest {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if let Err(errno) = close_each(&self.others) {
            tracing::debug!(%errno, "a descriptor was closed already");
        }
    }
}
