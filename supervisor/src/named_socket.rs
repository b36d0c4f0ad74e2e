//! A socket with a name in the file system, unix(7): the name is there while somebody hears at it, and what is
//! taken away at the end is that name and no other's.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::sys::socket::sockopt::PassCred;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, setsockopt, socket,
};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Stat, chmodat, fstat, linkat, open, statat, unlinkat,
};
use rustix::io::Errno;

/// Longest path of a socket: `sun_path` of unix(7), less its NUL.
const PATH_MAX_BYTES: usize = 107;

/// Why nobody hears at a path, or nobody may be heard there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    #[error(
        "the socket's path `{}` has {} bytes, and may have {PATH_MAX_BYTES}",
        .0.display(), .0.as_os_str().len()
    )]
    TooLong(PathBuf),
    #[error("cannot {what} `{}`: {error}", path.display())]
    System {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    #[error(
        "the directory `{}` belongs to uid {owner} with mode {mode:03o}; what is to hold a socket \
         must belong to uid {own} and be nobody else's to change", path.display()
    )]
    NotOwn {
        path: PathBuf,
        owner: u32,
        mode: u32,
        own: u32,
    },
    #[error("`{}` is there already, and is no socket", .0.display())]
    Taken(PathBuf),
    #[error("another execward listens at `{}`", .0.display())]
    Live(PathBuf),
}

/// `error`, of trying to `what` at `path`.
pub(crate) fn failed<E: Into<io::Error>>(
    what: &'static str,
    path: &Path,
) -> impl Fn(E) -> SocketError {
    move |error| SocketError::System {
        what,
        path: path.to_owned(),
        error: error.into(),
    }
}

/// A directory in which nobody but its owner and root can put a socket.
#[derive(Debug)]
pub(crate) struct SocketDirectory {
    fd: OwnedFd,
    pub(crate) owner: u32,
    mode: u32,
}

/// Whose it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// This uid and no other.
    Only(u32),
    /// This uid, or any user if it is root's.
    OrAnyForRoot(u32),
}

impl SocketDirectory {
    /// The one that holds `socket`: this user's, or any user's if this is root.
    ///
    /// # Errors
    /// As of [`SocketDirectory::open`].
    pub(crate) fn of(socket: &Path) -> Result<Self, SocketError> {
        let own = rustix::process::geteuid().as_raw();
        let directory = socket.parent().filter(|it| !it.as_os_str().is_empty());
        let directory = directory.unwrap_or(Path::new("."));
        Self::open(directory, Owner::OrAnyForRoot(own))
    }

    /// A link as the last component is an error: it may be another's.
    ///
    /// # Errors
    /// If it is another's than `meant`, or others may write to it.
    pub(crate) fn open(path: &Path, meant: Owner) -> Result<Self, SocketError> {
        let fd = open_directory(path)?;
        let seen = fstat(&fd).map_err(failed(LOOK, path))?;
        let directory = Self {
            fd,
            owner: seen.st_uid,
            mode: seen.st_mode & 0o7777,
        };
        let (own, is_meant) = match meant {
            Owner::Only(own) => (own, directory.owner == own),
            Owner::OrAnyForRoot(own) => (own, directory.owner == own || own == 0),
        };
        if is_meant && directory.mode & 0o022 == 0 {
            return Ok(directory);
        }
        Err(SocketError::NotOwn {
            path: path.to_owned(),
            owner: directory.owner,
            mode: directory.mode,
            own,
        })
    }

    /// Whether nobody else goes through it.
    pub(crate) fn is_private(&self) -> bool {
        self.mode & 0o077 == 0
    }
}

const LOOK: &str = "look at the directory";

/// # Errors
/// What open(2) answers; `ELOOP` or `ENOTDIR` of a link.
pub(crate) fn open_directory(path: &Path) -> Result<OwnedFd, SocketError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(path, flags, Mode::empty()).map_err(failed(LOOK, path))
}

/// How a socket hears.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) kind: SockType,
    pub(crate) mode: u32,
    /// How many may wait to be heard; `None` for as many as the kernel lets.
    pub(crate) backlog: Option<i32>,
    /// Whether what is accepted has `SO_PASSCRED` from the moment of its connect(2): a message that is sent to a
    /// socket without it carries no credentials, and counts as nobody's.
    pub(crate) passes_credentials: bool,
}

/// The name of a socket. Dropped, it is gone, unless it has come to be another's.
#[derive(Debug)]
pub(crate) struct SocketName {
    path: PathBuf,
    /// Which may be covered by another at that path later on.
    directory: OwnedFd,
    /// In its directory.
    name: OsString,
    /// What is called so, by device and inode.
    file: Option<(u64, u64)>,
}

impl SocketName {
    /// Listens at `path`, which lies in `directory`: whoever sees a socket there can connect to it.
    ///
    /// # Errors
    /// If the path is too long, if something else is there, or if somebody listens there.
    pub(crate) fn listen(
        path: PathBuf,
        directory: SocketDirectory,
        terms: Terms,
    ) -> Result<(Self, OwnedFd), SocketError> {
        check_length(&path)?;
        let taken = || SocketError::Taken(path.clone());
        let name = path.file_name().ok_or_else(taken)?.to_owned();
        clear(&path, &directory.fd)?;
        // It gets its name when it hears: before, it would be taken for one that was left behind.
        let unheard = OsString::from(format!(".{:x}", std::process::id()));
        let unheard_path = path.with_file_name(&unheard);
        check_length(&unheard_path)?;
        let listener = bound(&unheard_path, terms).map_err(failed("listen at", &path))?;
        let mut this = Self {
            file: identity(&directory.fd, &unheard),
            path,
            directory: directory.fd,
            name: unheard,
        };
        this.hear(&listener, terms)?;
        this.get_name(name)?;
        Ok((this, listener))
    }

