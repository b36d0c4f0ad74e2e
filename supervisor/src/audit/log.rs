//! The log: opened once, appended to by the gate alone, one write(2) a record.
//!
//! A record that cannot be written whole is taken back, counted, and answered with a refusal by
//! the caller; the next one that can be written is preceded by an `audit.gap` that says how many
//! are missing. A second thread syncs to the disk and writes nothing.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;

use super::chain::Link;
use super::file::LogFile;
use super::record::{Body, Gap, SessionNote};
use super::reserve::Claim;
use super::session::LogNote;
use super::text::{Ascii, ExactBytes};
use crate::clock;

/// Version of the record format.
const SCHEMA: &str = "1.0";

/// How long the log is left alone between syncs. What is written while one is under way waits for its end,
/// this long, and for the next: with 12 ms for each (the slowest hundredth on an ordinary disk) a power cut
/// takes a tenth of a second.
const SYNC_EVERY: Duration = Duration::from_millis(75);

/// An open log.
#[derive(Debug)]
pub(crate) struct Log {
    file: LogFile,
    session: SessionNote,
    chain: String,
    head: Link,
    seq: u64,
    missing: Option<Missing>,
    line: Vec<u8>,
    syncer: Option<SyncSender<()>>,
}

/// Records that could not be written.
#[derive(Clone, Copy, Debug)]
struct Missing {
    count: u64,
    /// When the first one should have been.
    from: Timestamp,
}

/// Why there is no log, or no record.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// The directory or the file.
    #[error(
        "cannot open the audit log `{}`: {error}; name another with --audit", path.display()
    )]
    Open {
        /// Of which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Not a regular file.
    #[error("the audit log `{}` is not a regular file; name another with --audit", .0.display())]
    NotRegular(PathBuf),
    /// Another program keeps everybody from it.
    #[error(
        "the audit log `{}` is locked by another program (flock); end that, or name another with --audit",
        .0.display()
    )]
    Locked(PathBuf),
    /// A record.
    #[error("{0}")]
    Write(#[from] io::Error),
}

/// One line, fields in the order of the file.
#[derive(Serialize)]
struct Line<'a> {
    v: &'static str,
    #[serde(flatten)]
    body: &'a Body,
    id: uuid::Uuid,
    seq: u64,
    ts: Timestamp,
    /// Nanoseconds since the machine started: orders records also where `ts` was set.
    boot_ns: u64,
    session: &'a SessionNote,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a ExactBytes>,
    chain: &'a str,
    prev: Link,
}

impl Log {
    /// Opens `path` for appending, 0600, in directories made 0700. Nothing in it is changed.
    ///
    /// # Errors
    /// If that cannot be done, or `path` is something other than a regular file.
    pub(crate) fn open(path: &Path, session: SessionNote) -> Result<Self, LogError> {
        let chain = session.id.clone();
        Ok(Self {
            file: LogFile::open(path)?,
            session,
            chain,
            head: Link::default(),
            seq: 0,
            missing: None,
            line: Vec::with_capacity(4096),
            syncer: None,
        })
    }

    /// Makes it ready for records: a torn line of an earlier session is set apart, and room is set
    /// aside for a full disk.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub(crate) fn prepare(&mut self) -> io::Result<LogNote> {
        let recovered = self.file.prepare()?;
        Ok(LogNote {
            recovered_bytes: recovered,
            reserve_bytes: self.file.reserve_bytes(),
            is_unstable: false,
        })
    }

    /// Starts the thread that syncs. Until then every record is synced as it is written.
    ///
    /// # Errors
    /// If the thread cannot be had.
    pub(crate) fn start_syncing(mut self) -> io::Result<Self> {
        self.syncer = Some(start_syncer(self.file.file.try_clone()?)?);
        Ok(self)
    }

    /// Appends `body` as one line with one write(2).
    ///
    /// # Errors
    /// If it is not in the file whole. The caller then refuses what the record was about.
    pub(crate) fn append(&mut self, body: &Body) -> Result<(), LogError> {
        if let Some(missing) = self.missing {
            let gap = Gap {
                reason: "write_failed",
                count: missing.count,
                from: missing.from,
            };
            if let Err(error) = self.write(&Body::Gap { gap }) {
                self.miss();
                return Err(error);
            }
            self.missing = None;
        }
        self.write(body).inspect_err(|_| self.miss())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// How many records of the session are in it, and how many are missing since the last of them.
    pub(crate) fn written(&self) -> (u64, u64) {
        (self.seq, self.missing.map_or(0, |missing| missing.count))
    }

    fn miss(&mut self) {
        let (count, from) = match self.missing {
            Some(missing) => (missing.count, missing.from),
            None => (0, clock::now()),
        };
        let count = count + 1;
        self.missing = Some(Missing { count, from });
    }

    /// Waits until everything appended so far is on the disk.
    ///
    /// # Errors
    /// What fdatasync(2) answers.
    pub(crate) fn sync(&self) -> Result<(), LogError> {
        Ok(self.file.sync()?)
    }

    /// The same of the log's first record, without which nothing may run: with the file's name.
    ///
    /// # Errors
    /// What fdatasync(2) or fsync(2) answers.
    pub(crate) fn sync_first(&mut self) -> Result<(), LogError> {
        Ok(self.file.sync_with_names()?)
    }

    fn write(&mut self, body: &Body) -> Result<(), LogError> {
        let next = self.render(body)?;
        self.file.append(&self.line, Claim::of(body))?;
        self.head = next;
        self.seq += 1;
        match self.syncer.as_ref().map(|syncer| syncer.try_send(())) {
            Some(Ok(()) | Err(TrySendError::Full(()))) => Ok(()),
            None | Some(Err(TrySendError::Disconnected(()))) => Ok(self.file.sync()?),
        }
    }

    /// The digest of the last line.
    pub(crate) fn head(&self) -> String {
        self.head.to_string()
    }

    fn render(&mut self, body: &Body) -> Result<Link, LogError> {
        let line = Line {
            v: SCHEMA,
            body,
            id: uuid::Uuid::now_v7(),
            seq: self.seq,
            ts: clock::now(),
            boot_ns: clock::boot_ns(),
            session: &self.session,
            bytes: body.exact_bytes(),
            chain: &self.chain,
            prev: self.head,
        };
        self.line.clear();
        let mut serializer = serde_json::Serializer::with_formatter(&mut self.line, Ascii);
        line.serialize(&mut serializer).map_err(io::Error::from)?;
        // The digest covers all before its own key: without the closing brace.
        self.line.pop();
        let next = self.head.next(&self.line);
        writeln!(self.line, ",\"hash\":\"{next}\"}}")?;
        Ok(next)
    }
}

impl AsFd for Log {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Syncs at most every [`SYNC_EVERY`], and only when something was written.
fn start_syncer(file: File) -> io::Result<SyncSender<()>> {
    let (sender, dirty) = sync_channel(1);
    thread::Builder::new()
        .name("log-sync".into())
        .stack_size(128 << 10)
        .spawn(move || {
            let mut failed_at: Option<Instant> = None;
            while dirty.recv().is_ok() {
                thread::sleep(SYNC_EVERY);
                if let Err(error) = file.sync_data()
                    && failed_at.is_none_or(|at| at.elapsed() > Duration::from_secs(60))
                {
                    failed_at = Some(Instant::now());
                    tracing::error!(%error, "cannot sync the audit log");
                }
            }
        })?;
    Ok(sender)
}

#[cfg(test)]
mod tests;
