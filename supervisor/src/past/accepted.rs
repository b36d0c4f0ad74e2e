//! What was accepted of each policy file: a copy a file, named by the digest of the file's path.
//!
//! A copy that is gone makes its file one that was never seen, which is refused sooner, not later.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use super::{PastError, clock, failed};
use crate::audit::digest;
use crate::policy::PolicyFile;
use crate::regular;

/// Its name in the state directory: no session's, which begins with no dot.
const DIRECTORY: &str = ".accepted";

/// Most copies that are kept: of more, those that no session has used for longest go.
const KEPT_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub(super) struct Accepted {
    directory: PathBuf,
}

/// What was accepted of one file.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) text: Vec<u8>,
    /// When that was last found in its place.
    pub(super) seen: Timestamp,
}

impl Accepted {
    pub(super) fn below(state: &Path) -> Self {
        let directory = state.join(DIRECTORY);
        Self { directory }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What was accepted of the file at `path`.
    ///
    /// # Errors
    /// If there is something that cannot be read.
    pub(super) fn of(&self, path: &Path) -> Result<Option<Known>, PastError> {
        let copy = self.copy_of(path);
        let read = || {
            let file = regular::open(&copy)?;
            let mut text = Vec::new();
            let most = execward_policy::SOURCE_MAX_BYTES + 1;
            (&file).take(most).read_to_end(&mut text)?;
            let seen = file.metadata()?;
            let seen = clock::stamp(seen.mtime(), seen.mtime_nsec());
            Ok(Known { text, seen })
        };
        match read() {
            Err(error) if io::Error::kind(&error) == io::ErrorKind::NotFound => Ok(None),
            known => Ok(Some(known.map_err(failed("read", &copy))?)),
        }
    }

    /// Keeps the content of `file`, as seen in its place now.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn keep(&self, file: &PolicyFile) -> Result<(), PastError> {
        let copy = self.copy_of(&file.path);
        let known = self.of(&file.path)?;
        // What is not there and never was needs no copy.
        if known.is_none() && file.text.is_empty() {
            return Ok(());
        }
        let now = SystemTime::now();
        if known.is_some_and(|known| known.text == file.text) {
            let touched = File::open(&copy).and_then(|copy| copy.set_modified(now));
            return touched.map_err(failed("renew", &copy));
        }
        // Written beside it, so that it is whole or the one before.
        let fresh = copy.with_extension(std::process::id().to_string());
        let write = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut to = options.open(&fresh)?;
            to.write_all(&file.text)?;
            to.sync_data()?;
            to.set_modified(now)?;
            std::fs::rename(&fresh, &copy)
        };
        write().map_err(failed("write", &fresh))?;
        self.bound()
    }

    fn copy_of(&self, path: &Path) -> PathBuf {
        self.directory.join(digest([path.as_os_str().as_bytes()]))
    }

    fn bound(&self) -> Result<(), PastError> {
        let failed = failed("list", &self.directory);
        let entries = std::fs::read_dir(&self.directory).map_err(&failed)?;
        let used = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?;
            Ok((entry.metadata()?.modified()?, entry.path()))
        };
        let mut copies: Vec<_> = entries.map(used).filter_map(io::Result::ok).collect();
        if copies.len() <= KEPT_MAX {
            return Ok(());
        }
        copies.sort_unstable();
        for (_, copy) in copies.iter().take(KEPT_MAX / 4) {
            if let Err(error) = std::fs::remove_file(copy) {
                tracing::debug!(%error, copy = %copy.display(), "the copy stays");
            }
        }
        Ok(())
    }
}
