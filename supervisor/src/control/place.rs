//! Where a session's control socket lies: in a directory that its user alone can enter.

use std::fs::DirBuilder;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::sys::socket::sockopt::PassCred;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, setsockopt, socket,
};
use rustix::fs::{AtFlags, Mode, OFlags, fstat, open, unlinkat};

/// The socket's name in a session's directory.
const SOCKET: &str = "control";

const LOOK: &str = "look at the directory";

/// Longest path of a socket: `sun_path` of unix(7), less its NUL.
const PATH_MAX_BYTES: usize = 107;

/// A session's socket. Dropped, it is gone from the file system.
#[derive(Debug)]
pub(crate) struct SocketPlace {
    path: PathBuf,
    /// Its directory, which may be covered by another later on.
    directory: OwnedFd,
    /// Where that directory was made, if it was made for it.
    base: Option<OwnedFd>,
}

/// Why a session has no control socket, or a client may not use it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error(
        "the control socket's path `{}` has {} bytes, and a socket's may have {PATH_MAX_BYTES}: \
         set XDG_RUNTIME_DIR to a shorter directory, or name a shorter one with --control",
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
    #[error("`{}` is there already, and is no socket; name another with --control", .0.display())]
    Taken(PathBuf),
    #[error("a session is live at `{}`; choose another --session or --control", .0.display())]
    Live(PathBuf),
}

fn failed<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> PlaceError + 'a {
    move |error| PlaceError::System {
        what,
        path: path.to_owned(),
        error,
    }
}

impl SocketPlace {
    /// Makes the directory of `session` below `base` and listens there.
    ///
    /// # Errors
    /// If a directory on the way is not this user's own, if the path is too long, or if a live
    /// session has it.
    pub(crate) fn listen_below(
        base: &Path,
        session: &str,
    ) -> Result<(Self, UnixListener), PlaceError> {
        let directory = base.join(session);
        let path = directory.join(SOCKET);
        check_length(&path)?;
        let own = rustix::process::geteuid().as_raw();
        for directory in [base, &directory] {
            make_private(directory)?;
            check_owner(directory, own)?;
        }
        Self::listen(path, Some(base))
    }

    /// Listens at `path`, in a directory that is there.
    ///
    /// # Errors
    /// If others may write to the directory, or it is not this user's, if the path is too long or
    /// something else is there, or if a live session has it.
    pub(crate) fn listen_at(path: &Path) -> Result<(Self, UnixListener), PlaceError> {
        let path = std::path::absolute(path).map_err(failed("find", path))?;
        check_length(&path)?;
        owner_of_directory(&path, rustix::process::geteuid().as_raw())?;
        Self::listen(path, None)
    }

    fn listen(path: PathBuf, base: Option<&Path>) -> Result<(Self, UnixListener), PlaceError> {
        if let Ok(seen) = path.symlink_metadata() {
            if !seen.file_type().is_socket() {
                return Err(PlaceError::Taken(path));
            }
            if UnixStream::connect(&path).is_ok() {
                return Err(PlaceError::Live(path));
            }
            // Left by a gate that was killed.
            std::fs::remove_file(&path).map_err(failed("remove the dead socket", &path))?;
        }
        let directory = open_directory(directory_of(&path))?;
        let base = base.map(open_directory).transpose()?;
        let socket = bind_unheard(&path).map_err(failed("listen at", &path))?;
        let place = Self {
            path,
            directory,
            base,
        };
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&place.path, private)
            .map_err(failed("close to others", &place.path))?;
        listen(&socket, Backlog::MAXCONN)
            .map_err(|errno| failed("listen at", &place.path)(errno.into()))?;
        let listener = UnixListener::from(socket);
        Ok((place, listener))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn check_length(path: &Path) -> Result<(), PlaceError> {
    if path.as_os_str().as_bytes().len() > PATH_MAX_BYTES {
        return Err(PlaceError::TooLong(path.to_owned()));
    }
    Ok(())
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        let socket = self.path.file_name().unwrap_or_default();
        let name = directory_of(&self.path).file_name().unwrap_or_default();
        let removed = unlinkat(&self.directory, socket, AtFlags::empty());
        let removed = removed.and_then(|()| match &self.base {
            Some(base) => unlinkat(base, name, AtFlags::REMOVEDIR),
            None => Ok(()),
        });
        if let Err(error) = removed {
            tracing::warn!(path = %self.path.display(), %error, "the socket is not removed");
        }
    }
}

/// The socket of `session` below `base`.
pub(crate) fn socket_of(base: &Path, session: &str) -> PathBuf {
    base.join(session).join(SOCKET)
}

