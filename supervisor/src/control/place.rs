//! Where a session's control socket lies: in a directory that its user alone can enter.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::sys::socket::SockType;
use rustix::fs::{AtFlags, unlinkat};

use crate::named_socket::{
    Owner, SocketDirectory, SocketError, SocketName, Terms, check_length, failed, open_directory,
};

/// The socket's name in a session's directory.
const SOCKET: &str = "control";

const TERMS: Terms = Terms {
    kind: SockType::Stream,
    mode: 0o600,
    backlog: None,
    passes_credentials: true,
};

/// A session's socket. Dropped, it is gone from the file system.
#[derive(Debug)]
pub(crate) struct SocketPlace {
    name: SocketName,
    /// Removed behind the name: fields are dropped in their order.
    _made: Option<MadeDirectory>,
}

/// A directory that was made for one session.
#[derive(Debug)]
struct MadeDirectory {
    base: OwnedFd,
    name: OsString,
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
    ) -> Result<(Self, UnixListener), SocketError> {
        let directory = base.join(session);
        let path = directory.join(SOCKET);
        check_length(&path)?;
        let own = Owner::Only(rustix::process::geteuid().as_raw());
        make_private(base)?;
        SocketDirectory::open(base, own)?;
        make_private(&directory)?;
        let opened = SocketDirectory::open(&directory, own)?;
        let (name, listener) = SocketName::listen(path, opened, TERMS)?;
        let made = MadeDirectory {
            base: open_directory(base)?,
            name: session.into(),
        };
        let place = Self {
            name,
            _made: Some(made),
        };
        Ok((place, UnixListener::from(listener)))
    }

    /// Listens at `path`, in a directory that is there.
    ///
    /// # Errors
    /// If others may write to the directory, or it is not this user's, if the path is too long or
    /// something else is there, or if a live session has it.
    pub(crate) fn listen_at(path: &Path) -> Result<(Self, UnixListener), SocketError> {
        let path = std::path::absolute(path).map_err(failed("find", path))?;
        let directory = SocketDirectory::of(&path)?;
        let (name, listener) = SocketName::listen(path, directory, TERMS)?;
        Ok((Self { name, _made: None }, UnixListener::from(listener)))
    }

    pub(crate) fn path(&self) -> &Path {
        self.name.path()
    }
}

impl Drop for MadeDirectory {
    fn drop(&mut self) {
        if let Err(error) = unlinkat(&self.base, &self.name, AtFlags::REMOVEDIR) {
            tracing::warn!(name = %self.name.display(), %error, "the socket's directory is not removed");
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

/// Makes `directory` for its user alone; and `/run`, which some containers lack, for everybody to go
/// through. Of other places that are missing somebody is to hear.
fn make_private(directory: &Path) -> Result<(), SocketError> {
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::PassCred;

    use super::*;

    #[test]
    fn a_session_listens_alone_and_leaves_nothing() {
        let base = tempfile::tempdir().unwrap();
        let (place, _listener) = SocketPlace::listen_below(base.path(), "one").unwrap();
        assert_eq!(sockets(base.path()).unwrap(), [place.path()]);
        let again = SocketPlace::listen_below(base.path(), "one").unwrap_err();
        assert!(matches!(again, SocketError::Live(_)), "{again}");
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
        assert!(matches!(error, SocketError::NotOwn { .. }), "{error}");
        let other = Owner::Only(12345);
        assert!(SocketDirectory::open(base.path(), other).is_err());
        let link = base.path().join("link");
        std::os::unix::fs::symlink(base.path(), &link).unwrap();
        let error = SocketPlace::listen_below(&link, "one").unwrap_err();
        assert!(matches!(error, SocketError::System { .. }), "{error}");
        let error = SocketPlace::listen_below(base.path(), &"x".repeat(100)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("bytes, and may have 107"), "{text}");
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
