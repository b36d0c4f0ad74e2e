//! Where the scratch sessions live: a directory of their own, and nothing left anywhere else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::mkdtemp;
use serde_json::Value;

use crate::places::{self, Places};

/// What the name of the directory, and so of the sessions, begins with.
const PREFIX: &str = "execward-doctor-";

/// Behind it, letters that mkdtemp(3) replaces.
const REPLACED: usize = 6;

/// The policy of the scratch sessions.
const POLICY: &str = r#"version = 1
[mode]
security = "full"
ask = "on-miss"
[[deny]]
id = "must-not-run"
args = "__must-not-run"
[[ask]]
id = "must-ask"
args = "__must-ask"
"#;

/// Dropped, it is gone, and so is what its sessions left in the places of all sessions.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    name: String,
    /// Directories that were not there before, the deepest first.
    made: Vec<PathBuf>,
}

impl Scratch {
    /// # Errors
    /// If the directory, or a file in it, cannot be made.
    pub(super) fn new(places: &Places) -> io::Result<Self> {
        let template = format!("{PREFIX}{}", "X".repeat(REPLACED));
        let path = mkdtemp(&places::temporary().join(template))?;
        let name = path.file_name().unwrap_or_default();
        let name = name.to_str().unwrap_or_default().to_owned();
        let scratch = Self {
            made: missing_above(&places.sockets().join("session")),
            path,
            name,
        };
        fs::write(scratch.path("policy.toml"), POLICY)?;
        Ok(scratch)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// What session `which` of the scratch is called.
    pub(super) fn session(&self, which: &str) -> String {
        format!("{}-{which}", self.name)
    }

    /// The log of session `which`.
    pub(super) fn log(&self, which: &str) -> PathBuf {
        self.path(&format!("{which}.jsonl"))
    }

    /// The records that are in it.
    ///
    /// # Errors
    /// If it cannot be read, or a line of it is no record.
    pub(super) fn records(&self, which: &str) -> io::Result<Vec<Value>> {
        let text = fs::read_to_string(self.log(which))?;
        // A line without its end is being written.
        let lines = text.split_inclusive('\n').filter(|it| it.ends_with('\n'));
        let records = lines.map(|line| serde_json::from_str(line).map_err(io::Error::other));
        records.collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for directory in &self.made {
            remove_empty(directory);
        }
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, "the scratch directory is not removed");
        }
    }
}

/// One that holds something by now is somebody else's as well.
fn remove_empty(directory: &Path) {
    if let Err(error) = fs::remove_dir(directory) {
        tracing::debug!(%error, "a directory stays");
    }
}

/// The directories on the way to `path` that are not there, the deepest first.
fn missing_above(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    let missing = above.take_while(|it| it.symlink_metadata().is_err());
    missing.map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_there_is_named_from_below() {
        let base = tempfile::tempdir().unwrap();
        let missing = missing_above(&base.path().join("a/b/file"));
        assert_eq!(missing, [base.path().join("a/b"), base.path().join("a")]);
        assert!(missing_above(&base.path().join("file")).is_empty());
    }
}
