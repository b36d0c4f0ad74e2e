//! The builtin list, as `data/watched.txt` has it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::path::has_parent_step;

const TEXT: &str = include_str!("../../data/watched.txt");

pub(super) static BUILTIN: LazyLock<Builtin> = LazyLock::new(|| Builtin::read(TEXT));

/// Every name of the data.
#[derive(Debug, Default)]
pub(super) struct Builtin {
    names: HashMap<&'static [u8], Entry>,
    /// Names with a wildcard, in the order of the data: the first that has a name decides.
    patterns: Vec<(Pattern, Entry)>,
    exempt_names: HashSet<&'static [u8]>,
    exempt_patterns: Vec<Pattern>,
    harmless: HashMap<&'static [u8], Harmless>,
}

/// What the data says of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) class: &'static str,
    /// A value counts that the session did not start with.
    pub(super) counts_set: bool,
    /// Another value than that of session start counts, or none.
    pub(super) counts_kept: bool,
}

/// Values that do no harm. The patterns are separated by blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harmless {
    /// The value is one of these.
    Value(&'static str),
    /// Each word of the value is one of these.
    Words(&'static str),
    /// The same, where commas and colons stand between words too.
    List(&'static str),
    /// The value lists absolute directories.
    Paths,
    /// What is harmless for this name.
    Same(&'static str),
}

/// A name with one `*`: what it begins and ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pattern {
    head: &'static [u8],
    tail: &'static [u8],
}

impl Builtin {
    /// What the data says of the variable called `name`, if that is watched.
    pub(super) fn entry(&self, name: &[u8]) -> Option<Entry> {
        if let Some(entry) = self.names.get(name) {
            return Some(*entry);
        }
        let mut patterns = self.patterns.iter();
        let (_, entry) = patterns.find(|(pattern, _)| pattern.matches(name))?;
        let mut exempt = self.exempt_patterns.iter();
        let is_exempt = self.exempt_names.contains(name) || exempt.any(|it| it.matches(name));
        (!is_exempt).then_some(*entry)
    }

    /// Whether the variable called `name`, of which the data says `entry`, does no harm with
    /// this value.
    pub(super) fn is_harmless(&self, name: &[u8], entry: Entry, value: &[u8]) -> bool {
        let own = self.harmless.get(name).copied();
        let own = match own {
            Some(Harmless::Same(other)) => self.harmless.get(other.as_bytes()).copied(),
            own => own,
        };
        let is_listed = match own {
            Some(Harmless::Value(patterns)) => is_one_of(patterns, value),
            Some(Harmless::Words(patterns)) => has_only(patterns, value, b" "),
            Some(Harmless::List(patterns)) => has_only(patterns, value, b" ,:"),
            Some(Harmless::Paths) => value.split(|byte| *byte == b':').all(is_absolute),
            Some(Harmless::Same(_)) | None => false,
        };
        let is_empty_one = value.is_empty() && own != Some(Harmless::Paths);
        is_listed || is_empty_one && !entry.counts_kept
    }

    /// Reads the data. A line that is not of its form is a failed test of this crate, and here
    /// left out.
    fn read(text: &'static str) -> Self {
        let mut list = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((word, rest)) = line.split_once(' ') else {
                continue;
            };
            match word {
                "exempt" => list.exempt(rest),
                "paths" => {
                    list.harmless.insert(rest.as_bytes(), Harmless::Paths);
                }
                "value" => list.add_harmless(rest, Harmless::Value),
                "words" => list.add_harmless(rest, Harmless::Words),
                "list" => list.add_harmless(rest, Harmless::List),
                class => list.watch(class, rest),
            }
        }
        list
    }

    fn exempt(&mut self, names: &'static str) {
        for name in names.split(' ') {
            match Pattern::parse(name) {
                Some(pattern) => self.exempt_patterns.push(pattern),
                None => drop(self.exempt_names.insert(name.as_bytes())),
            }
        }
    }

    fn watch(&mut self, class: &'static str, rest: &'static str) {
        let Some((counts, names)) = rest.split_once(' ') else {
            return;
        };
        let entry = Entry {
            class,
            counts_set: matches!(counts, "set" | "any"),
            counts_kept: matches!(counts, "kept" | "any"),
        };
        for name in names.split(' ') {
            match Pattern::parse(name) {
                Some(pattern) => self.patterns.push((pattern, entry)),
                None => drop(self.names.insert(name.as_bytes(), entry)),
            }
        }
    }

    fn add_harmless(&mut self, rest: &'static str, of: impl Fn(&'static str) -> Harmless) {
        let Some((name, patterns)) = rest.split_once(' ') else {
            return;
        };
        let same = patterns.strip_prefix("= ").map(Harmless::Same);
        let harmless = same.unwrap_or_else(|| of(patterns));
        self.harmless.insert(name.as_bytes(), harmless);
    }
}

impl Pattern {
    /// Reads a name that has a wildcard.
    fn parse(name: &'static str) -> Option<Self> {
        let (head, tail) = name.split_once('*')?;
        Some(Self {
            head: head.as_bytes(),
            tail: tail.as_bytes(),
        })
    }

