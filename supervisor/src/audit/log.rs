//! The log: opened once, appended to by the gate alone, one write(2) a record.
//!
//! A record that cannot be written whole is taken back, counted, and answered with a refusal by
//! the caller; the next one that can be written is preceded by an `audit.gap` that says how many
//! are missing. A second thread syncs to the disk and writes nothing.

mod rotate;

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use serde::Serialize;

use super::chain::Link;
use super::checkpoint::{Checkpoint, Seal};
use super::file::LogFile;
use super::record::{Body, Gap, SessionNote};
use super::reserve::Claim;
use super::rotation::{Limits, Schedule};
use super::segment::First;
use super::session::LogNote;
use super::syncer::Syncer;
use super::text::{Ascii, ExactBytes};
use super::whole::last_line;
use crate::clock;
use crate::policy::Kept;

/// Version of the record format.
const SCHEMA: &str = "1.0";

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
    /// Who signs next; nobody behind the session's last record.
    seal: Option<Seal>,
    schedule: Schedule,
    /// What could not be done for the log beside its records, of late.
    trouble: Option<String>,
    syncer: Option<Syncer>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Checkpoint>,
    prev: Link,
}

/// A line that is written nowhere yet, and what comes behind it.
struct Rendered {
    link: Link,
    /// Who signs behind it, of a checkpoint.
    next: Option<Option<Seal>>,
}

impl Log {
    /// Opens `path` for appending, 0600, in directories made 0700. Nothing in it is changed.
    ///
    /// # Errors
    /// If that cannot be done, or `path` is something other than a regular file.
    pub(crate) fn open(
        path: &Path,
        session: SessionNote,
        limits: Limits,
    ) -> Result<Self, LogError> {
        let chain = session.id.clone();
        Ok(Self {
            file: LogFile::open(path)?,
            seal: Some(Seal::first()?),
            schedule: Schedule::of(limits, 0, First::default()),
            trouble: None,
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
        let (limits, bytes) = (self.schedule.limits(), self.file.file.metadata()?.len());
        self.schedule = Schedule::of(limits, bytes, First::of(&self.file.file)?);
        Ok(LogNote {
            recovered_bytes: recovered,
            reserve_bytes: self.file.reserve_bytes(),
            is_unstable: false,
            key: self.seal.as_ref().map(Seal::public),
            previous: last_line(&self.file.file, bytes)?,
        })
    }

    /// Starts the thread that syncs. Until then every record is synced as it is written.
    ///
    /// # Errors
    /// If the thread cannot be had.
    pub(crate) fn start_syncing(mut self) -> io::Result<Self> {
        self.syncer = Some(Syncer::start(self.file.file.try_clone()?)?);
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
        self.write(body).inspect_err(|_| self.miss())?;
        self.sign_if_due();
        self.rotate_if_due();
        Ok(())
    }

    /// When something is to be signed though nothing more may be written.
    pub(crate) fn next_checkpoint(&self) -> Option<Instant> {
        self.seal.as_ref()?.due(self.seq)
    }

    /// Signs what has waited for it for long, or is much. What fails is tried with the next record again: it is about no
    /// exec.
    pub(crate) fn sign_if_due(&mut self) {
        if self.next_checkpoint().is_none_or(|at| Instant::now() < at) {
            return;
        }
        if let Err(error) = self.write(&Body::Checkpoint) {
            self.complain(format!("the log's records are not signed: {error}"));
            if let Some(seal) = &mut self.seal {
                seal.postpone();
            }
        }
    }

    /// Keeps the policy `kept` beside the log; its name there. It is no record, and what fails is no reason to refuse
    /// anything.
    pub(crate) fn keep(&self, kept: &Kept) -> Option<String> {
        let written = kept.file().map_err(io::Error::from);
        let written = written
            .and_then(|(name, text)| self.file.keep_beside(&format!(".policy-{name}"), &text));
        written
            .inspect_err(|error| tracing::error!(%error, "the policy is not kept beside the log"))
            .ok()
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
        let rendered = self.render(body)?;
        self.file.append(&self.line, Claim::of(body))?;
        self.wrote(rendered);
        match &self.syncer {
            Some(syncer) if syncer.tell() => Ok(()),
            None | Some(_) => Ok(self.file.sync()?),
        }
    }

    /// The line that was rendered last is in the file.
    fn wrote(&mut self, rendered: Rendered) {
        self.head = rendered.link;
        self.seq += 1;
        self.schedule.wrote(self.line.len());
        match (rendered.next, &mut self.seal) {
            (Some(next), seal) => *seal = next,
            (None, Some(seal)) => seal.wrote(),
            (None, None) => {}
        }
    }

    /// The digest of the last line.
    pub(crate) fn head(&self) -> String {
        self.head.to_string()
    }

    fn render(&mut self, body: &Body) -> Result<Rendered, LogError> {
        let seal = self.seal.as_ref().filter(|_| body.signs());
        let next = match seal {
            Some(seal) if !body.is_last() => Some(seal.next(self.seq)?),
            Some(_) | None => None,
        };
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
            checkpoint: seal.map(|seal| seal.checkpoint(self.seq, next.as_ref())),
            prev: self.head,
        };
        self.line.clear();
        let mut serializer = serde_json::Serializer::with_formatter(&mut self.line, Ascii);
        line.serialize(&mut serializer).map_err(io::Error::from)?;
        // Signature and digest cover all before their own keys: without the closing brace.
        self.line.pop();
        if let Some(seal) = seal {
            let signature = seal.sign(&self.line);
            write!(self.line, ",\"sig\":\"{signature}\"")?;
        }
        let link = self.head.next(&self.line);
        writeln!(self.line, ",\"hash\":\"{link}\"}}")?;
        let next = seal.map(|_| next);
        Ok(Rendered { link, next })
    }

    fn complain(&mut self, what: String) {
        tracing::error!(what);
        self.trouble = Some(what);
    }

    /// What could not be done for the log beside its records, of late.
    pub(crate) fn trouble(&self) -> Option<String> {
        let is_lost = match self.file.is_found() {
            Ok(is_found) => !is_found,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let lost = "the log's name is gone or another file's: what is recorded goes on where nobody finds it";
        is_lost
            .then(|| lost.to_owned())
            .or_else(|| self.trouble.clone())
    }
}

impl AsFd for Log {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests;
