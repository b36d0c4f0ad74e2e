//! Flags of a call: an entry of `flags`, and a word of `command` that begins with `-`.
//!
//! Of a program with a table ([`crate::grammar`]) they are its options, by whatever of their
//! names. Of any other their plain forms are compared: `--name`, `--name=VALUE`, `-n`, a cluster
//! such as `-rf`. What a flag takes as its value is in doubt then unless `=` says it, and twins
//! (`-f` for `--force`) are not known; a rule that means both names both.
//!
//! Letters keep their case, whatever a rule says of it: `-d` and `-D` are different flags.

use thiserror::Error;

use crate::case::Case;
use crate::escape::EscapeError;
use crate::grammar::{Known, Side, Takes};
use crate::image::Reading;
use crate::places::Places;
use crate::selector::List;
use crate::word::Word;

/// A flag, perhaps with a value.
#[derive(Debug, Clone)]
pub(crate) struct Flag {
    name: Name,
    value: Option<Word>,
    /// Where it must stand, if the command has verbs.
    side: Side,
}

#[derive(Debug, Clone)]
enum Name {
    /// `*`: any flag.
    Any,
    /// `--name`, without its dashes.
    Long(Word),
    /// `-n`, or several in a cluster, without the dash.
    Letters(Vec<u8>),
}

/// Why text is not a flag.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum FlagError {
    #[error("`{}` is no flag", .0.escape_debug())]
    NoFlag(String),
    #[error("a flag has no blank in it")]
    Blank,
    #[error("only `--name` and a value take wildcards")]
    Wildcard,
    #[error(transparent)]
    Word(#[from] EscapeError),
}

impl FlagError {
    /// What the author could write instead.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::NoFlag(_) => {
                Some("write `--name`, `-n`, `--name=VALUE` or `*` for any".to_owned())
            }
            Self::Blank => Some("a value stands after `=`, as in `--name=VALUE`".to_owned()),
            Self::Wildcard => Some("list the letters one by one".to_owned()),
            Self::Word(error) => error.help().map(str::to_owned),
        }
    }
}

