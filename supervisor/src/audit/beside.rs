//! What lies beside a log and is no record: the policies that were in force.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};

use super::file::LogFile;

impl LogFile {
    /// Has a file with `content` beside the log, called as the log with `behind` its name; its name. Nobody ever sees a
    /// part of it, and one that is there with anything else is replaced: it is called by what it holds.
    ///
    /// # Errors
    /// What openat(2), write(2) and renameat(2) answer.
    pub(super) fn keep_beside(&self, behind: &str, content: &[u8]) -> io::Result<String> {
        let directory = self.directory()?;
        let mut name = self.name.clone();
        name.push(behind);
        let shown = name.display().to_string();
        if has(directory, &name, content) {
            return Ok(shown);
        }
        let mut fresh = name.clone();
        fresh.push(format!(".{}", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // Of one who had the same ID, and died.
        unlinkat(directory, &fresh, AtFlags::empty()).ok();
        let file = openat(directory, &fresh, flags, Mode::RUSR | Mode::WUSR)?;
        let written = File::from(file).write_all(content);
        let placed = written.and_then(|()| Ok(renameat(directory, &fresh, directory, &name)?));
        if placed.is_err() {
            unlinkat(directory, &fresh, AtFlags::empty()).ok();
        }
        placed.map(|()| shown)
    }
}

fn has(directory: &File, name: &OsStr, content: &[u8]) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(directory, name, flags, Mode::empty()) else {
        return false;
    };
    let mut present = Vec::new();
    let read = File::from(file)
        .take(content.len() as u64 + 1)
        .read_to_end(&mut present);
    read.is_ok() && present == content
}
