//! The log file: opened once, appended to by the gate alone, one write(2) a record.
//!
//! A record that cannot be written whole is taken back, counted, and answered with a refusal by
//! the caller; the next one that can be written is preceded by an `audit.gap` that says how many
//! are missing. A second thread syncs to the disk and writes nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;

use super::chain::Link;
use super::record::{Body, Gap, SessionNote};
use super::text::{Ascii, ExactBytes};
use crate::fault;
use crate::places::make_private;

/// Version of the record format.
const SCHEMA: &str = "1.0";

/// How long a record may lie in the page cache before it is synced: what a power cut may take.
const SYNC_EVERY: Duration = Duration::from_millis(100);

/// An open log.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    len: u64,
    session: SessionNote,
    chain: String,
    head: Link,
    seq: u64,
    missing: u64,
    line: Vec<u8>,
    syncer: Option<SyncSender<()>>,
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
    session: &'a SessionNote,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a ExactBytes>,
    chain: &'a str,
    prev: Link,
}

impl Log {
    /// Opens `path` for appending, 0600, in directories made 0700.
    ///
    /// # Errors
    /// If that cannot be done, or `path` is something other than a regular file.
    pub(crate) fn open(path: &Path, session: SessionNote) -> Result<Self, LogError> {
        let failed = |error| LogError::Open {
            path: path.to_owned(),
            error,
        };
        if let Some(directory) = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            make_private(directory).map_err(failed)?;
        }
        // NONBLOCK: a FIFO must not wait here for a reader before it is refused.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let mut options = OpenOptions::new();
        options
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(flags);
        let mut file = options.open(path).map_err(failed)?;
        let seen = file.metadata().map_err(failed)?;
        if !seen.is_file() {
            return Err(LogError::NotRegular(path.to_owned()));
        }
        let mut len = seen.len();
        if len > 0 && !ends_a_line(&file, len).map_err(failed)? {
            // An earlier writer died inside a record: end its line, so that ours stands alone.
            file.write_all(b"\n").map_err(failed)?;
            len += 1;
        }
        let chain = session.id.clone();
        let (head, line) = (Link::default(), Vec::with_capacity(4096));
        Ok(Self {
            file,
            len,
            session,
            chain,
            head,
            seq: 0,
            missing: 0,
            line,
            syncer: None,
        })
    }

    /// Starts the thread that syncs. Until then every record is synced as it is written.
    ///
    /// # Errors
    /// If the thread cannot be had.
    pub(crate) fn start_syncing(mut self) -> io::Result<Self> {
        self.syncer = Some(start_syncer(self.file.try_clone()?)?);
        Ok(self)
    }

    /// Appends `body` as one line with one write(2).
    ///
    /// # Errors
    /// If it is not in the file whole. The caller then refuses what the record was about.
    pub(crate) fn append(&mut self, body: &Body) -> Result<(), LogError> {
        if self.missing > 0 {
            let gap = Gap {
                reason: "write_failed",
                count: self.missing,
            };
            let written = self.write(&Body::Gap { gap });
            if let Err(error) = written {
                self.missing += 1;
                return Err(error);
            }
            self.missing = 0;
        }
        self.write(body).inspect_err(|_| self.missing += 1)
    }

    /// Waits until everything appended so far is on the disk.
    ///
    /// # Errors
    /// What fdatasync(2) answers.
    pub(crate) fn sync(&self) -> Result<(), LogError> {
        Ok(self.file.sync_data()?)
    }

    fn write(&mut self, body: &Body) -> Result<(), LogError> {
        let next = self.render(body)?;
        let len = self.line.len();
        fault::while_recording(&self.file, &self.line);
        match self.file.write(&self.line) {
            Ok(written) if written == len => {}
            // Cut short, by a full disk or a limit: take the piece back.
            Ok(_) => {
                self.file.set_len(self.len)?;
                self.file.seek(SeekFrom::End(0))?;
                return Err(io::Error::from(io::ErrorKind::StorageFull).into());
            }
            Err(error) => return Err(error.into()),
        }
        self.len += len as u64;
        self.head = next;
        self.seq += 1;
        match self.syncer.as_ref().map(|syncer| syncer.try_send(())) {
            Some(Ok(()) | Err(TrySendError::Full(()))) => Ok(()),
            None | Some(Err(TrySendError::Disconnected(()))) => Ok(self.file.sync_data()?),
        }
    }

    fn render(&mut self, body: &Body) -> Result<Link, LogError> {
        let line = Line {
            v: SCHEMA,
            body,
            id: uuid::Uuid::now_v7(),
            seq: self.seq,
            ts: Timestamp::now(),
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

fn ends_a_line(file: &File, len: u64) -> io::Result<bool> {
    let mut last = [0];
    file.read_exact_at(&mut last, len - 1)?;
    Ok(last == *b"\n")
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
