//! The lines of a log.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::Record;
use crate::audit::{Files, Place, TailError, is_standard_input};
use crate::check::CheckError;

/// Largest record that is read, in bytes. The gate writes none so long.
const RECORD_MAX_BYTES: u64 = 64 << 20;

/// Reads one record from a file, or from standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CheckError> {
    let failed = |error| CheckError::Read {
        path: path.to_owned(),
        error,
    };
    let mut text = Vec::new();
    if is_standard_input(path) {
        io::stdin().take(RECORD_MAX_BYTES).read_to_end(&mut text)
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(RECORD_MAX_BYTES).read_to_end(&mut text)
    }
    .map_err(failed)?;
    Ok(text)
}

/// A decision in a log, or the question of one that is still to come.
#[derive(Debug)]
pub(crate) struct FoundExec {
    /// Its record's.
    pub(crate) line: Vec<u8>,
    /// Where beside the log the policy is kept that was in force, if it is.
    pub(crate) kept: Option<String>,
}

/// The last decision in `log` whose ID is meant by `id`; of an exec that waits, its question.
pub(crate) fn find(log: &Path, id: &str) -> Result<FoundExec, CheckError> {
    let last = find_all(log, id)?.pop();
    last.ok_or_else(|| no_such(log, id))
}

/// All decisions in `log` whose ID is meant by `id`, or the questions where there is none yet: at least one.
pub(crate) fn find_all(log: &Path, id: &str) -> Result<Vec<FoundExec>, CheckError> {
    let mut lines = Lines::open(log)?;
    let (mut found, mut asked, mut damaged) = (Vec::new(), Vec::new(), None);
    let mut in_force = HashMap::new();
    while let Some(line) = lines.next()? {
        let record = match line.record() {
            Ok(record) => record,
            Err(error) => {
                damaged = damaged.or(Some(error));
                continue;
            }
        };
        if let Some(kept) = record.kept_policy() {
            in_force.insert(record.session().to_owned(), kept.map(str::to_owned));
        }
        let are = match record.kind.as_ref() {
            "exec.decision" => &mut found,
            "exec.held" => &mut asked,
            _ => continue,
        };
        if record.exec_id.is_some_and(|own| own.is_meant_by(id)) {
            are.push(FoundExec {
                line: line.text.to_vec(),
                kept: in_force.get(record.session()).cloned().flatten(),
            });
        }
    }
    match damaged {
        _ if !found.is_empty() => Ok(found),
        None if !asked.is_empty() => Ok(asked),
        // It may have been in that line.
        Some(Damage { place, error }) => Err(TailError::Damaged { place, error }.into()),
        None => Err(no_such(log, id)),
    }
}

fn no_such(log: &Path, id: &str) -> CheckError {
    CheckError::NoSuch {
        id: id.to_owned(),
        log: log.to_owned(),
    }
}

/// The lines of a log, one after the other, through all its files.
pub(crate) struct Lines {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    place: Place,
    /// What is read behind the present one.
    files: Files,
}

/// A line that is not empty.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a [u8],
    place: &'a Place,
}

/// A line that is no record.
#[derive(Debug, thiserror::Error)]
#[error("{place} is no record: {error}")]
pub(crate) struct Damage {
    pub(crate) place: Place,
    pub(crate) error: serde_json::Error,
}

impl Lines {
    /// Opens a log; `-` is standard input.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, TailError> {
        Ok(Self {
            path: path.to_owned(),
            reader: Box::new(io::empty()),
            line: Vec::new(),
            place: Place::beginning(path, path),
            files: Files::named(path).map_err(|error| failed(path, error))?,
        })
    }

    /// Goes on with the next file; whether there is one.
    fn turn_over(&mut self) -> Result<bool, TailError> {
        // More than a core keeps near is slower.
        const BUFFER_BYTES: usize = 64 << 10;
        let next = self.files.next();
        let Some((path, file)) = next.map_err(|error| failed(&self.path, error))? else {
            return Ok(false);
        };
        self.reader = Box::new(BufReader::with_capacity(BUFFER_BYTES, file));
        self.place = Place::beginning(&path, &self.path);
        Ok(true)
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
                if self.turn_over()? {
                    continue;
                }
                return Ok(None);
            }
            self.place.line += 1;
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some(Line {
            text: &self.line,
            place: &self.place,
        }))
    }
}

impl<'a> Line<'a> {
    /// # Errors
    /// If it is no record.
    pub(crate) fn record(&self) -> Result<Record<'a>, Damage> {
        let typed = |record: Record<'a>| match record.kind.is_empty() {
            true => Err(serde::de::Error::missing_field("type")),
            false => Ok(record),
        };
        Record::parse(self.text)
            .and_then(typed)
            .map_err(|error| Damage {
                place: self.place.clone(),
                error,
            })
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &'a Place {
        self.place
    }
}

fn failed(path: &Path, error: io::Error) -> TailError {
    let path = path.to_owned();
    TailError::Read { path, error }
}