impl Flag {
    /// Reads one entry, with its `!` already taken off.
    pub(crate) fn parse(text: &str, places: &Places, case: Case) -> Result<Self, FlagError> {
        if text.contains([' ', '\t', '\n']) {
            return Err(FlagError::Blank);
        }
        if text == "*" {
            return Ok(Self {
                name: Name::Any,
                value: None,
                side: Side::Either,
            });
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(Word::parse(value, places, case)?)),
            None => (text, None),
        };
        let no_flag = || FlagError::NoFlag(text.to_owned());
        let name = match name.strip_prefix("--") {
            Some("") => return Err(no_flag()),
            Some(long) => Name::Long(Word::parse(long, places, case)?),
            None => {
                let letters = name.strip_prefix('-').filter(|letters| !letters.is_empty());
                let letters = Word::parse(letters.ok_or_else(no_flag)?, places, Case::Exact)?;
                Name::Letters(letters.literal().ok_or(FlagError::Wildcard)?.to_vec())
            }
        };
        Ok(Self {
            name,
            value,
            side: Side::Either,
        })
    }

    /// The same where only that side of the verb counts.
    pub(crate) fn on(self, side: Side) -> Self {
        Self { side, ..self }
    }

    /// Whether it means any flag.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self.name, Name::Any)
    }

    /// Whether `written` takes the flag back: `--no-name`.
    pub(crate) fn is_undone_by(&self, written: &[u8]) -> bool {
        let undone = written.strip_prefix(b"--no-");
        match &self.name {
            Name::Long(name) => undone.is_some_and(|undone| name.matches(split_value(undone).0)),
            Name::Any | Name::Letters(_) => false,
        }
    }

    /// The letters behind its one dash, if it has one.
    pub(crate) fn letters(&self) -> &[u8] {
        match &self.name {
            Name::Letters(letters) => letters,
            Name::Any | Name::Long(_) => &[],
        }
    }

    /// Whether an option of a known grammar has this flag's name among its own.
    pub(crate) fn is_named_by(&self, known: &Known<'_>) -> bool {
        let mut names = known.option.names.iter().map(|name| name.as_bytes());
        match &self.name {
            Name::Any => true,
            Name::Long(long) => names
                .filter_map(|name| name.strip_prefix(b"--"))
                .any(|name| long.matches(name)),
            Name::Letters(letters) => names.any(|name| name.strip_prefix(b"-") == Some(letters)),
        }
    }

    /// Whether an option of a known grammar, by whichever of its names, is this flag.
    pub(crate) fn is(&self, known: &Known<'_>, reading: Reading) -> bool {
        let is_named = self.is_named_by(known);
        // `--rm=false`: a switch that is given a value may be switched off by it.
        let [value, _] = known.values;
        let is_on = self.value.is_some()
            || known.option.takes != Takes::Nothing
            || value.is_none_or(|value| value == b"true");
        if reading == Reading::Strict && !is_on {
            return false;
        }
        let is_there = self.side == known.side || [self.side, known.side].contains(&Side::Either);
        is_named && is_there && self.has_value(value, reading)
    }

    /// The same, where a cluster stands for any of its letters.
    pub(crate) fn is_or_holds(&self, known: &Known<'_>, reading: Reading) -> bool {
        let mut letters = self.letters().iter();
        self.is(known, reading)
            || self.value.is_none() && letters.any(|letter| known.has_letter(*letter))
    }

    /// Whether the flag `element` of a call is this one; `next` is the argument after it.
    pub(crate) fn covers(&self, element: &[u8], next: Option<&[u8]>, reading: Reading) -> bool {
        match (&self.name, reading) {
            (Name::Any, _) => true,
            (Name::Long(name), Reading::Strict) => {
                let (written, value) = split_value(element);
                let is_named = written
                    .strip_prefix(b"--")
                    .is_some_and(|written| name.matches(written));
                is_named && self.has_value(value.or(next), reading)
            }
            (Name::Long(name), Reading::Doubtful) => {
                let (written, value) = split_value(element);
                may_be_long(name, written) && self.has_value(value.or(next), reading)
            }
            (Name::Letters(letters), Reading::Strict) => {
                let (written, value) = split_value(element);
                let is_named = written.strip_prefix(b"-") == Some(letters);
                is_named && self.has_value(value.or(next), reading)
            }
            (Name::Letters(letters), Reading::Doubtful) => {
                cluster(element).is_some_and(|cluster| {
                    let may_be = |letter: &u8| self.may_be_letter(*letter, cluster, next);
                    letters.iter().all(may_be)
                })
            }
        }
    }

    /// Whether a call with these arguments has the flag.
    ///
    /// Strictly, the flag is there by itself and nothing before it could take it for a value.
    pub(crate) fn is_among<'a>(
        &self,
        arguments: impl Iterator<Item = &'a [u8]> + Clone,
        reading: Reading,
    ) -> bool {
        if let (Name::Letters(letters), Reading::Doubtful, None) =
            (&self.name, reading, &self.value)
        {
            let mut clusters = arguments.filter_map(cluster);
            let has = |letter: &u8| {
                let mut clusters = clusters.clone();
                clusters.any(|cluster| cluster.contains(letter))
            };
            return letters.iter().all(has) || clusters.any(|cluster| cluster == letters);
        }
        let is_undone = arguments.clone().any(|element| self.is_undone_by(element));
        let mut may_be_value = false;
        for (element, next) in with_next(arguments) {
            if reading == Reading::Strict && element == b"--" {
                return false;
            }
            let is_flag = is_flag(element);
            let is_certain = reading == Reading::Doubtful || !may_be_value;
            let has_value = split_value(element).1.is_some();
            // A value may switch it off, and so may what comes later.
            let is_plain = reading == Reading::Doubtful || self.value.is_some() || !has_value;
            if is_flag && is_certain && is_plain && self.covers(element, next, reading) {
                return reading == Reading::Doubtful || !is_undone;
            }
            may_be_value = is_flag && !has_value;
        }
        false
    }

    /// Whether naming this flag names `other` too.
    pub(crate) fn names(&self, other: &Self) -> bool {
        let is_same = match (&self.name, &other.name) {
            (Name::Any, _) => false,
            (Name::Long(own), Name::Long(other)) => own.includes(other),
            (Name::Letters(own), Name::Letters(other)) => {
                other.iter().all(|letter| own.contains(letter))
            }
            (Name::Long(_) | Name::Letters(_), _) => false,
        };
        let is_value = |other: &Word| self.value.as_ref().is_some_and(|own| own.includes(other));
        is_same && other.value.as_ref().is_none_or(is_value)
    }

    fn has_value(&self, value: Option<&[u8]>, reading: Reading) -> bool {
        self.value
            .as_ref()
            .is_none_or(|wanted| value.is_some_and(|value| wanted.covers(value, reading)))
    }

    fn may_be_letter(&self, letter: u8, cluster: &[u8], next: Option<&[u8]>) -> bool {
        let Some(at) = cluster.iter().position(|written| *written == letter) else {
            return false;
        };
        let attached = cluster.get(at + 1..).unwrap_or_default();
        let attached = attached.strip_prefix(b"=").unwrap_or(attached);
        self.has_value(Some(attached), Reading::Doubtful) || self.has_value(next, Reading::Doubtful)
    }
}

