//! Where a process of a container hands itself over: the socket of `run --socket`.
//!
//! It hears one process, and then there is no socket any more: a session has one CMD. What comes over it is a
//! listener and nothing else; who connects is asked about nothing and can change nothing.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket,
};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::net::{SocketFlags, accept_with};

use crate::control::owner_of_directory;
use crate::handover::HANDOVER_DEADLINE;
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
    Directory(#[from] crate::control::PlaceError),
    #[error("`{}` is there already, and is no socket; name another with --socket", .0.display())]
    Taken(PathBuf),
    #[error("another execward listens at `{}`; name another with --socket", .0.display())]
    Live(PathBuf),
    #[error("{0} came before a process had handed itself over; nothing ran")]
    Ended(Signal),
    #[error("what connected said nothing within {} s, so it is no execward-shim; nothing ran", HANDOVER_DEADLINE.as_secs())]
    Silent,
    #[error("cannot {what} `{}`: {error}", path.display())]
    System {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

/// A socket at which nobody has been heard yet. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Door {
    path: PathBuf,
    /// What has that name, by device and inode: it may come to be another's.
    file: Option<(u64, u64)>,
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
        owner_of_directory(&path, rustix::process::geteuid().as_raw())?;
        clear(&path)?;
        // It gets its name when somebody hears there: whoever sees it can connect.
        let held = Held::hold().map_err(|errno| failed("listen at", &path)(errno.into()))?;
        let unheard = unheard_name(&path);
        let bound = bound(&unheard).map_err(failed("make the socket", &unheard))?;
        let door = Self {
            is_for_everybody: is_private(&path)
                .map_err(failed("look at the directory of", &path))?,
            file: identity(&unheard),
            path: unheard,
            listener: bound,
            held,
        };
        let mode = if door.is_for_everybody { 0o666 } else { 0o600 };
        fs::set_permissions(&door.path, Permissions::from_mode(mode))
            .map_err(failed("set the mode of", &door.path))?;
        let listening = Backlog::new(1).and_then(|one| listen(&door.listener, one));
        listening.map_err(|errno| failed("listen at", &path)(errno.into()))?;
        door.named(path)
    }

    fn named(mut self, path: PathBuf) -> Result<Self, DoorError> {
        // Another may have come to listen there since it was looked at.
        match renameat_with(CWD, &self.path, CWD, &path, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::EXIST) => return Err(DoorError::Live(path)),
            named => named.map_err(|errno| failed("make the socket", &path)(errno.into()))?,
        }
        self.path = path;
        Ok(self)
    }

    /// For whoever waits with it.
    pub(crate) fn in_words(&self) -> String {
        let who = match self.is_for_everybody {
            true => "a process of any user",
            false => "a process of this user or root (its directory is not mode 0700)",
        };
        format!(
            "waiting at {} for `execward-shim --socket`, {who}",
            self.path.display()
        )
    }

    /// Waits for the one process that is heard, and until it has said something.
    ///
    /// # Errors
    /// What accept(2) answers, if it says nothing in time, or if a signal came.
    pub(crate) fn wait(self) -> Result<OwnedFd, DoorError> {
        let failed = |errno: Errno| failed("listen at", &self.path)(errno.into());
        loop {
            self.held
                .until_ready(self.listener.as_fd(), PollTimeout::NONE)?;
            match accept_with(&self.listener, SocketFlags::CLOEXEC) {
                // Whoever connected is gone.
                Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {}
                Err(errno) => return Err(failed(Errno::from_raw(errno.raw_os_error()))),
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

impl Drop for Door {
    fn drop(&mut self) {
        if identity(&self.path) != self.file {
            return;
        }
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "the socket is not removed");
        }
    }
}

fn failed<'p>(what: &'static str, path: &'p Path) -> impl Fn(io::Error) -> DoorError + 'p {
    move |error| DoorError::System {
        what,
        path: path.to_owned(),
        error,
    }
}

/// Removes the socket of one that was killed.
fn clear(path: &Path) -> Result<(), DoorError> {
    let Ok(seen) = path.symlink_metadata() else {
        return Ok(());
    };
    if !seen.file_type().is_socket() {
        return Err(DoorError::Taken(path.to_owned()));
    }
    // Of another type than it listens for, a connection tells whether it listens and is not heard: the one that is
    // heard would be no shim. unix(7), "`EPROTOTYPE`".
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed("remove the dead", path))
        }
        Ok(_) | Err(_) => Err(DoorError::Live(path.to_owned())),
    }
}

fn bound(path: &Path) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let listener = socket(AddressFamily::Unix, SockType::SeqPacket, flags, None)?;
    bind(listener.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(listener)
}

/// A name beside `path` that no other process chooses.
fn unheard_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    path.with_file_name(name)
}

/// Whether only its user goes through the directory of `path`.
fn is_private(path: &Path) -> io::Result<bool> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    Ok(directory.metadata()?.permissions().mode() & 0o077 == 0)
}

/// What has the name, by device and inode.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let seen = path.symlink_metadata().ok()?;
    Some((seen.dev(), seen.ino()))
}
