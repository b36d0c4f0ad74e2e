//! Opening what must be a regular file: policies and logs that somebody named; and writing a new one.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a regular file for reading. A device has no end, and a FIFO would wait for its writer.
///
/// # Errors
/// What open(2) answers, and if it is no regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// Opens a file that was not there for writing, for its owner alone.
///
/// # Errors
/// What open(2) answers; `AlreadyExists` if there is one.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Writes `text` to such a file.
///
/// # Errors
/// What open(2) and write(2) answer; `AlreadyExists` if there is one.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    create_new(path)?.write_all(text.as_bytes())
}
