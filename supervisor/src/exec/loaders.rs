//! The ELF interpreters of the system: files that run first in almost every program, and are no
//! choice of whoever starts it.

use std::fs;

use super::loaded::parse_mapping;
use super::{FileId, SessionRoot};
use crate::tracee::{Procfs, whole_lines};

/// Where the interpreters that C libraries name lie, by their ABIs.
const NAMES: [&[u8]; 8] = [
    b"/lib64/ld-linux-x86-64.so.2",
    b"/lib/ld-linux.so.2",
    b"/libx32/ld-linux-x32.so.2",
    b"/lib/ld-linux-aarch64.so.1",
    b"/lib/ld-linux-armhf.so.3",
    b"/lib/ld-musl-x86_64.so.1",
    b"/lib/ld-musl-i386.so.1",
    b"/lib/ld-musl-aarch64.so.1",
];

/// The interpreters as they were when the session began.
#[derive(Clone, Debug)]
pub(crate) struct SystemLoaders {
    known: Vec<(FileId, Vec<u8>)>,
    /// The gate's own, as a maps file names it: on some file systems not as statx(2) does.
    mapped: Option<FileId>,
}

impl SystemLoaders {
    /// Looks the names up below the session's root.
    pub(crate) fn find(session: &SessionRoot, proc: &Procfs) -> Self {
        let found = NAMES
            .iter()
            .filter_map(|name| session.named_file_at(name, proc));
        let known: Vec<_> = found.collect();
        let maps = fs::read("/proc/self/maps").unwrap_or_default();
        let mut mappings = whole_lines(&maps).filter_map(parse_mapping);
        let mapped = mappings.find(|(_, path)| known.iter().any(|(_, known)| known == path));
        Self {
            mapped: mapped.map(|(id, _)| id),
            known,
        }
    }

    /// Whether what a maps file names so is one of them. A path is believed where it is the
    /// session's own; the inode must be right in any case.
    pub(crate) fn has(&self, mapped: FileId, path: &[u8], is_foreign: bool) -> bool {
        self.mapped == Some(mapped)
            || self.known.iter().any(|(known, name)| {
                *known == mapped || (!is_foreign && known.inode == mapped.inode && name == path)
            })
    }
}
