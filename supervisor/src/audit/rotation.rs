//! The next file of a log takes the place of one that is full or old.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, openat, renameat_with, statat, unlinkat};

use super::file::{LogFile, is_alone, share};
use super::names;
use super::record::Position;
use super::reserve::Reserve;
use super::segment::{First, Segment};
use super::whole::last_line;
use crate::clock;

/// How old the first record of a file may be.
const AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How long nothing is tried again where it could not be done.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// What becomes of a log that grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes from which on the next file begins.
    pub(crate) segment_bytes: u64,
    /// Bytes of earlier files that are kept; all, if none are named.
    pub(crate) kept_bytes: Option<u64>,
}

/// Why a file is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    Size,
    Age,
}

/// When the next file is to begin.
#[derive(Debug)]
pub(super) struct Schedule {
    limits: Limits,
    /// The present file's.
    bytes: u64,
    old_at: Instant,
    not_before: Option<Instant>,
}

/// A file that is to have the log's name, and does not have it yet.
#[derive(Debug)]
pub(super) struct Successor {
    pub(super) file: LogFile,
    /// Its number.
    pub(super) number: u32,
    /// Its name, which will be the present file's.
    pub(super) name: OsString,
    is_in_place: bool,
}

impl Full {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Age => "age",
        }
    }
}

impl Schedule {
    /// Of a file that has so many bytes, and its first record.
    pub(super) fn of(limits: Limits, bytes: u64, first: First) -> Self {
        let age = first.time.map(|time| clock::now().duration_since(time));
        let age = age
            .and_then(|age| Duration::try_from(age).ok())
            .unwrap_or_default();
        Self {
            limits,
            bytes,
            old_at: Instant::now() + AGE_MAX.saturating_sub(age),
            not_before: None,
        }
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    pub(super) fn wrote(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Whether the next is to begin now, and why.
    pub(super) fn is_due(&self) -> Option<Full> {
        let is_full = self.bytes >= self.limits.segment_bytes;
        if !is_full && Instant::now() < self.old_at {
            return None;
        }
        let waits = self.not_before.is_some_and(|at| Instant::now() < at);
        let why = if is_full { Full::Size } else { Full::Age };
        (!waits).then_some(why)
    }

    /// It could not be done now.
    pub(super) fn postpone(&mut self) {
        self.not_before = Some(Instant::now() + AGAIN_AFTER);
    }

    /// It was done.
    pub(super) fn start_over(&mut self) {
        *self = Self::of(self.limits, 0, First::default());
    }

    /// How many bytes of earlier files are kept; all, if none are named.
    pub(super) fn kept_bytes(&self) -> Option<u64> {
        self.limits.kept_bytes
    }
}

impl LogFile {
    /// Makes the file that goes on where this one ends; `None` where another session writes to this one too. It stays
    /// with this session alone until [`LogFile::give_way`] or [`share`].
    ///
    /// # Errors
    /// If it cannot be made.
    pub(super) fn successor(&self) -> io::Result<Option<Successor>> {
        if !is_alone(&self.file)? {
            return Ok(None);
        }
        let directory = self.directory()?;
        if !self.has_its_name(directory)? {
            return Err(io::Error::other("another file has its name"));
        }
        let first = First::of(&self.file)?;
        let mut named = Segment::named(directory, &self.name)?;
        if let Some(left) = named.pop_if(|last| last.is_unfinished(directory)) {
            unlinkat(directory, left.name, AtFlags::empty())?;
        }
        let last = named.last().map_or(0, |last| last.number);
        let present = first.number.unwrap_or(0).max(last + 1);
        let name = Segment::name(&self.name, present, first);
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = File::from(openat(directory, &name, flags, Mode::RUSR | Mode::WUSR)?);
        share(&file)?;
        Ok(Some(Successor {
            file: self.succeeded_by(file)?,
            number: present + 1,
            name,
            is_in_place: false,
        }))
    }

    /// Earlier files of the log that are more than `kept` bytes together, the oldest first, each with its size.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub(super) fn surplus(&self, kept: u64) -> io::Result<Vec<(Segment, u64)>> {
        let directory = self.directory()?;
        let (mut surplus, mut total) = (Vec::new(), 0_u64);
        for segment in Segment::all(directory, &self.name)?.into_iter().rev() {
            let seen = statat(directory, &segment.name, AtFlags::SYMLINK_NOFOLLOW)?;
            // What is no file of a log, or cannot be read as one, is nobody's to remove.
            let first = segment.open(directory).and_then(|file| First::of(&file));
            if !first.is_ok_and(|first| first.time.is_some()) {
                continue;
            }
            let bytes = u64::try_from(seen.st_size).unwrap_or(0);
            total = total.saturating_add(bytes);
            if total > kept {
                surplus.push((segment, bytes));
            }
        }
        surplus.reverse();
        Ok(surplus)
    }

    /// The last record of an earlier file of so many bytes.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn last_of(&self, segment: &Segment, bytes: u64) -> io::Result<Option<Position>> {
        last_line(&segment.open(self.directory()?)?, bytes)
    }

    /// # Errors
    /// What unlinkat(2) answers.
    pub(super) fn remove(&self, segment: &Segment) -> io::Result<()> {
        Ok(unlinkat(
            self.directory()?,
            &segment.name,
            AtFlags::empty(),
        )?)
    }

    /// The directory that it is in.
    ///
    /// # Errors
    /// If that cannot be read.
    pub(super) fn directory(&self) -> io::Result<&File> {
        let directory = self.directory.as_ref();
        directory.ok_or_else(|| io::Error::other("its directory cannot be read"))
    }

    /// Has `next`, which holds its first record, take the name, and be what is written to.
    ///
    /// # Errors
    /// If the names cannot be exchanged: nothing has changed then.
    pub(super) fn give_way(&mut self, mut next: Successor) -> io::Result<()> {
        let directory = self.directory()?;
        // All of it is on the disk before it counts.
        self.file.sync_data()?;
        next.file.file.sync_all()?;
        names::sync(directory)?;
        renameat_with(
            directory,
            &next.name,
            directory,
            &self.name,
            RenameFlags::EXCHANGE,
        )?;
        next.is_in_place = true;
        if let Err(error) = names::sync(directory) {
            tracing::error!(%error, "the names of the log's files may not outlast a power cut");
        }
        std::mem::swap(self, &mut next.file);
        // What was set aside behind the old one is free for the new one.
        drop(next);
        self.reserve = Reserve::set_aside(&self.file).unwrap_or_else(|error| {
            tracing::error!(%error, "nothing is set aside for a full disk");
            None
        });
        Ok(())
    }

    /// Whether the log's name leads to it.
    ///
    /// # Errors
    /// What statat(2) answers: `NotFound` if the name is gone.
    pub(super) fn is_found(&self) -> io::Result<bool> {
        self.has_its_name(self.directory()?)
    }

    fn has_its_name(&self, directory: &File) -> io::Result<bool> {
        let own = self.file.metadata()?;
        let named = statat(directory, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok((named.st_dev, named.st_ino) == (own.dev(), own.ino()))
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        if self.is_in_place {
            return;
        }
        if let Some(directory) = &self.file.directory
            && let Err(errno) = unlinkat(directory, &self.name, AtFlags::empty())
        {
            tracing::warn!(%errno, "a file of the log that nobody needs stays");
        }
    }
}
