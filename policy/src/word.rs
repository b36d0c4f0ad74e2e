//! Word patterns: which single arguments a policy means.
//!
//! Compared byte by byte, and without allocating: unlike a path, an argument may hold any
//! byte and has no components, so `*` is any run of bytes and `?` any one byte.

use crate::escape::{EscapeError, Unit, decode_with};
use crate::image::Reading;
use crate::places::Places;

/// A pattern of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// Exactly these bytes.
    Literal(Vec<u8>),
    /// Bytes with wildcards among them.
    Pattern(Vec<Unit>),
}

impl Word {
    /// Reads a pattern, with the session's places put in as literal text.
    pub(crate) fn parse(text: &str, places: &Places) -> Result<Self, EscapeError> {
        let units = decode_with(text, places)?;
        let bytes: Option<Vec<u8>> = units.iter().map(Unit::byte).collect();
        Ok(bytes.map_or(Self::Pattern(units), Self::Literal))
    }

    /// Whether `argument` is one that the pattern means.
    ///
    /// Strictly, a wildcard stands for no flag and for nothing that has a `..` component: the
    /// author of a permission thought of names.
    pub(crate) fn covers(&self, argument: &[u8], reading: Reading) -> bool {
        match (self, reading) {
            (Self::Pattern(_), Reading::Strict)
                if argument.starts_with(b"-") || has_parent_component(argument) =>
            {
                false
            }
            _ => self.matches(argument),
        }
    }

    /// Whether the bytes match, whatever they are.
    pub(crate) fn matches(&self, argument: &[u8]) -> bool {
        match self {
            Self::Literal(bytes) => bytes == argument,
            Self::Pattern(units) => matches(units, argument),
        }
    }

    /// Whether every argument matches.
    pub(crate) fn is_anything(&self) -> bool {
        matches!(self, Self::Pattern(units) if units.as_slice() == [Unit::Many])
    }

    /// The bytes of a pattern without wildcards.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        match self {
            Self::Literal(bytes) => Some(bytes),
            Self::Pattern(_) => None,
        }
    }
}

fn has_parent_component(argument: &[u8]) -> bool {
    argument
        .split(|byte| *byte == b'/')
        .any(|component| component == b"..")
}

/// Matches greedily, and takes back only to the last `*`: what an earlier one could take
/// differently, the last one can take as well. Time is bounded by the product of lengths.
fn matches(units: &[Unit], bytes: &[u8]) -> bool {
    let (mut unit, mut byte) = (0, 0);
    let mut last_star = None;
    while let Some(current) = bytes.get(byte) {
        match units.get(unit) {
            Some(Unit::Many) => {
                unit += 1;
                last_star = Some((unit, byte));
                continue;
            }
            Some(Unit::One) => {}
            Some(Unit::Byte(wanted)) if wanted == current => {}
            Some(Unit::Byte(_)) | None => {
                let Some((after_star, taken)) = last_star else {
                    return false;
                };
                last_star = Some((after_star, taken + 1));
                (unit, byte) = (after_star, taken + 1);
                continue;
            }
        }
        unit += 1;
        byte += 1;
    }
    units.iter().skip(unit).all(|rest| *rest == Unit::Many)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word(text: &str) -> Word {
        Word::parse(text, &Places::of_tests()).unwrap()
    }

    #[test]
    fn a_star_is_any_run_and_a_question_mark_one_byte() {
        for (pattern, argument, is_match) in [
            ("test:*", "test:unit", true),
            ("test:*", "test:", true),
            ("test:*", "test", false),
            ("*-*-x", "a-b-c-x", true),
            ("*", "", true),
            ("?", "", false),
            ("a?c", "abc", true),
            ("a?c", "a/c", true),
            ("describe-*", "describe-instances", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxbx", false),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
            ("${workspace}/*:*", "/w/x:/y", true),
            ("${home}*", "/home/u", true),
        ] {
            assert_eq!(
                word(pattern).matches(argument.as_bytes()),
                is_match,
                "{pattern} {argument}"
            );
        }
        assert!(word(r"cmd\xff*").matches(b"cmd\xffx"));
        assert!(!word(r"cmd\xff").matches(b"cmd\xfe"));
    }

    #[test]
    fn strictly_a_wildcard_is_no_flag_and_no_way_up() {
        for argument in ["-x", "--", "..", "a/../b", "../x"] {
            assert!(
                !word("*").covers(argument.as_bytes(), Reading::Strict),
                "{argument}"
            );
            assert!(
                word("*").covers(argument.as_bytes(), Reading::Doubtful),
                "{argument}"
            );
            assert!(
                word(argument).covers(argument.as_bytes(), Reading::Strict),
                "{argument}"
            );
        }
        assert!(word("*").covers(b"a..b", Reading::Strict));
    }

    /// The definition, without regard to its cost.
    fn defined(units: &[Unit], bytes: &[u8]) -> bool {
        match (units.split_first(), bytes.split_first()) {
            (None, rest) => rest.is_none(),
            (Some((Unit::Many, units)), None) => defined(units, bytes),
            (Some((Unit::Many, rest)), Some((_, tail))) => {
                defined(rest, bytes) || defined(units, tail)
            }
            (Some(_), None) => false,
            (Some((Unit::One, units)), Some((_, bytes))) => defined(units, bytes),
            (Some((Unit::Byte(unit), units)), Some((byte, bytes))) => {
                unit == byte && defined(units, bytes)
            }
        }
    }

    proptest! {
        #[test]
        fn matching_is_as_defined(pattern in "[ab?*]{0,8}", argument in "[ab]{0,10}") {
            let units = decode_with(&pattern, &Places::of_tests()).unwrap();
            prop_assert_eq!(
                matches(&units, argument.as_bytes()),
                defined(&units, argument.as_bytes()),
            );
        }
    }
}
