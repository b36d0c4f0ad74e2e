//! The lines of a log.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::Record;
use crate::audit::TailError;
use crate::check::CheckError;
use crate::regular;

/// Largest record that is read, in bytes. The gate writes none so long.
const RECORD_MAX_BYTES: u64 = 64 << 20;

/// Reads one record from a file, or from standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CheckError> {
    let failed = |error| CheckError::Read {
        path: path.to_owned(),
        error,
    };
    let mut text = Vec::new();
    if path == Path::new("-") {
        io::stdin().take(RECORD_MAX_BYTES).read_to_end(&mut text)
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(RECORD_MAX_BYTES).read_to_end(&mut text)
    }
    .map_err(failed)?;
    Ok(text)
}

/// The line of the last decision in `log` whose ID is meant by `id`; of an exec that waits, its question's.
pub(crate) fn find(log: &Path, id: &str) -> Result<Vec<u8>, CheckError> {
    let last = find_all(log, id)?.pop();
    last.ok_or_else(|| no_such(log, id))
}

/// The lines of all decisions in `log` whose ID is meant by `id`, or of the question where there is none yet: at
/// least one.
pub(crate) fn find_all(log: &Path, id: &str) -> Result<Vec<Vec<u8>>, CheckError> {
    let mut lines = Lines::open(log)?;
    let (mut found, mut asked, mut damaged) = (Vec::new(), Vec::new(), None);
    while let Some(line) = lines.next()? {
        match line.record() {
            Ok(record) => {
                let is_it = record.exec_id.is_some_and(|own| own.is_meant_by(id));
                match record.kind.as_ref() {
                    "exec.decision" if is_it => found.push(line.text.to_vec()),
                    "exec.held" if is_it => asked.push(line.text.to_vec()),
                    _ => {}
                }
            }
            Err(error) => damaged = damaged.or(Some(error)),
        }
    }
    match damaged {
        _ if !found.is_empty() => Ok(found),
        None if !asked.is_empty() => Ok(asked),
        // It may have been in that line.
        Some(Damage { line, error }) => Err(TailError::Damaged { line, error }.into()),
        None => Err(no_such(log, id)),
    }
}

fn no_such(log: &Path, id: &str) -> CheckError {
    CheckError::NoSuch {
        id: id.to_owned(),
        log: log.to_owned(),
    }
}

/// The lines of a log, one after the other.
pub(crate) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    number: usize,
}

/// A line that is not empty.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a [u8],
    number: usize,
}

/// A line that is no record.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is no record: {error}")]
pub(crate) struct Damage {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) error: serde_json::Error,
}

impl Lines {
    /// Opens a log; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, TailError> {
        // More than a core keeps near is slower.
        const BUFFER_BYTES: usize = 64 << 10;
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            let file = regular::open(path).map_err(|error| failed(path, error))?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, file))
        };
        Ok(Self {
            path: path.to_owned(),
            reader,
            line: Vec::new(),
            number: 0,
        })
    }

    /// The next line; two sessions that write to one log may leave empty ones.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, TailError> {
        loop {
            self.line.clear();
            let mut reader = self.reader.by_ref().take(RECORD_MAX_BYTES);
            let read = reader.read_until(b'\n', &mut self.line);
            if read.map_err(|error| failed(&self.path, error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some(Line {
            text: &self.line,
            number: self.number,
        }))
    }
}

impl<'a> Line<'a> {
    /// # Errors
    /// If it is no record.
    pub(crate) fn record(&self) -> Result<Record<'a>, Damage> {
        Record::parse(self.text).map_err(|error| Damage {
            line: self.number,
            error,
        })
    }
}

fn failed(path: &Path, error: io::Error) -> TailError {
    let path = path.to_owned();
    TailError::Read { path, error }
}