    fn matches(self, name: &[u8]) -> bool {
        let rest = name.strip_prefix(self.head);
        rest.is_some_and(|rest| rest.ends_with(self.tail))
    }
}

/// Whether the value has words, and each is one of `patterns`.
fn has_only(patterns: &str, value: &[u8], separators: &[u8]) -> bool {
    let words = value.split(|byte| separators.contains(byte));
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    words.peek().is_some() && words.all(|word| is_one_of(patterns, word))
}

fn is_one_of(patterns: &str, word: &[u8]) -> bool {
    patterns
        .split(' ')
        .any(|pattern| is_like(pattern.as_bytes(), word))
}

/// Whether `word` is as `pattern` says, in which `[0-9]` stands for a run of these bytes. A run
/// takes all that it can.
fn is_like(mut pattern: &[u8], mut word: &[u8]) -> bool {
    while let Some((first, rest)) = pattern.split_first() {
        if *first != b'[' {
            match word.split_first() {
                Some((byte, tail)) if byte == first => (pattern, word) = (rest, tail),
                Some(_) | None => return false,
            }
            continue;
        }
        let close = rest.iter().position(|byte| *byte == b']');
        let Some((set, after)) = close.and_then(|close| rest.split_at_checked(close)) else {
            return false;
        };
        let run = word.iter().take_while(|byte| is_in(set, **byte)).count();
        if run == 0 {
            return false;
        }
        pattern = after.get(1..).unwrap_or_default();
        word = word.get(run..).unwrap_or_default();
    }
    word.is_empty()
}

/// Whether a set such as `a-z0-9_-` has `byte`; a dash at its end is one.
fn is_in(mut set: &[u8], byte: u8) -> bool {
    loop {
        match set {
            [] => return false,
            [low, b'-', high, rest @ ..] => {
                if (*low..=*high).contains(&byte) {
                    return true;
                }
                set = rest;
            }
            [one, rest @ ..] => {
                if *one == byte {
                    return true;
                }
                set = rest;
            }
        }
    }
}

/// Whether `path` begins at the root and never goes up.
fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/") && !has_parent_step(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> impl Iterator<Item = Vec<&'static str>> {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(|line| line.split(' ').collect())
    }

    #[test]
    fn every_line_is_of_the_form_and_says_something() {
        let classes = [
            "loader",
            "startup",
            "search",
            "interpreter",
            "vcs",
            "pager",
            "ssh",
            "terminal",
            "proxy",
            "build",
            "package",
            "configuration",
        ];
        let mut seen = HashSet::new();
        for words in lines() {
            assert!(words.iter().all(|word| !word.is_empty()), "{words:?}");
            let names = match words.as_slice() {
                ["exempt", names @ ..] => names,
                ["paths", name] => std::slice::from_ref(name),
                [form @ ("value" | "words" | "list"), name, patterns @ ..] => {
                    assert!(!patterns.is_empty(), "{words:?}");
                    assert!(seen.insert((*form, *name)), "{words:?}");
                    let entry = BUILTIN.entry(name.as_bytes());
                    assert!(entry.is_some_and(|entry| entry.counts_set), "{words:?}");
                    if let ["=", other] = patterns {
                        let other = BUILTIN.harmless.get(other.as_bytes());
                        assert!(other.is_some(), "{words:?}");
                        assert!(!matches!(other, Some(Harmless::Same(_))), "{words:?}");
                    }
                    continue;
                }
                [class, "set" | "kept" | "any", names @ ..] => {
                    assert!(classes.contains(class), "{words:?}");
                    for name in names {
                        assert!(seen.insert(("", *name)), "{name} is there twice");
                    }
                    names
                }
                other => panic!("{other:?}"),
            };
            assert!(!names.is_empty(), "{words:?}");
            let stars = |name: &&str| name.matches('*').count();
            assert!(names.iter().all(|name| stars(name) <= 1), "{words:?}");
        }
    }

    #[test]
    fn what_is_exempt_is_of_a_wildcard() {
        for words in lines().filter(|words| words[0] == "exempt") {
            for name in &words[1..] {
                let name = name.replace('*', "X");
                let mut patterns = BUILTIN.patterns.iter();
                assert!(
                    patterns.any(|(it, _)| it.matches(name.as_bytes())),
                    "{name}"
                );
                assert_eq!(BUILTIN.entry(name.as_bytes()), None, "{name}");
            }
        }
    }

    #[test]
    fn runs_of_bytes_are_read() {
        for (pattern, word, is_match) in [
            ("--size=[0-9]", "--size=12", true),
            ("--size=[0-9]", "--size=", false),
            ("--size=[0-9]", "--size=1x", false),
            ("[a-z_]=[0-9]", "a_b=1", true),
            ("[a-z-]x", "a-x", false),
            ("-", "-", true),
            ("[0-9,-]", "3,-4", true),
        ] {
            let is_one = is_like(pattern.as_bytes(), word.as_bytes());
            assert_eq!(is_one, is_match, "{pattern} {word}");
        }
    }
}
