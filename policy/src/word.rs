//! Word patterns: which single arguments a policy means.
//!
//! Compared byte by byte, and without allocating: unlike a path, an argument may hold any
//! byte and has no components, so `*` is any run of bytes and `?` any one byte.

use crate::case::Case;
use crate::escape::{EscapeError, Unit, decode_with};
use crate::image::Reading;
use crate::places::Places;

/// A pattern of one argument.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    form: Form,
    case: Case,
}

#[derive(Debug, Clone)]
enum Form {
    /// Exactly these bytes.
    Literal(Vec<u8>),
    /// Bytes with wildcards among them.
    Pattern(Vec<Unit>),
}

impl Word {
    /// Reads a pattern, with the session's places put in as literal text.
    pub(crate) fn parse(text: &str, places: &Places, case: Case) -> Result<Self, EscapeError> {
        let units = decode_with(text, places)?;
        let bytes: Option<Vec<u8>> = units.iter().map(Unit::byte).collect();
        let form = bytes.map_or(Form::Pattern(units), Form::Literal);
        Ok(Self { form, case })
    }

    /// The word that is `text`.
    pub(crate) fn of(text: &str, case: Case) -> Self {
        let form = Form::Literal(text.into());
        Self { form, case }
    }

    /// How its letters are compared.
    pub(crate) fn case(&self) -> Case {
        self.case
    }

    /// Whether `argument` is one that the pattern means.
    ///
    /// Strictly, a wildcard stands for no flag and for nothing that has a `..` component: the
    /// author of a permission thought of names.
    pub(crate) fn covers(&self, argument: &[u8], reading: Reading) -> bool {
        match (&self.form, reading) {
            (Form::Pattern(_), Reading::Strict)
                if argument.starts_with(b"-") || has_parent_component(argument) =>
            {
                false
            }
            _ => self.matches(argument),
        }
    }

    /// Whether the bytes match, whatever they are.
    pub(crate) fn matches(&self, argument: &[u8]) -> bool {
        match &self.form {
            Form::Literal(bytes) => self.case.is_same(bytes, argument),
            Form::Pattern(units) => matches(units, argument, self.case),
        }
    }

    /// Whether every argument matches.
    pub(crate) fn is_anything(&self) -> bool {
        matches!(&self.form, Form::Pattern(units) if units.as_slice() == [Unit::Many])
    }

    /// The bytes of a pattern without wildcards, as they are written.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Literal(bytes) => Some(bytes),
            Form::Pattern(_) => None,
        }
    }

    /// Whether it has no wildcard and is `name`.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.literal().is_some() && self.matches(name.as_bytes())
    }

    /// Whether it has no wildcard and begins with `start`.
    pub(crate) fn begins_with(&self, start: &[u8]) -> bool {
        let mut literal = self.literal().into_iter();
        literal.any(|literal| self.case.strip_prefix(literal, start).is_some())
    }

    /// Whether it is the pattern `other`, or that with the case of its letters ignored.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        let is_as_wide = self.case == other.case || self.case == Case::Folded;
        is_as_wide
            && match (&self.form, &other.form) {
                (Form::Literal(own), Form::Literal(other)) => self.case.is_same(own, other),
                (Form::Pattern(own), Form::Pattern(other)) => {
                    let mut pairs = own.iter().zip(other);
                    own.len() == other.len() && pairs.all(|(own, other)| own.is(*other, self.case))
                }
                (Form::Literal(_) | Form::Pattern(_), _) => false,
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
fn matches(units: &[Unit], bytes: &[u8], case: Case) -> bool {
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
            Some(Unit::Byte(wanted)) if case.is_same_byte(*wanted, *current) => {}
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
        Word::parse(text, &Places::of_tests(), Case::Exact).unwrap()
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

    #[test]
    fn letters_of_either_case_are_one_where_case_is_ignored() {
        let folded = |text: &str| Word::parse(text, &Places::of_tests(), Case::Folded).unwrap();
        for (pattern, argument, is_match) in [
            ("Push", "pUSH", true),
            ("Push", "pushy", false),
            ("test:*", "TEST:Unit", true),
            ("a?C*d", "AxcxxD", true),
            (r"\x41", "a", true),
            (r"\xc9", "\u{e9}", false),
            ("${workspace}/X", "/W/x", true),
        ] {
            let word = folded(pattern);
            assert_eq!(word.matches(argument.as_bytes()), is_match, "{pattern}");
        }
        assert!(!folded("*").covers(b"-x", Reading::Strict));
        assert!(folded("Force").begins_with(b"fo") && !word("Force").begins_with(b"fo"));
    }

    #[test]
    fn a_word_that_ignores_case_includes_those_that_do_not() {
        let places = Places::of_tests();
        let word = |text: &str, case| Word::parse(text, &places, case).unwrap();
        for (own, other, is_included) in [
            (("A*", Case::Folded), ("a*", Case::Exact), true),
            (("a", Case::Folded), ("A", Case::Folded), true),
            (("a", Case::Exact), ("a", Case::Folded), false),
            (("a", Case::Exact), ("A", Case::Exact), false),
            (("a", Case::Exact), ("a", Case::Exact), true),
            (("a*", Case::Folded), ("ab", Case::Exact), false),
        ] {
            let words = [own, other].map(|(text, case)| word(text, case));
            assert_eq!(
                words[0].includes(&words[1]),
                is_included,
                "{own:?} {other:?}"
            );
        }
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
                matches(&units, argument.as_bytes(), Case::Exact),
                defined(&units, argument.as_bytes()),
            );
        }
    }
}