    fn hear(&self, listener: &OwnedFd, terms: Terms) -> Result<(), SocketError> {
        let mode = Mode::from_raw_mode(terms.mode);
        chmodat(&self.directory, &self.name, mode, AtFlags::empty())
            .map_err(failed("set the mode of", &self.path))?;
        let backlog = terms.backlog.map_or(Ok(Backlog::MAXCONN), Backlog::new);
        let heard = backlog.and_then(|backlog| listen(listener, backlog));
        heard.map_err(failed("listen at", &self.path))
    }

    /// By a link, which replaces nothing on any file system.
    fn get_name(&mut self, name: OsString) -> Result<(), SocketError> {
        let directory = &self.directory;
        match linkat(directory, &self.name, directory, &name, AtFlags::empty()) {
            // Another has come to listen there since it was looked at.
            Err(Errno::EXIST) => return Err(SocketError::Live(self.path.clone())),
            linked => linked.map_err(failed("listen at", &self.path))?,
        }
        let unheard = std::mem::replace(&mut self.name, name);
        unlinkat(&self.directory, &unheard, AtFlags::empty())
            .map_err(failed("listen at", &self.path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketName {
    fn drop(&mut self) {
        if identity(&self.directory, &self.name) != self.file {
            return;
        }
        if let Err(error) = unlinkat(&self.directory, &self.name, AtFlags::empty()) {
            tracing::warn!(path = %self.path.display(), %error, "the socket is not removed");
        }
    }
}

/// # Errors
/// If a socket cannot have that path.
pub(crate) fn check_length(path: &Path) -> Result<(), SocketError> {
    if path.as_os_str().as_bytes().len() > PATH_MAX_BYTES {
        return Err(SocketError::TooLong(path.to_owned()));
    }
    Ok(())
}

/// Removes from `directory` the socket at `path`, if it is of one that was killed.
fn clear(path: &Path, directory: &OwnedFd) -> Result<(), SocketError> {
    let name = path.file_name().unwrap_or_default();
    let Some(seen) = seen(directory, name) else {
        return Ok(());
    };
    if FileType::from_raw_mode(seen.st_mode) != FileType::Socket {
        return Err(SocketError::Taken(path.to_owned()));
    }
    // A connection of another type tells whether it listens and is not heard: `EPROTOTYPE`, connect(2). One that
    // hears a single process would take this one for it.
    let is_dead = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    if !UnixStream::connect(path).is_err_and(is_dead)
        || identity(directory, name) != Some(file_of(&seen))
    {
        return Err(SocketError::Live(path.to_owned()));
    }
    unlinkat(directory, name, AtFlags::empty()).map_err(failed("remove the dead socket", path))
}

/// A socket that nobody can connect to before listen(2).
fn bound(path: &Path, terms: Terms) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Unix, terms.kind, flags, None)?;
    if terms.passes_credentials {
        setsockopt(&socket, PassCred, &true)?;
    }
    bind(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(socket)
}

fn seen(directory: impl AsFd, name: &OsStr) -> Option<Stat> {
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn identity(directory: impl AsFd, name: &OsStr) -> Option<(u64, u64)> {
    seen(directory, name).as_ref().map(file_of)
}

fn file_of(seen: &Stat) -> (u64, u64) {
    (seen.st_dev, seen.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        kind: SockType::SeqPacket,
        mode: 0o600,
        backlog: Some(1),
        passes_credentials: false,
    };

    fn listen_at(path: &Path) -> Result<(SocketName, OwnedFd), SocketError> {
        SocketName::listen(path.to_owned(), SocketDirectory::of(path)?, TERMS)
    }

    fn names(directory: &Path) -> Vec<OsString> {
        let entries = directory.read_dir().unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_name_that_has_come_to_be_anothers_stays() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("socket");
        let (first, _listener) = listen_at(&path).unwrap();
        std::fs::rename(&path, base.path().join("away")).unwrap();
        let (second, _listener) = listen_at(&path).unwrap();
        drop(first);
        assert!(names(base.path()).contains(&"socket".into()));
        drop(second);
        assert_eq!(names(base.path()), ["away"]);
    }

    #[test]
    fn whoever_looks_is_not_heard_by_the_one_that_listens() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("socket");
        let (_name, listener) = listen_at(&path).unwrap();
        let again = listen_at(&path).unwrap_err();
        assert!(matches!(again, SocketError::Live(_)), "{again}");
        rustix::fs::fcntl_setfl(&listener, OFlags::NONBLOCK).unwrap();
        let heard = rustix::net::accept(&listener);
        assert_eq!(heard.unwrap_err(), Errno::AGAIN);
        assert_eq!(names(base.path()), ["socket"]);
    }

    #[test]
    fn what_is_no_socket_is_left() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("socket");
        std::fs::write(&path, "kept").unwrap();
        let refused = listen_at(&path).unwrap_err();
        assert!(matches!(refused, SocketError::Taken(_)), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    }
}
