//! `execward audit tail`: the log as an operator reads it.

mod filter;
mod line;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::Value;

pub(crate) use filter::Filter;
use filter::Sieve;
use line::{one_line, printable};

use super::files::{Files, Place, is_standard_input};

/// How often a followed log is looked at for more.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Why a log could not be shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TailError {
    /// The log.
    #[error("cannot read the audit log `{}`: {error}", path.display())]
    Read {
        /// Of which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line that is no record.
    #[error("{place} of the audit log is no record: {error}")]
    Damaged {
        /// Where.
        place: Place,
        /// Why not.
        error: serde_json::Error,
    },
    /// Where it is shown.
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

/// How to show a log.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Records as they are instead of one-liners.
    pub(crate) as_json: bool,
    /// How many of the last records to begin with; all, if none is given.
    pub(crate) last: Option<usize>,
    /// Go on as the log grows.
    pub(crate) follows: bool,
    pub(crate) filter: Filter,
}

/// A log whose end may not have come.
struct Reader<'a> {
    path: &'a Path,
    file: BufReader<File>,
    place: Place,
    /// Whether the present file gets no more: others begin behind it.
    is_final: bool,
    files: Files,
    line: Vec<u8>,
}

/// What there is to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Line,
    /// A line without its end.
    Piece,
    /// Nothing, for now.
    End,
}

/// Shows the log at `path` on `out`.
///
/// # Errors
/// If the log cannot be read, or holds a line that is no record: all others are shown first.
pub(crate) fn tail(path: &Path, how: &Shown, out: &mut impl Write) -> Result<(), TailError> {
    let mut reader = Reader::open(path)?;
    let mut sieve = Sieve::of(&how.filter);
    let mut damaged = None;
    let mut held: VecDeque<String> = VecDeque::new();
    // Nothing comes behind the end of standard input.
    let follows = how.follows && !is_standard_input(path);
    loop {
        if reader.step(follows)? == Step::End {
            flush(&mut held, out)?;
            if !follows {
                return damaged.map_or(Ok(()), Err);
            }
            thread::sleep(LOOK_EVERY);
            continue;
        }
        match reader.record() {
            Ok(Some(record)) if sieve.passes(&record) => held.push_back(if how.as_json {
                trimmed(&reader.line)
            } else {
                printable(&one_line(&record))
            }),
            Ok(_) => {}
            Err(error) => {
                if !how.as_json {
                    held.push_back(format!("- {error}"));
                }
                damaged = damaged.or(Some(error));
            }
        }
        reader.line.clear();
        match how.last {
            None => flush(&mut held, out)?,
            Some(last) if held.len() > last => drop(held.pop_front()),
            Some(_) => {}
        }
    }
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path) -> Result<Self, TailError> {
        let none = || io::Error::from(io::ErrorKind::NotFound);
        let begun = Files::named(path).and_then(|mut files| {
            let (name, file) = files.next()?.ok_or_else(none)?;
            Ok((files, name, file))
        });
        let (files, name, file) = begun.map_err(|error| failed(path, error))?;
        Ok(Self {
            path,
            file: BufReader::new(file),
            place: Place::beginning(&name, path),
            is_final: files.has_more(),
            files,
            line: Vec::new(),
        })
    }

    /// Reads on, behind what is left of the line.
    fn step(&mut self, follows: bool) -> Result<Step, TailError> {
        loop {
            let read = self.file.read_until(b'\n', &mut self.line);
            read.map_err(|error| failed(self.path, error))?;
            let is_whole = self.line.ends_with(b"\n");
            let has_piece = !self.line.is_empty();
            if is_whole || has_piece && (self.is_final || !follows) {
                self.place.line += 1;
                return Ok(if is_whole { Step::Line } else { Step::Piece });
            }
            let has_turned = match self.is_final {
                true => self.turn_over(),
                false if follows => self.look_behind(),
                false => Ok(false),
            };
            if !has_turned.map_err(|error| failed(self.path, error))? {
                return Ok(Step::End);
            }
        }
    }

    /// Goes on with the next file; whether there is one.
    fn turn_over(&mut self) -> io::Result<bool> {
        let Some((name, file)) = self.files.next()? else {
            return Ok(false);
        };
        self.file = BufReader::new(file);
        self.place = Place::beginning(&name, self.path);
        self.is_final = self.files.has_more();
        Ok(true)
    }

    /// Whether another file has the log's name by now. The present one got its last lines before that.
    fn look_behind(&mut self) -> io::Result<bool> {
        match Files::behind(self.path, self.file.get_ref()) {
            Ok(files) => self.files = files,
            // Removed as a whole: there is nothing to follow any more, but it may come again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
        self.is_final = self.files.has_more();
        Ok(self.is_final)
    }

    /// The record in the line, which two sessions that write to one log may have left empty.
    fn record(&self) -> Result<Option<Value>, TailError> {
        if self.line.trim_ascii().is_empty() {
            return Ok(None);
        }
        let damaged = |error| TailError::Damaged {
            place: self.place.clone(),
            error,
        };
        let record: Value = serde_json::from_slice(&self.line).map_err(damaged)?;
        match record.get("type") {
            Some(Value::String(_)) => Ok(Some(record)),
            Some(_) | None => Err(damaged(serde::de::Error::missing_field("type"))),
        }
    }
}

fn failed(path: &Path, error: io::Error) -> TailError {
    let path = path.to_owned();
    TailError::Read { path, error }
}

fn flush(held: &mut VecDeque<String>, out: &mut impl Write) -> Result<(), TailError> {
    let shown = held.drain(..).try_for_each(|line| writeln!(out, "{line}"));
    shown.and_then(|()| out.flush()).map_err(TailError::Write)
}

fn trimmed(line: &[u8]) -> String {
    super::text::displayed(line.trim_ascii_end())
}

#[cfg(test)]
mod tests;
