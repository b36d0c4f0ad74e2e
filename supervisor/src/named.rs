//! The files that rules forbid or ask about, by what no name can hide: device and inode.
//!
//! A hard link or a bind mount gives such a file another name. What it is called by the rules counts
//! all the same.

use std::collections::HashMap;

use execward_policy::Ruleset;
use rustix::fs::{AtFlags, FileType, StatxFlags, statx};

use crate::exec::FileId;
use crate::path::{directory, file_name};
use crate::root::Root;

/// Which of the files that a policy forbids or asks about are here.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedFiles(HashMap<FileId, Vec<NamedFile>>);

/// One of them.
#[derive(Clone, Debug)]
struct NamedFile {
    /// What the rules call it.
    path: Vec<u8>,
    /// Whether it had that name alone.
    is_single: bool,
}

/// Files that are many commands by many hard links, wherever those lie.
const MANY_LINKED: [&[u8]; 4] = [b"git", b"busybox", b"toybox", b"coreutils"];

impl NamedFiles {
    /// Looks for the files that `rules` name in full, as they are now below `root`.
    ///
    /// One that is a symbolic link is known by its names alone: what it leads to may be many
    /// commands.
    pub(crate) fn of(rules: &Ruleset, root: &Root) -> Self {
        let mut files: HashMap<FileId, Vec<NamedFile>> = HashMap::new();
        for path in rules.named_files() {
            let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
            let found = root.find_link(&path);
            let seen = found.and_then(|file| statx(file, "", flags, StatxFlags::BASIC_STATS));
            let Ok(seen) = seen else {
                continue;
            };
            let kind = FileType::from_raw_mode(seen.stx_mode.into());
            if kind == FileType::RegularFile {
                let is_single = seen.stx_nlink == 1;
                let file = NamedFile { path, is_single };
                files.entry(FileId::of(&seen)).or_default().push(file);
            }
        }
        Self(files)
    }

    /// What the rules call the file of that device and inode, which is at `path`.
    ///
    /// Of one that had several names the others may be other commands: bzip2 lies beside bunzip2,
    /// and git has 143 of them. Such names say nothing of one another in the same directory.
    pub(crate) fn names_of(&self, id: FileId, path: Option<&[u8]>) -> Vec<Vec<u8>> {
        let files = self.0.get(&id).into_iter().flatten();
        let is_another = |named: &NamedFile| {
            let is_many = file_name(&named.path).split(|byte| *byte == b'-').next();
            let is_many = is_many.is_some_and(|name| MANY_LINKED.contains(&name));
            is_many || path.is_none_or(|path| directory(path) == directory(&named.path))
        };
        let meant = files.filter(|named| named.is_single || !is_another(named));
        meant.map(|named| named.path.clone()).collect()
    }
}
