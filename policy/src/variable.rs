//! Environment variables: an entry of `env`.

use crate::case::Case;
use crate::escape::EscapeError;
use crate::image::Reading;
use crate::places::Places;
use crate::word::Word;

/// A variable by its name, and perhaps its value.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    name: Word,
    value: Option<Word>,
}

impl Variable {
    /// Reads `NAME` or `NAME=VALUE`, with its `!` already taken off.
    pub(crate) fn parse(text: &str, places: &Places, case: Case) -> Result<Self, EscapeError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(Word::parse(value, places, case)?)),
            None => (text, None),
        };
        let name = Word::parse(name, places, case)?;
        Ok(Self { name, value })
    }

    /// Whether the entry may mean a variable of that name.
    pub(crate) fn is_of_name(&self, name: &[u8]) -> bool {
        self.name.matches(name)
    }

    /// Whether its value tells whether the entry means it.
    pub(crate) fn has_value(&self) -> bool {
        self.value.is_some()
    }

    /// Whether the entry means `variable`, as execve(2) passes it: `NAME=VALUE`, though the
    /// caller may pass anything.
    pub(crate) fn covers(&self, variable: &[u8], reading: Reading) -> bool {
        let at = variable.iter().position(|byte| *byte == b'=');
        let (name, value) = match at.and_then(|at| variable.split_at_checked(at)) {
            Some((name, value)) => (name, value.get(1..)),
            None => (variable, None),
        };
        let is_value = |wanted: &Word| value.is_some_and(|value| wanted.covers(value, reading));
        self.name.matches(name) && self.value.as_ref().is_none_or(is_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(entry: &str, variable: &str, case: Case) -> bool {
        let entry = Variable::parse(entry, &Places::of_tests(), case).unwrap();
        entry.covers(variable.as_bytes(), Reading::Doubtful)
    }

    #[test]
    fn a_variable_is_meant_by_its_name_and_its_value() {
        for (entry, variable, is_meant) in [
            ("AWS_PROFILE", "AWS_PROFILE=x", true),
            ("AWS_PROFILE", "AWS_PROFILE=", true),
            ("AWS_PROFILE", "AWS_PROFILE", true),
            ("AWS_PROFILE", "AWS_PROFILES=x", false),
            ("AWS_PROFILE=prod*", "AWS_PROFILE=production", true),
            ("AWS_PROFILE=prod*", "AWS_PROFILE=staging", false),
            ("AWS_PROFILE=prod*", "AWS_PROFILE", false),
            ("A=b=c", "A=b=c", true),
            ("CARGO_*", "CARGO_HOME=/x", true),
            ("CARGO_*", "cargo_home=/x", false),
        ] {
            let is_covered = covers(entry, variable, Case::Exact);
            assert_eq!(is_covered, is_meant, "{entry} {variable}");
        }
    }

    #[test]
    fn names_and_values_are_folded_where_case_is_ignored() {
        for (entry, variable, is_meant) in [
            ("AWS_PROFILE=prod*", "aws_profile=PRODUCTION", true),
            ("CARGO_*", "cargo_home=/x", true),
            ("CARGO_*", "carg=/x", false),
        ] {
            let is_covered = covers(entry, variable, Case::Folded);
            assert_eq!(is_covered, is_meant, "{entry} {variable}");
        }
    }
}
