//! The files that rules forbid or ask about, by what no name can hide: device and inode.
//!
//! A hard link or a bind mount gives such a file another name. What it is called by the rules counts
//! all the same.

use std::collections::HashMap;

use execward_policy::Ruleset;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::exec::FileId;

/// Which of the files that a policy forbids or asks about are here.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedFiles(HashMap<FileId, Vec<Vec<u8>>>);

impl NamedFiles {
    /// Looks for the files that `rules` name in full, as they are now.
    ///
    /// One that has several links already, or is one itself, may be a multi-call file: it is known
    /// by its names alone, or a deny of one applet would be a deny of all.
    pub(crate) fn of(rules: &Ruleset) -> Self {
        let mut files: HashMap<FileId, Vec<Vec<u8>>> = HashMap::new();
        for path in rules.named_files() {
            let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC;
            let Ok(seen) = statx(CWD, path.as_slice(), flags, StatxFlags::BASIC_STATS) else {
                continue;
            };
            let kind = FileType::from_raw_mode(seen.stx_mode.into());
            if kind == FileType::RegularFile && seen.stx_nlink == 1 {
                files.entry(FileId::of(&seen)).or_default().push(path);
            }
        }
        Self(files)
    }

    /// What the rules call the file of that device and inode.
    pub(crate) fn names_of(&self, id: FileId) -> &[Vec<u8>] {
        self.0.get(&id).map_or(&[], Vec::as_slice)
    }
}
