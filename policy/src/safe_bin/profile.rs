//! The builtin profiles, as `data/safe_bins.txt` has them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Unsafe, awk, charset, jq, sed};

const TEXT: &str = include_str!("../../data/safe_bins.txt");

pub(super) static BUILTIN: LazyLock<HashMap<&'static [u8], Profile>> = LazyLock::new(|| read(TEXT));

/// What is safe of a bin that there is a table of.
#[derive(Debug, Clone, Default)]
pub(super) struct Profile {
    pub(super) is_default: bool,
    pub(super) operands: Operands,
    /// The safe options, by one of the names that the table has, and what their value is.
    pub(super) flags: HashMap<&'static str, Option<Text>>,
}

/// Which operands are safe.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Operands {
    /// How many at most.
    pub(super) most: usize,
    /// What the first is, if it is not just any text.
    first: Option<Text>,
    /// Whether `-` is the standard input, and does not count.
    has_dash: bool,
}

/// A text that is read by rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Pattern,
    Charset,
    Awk,
    Jq,
    Sed,
}

impl Text {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "pattern" => Self::Pattern,
            "charset" => Self::Charset,
            "awk" => Self::Awk,
            "jq" => Self::Jq,
            "sed" => Self::Sed,
            _ => return None,
        })
    }

    /// Whether the text does nothing but filter.
    ///
    /// # Errors
    /// What else it has.
    pub(super) fn judge(self, text: &[u8]) -> Result<(), &'static str> {
        match self {
            Self::Pattern => Ok(()),
            Self::Charset if charset::is_name(text) => Ok(()),
            Self::Charset => Err("a file for a character set"),
            Self::Awk => awk::judge(text),
            Self::Jq => jq::judge(text),
            Self::Sed => sed::judge(text),
        }
    }
}

impl Operands {
    /// Whether all of `operands` are safe. Where an option `replaces_first`, the first is not
    /// what it is without, but a file.
    pub(super) fn judge<'a>(
        self,
        mut operands: impl Iterator<Item = &'a [u8]>,
        replaces_first: bool,
    ) -> Result<(), Unsafe<'a>> {
        let mut most = self.most;
        if replaces_first {
            most = most.saturating_sub(1);
        } else if let Some(text) = self.first {
            let Some(first) = operands.next() else {
                return Ok(());
            };
            text.judge(first).map_err(Unsafe::Text)?;
            most = most.checked_sub(1).ok_or(Unsafe::Operand(first))?;
        }
        let mut counted = operands.filter(|operand| !self.has_dash || *operand != b"-");
        match counted.nth(most) {
            Some(operand) => Err(Unsafe::Operand(operand)),
            None => Ok(()),
        }
    }

    /// The same texts, but another number of them.
    pub(super) fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }
}

/// Reads the data. What is not of its form is a failed test of this crate, and here left out.
fn read(text: &'static str) -> HashMap<&'static [u8], Profile> {
    let mut profiles: HashMap<&[u8], Profile> = HashMap::new();
    let mut current: &[u8] = b"";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "bin" => {
                let (name, mark) = rest.split_once(' ').unwrap_or((rest, ""));
                current = name.as_bytes();
                let profile = Profile {
                    is_default: mark == "default",
                    ..Profile::default()
                };
                profiles.insert(current, profile);
            }
            "operands" => {
                if let Some(profile) = profiles.get_mut(current) {
                    profile.operands = operands(rest);
                }
            }
            _ => {
                if let Some(profile) = profiles.get_mut(current) {
                    profile.flags.extend(line.split_whitespace().map(flag));
                }
            }
        }
    }
    profiles
}

fn operands(words: &str) -> Operands {
    words
        .split(' ')
        .fold(Operands::default(), |operands, word| match word {
            "any" => operands.at_most(usize::MAX),
            "dash" => Operands {
                has_dash: true,
                ..operands
            },
            word => match word.parse() {
                Ok(most) => operands.at_most(most),
                Err(_) => Operands {
                    first: Text::named(word),
                    ..operands
                },
            },
        })
}

/// An option, and what its value is.
fn flag(word: &'static str) -> (&'static str, Option<Text>) {
    match word.split_once(':') {
        Some((name, text)) => (name, Text::named(text)),
        None => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{self, Takes, ValueKind};

    #[test]
    fn the_bins_are_those_of_the_language() {
        let mut defaults: Vec<_> = BUILTIN
            .iter()
            .filter(|(_, profile)| profile.is_default)
            .map(|(name, _)| name.escape_ascii().to_string())
            .collect();
        defaults.sort_unstable();
        assert_eq!(defaults, ["cut", "head", "tail", "tr", "uniq", "wc"]);
        for name in "sort grep shuf iconv jq awk sed find".split(' ') {
            assert!(!BUILTIN[name.as_bytes()].is_default, "{name}");
        }
        assert_eq!(BUILTIN.len(), 14);
    }

    #[test]
    fn every_flag_is_in_the_table_and_opens_nothing() {
        for (name, profile) in BUILTIN.iter() {
            let grammar = grammar::of(name).unwrap();
            let name = name.escape_ascii();
            for (flag, text) in &profile.flags {
                let option = grammar.option(flag.as_bytes());
                let option = option.unwrap_or_else(|| panic!("{name} {flag}"));
                assert!(!option.is_dangerous && !option.walks, "{name} {flag}");
                // find's -newer and the like look at a file's times.
                let is_text = match option.takes {
                    Takes::Nothing => true,
                    Takes::Two(ValueKind::Text, ValueKind::Text) => true,
                    Takes::Two(..) => false,
                    Takes::One(kind) | Takes::Attached(kind) => {
                        use ValueKind::{Code, Inline, List, Number, Pattern, Text};
                        matches!(kind, Number | Text | Pattern | List)
                            || matches!(kind, Code | Inline) && text.is_some()
                    }
                };
                assert!(is_text, "{name} {flag}");
            }
        }
    }

    #[test]
    fn every_word_of_the_data_is_known() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                [""] => {}
                ["bin", _] | ["bin", _, "default"] => {}
                ["operands", most, rest @ ..] => {
                    assert!(*most == "any" || most.parse::<usize>().is_ok(), "{line}");
                    let is_known = |word: &&str| *word == "dash" || Text::named(word).is_some();
                    assert!(rest.iter().all(is_known), "{line}");
                }
                flags => {
                    for flag in flags {
                        assert!(flag.starts_with('-'), "{line}");
                        let text = flag.split_once(':');
                        assert!(text.is_none_or(|(_, text)| Text::named(text).is_some()));
                    }
                }
            }
        }
    }
}
