//! A rule as its author wrote it: the entries of its keys, as text.

use std::collections::BTreeMap;

use crate::fields::Fields;
use crate::keys::{self, Section};
use crate::path::file_name;

/// The entries of a rule by key: of those that select, and of `children`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Written(BTreeMap<&'static str, Vec<String>>);

impl Written {
    /// That of one table.
    pub(crate) fn of(fields: &Fields<'_>, section: Section) -> Self {
        let selecting = keys::of(section).filter(|key| key.selects || key.name == "children");
        let entries = selecting.filter_map(|key| {
            let texts = fields.texts(key.name);
            let texts: Vec<String> = texts.iter().map(|text| text.text.to_owned()).collect();
            (!texts.is_empty()).then_some((key.name, texts))
        });
        let mut written: BTreeMap<_, _> = entries.collect();
        if fields.is_true("ignore_case") {
            written.insert("ignore_case", Vec::new());
        }
        Self(written)
    }

    /// Of a rule that has one entry.
    pub(crate) fn single(key: &'static str, entry: &str) -> Self {
        Self(BTreeMap::from([(key, vec![entry.to_owned()])]))
    }

    /// The entries at `key`; none if it is not there.
    pub(crate) fn entries(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The keys that are there, each with an exception and the same entry without.
    pub(crate) fn emptied(&self) -> impl Iterator<Item = &'static str> {
        let is_emptied = |entries: &Vec<String>| {
            let mut wanted = entries.iter().filter(|it| !it.starts_with('!')).peekable();
            let is_out =
                |entry: &String| entries.iter().any(|it| it.strip_prefix('!') == Some(entry));
            wanted.peek().is_some() && wanted.all(is_out)
        };
        let keys = self.0.iter();
        keys.filter(move |(_, entries)| is_emptied(entries))
            .map(|(key, _)| *key)
    }

    /// Whether whatever `other` is about, this is about too, as far as the text says: no entry of it is
    /// an exception, each of its keys is there and has all that the other's has, and its commands are
    /// the other's or their family.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let mut keys = self.0.iter();
        let covers_words = match (self.command_words(), other.command_words()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(others)) => others
                .iter()
                .all(|other| own.iter().any(|own| leads(own, other))),
        };
        covers_words
            && keys.all(|(key, own)| {
                let has_exceptions = own.iter().any(|entry| entry.starts_with('!'));
                let is_word = matches!(*key, "program" | "command") && !self.is_bound();
                let others = other.entries(key);
                let has_all = !others.is_empty() && others.iter().all(|it| own.contains(it));
                !has_exceptions && (is_word || *key == "children" || has_all)
            })
    }

    /// Whether `program` says which file the names of `command` mean.
    fn is_bound(&self) -> bool {
        !self.entries("program").is_empty() && !self.entries("command").is_empty()
    }

    /// The commands that the rule is about, each as its words; `None` if it is about any.
    fn command_words(&self) -> Option<Vec<Vec<&str>>> {
        let of = |key| {
            self.entries(key)
                .iter()
                .map(|entry| entry.split_whitespace().collect())
        };
        let mut words: Vec<Vec<&str>> = of("command").collect();
        if words.is_empty() {
            words = self
                .entries("program")
                .iter()
                .map(|entry| vec![entry.as_str()])
                .collect();
        }
        (!words.is_empty()).then_some(words)
    }

    /// The file names of the commands that the rule is about, each with the word behind it; `None` if it
    /// is about any.
    pub(crate) fn heads(&self) -> Option<Vec<(&str, Option<&str>)>> {
        let words = self.command_words()?;
        let heads = words.iter().filter_map(|words| {
            let (first, rest) = words.split_first()?;
            Some((name_of(first), rest.first().copied()))
        });
        Some(heads.collect())
    }
}

/// Whether the words of `own` mean the command `other` or its family.
fn leads(own: &[&str], other: &[&str]) -> bool {
    let (Some((program, words)), Some((named, rest))) = (own.split_first(), other.split_first())
    else {
        return false;
    };
    let is_program = program == named || !program.contains('/') && *program == name_of(named);
    is_program && rest.starts_with(words)
}

fn name_of(program: &str) -> &str {
    str::from_utf8(file_name(program.as_bytes())).unwrap_or(program)
}
