//! Whether what is at a path is a session's to change.

use rustix::fs::{Access, AtFlags, CWD, accessat, stat};

use crate::path::directory;

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
    std::iter::successors(Some(path), |path| up(path))
        .map(|step| if step.is_empty() { b"/" } else { step })
        .find(|step| is_changeable(step, uid))
}

/// The directory of what is at `path`, until the root.
fn up(path: &[u8]) -> Option<&[u8]> {
    (!path.is_empty() && path != b"/").then(|| directory(path))
}
