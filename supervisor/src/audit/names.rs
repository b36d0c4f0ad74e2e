//! The names by which a new log is found: of its file, and of the directories that are made for it.
//!
//! A file that is synced may have no name after a power cut: that is its directory's, which is synced by
//! itself (fsync(2)).

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::io::Errno;

use super::segment::directory_of;
use crate::places::make_private;

/// The directories that hold them, open: a session may come to have others in their place.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<File>);

impl Names {
    /// Makes the directory of `path`, 0700 as all that are made above it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn make_for(path: &Path) -> io::Result<Self> {
        let parent = |path: &Path| directory_of(path).to_owned();
        let directory = parent(path);
        let is_missing = |path: &&Path| !path.try_exists().unwrap_or(true);
        let missing = directory.ancestors().take_while(is_missing);
        let mut holders: Vec<_> = missing.map(parent).collect();
        make_private(&directory)?;
        holders.push(directory);
        let open = |holder: &Path| {
            File::open(holder).inspect_err(|error| {
                tracing::warn!(%error, "a name in `{}` may not outlast a power cut", holder.display());
            })
        };
        let open = holders.iter().map(|holder| open(holder));
        Ok(Self(open.filter_map(Result::ok).collect()))
    }

    /// Waits until they are on the disk, once.
    ///
    /// # Errors
    /// What fsync(2) answers, but where a file system has it for files alone.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        for holder in std::mem::take(&mut self.0) {
            sync(&holder)?;
        }
        Ok(())
    }
}

/// Waits until the names in a directory are on the disk, where its file system has that.
///
/// # Errors
/// What fsync(2) answers.
pub(super) fn sync(directory: &File) -> io::Result<()> {
    match rustix::fs::fsync(directory) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
