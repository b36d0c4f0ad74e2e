//! What leads out of the session's mount namespace: a directory that was entered or opened before its mounts.
//!
//! Through a directory everything below and above it can be reached as it was mounted then, whatever is
//! read-only, empty or another in the session. A descriptor stays in the mount namespace that it was opened in.

use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;

use crate::root::Root;
use crate::tracee::TaskDir;

/// Why CMD could see past what is mounted for its session; nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WayOutError {
    #[error(
        "descriptor {fd} of whoever starts execward is open on the directory `{}`, by which CMD would reach what \
         execward closes or hides; close it (`{fd}<&-`)", path.display()
    )]
    Descriptor { fd: RawFd, path: PathBuf },
    #[error(
        "the current directory `{}` is not what has that name in the session, and from in there CMD would reach \
         what execward closes or hides; start it in another", .0.display()
    )]
    Hidden(PathBuf),
    #[error("cannot look at {what}: {error}")]
    Look { what: String, error: io::Error },
}

fn failed<E: Into<io::Error>>(what: &str) -> impl Fn(E) -> WayOutError {
    move |error| WayOutError::Look {
        what: what.to_owned(),
        error: error.into(),
    }
}

/// Makes sure that none of `callers`, which CMD inherits, and none of its standard descriptors is a directory.
///
/// # Errors
/// The first that is one.
pub(crate) fn refuse_descriptors(callers: &[RawFd]) -> Result<(), WayOutError> {
    for fd in [0, 1, 2].iter().chain(callers) {
        let link = format!("/proc/self/fd/{fd}");
        let seen = match fs::metadata(&link) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            seen => seen.map_err(failed(&link))?,
        };
        if seen.is_dir() {
            let path = fs::read_link(&link).map_err(failed(&link))?;
            return Err(WayOutError::Descriptor { fd: *fd, path });
        }
    }
    Ok(())
}

/// Enters the current directory by its name: so it is below what is mounted there by now. One that has been
/// removed has none.
///
/// # Errors
/// If the name is another directory's.
pub(crate) fn enter_anew() -> Result<(), WayOutError> {
    let identity = || {
        let seen = fs::metadata(".").map_err(failed("the current directory"))?;
        Ok((seen.dev(), seen.ino()))
    };
    let before = identity()?;
    let path = match std::env::current_dir() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        path => path.map_err(failed("the current directory"))?,
    };
    match std::env::set_current_dir(&path) {
        Ok(()) if identity()? == before => Ok(()),
        Ok(()) | Err(_) => Err(WayOutError::Hidden(path)),
    }
}

/// Makes sure that the directory that `task` is in is on the mount that its name leads to below `root`, once all
/// is mounted. Of one that has been removed, the nearest that is left counts.
///
/// # Errors
/// If it is not.
pub(crate) fn check_directory(task: &TaskDir, root: &Root) -> Result<(), WayOutError> {
    let what = "the directory that CMD begins in";
    let own = task.stat("cwd", StatxFlags::MNT_ID);
    let own = own.map_err(failed(what))?.stx_mnt_id;
    let name = task.link_text("cwd").map_err(failed(what))?;
    let path = Path::new(std::ffi::OsStr::from_bytes(&name));
    for path in path.ancestors() {
        let found = match root.find_directory(path.as_os_str().as_bytes()) {
            Err(Errno::NOENT) => continue,
            found => found.map_err(failed(what))?,
        };
        let seen = statx(&found, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID);
        if seen.map_err(failed(what))?.stx_mnt_id == own {
            return Ok(());
        }
        break;
    }
    Err(WayOutError::Hidden(path.to_owned()))
}
