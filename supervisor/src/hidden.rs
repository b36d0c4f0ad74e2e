//! What execward keeps, out of CMD's sight: `--hide-state`.
//!
//! In the session's mount namespace an empty directory lies over each of execward's own, and an empty
//! file over the log and each policy. The gate opened what it needs before.

use std::io;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};

use crate::places::make_private;
use crate::plan::Plan;

const EMPTY: &str = "execward";

/// Why it cannot be hidden; nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HideError {
    #[error(
        "--hide-state needs a mount namespace of the session's own, which only root can have \
         (CAP_SYS_ADMIN): {0}; start it with `sudo`, and with --user if CMD is not to be root"
    )]
    Namespace(io::Error),
    #[error("cannot hide `{}` from the session: {error}", path.display())]
    Cover { path: PathBuf, error: io::Error },
}

/// Covers what `plan` keeps, if that is asked for (`--hide-state`). The process must be in the mount namespace that is the session's own.
///
/// # Errors
/// If one of them stays in sight.
pub(crate) fn hide_if_asked(plan: &Plan<'_>) -> Result<(), HideError> {
    if !plan.args.hide_state {
        return Ok(());
    }
    let (mut files, directories) = plan.kept();
    // What lies in a covered directory needs no cover, under which the gate could not put another.
    files.retain(|file| !directories.iter().any(|it| file.starts_with(it)));
    // Of files first: a directory that is covered hides the way to them.
    for path in files {
        cover(path, cover_file)?;
    }
    for path in directories {
        cover(path, cover_directory)?;
    }
    Ok(())
}

fn cover(path: PathBuf, by: impl Fn(&Path) -> io::Result<()>) -> Result<(), HideError> {
    by(&path).map_err(|error| HideError::Cover { path, error })
}

fn cover_file(path: &Path) -> io::Result<()> {
    mount_bind("/dev/null", path)?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOEXEC | MountFlags::NOSUID;
    Ok(mount_remount(path, flags, "")?)
}

/// One that is not there is made, as private as it is to be: the session shall not make it.
fn cover_directory(path: &Path) -> io::Result<()> {
    make_private(path)?;
    let flags = MountFlags::RDONLY | MountFlags::NOEXEC | MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount(
        EMPTY,
        path,
        "tmpfs",
        flags,
        Some(c"mode=0755,size=4k"),
    )?)
}
