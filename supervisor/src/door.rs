//! Where a process of a container hands itself over: the socket of `run --socket`.
//!
//! It hears one process, and then there is no socket any more: a session has one CMD. What comes over it is a
//! listener and nothing else; who connects is asked about nothing and can change nothing.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::SockType;
use rustix::net::{SocketFlags, accept_with};

use crate::handover::HANDOVER_DEADLINE;
use crate::named_socket::{SocketDirectory, SocketError, SocketName, Terms, failed};
use crate::own_process::ignores;

/// What ends the waiting, and the socket with it.
const ENDS: [Signal; 4] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
];

/// Why nobody can be waited for. Nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorError {
    #[error("{0}; name another socket with --socket")]
    Socket(#[from] SocketError),
    #[error("{0} came before a process had handed itself over; nothing ran")]
    Ended(Signal),
    #[error("what connected said nothing within {} s, so it is no execward-shim; nothing ran", HANDOVER_DEADLINE.as_secs())]
    Silent,
}

/// A socket at which nobody has been heard yet. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Door {
    name: SocketName,
    listener: OwnedFd,
    is_for_everybody: bool,
    /// From before anybody sees the socket until it is gone: a signal leaves none behind.
    held: Held,
}

/// Signals that are read and not acted on, until it is dropped.
#[derive(Debug)]
struct Held {
    signals: SignalFd,
    former: SigSet,
}

impl Door {
    /// Listens at `path`, in a directory that only its user can write to. Where nobody else can go through that
    /// directory either, everybody to whom the socket is mounted may connect; else only its user and root.
    ///
    /// # Errors
    /// If that directory is not the caller's alone to write to, or something is at `path` already.
    pub(crate) fn open(path: &Path) -> Result<Self, DoorError> {
        let path = std::path::absolute(path).map_err(failed("find", path))?;
        let directory = SocketDirectory::of(&path)?;
        let is_for_everybody = directory.is_private();
        let terms = Terms {
            kind: SockType::SeqPacket,
            mode: if is_for_everybody { 0o666 } else { 0o600 },
            backlog: Some(1),
            passes_credentials: false,
        };
        let held = Held::hold().map_err(failed("listen at", &path))?;
        let (name, listener) = SocketName::listen(path, directory, terms)?;
        Ok(Self {
            name,
            listener,
            is_for_everybody,
            held,
        })
    }

    /// For whoever waits with it.
    pub(crate) fn in_words(&self) -> String {
        let who = match self.is_for_everybody {
            true => "a process of any user",
            false => "a process of this user or root (its directory is not mode 0700)",
        };
        format!(
            "waiting at {} for `execward-shim --socket`, {who}",
            self.name.path().display()
        )
    }

    /// Waits for the one process that is heard, and until it has said something.
    ///
    /// # Errors
    /// What accept(2) answers, if it says nothing in time, or if a signal came.
    pub(crate) fn wait(self) -> Result<OwnedFd, DoorError> {
        loop {
            self.held
                .until_ready(self.listener.as_fd(), PollTimeout::NONE)?;
            match accept_with(&self.listener, SocketFlags::CLOEXEC) {
                // Whoever connected is gone.
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {}
                Err(errno) => return Err(failed("listen at", self.name.path())(errno).into()),
                Ok(visitor) => {
                    let limit =
                        PollTimeout::try_from(HANDOVER_DEADLINE).unwrap_or(PollTimeout::MAX);
                    self.held.until_ready(visitor.as_fd(), limit)?;
                    return Ok(visitor);
                }
            }
        }
    }
}

impl Held {
    /// Holds those of [`ENDS`] that the caller does not have this process ignore.
    fn hold() -> Result<Self, Errno> {
        let ends: SigSet = ENDS
            .into_iter()
            .filter(|signal| !ignores(*signal))
            .collect();
        let former = SigSet::thread_get_mask()?;
        ends.thread_block()?;
        let signals = SignalFd::with_flags(&ends, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
        Ok(Self { signals, former })
    }

    fn until_ready(&self, fd: BorrowedFd<'_>, limit: PollTimeout) -> Result<(), DoorError> {
        let mut fds = [
            PollFd::new(fd, PollFlags::POLLIN),
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
        ];
        loop {
            match poll(&mut fds, limit) {
                Err(Errno::EINTR) => continue,
                Ok(0) => return Err(DoorError::Silent),
                Ok(_) | Err(_) => {}
            }
            let Ok(Some(info)) = self.signals.read_signal() else {
                return Ok(());
            };
            let number = i32::try_from(info.ssi_signo).unwrap_or_default();
            return Err(DoorError::Ended(
                Signal::try_from(number).unwrap_or(Signal::SIGTERM),
            ));
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Err(errno) = self.former.thread_set_mask() {
            tracing::warn!(%errno, "signals stay held");
        }
    }
}
