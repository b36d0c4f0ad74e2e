//! How far the receiver has the log: of each chain the `seq` of the last record that it took.
//!
//! It is written once the receiver took records, never before: whatever happens, what it has not got is sent, and what
//! was under way when the shipper died is sent again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::counters::Counters;
use crate::record::{Place, Record};

/// The form of the file.
const VERSION: u32 = 1;

/// Largest file that is read, in bytes: a million chains.
const FILE_MAX: u64 = 64 * 1024 * 1024;

/// Follows no link, and waits at no FIFO: others may write beside a log.
const QUIETLY: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK;

/// What the file says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Position {
    version: u32,
    /// Who took the records: another has another position.
    to: String,
    /// By chain, the last `seq` that was taken.
    chains: BTreeMap<String, u64>,
    /// What was counted of all that was taken, where the receiver counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counters: Option<Counters>,
}

/// What a record is to a receiver that has been sent others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It has it.
    Had,
    /// It is the next one.
    Next,
    /// So is it, though those from this `seq` on up to it are not in the log.
    Behind(u64),
}

/// Why the position cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PositionError {
    /// The file cannot be read or written.
    #[error("cannot use the position file `{}`: {error}; --state names another", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It says something else than a position.
    #[error("`{}` is no position file: {error}; without it the log is shipped from its start", path.display())]
    Content {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
    /// It is of another version, or receiver.
    #[error("the position file `{}` is of version {version} and --to {to}", path.display())]
    Other {
        /// Which one.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// Its receiver.
        to: String,
    },
    /// Another process has it.
    #[error("another execward-ship uses the position file `{}`", .0.display())]
    Used(PathBuf),
}

impl Position {
    /// Before all records.
    pub(crate) fn start(to: &str) -> Self {
        Self {
            version: VERSION,
            to: to.to_owned(),
            chains: BTreeMap::new(),
            counters: None,
        }
    }

    /// What the record at `place` is.
    pub(crate) fn turn(&self, place: &Place) -> Turn {
        let next = match self.chains.get(&place.chain) {
            Some(last) if place.seq <= *last => return Turn::Had,
            Some(last) => last.saturating_add(1),
            None => 0,
        };
        if place.seq == next {
            Turn::Next
        } else {
            Turn::Behind(next)
        }
    }

    /// Goes on behind a record that was taken. A hole is behind one only with the record that it was seen by.
    pub(crate) fn took(&mut self, record: &Record) {
        if !record.is_hole() {
            self.pass(&record.place);
        }
    }

    /// Goes on behind that place.
    pub(crate) fn pass(&mut self, place: &Place) {
        self.chains.insert(place.chain.clone(), place.seq);
    }

    /// Forgets the chains that are not in `seen`: all of the log has been read, and it has them no more.
    pub(crate) fn keep_only(&mut self, seen: &std::collections::BTreeSet<String>) {
        self.chains.retain(|chain, _| seen.contains(chain));
    }
}

/// The file, which no other shipper uses meanwhile.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    /// Holds the lock, flock(2).
    _lock: File,
}

impl Store {
    /// The file at `path`, and what it says; `None` if it is not there.
    ///
    /// # Errors
    /// If it cannot be read, is no position of `to`, or is in use.
    pub(crate) fn open(path: &Path, to: &str) -> Result<(Self, Option<Position>), PositionError> {
        let failed = |error| PositionError::File {
            path: path.to_owned(),
            error,
        };
        let lock = private().open(beside(path, ".lock")).map_err(failed)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(PositionError::Used(path.to_owned())),
            Err(errno) => return Err(failed(errno.into())),
        }
        let store = Self {
            path: path.to_owned(),
            _lock: lock,
        };
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(QUIETLY)
            .open(path);
        let position = match opened {
            Ok(file) => Some(store.read(&file, to)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        Ok((store, position))
    }

    fn read(&self, file: &File, to: &str) -> Result<Position, PositionError> {
        let mut text = Vec::new();
        let read = io::Read::read_to_end(&mut io::Read::take(file, FILE_MAX), &mut text);
        read.map_err(|error| self.failed(error))?;
        let position: Position =
            serde_json::from_slice(&text).map_err(|error| PositionError::Content {
                path: self.path.clone(),
                error,
            })?;
        match position.version == VERSION && position.to == to {
            true => Ok(position),
            false => Err(PositionError::Other {
                path: self.path.clone(),
                version: position.version,
                to: crate::said::escaped(&position.to),
            }),
        }
    }

    /// Puts `position` on the disk, in one step.
    ///
    /// # Errors
    /// If that cannot be done: the file is as it was then.
    pub(crate) fn write(&self, position: &Position) -> Result<(), PositionError> {
        let write = || {
            let fresh = beside(&self.path, ".new");
            // Whatever has that name is none of this one's.
            match std::fs::remove_file(&fresh) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
            let mut file = private().create_new(true).open(&fresh)?;
            file.write_all(&serde_json::to_vec(position)?)?;
            file.sync_all()?;
            // A power cut that undoes the renaming leaves the position before: some records come twice.
            std::fs::rename(fresh, &self.path)
        };
        write().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> PositionError {
        PositionError::File {
            path: self.path.clone(),
            error,
        }
    }
}

/// Opens files for writing, and makes them for their owner alone.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options.custom_flags(QUIETLY);
    options
}

/// The path with `end` behind it.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    fn place(chain: &str, seq: u64) -> Place {
        let chain = chain.to_owned();
        Place { chain, seq }
    }

    #[test]
    fn what_was_taken_is_had_and_a_hole_is_seen() {
        let mut position = Position::start("journald");
        assert_eq!(position.turn(&place("a", 0)), Turn::Next);
        assert_eq!(position.turn(&place("a", 3)), Turn::Behind(0));
        position.pass(&place("a", 3));
        assert_eq!(position.turn(&place("a", 3)), Turn::Had);
        assert_eq!(position.turn(&place("a", 4)), Turn::Next);
        assert_eq!(position.turn(&place("a", 6)), Turn::Behind(4));
        assert_eq!(position.turn(&place("b", 0)), Turn::Next);
        let record = Record::test(9, &json!({}));
        position.took(&record.hole_before(0));
        assert_eq!(position.turn(&place("c", 0)), Turn::Next);
        position.took(&record);
        assert_eq!(position.turn(&place("c", 9)), Turn::Had);
    }

    #[test]
    fn a_position_comes_back_from_its_file_which_is_its_owners_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("position");
        let (store, none) = Store::open(&path, "syslog").unwrap();
        assert!(none.is_none());
        let mut position = Position::start("syslog");
        position.pass(&place("a", 7));
        store.write(&position).unwrap();
        let again = Store::open(&path, "syslog");
        assert!(matches!(again, Err(PositionError::Used(_))));
        drop(store);
        let (_store, found) = Store::open(&path, "syslog").unwrap();
        assert_eq!(found.unwrap().turn(&place("a", 8)), Turn::Next);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_position_or_another_receivers_is_not_used() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("position");
        std::fs::write(&path, "{").unwrap();
        let opened = Store::open(&path, "syslog");
        assert!(matches!(opened, Err(PositionError::Content { .. })));
        let other = serde_json::to_vec(&Position::start("journald")).unwrap();
        std::fs::write(&path, other).unwrap();
        let opened = Store::open(&path, "syslog");
        assert!(matches!(opened, Err(PositionError::Other { .. })));
    }
}
