//! Whether what execward keeps is its user's alone to change.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// It is not.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{}` belongs to uid {owner} with mode {mode:03o}; it must belong to uid {own} and be nobody else's \
     to change: look at it, then make it so",
    path.display()
)]
pub(crate) struct NotOwn {
    path: PathBuf,
    owner: u32,
    mode: u32,
    own: u32,
}

/// Makes sure that what is at `path`, with these facts, is the effective user's and no other's to write.
///
/// # Errors
/// If it is not.
pub(crate) fn check(path: &Path, seen: &Metadata) -> Result<(), NotOwn> {
    const OTHERS_MAY_WRITE: u32 = 0o022;
    let own = rustix::process::geteuid().as_raw();
    if seen.uid() == own && seen.mode() & OTHERS_MAY_WRITE == 0 {
        return Ok(());
    }
    Err(NotOwn {
        path: path.to_owned(),
        owner: seen.uid(),
        mode: seen.mode() & 0o7777,
        own,
    })
}
