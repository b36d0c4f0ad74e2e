//! What is not written down of a call's arguments: what looks like a secret.
//!
//! A guess, by the names of flags, headers and variables, by the shapes of keys, and by what a policy names. It changes
//! what is logged and shown, and no verdict. What was masked once is masked again: `***` stands for a secret wherever it
//! is found.

mod flags;
mod header;
mod name;
mod scan;
mod shape;
mod tame;
mod url;

use std::borrow::Cow;
use std::ops::Range;

use scan::Scanner;

use crate::path::file_name;
use crate::word::Word;

/// What stands where a secret was.
pub const MASK: &[u8] = b"***";

/// What a policy masks, beside what every policy does.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    /// Flags whose values are masked.
    flags: Vec<Vec<u8>>,
    /// Words that are masked.
    words: Vec<Word>,
}

/// A text and which parts of it are not to be written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked<'t> {
    text: &'t [u8],
    /// In their order, none of them empty.
    secrets: Vec<Range<usize>>,
}

impl Redaction {
    /// Adds an entry of a policy: one with a `-` in front is a flag whose value is masked, any other a pattern of words.
    pub(crate) fn add(&mut self, entry: &str, word: Word) {
        if entry.starts_with('-') {
            self.flags.push(entry.as_bytes().to_vec());
        } else {
            self.words.push(word);
        }
    }

    /// Those of all parts of a policy together.
    pub(crate) fn joined<'r>(parts: impl Iterator<Item = &'r Self>) -> Self {
        let mut joined = Self::default();
        for part in parts {
            joined.flags.extend_from_slice(&part.flags);
            joined.words.extend_from_slice(&part.words);
        }
        joined
    }

    /// The arguments of a call, its own name first.
    #[must_use]
    pub fn argv<'t>(&self, argv: &'t [Vec<u8>]) -> Vec<Masked<'t>> {
        let mut scanner = Scanner::new(self);
        if let Some(first) = argv.first() {
            scanner.call(file_name(first));
        }
        let rest = argv.iter().skip(1).map(|word| scanner.word(word));
        let rest: Vec<_> = rest.collect();
        let first = argv.first().map(|word| Scanner::new(self).word(word));
        first.into_iter().chain(rest).collect()
    }

    /// A text that is no call: a shell's, a line for people.
    #[must_use]
    pub fn text<'t>(&self, text: &'t [u8]) -> Masked<'t> {
        Scanner::new(self).word(text)
    }

    /// A text of characters as it may be written down.
    #[must_use]
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let masked = self.text(text.as_bytes());
        if masked.secrets.is_empty() {
            return Cow::Borrowed(text);
        }
        // What is masked begins and ends at characters of ASCII.
        String::from_utf8(masked.shown().into_owned()).map_or(Cow::Borrowed("***"), Cow::Owned)
    }

    fn has_flag(&self, flag: &[u8]) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    /// The value that is written behind a short flag.
    fn attached(&self, word: &[u8]) -> Option<usize> {
        let is_before =
            |flag: &&Vec<u8>| flag.len() == 2 && word.len() > 2 && word.starts_with(flag);
        self.flags.iter().find(is_before).map(Vec::len)
    }

    fn has_word(&self, word: &[u8]) -> bool {
        self.words.iter().any(|pattern| pattern.matches(word))
    }
}

impl<'t> Masked<'t> {
    /// Whether anything of it is not to be written down.
    #[must_use]
    pub fn is_masked(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// What may be written down.
    #[must_use]
    pub fn shown(&self) -> Cow<'t, [u8]> {
        if self.secrets.is_empty() {
            return Cow::Borrowed(self.text);
        }
        let (mut shown, mut from) = (Vec::with_capacity(self.text.len()), 0);
        for secret in &self.secrets {
            shown.extend_from_slice(self.text.get(from..secret.start).unwrap_or_default());
            shown.extend_from_slice(MASK);
            from = secret.end;
        }
        shown.extend_from_slice(self.text.get(from..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// What may not.
    pub fn secrets(&self) -> impl Iterator<Item = &'t [u8]> {
        let text = self.text;
        self.secrets
            .iter()
            .filter_map(move |secret| text.get(secret.clone()))
    }
}

#[cfg(test)]
mod tests;
