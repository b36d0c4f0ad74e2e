//! The files of one log.
//!
//! The one that is written to has the log's own name. One that was full or old has that name with a number behind it, and
//! the time and `seq` of its first record: `audit.jsonl.000001-20261129T231533Z-0`. Numbers count from 1 and are never
//! used again.
//!
//! The next file is made under the very name that the present one will have, and the two names are exchanged
//! (renameat2(2)): at every moment the log's name leads to a file that goes on where the others end. A gate that dies
//! before the exchange leaves a file that begins by saying it follows itself: that one is none of the log yet.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::{Dir, Mode, OFlags, openat};
use serde::Deserialize;

use super::whole::LINE_MAX_BYTES;

/// How a name tells the time: UTC, to the second.
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// A file of a log that nobody writes to any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Segment {
    pub(super) number: u32,
    pub(super) name: OsString,
}

/// What the first record of a file says of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct First {
    /// The file's number, if it is not the log's first.
    pub(super) number: Option<u32>,
    pub(super) time: Option<Timestamp>,
    pub(super) seq: u64,
}

/// The same, as it is written.
#[derive(Deserialize)]
struct FirstLine {
    #[serde(rename = "type")]
    kind: String,
    ts: Timestamp,
    seq: u64,
    #[serde(default)]
    segment: Option<SegmentRef>,
}

#[derive(Deserialize)]
struct SegmentRef {
    number: u32,
    #[serde(default)]
    previous: Option<String>,
}

impl Segment {
    /// The name of the segment `number` of the log `log`, whose first record is known.
    pub(super) fn name(log: &OsStr, number: u32, first: First) -> OsString {
        let time = first.time.unwrap_or_default().strftime(TIME);
        let behind = format!(".{number:06}-{time}-{}", first.seq);
        OsString::from_vec([log.as_bytes(), behind.as_bytes()].concat())
    }

    /// Whether the file `name` is one of the log `log`'s.
    fn parse(log: &OsStr, name: &OsStr) -> Option<Self> {
        let behind = name.as_bytes().strip_prefix(log.as_bytes())?;
        let behind = std::str::from_utf8(behind.strip_prefix(b".")?).ok()?;
        let mut parts = behind.split('-');
        let (number, time, seq) = (parts.next()?, parts.next()?, parts.next()?);
        let is_number = |text: &str, least| {
            text.len() >= least && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_time = time.len() == 16 && time.ends_with('Z');
        let is_one = is_number(number, 6) && is_time && is_number(seq, 1) && parts.next().is_none();
        Some(Self {
            number: number.parse().ok().filter(|number| is_one && *number > 0)?,
            name: name.to_owned(),
        })
    }

    /// Those in `directory` that have a name of the log `log`, the oldest first.
    ///
    /// # Errors
    /// What reading the directory answers.
    pub(super) fn named(directory: &File, log: &OsStr) -> io::Result<Vec<Self>> {
        let mut segments = Vec::new();
        for entry in Dir::read_from(directory)? {
            let entry = entry?;
            segments.extend(Self::parse(
                log,
                OsStr::from_bytes(entry.file_name().to_bytes()),
            ));
        }
        segments.sort();
        Ok(segments)
    }

    /// The same, but for one that is not finished.
    ///
    /// # Errors
    /// The same.
    pub(super) fn all(directory: &File, log: &OsStr) -> io::Result<Vec<Self>> {
        let mut segments = Self::named(directory, log)?;
        segments.pop_if(|last| last.is_unfinished(directory));
        Ok(segments)
    }

    /// Whether it was made to follow the file that had the log's name, and has not come to have that.
    pub(super) fn is_unfinished(&self, directory: &File) -> bool {
        let line = self.open(directory).and_then(|file| first_line(&file));
        let opens = line.ok().flatten().filter(|line| line.kind == "audit.open");
        let previous = opens.and_then(|line| line.segment?.previous);
        previous.is_some() && previous.as_deref() == self.name.to_str()
    }

    /// # Errors
    /// What openat(2) answers.
    pub(super) fn open(&self, directory: &File) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(directory, &self.name, flags, Mode::empty())?.into())
    }
}

impl First {
    /// Nothing is known of a file without a whole record.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let Some(line) = first_line(file)? else {
            return Ok(Self::default());
        };
        let begins = ["audit.open", "audit.sealed"].contains(&line.kind.as_str());
        let opens = line.segment.filter(|_| begins);
        Ok(Self {
            number: opens.map(|segment| segment.number),
            time: Some(line.ts),
            seq: line.seq,
        })
    }
}

fn first_line(file: &File) -> io::Result<Option<FirstLine>> {
    /// Where it is read from, whoever else reads the file.
    struct Beginning<'a>(&'a File, u64);
    impl Read for Beginning<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read_at(buffer, self.1)?;
            self.1 += read as u64;
            Ok(read)
        }
    }
    let mut line = Vec::new();
    let beginning = BufReader::new(Beginning(file, 0));
    beginning
        .take(LINE_MAX_BYTES)
        .read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line).ok())
}

/// The directory that holds `path`.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
