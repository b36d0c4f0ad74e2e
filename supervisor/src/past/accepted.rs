//! What was accepted of each policy file: a copy a file, named by the digest of the file's path.
//!
//! A copy that is gone makes its file one that was never seen, which is refused sooner, not later.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;

use super::{PastError, clock, failed};
use crate::audit::digest;
use crate::directory::Directory;
use crate::policy::PolicyFile;

/// Its name in the state directory: no session's, which begins with no dot.
const DIRECTORY: &str = ".accepted";

/// Most copies that are kept: of more, those that no session has used for longest go.
const KEPT_MAX: usize = 1024;

#[derive(Clone, Debug)]
pub(super) struct Accepted {
    directory: Directory,
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
        let directory = Directory::at(state.join(DIRECTORY));
        Self { directory }
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Goes on where it is now, whatever comes to lie over its path.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(super) fn hold(&mut self) -> Result<(), PastError> {
        let path = self.directory().to_owned();
        self.directory.hold().map_err(failed("open", &path))
    }

    /// What was accepted of the file at `path`.
    ///
    /// # Errors
    /// If there is something that cannot be read.
    pub(super) fn of(&self, path: &Path) -> Result<Option<Known>, PastError> {
        let copy = copy_of(path);
        let read = || {
            let file = self.directory.open(&copy)?;
            let mut text = Vec::new();
            let most = execward_policy::SOURCE_MAX_BYTES + 1;
            (&file).take(most).read_to_end(&mut text)?;
            let seen = file.metadata()?;
            let seen = clock::stamp(seen.mtime(), seen.mtime_nsec());
            Ok(Known { text, seen })
        };
        match read() {
            Err(error) if io::Error::kind(&error) == io::ErrorKind::NotFound => Ok(None),
            known => Ok(Some(known.map_err(failed("read", &self.path_of(&copy)))?)),
        }
    }

    /// Keeps the content of `file`, as seen in its place now.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn keep(&self, file: &PolicyFile) -> Result<(), PastError> {
        let copy = copy_of(&file.path);
        let known = self.of(&file.path)?;
        // What is not there and never was needs no copy.
        if known.is_none() && file.text.is_empty() {
            return Ok(());
        }
        let now = SystemTime::now();
        if known.is_some_and(|known| known.text == file.text) {
            let touched = self.directory.open(&copy);
            let touched = touched.and_then(|copy| copy.set_modified(now));
            return touched.map_err(failed("renew", &self.path_of(&copy)));
        }
        // Written beside it, so that it is whole or the one before.
        let fresh = format!("{copy}.{}", std::process::id());
        let write = || {
            self.directory.remove(&fresh)?;
            let mut to = self.directory.create(&fresh)?;
            to.write_all(&file.text)?;
            to.sync_data()?;
            to.set_modified(now)?;
            self.directory.rename(&fresh, &copy)
        };
        write().map_err(failed("write", &self.path_of(&fresh)))?;
        self.bound()
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    fn bound(&self) -> Result<(), PastError> {
        let failed = failed("list", self.directory());
        let used = |name: String| {
            let modified = self.directory.open(&name)?.metadata()?.modified()?;
            Ok::<_, io::Error>((modified, name))
        };
        let names = self.directory.names().map_err(&failed)?;
        if names.len() <= KEPT_MAX {
            return Ok(());
        }
        let mut copies: Vec<_> = names.into_iter().map(used).filter_map(Result::ok).collect();
        copies.sort_unstable();
        for (_, copy) in copies.iter().take(KEPT_MAX / 4) {
            if let Err(error) = self.directory.remove(copy) {
                tracing::debug!(%error, copy, "the copy stays");
            }
        }
        Ok(())
    }
}

/// The name of the copy of the file at `path`.
fn copy_of(path: &Path) -> String {
    digest([path.as_os_str().as_bytes()])
}