/// Whether `element`, without its value, may be the long flag `name`: whole, cut short as
/// getopt_long(3) takes it, or after one dash as getopt_long_only(3) does.
fn may_be_long(name: &Word, element: &[u8]) -> bool {
    let is_short_of = |written: &[u8]| !written.is_empty() && name.begins_with(written);
    match element.strip_prefix(b"--") {
        Some(written) => name.matches(written) || is_short_of(written),
        None => element
            .strip_prefix(b"-")
            .is_some_and(|written| written.len() > 1 && name.matches(written)),
    }
}

/// Whether every flag of a call is on the list of an allow, or named by `command`.
pub(crate) fn are_all_on<'a>(
    list: &List<Flag>,
    named: &[Flag],
    arguments: impl Iterator<Item = &'a [u8]>,
) -> bool {
    let wanted = || list.wanted.iter().chain(named);
    let is_everything = list.wanted.is_empty();
    with_next(arguments)
        .filter(|(element, _)| is_flag(element) && *element != b"--")
        .all(|(element, next)| {
            let is_on = |part: &[u8]| wanted().any(|flag| flag.covers(part, next, Reading::Strict));
            let is_listed = is_everything || is_on(element) || are_letters_on(element, is_on);
            let excepted = |flag: &Flag| flag.covers(element, next, Reading::Doubtful);
            is_listed && !list.exceptions.iter().any(excepted)
        })
}

/// Whether some flag of a call may be on the list of a deny or an ask.
pub(crate) fn may_be_on<'a>(list: &List<Flag>, arguments: impl Iterator<Item = &'a [u8]>) -> bool {
    with_next(arguments)
        .filter(|(element, _)| is_flag(element))
        .any(|(element, next)| {
            let may_be = |flag: &Flag| flag.covers(element, next, Reading::Doubtful);
            let is_wanted = list.wanted.is_empty() || list.wanted.iter().any(may_be);
            let is = |flag: &Flag| flag.covers(element, next, Reading::Strict);
            is_wanted && !list.exceptions.iter().any(is)
        })
}

/// Whether `element` is a cluster each of whose letters is on a list by itself. If the first
/// one takes the others for its value, it is on the list all the same.
fn are_letters_on(element: &[u8], is_on: impl Fn(&[u8]) -> bool) -> bool {
    cluster(element).is_some_and(|letters| {
        let is_plain = letters.iter().all(u8::is_ascii_alphanumeric);
        is_plain && letters.iter().all(|letter| is_on(&[b'-', *letter]))
    })
}

fn is_flag(element: &[u8]) -> bool {
    element.len() > 1 && element.starts_with(b"-")
}

/// What follows a single dash.
fn cluster(element: &[u8]) -> Option<&[u8]> {
    let letters = element.strip_prefix(b"-")?;
    (!letters.is_empty() && !letters.starts_with(b"-")).then_some(letters)
}

/// A flag and the value that `=` gives it.
fn split_value(element: &[u8]) -> (&[u8], Option<&[u8]>) {
    let at = element.iter().position(|byte| *byte == b'=');
    match at.and_then(|at| element.split_at_checked(at)) {
        Some((name, value)) => (name, value.get(1..)),
        None => (element, None),
    }
}

fn with_next<'a>(
    arguments: impl Iterator<Item = &'a [u8]>,
) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> {
    let mut rest = arguments.peekable();
    std::iter::from_fn(move || {
        let element = rest.next()?;
        Some((element, rest.peek().copied()))
    })
}

#[cfg(test)]
mod tests;
