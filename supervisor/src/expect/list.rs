//! The file that lists the execs that are expected.
//!
//! ```toml
//! version = 1
//!
//! [[exec]]
//! program = "${cwd}/configure"
//! argv = ["configure", "--prefix=*", "**"]   # `**` at the end: whatever else follows
//! interpreter = "/usr/bin/dash"              # of a program that is a script, and of no other
//! count = 2                                  # optional: so often, no more and no less
//! ```

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::ExpectError;
use super::normal::Pattern;
use super::seen::{Exec, name};
use crate::audit::{escaped, quoted};
use crate::regular;

/// The version of the format.
pub(super) const VERSION: i64 = 1;

/// What stands for all further arguments.
pub(super) const REST: &str = "**";

/// Largest list that is read, in bytes.
const LIST_MAX_BYTES: u64 = 8 << 20;

/// A list.
#[derive(Debug)]
pub(crate) struct List {
    /// What its file is called.
    pub(super) name: String,
    pub(super) execs: Vec<Expected>,
}

/// An exec that is expected.
#[derive(Debug)]
pub(super) struct Expected {
    program: Pattern,
    /// What runs it by its `#!` line, in the end.
    interpreter: Option<Pattern>,
    argv: Vec<Pattern>,
    /// Whether more arguments may follow.
    is_open: bool,
    /// How often, if that counts.
    pub(super) count: Option<usize>,
}

impl List {
    /// Reads a list from its file.
    ///
    /// # Errors
    /// If it cannot be read, or has faults: all of them.
    pub(crate) fn read(path: &Path) -> Result<Self, ExpectError> {
        let failed = |error| ExpectError::Read {
            path: path.to_owned(),
            error,
        };
        let mut text = String::new();
        let mut file = regular::open(path).map_err(failed)?.take(LIST_MAX_BYTES);
        file.read_to_string(&mut text).map_err(failed)?;
        if text.len() as u64 == LIST_MAX_BYTES {
            return Err(failed(std::io::Error::other("more than 8 MiB")));
        }
        Self::parse(&path.display().to_string(), &text).map_err(ExpectError::Faults)
    }

    /// # Errors
    /// Its faults, each with its place, a line each.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let (document, syntax) = DeTable::parse_recoverable(text);
        let mut reader = Reader {
            name,
            text,
            faults: Vec::new(),
        };
        for error in &syntax {
            reader.fault(error.span().unwrap_or(0..0), error.message());
        }
        // What was made up to go on has faults of its own.
        let execs = match syntax.is_empty() {
            true => reader.document(document.get_ref()),
            false => Vec::new(),
        };
        if !reader.faults.is_empty() {
            reader.faults.sort();
            let faults: Vec<_> = reader.faults.into_iter().map(|(_, fault)| fault).collect();
            return Err(faults.join("\n"));
        }
        Ok(Self {
            name: name.to_owned(),
            execs,
        })
    }
}

impl Expected {
    pub(super) fn matches(&self, exec: &Exec) -> bool {
        let (Some(argv), None) = (&exec.argv, &exec.oddity) else {
            return false;
        };
        let cwd = exec.cwd.as_deref();
        let is_of = |pattern: &Pattern, word: &[u8]| pattern.matches(word, cwd);
        let is_long = argv.len() == self.argv.len() || self.is_open && argv.len() > self.argv.len();
        let is_run_alike = match (&self.interpreter, &exec.interpreter) {
            (None, None) => true,
            (Some(pattern), Some(interpreter)) => is_of(pattern, interpreter),
            (Some(_), None) | (None, Some(_)) => false,
        };
        let mut pairs = self.argv.iter().zip(argv);
        let first = pairs.next();
        is_long
            && is_run_alike
            && is_of(&self.program, &exec.program)
            && first
                .is_none_or(|(pattern, word)| is_of(pattern, word) || is_of(pattern, name(word)))
            && pairs.all(|(pattern, word)| is_of(pattern, word))
    }

    /// Whether it says this call and no other: of several that fit, it is meant.
    pub(super) fn is_exactly(&self, program: &str, argv: &[String]) -> bool {
        let own = self.argv.iter().map(Pattern::as_str);
        self.program.as_str() == program && own.eq(argv.iter().map(String::as_str))
    }