/// The sockets below `base`, the newest first. Some may be of sessions that are dead.
///
/// # Errors
/// What reading the directory answers; a base that is not there holds none.
pub(crate) fn sockets(base: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in entries {
        let path = entry?.path().join(SOCKET);
        if let Ok(made) = path.symlink_metadata().and_then(|seen| seen.modified()) {
            found.push((made, path));
        }
    }
    found.sort_unstable_by(|one, other| other.cmp(one));
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Who owns the directory of `socket`, once nobody else can have put the socket there.
///
/// # Errors
/// If it is neither `own` nor, where `own` is root, a user's, or others may write to it.
pub(crate) fn owner_of_directory(socket: &Path, own: u32) -> Result<u32, PlaceError> {
    let directory = directory_of(socket);
    let seen = look(directory)?;
    if seen.owner != own && own != 0 || seen.mode & 0o022 != 0 {
        return Err(seen.not_own(directory, own));
    }
    Ok(seen.owner)
}

fn directory_of(socket: &Path) -> &Path {
    match socket.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

struct Seen {
    owner: u32,
    mode: u32,
}

impl Seen {
    fn not_own(&self, path: &Path, own: u32) -> PlaceError {
        PlaceError::NotOwn {
            path: path.to_owned(),
            owner: self.owner,
            mode: self.mode,
            own,
        }
    }
}

/// A link as the last component is an error: it may be another's.
fn open_directory(directory: &Path) -> Result<OwnedFd, PlaceError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(directory, flags, Mode::empty());
    opened.map_err(|errno| failed(LOOK, directory)(errno.into()))
}

fn look(directory: &Path) -> Result<Seen, PlaceError> {
    let fd = open_directory(directory)?;
    let seen = fstat(fd.as_fd()).map_err(|errno| failed(LOOK, directory)(errno.into()))?;
    Ok(Seen {
        owner: seen.st_uid,
        mode: seen.st_mode & 0o7777,
    })
}

/// A socket at `path` to which nobody can connect before listen(2).
///
/// Every accepted socket has `SO_PASSCRED` from it, at the moment of the connect(2): a message that
/// is sent to a socket without it carries no credentials, and counts as nobody's.
fn bind_unheard(path: &Path) -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::Unix, SockType::Stream);
    let socket = socket(family, kind, SockFlag::SOCK_CLOEXEC, None)?;
    setsockopt(&socket, PassCred, &true)?;
    bind(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    Ok(socket)
}

/// Makes `directory` for its user alone; and `/run`, which some containers lack, for everybody to go
/// through. Of other places that are missing somebody is to hear.
fn make_private(directory: &Path) -> Result<(), PlaceError> {
    const RUN: &str = "/run";
    let make = |mode, directory: &Path| DirBuilder::new().mode(mode).create(directory);
    if directory.parent() == Some(Path::new(RUN)) {
        // It is there mostly; where it cannot be made, what is below says so.
        make(0o755, Path::new(RUN)).ok();
    }
    match make(0o700, directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(
            "make the control socket's directory",
            directory,
        )(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn check_owner(directory: &Path, own: u32) -> Result<(), PlaceError> {
    let seen = look(directory)?;
    if seen.owner == own && seen.mode & 0o022 == 0 {
        Ok(())
    } else {
        Err(seen.not_own(directory, own))
    }
}

#[cfg(test)]
mod tests {
    use nix::sys::socket::getsockopt;

    use super::*;

    #[test]
    fn a_session_listens_alone_and_leaves_nothing() {
        let base = tempfile::tempdir().unwrap();
        let (place, _listener) = SocketPlace::listen_below(base.path(), "one").unwrap();
        assert_eq!(sockets(base.path()).unwrap(), [place.path()]);
        let again = SocketPlace::listen_below(base.path(), "one").unwrap_err();
        assert!(matches!(again, PlaceError::Live(_)), "{again}");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(place.path()), 0o600);
        assert_eq!(mode(place.path().parent().unwrap()), 0o700);
        drop(place);
        assert!(sockets(base.path()).unwrap().is_empty());
    }

    #[test]
    fn a_dead_sessions_socket_is_no_obstacle() {
        let base = tempfile::tempdir().unwrap();
        let (place, listener) = SocketPlace::listen_below(base.path(), "one").unwrap();
        // As a killed gate leaves it.
        std::mem::forget(place);
        drop(listener);
        assert!(SocketPlace::listen_below(base.path(), "one").is_ok());
    }

    #[test]
    fn a_directory_of_others_a_link_or_a_long_path_is_refused_with_its_place() {
        let base = tempfile::tempdir().unwrap();
        let open = base.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        let error = SocketPlace::listen_below(&open, "one").unwrap_err();
        assert!(matches!(error, PlaceError::NotOwn { .. }), "{error}");
        assert!(owner_of_directory(&open.join("control"), 12345).is_err());
        let link = base.path().join("link");
        std::os::unix::fs::symlink(base.path(), &link).unwrap();
        let error = SocketPlace::listen_below(&link, "one").unwrap_err();
        assert!(matches!(error, PlaceError::System { .. }), "{error}");
        let error = SocketPlace::listen_below(base.path(), &"x".repeat(100)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("bytes, and a socket's may have 107"),
            "{text}"
        );
    }

    #[test]
    fn whoever_connects_first_is_already_one_whose_messages_have_a_sender() {
        const TIMES: usize = 300;
        let base = tempfile::tempdir().unwrap();
        for time in 0..TIMES {
            let name = time.to_string();
            let path = socket_of(base.path(), &name);
            let hasty = std::thread::spawn(move || {
                loop {
                    if let Ok(stream) = UnixStream::connect(&path) {
                        return stream;
                    }
                }
            });
            let (_place, listener) = SocketPlace::listen_below(base.path(), &name).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            assert!(getsockopt(&accepted, PassCred).unwrap(), "{time}");
            drop(hasty.join().unwrap());
        }
    }

    #[test]
    fn no_directory_means_no_session() {
        let base = tempfile::tempdir().unwrap();
        assert!(sockets(&base.path().join("none")).unwrap().is_empty());
    }
}
