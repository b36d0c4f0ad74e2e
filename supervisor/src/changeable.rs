//! Whether what is at a path is a session's to change.

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, accessat, stat};
use rustix::io::Errno;

use crate::path::directory;
use crate::root::Root;
use crate::tracee::{Credentials, as_task};

/// Whether a session with these rights, under a gate with its `own`, may write what is at `path` below
/// `root`.
pub(crate) fn may_write(
    session: &Credentials,
    own: &Credentials,
    root: &Root,
    path: &[u8],
) -> bool {
    let access = || root.check_writable(path);
    // An answer that is no answer counts as yes.
    !matches!(
        as_task(session, own, access),
        Ok(Err(Errno::ACCESS | Errno::PERM | Errno::ROFS))
    )
}

/// The first of `path`, below `root`, and the directories above by which such a session can put something
/// else at `path`. What is not there it cannot change, but for its directory.
pub(crate) fn by_session<'p>(
    session: &Credentials,
    own: &Credentials,
    root: &Root,
    path: &'p [u8],
) -> Option<&'p [u8]> {
    steps(path).find(|step| match root.stat(step) {
        Err(errno) => errno != Errno::NOENT,
        Ok(seen) => {
            let mode = Mode::from_raw_mode(seen.st_mode);
            let is_directory = FileType::from_raw_mode(seen.st_mode) == FileType::Directory;
            // What is another's stays there: sticky(7) of inode(7).
            let is_kept = is_directory && mode.contains(Mode::SVTX);
            seen.st_uid == session.fsuid || !is_kept && may_write(session, own, root, step)
        }
    })
}

/// Whether sessions of `uid` may change what is at `path` itself: a file's content, a directory's
/// entries.
fn is_changeable(path: &[u8], uid: u32) -> bool {
    const OTHERS_MAY_WRITE: u32 = 0o002;
    let Ok(seen) = stat(path) else {
        return false;
    };
    if seen.st_mode & OTHERS_MAY_WRITE != 0 || seen.st_uid == uid && uid != 0 {
        return true;
    }
    // Root may write everything, and what is another's, that other may too.
    match uid {
        0 => seen.st_uid != 0,
        _ => accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok(),
    }
}

/// The first of `path` and the directories above that sessions of `uid` may change: they decide what
/// is found at `path`.
pub(crate) fn on_the_way(path: &[u8], uid: u32) -> Option<&[u8]> {
    steps(path).find(|step| is_changeable(step, uid))
}

/// `path` and the directories above, up to the root.
fn steps(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let steps = std::iter::successors(Some(path), |path| up(path));
    steps.map(|step| if step.is_empty() { b"/" } else { step })
}

/// The directory of what is at `path`, until the root.
fn up(path: &[u8]) -> Option<&[u8]> {
    (!path.is_empty() && path != b"/").then(|| directory(path))
}