    /// As it could be typed.
    pub(super) fn in_words(&self) -> String {
        let rest = self.argv.iter().skip(1).map(Pattern::as_str);
        let words = [self.program.as_str()].into_iter().chain(rest);
        let words = words.chain(self.is_open.then_some(REST));
        let words: Vec<_> = words.map(quoted).collect();
        let mut words = words.join(" ");
        let called = self.argv.first().map(Pattern::as_str);
        if called.is_some_and(|called| !self.program.as_str().ends_with(called)) {
            words += &format!(" (called {})", quoted(called.unwrap_or_default()));
        }
        if let Some(interpreter) = &self.interpreter {
            words += &format!(" (by {})", quoted(interpreter.as_str()));
        }
        words
    }
}

/// One who goes through the text.
struct Reader<'t> {
    name: &'t str,
    text: &'t str,
    /// Each with where it is, in bytes.
    faults: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn fault(&mut self, at: Range<usize>, what: &str) {
        let before = self.text.get(..at.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |it| it.chars().count())
            + 1;
        let name = self.name;
        let fault = escaped(&format!("{name}:{line}:{column}: {what}"));
        self.faults.push((at.start, fault));
    }

    fn document(&mut self, document: &DeTable<'_>) -> Vec<Expected> {
        let mut execs = Vec::new();
        for (key, value) in document {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("version", DeValue::Integer(number)) => {
                    let version = i64::from_str_radix(number.as_str(), number.radix());
                    if version != Ok(VERSION) {
                        self.fault(value.span(), "this execward reads version 1");
                    }
                }
                ("exec", DeValue::Array(entries)) => execs = self.execs(entries),
                ("version", _) => self.fault(value.span(), "`version` is a number"),
                ("exec", _) => self.fault(value.span(), "an exec is a table: `[[exec]]`"),
                _ => self.fault(
                    key.span(),
                    "unknown key; there are `version` and `[[exec]]`",
                ),
            }
        }
        if !document.iter().any(|(key, _)| key.get_ref() == "version") {
            self.fault(0..0, "`version = 1` is missing");
        }
        execs
    }

    fn execs(&mut self, entries: &DeArray<'_>) -> Vec<Expected> {
        let mut execs = Vec::new();
        for entry in entries {
            if let DeValue::Table(table) = entry.get_ref() {
                execs.extend(self.exec(table, entry.span()));
            } else {
                self.fault(entry.span(), "an exec is a table: `[[exec]]`");
            }
        }
        execs
    }

    fn exec(&mut self, table: &DeTable<'_>, place: Range<usize>) -> Option<Expected> {
        let (mut program, mut interpreter) = (None, None);
        let (mut argv, mut is_open, mut count) = (Vec::new(), false, None);
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("program", _) => program = self.pattern(value),
                ("interpreter", _) => interpreter = self.pattern(value),
                ("argv", DeValue::Array(words)) => {
                    let last = words.iter().last().map(Spanned::get_ref);
                    is_open = matches!(last, Some(DeValue::String(word)) if word == REST);
                    let kept = words.len() - usize::from(is_open);
                    argv = words
                        .iter()
                        .take(kept)
                        .filter_map(|word| self.pattern(word))
                        .collect();
                }
                ("count", DeValue::Integer(number)) => {
                    count = usize::from_str_radix(number.as_str(), number.radix()).ok();
                    if count.is_none() {
                        self.fault(value.span(), "`count` is a number that is not negative");
                    }
                }
                ("argv", _) => {
                    self.fault(value.span(), "`argv` is a list, the program's name first")
                }
                ("count", _) => self.fault(value.span(), "`count` is a number"),
                _ => self.fault(
                    key.span(),
                    "unknown key; an exec has `program`, `argv`, `interpreter` and `count`",
                ),
            }
        }
        for needed in ["program", "argv"] {
            if !table.iter().any(|(key, _)| key.get_ref() == needed) {
                self.fault(place.clone(), &format!("an exec has its `{needed}`"));
            }
        }
        Some(Expected {
            program: program?,
            interpreter,
            argv,
            is_open,
            count,
        })
    }

    fn pattern(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Pattern> {
        let DeValue::String(text) = value.get_ref() else {
            self.fault(value.span(), "this is to be a string");
            return None;
        };
        let parsed = Pattern::parse(text);
        if let Err(why) = &parsed {
            self.fault(value.span(), why);
        }
        parsed.ok()
    }
}

#[cfg(test)]
mod tests;
