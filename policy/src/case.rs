//! Whether the case of letters counts: `ignore_case`.
//!
//! Only the letters of ASCII have a case here: what is compared are bytes, of no known encoding.

use std::borrow::Cow;

/// How the letters of a pattern are compared with those of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Case {
    /// As bytes.
    #[default]
    Exact,
    /// Without regard to their case.
    Folded,
}

impl Case {
    /// The case of a rule with this `ignore_case`.
    pub(crate) fn ignored(is_ignored: bool) -> Self {
        if is_ignored {
            Self::Folded
        } else {
            Self::Exact
        }
    }

    /// Whether the two are the same text.
    pub(crate) fn is_same(self, one: &[u8], other: &[u8]) -> bool {
        match self {
            Self::Exact => one == other,
            Self::Folded => one.eq_ignore_ascii_case(other),
        }
    }

    /// Whether the two are the same byte of a text.
    pub(crate) fn is_same_byte(self, one: u8, other: u8) -> bool {
        match self {
            Self::Exact => one == other,
            Self::Folded => one.eq_ignore_ascii_case(&other),
        }
    }

    /// What follows `prefix` in a text that begins with it.
    pub(crate) fn strip_prefix<'t>(self, text: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
        let (start, rest) = text.split_at_checked(prefix.len())?;
        self.is_same(start, prefix).then_some(rest)
    }

    /// The spelling that stands for all that are the same text.
    pub(crate) fn plain(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Exact => Cow::Borrowed(text),
            Self::Folded => Cow::Owned(text.to_ascii_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_letters_of_ascii_are_folded() {
        for (one, other, is_same) in [
            ("git", "GIT", true),
            ("a_b-1", "A_B-1", true),
            ("[", "{", false),
            ("@", "`", false),
            ("é", "É", false),
            ("k", "\u{212a}", false),
            ("git", "gitk", false),
        ] {
            let [one, other] = [one, other].map(str::as_bytes);
            assert_eq!(Case::Folded.is_same(one, other), is_same);
            assert!(!Case::Exact.is_same(one, other));
            assert_eq!(
                Case::Folded.plain(one) == Case::Folded.plain(other),
                is_same
            );
        }
    }

    #[test]
    fn a_prefix_is_one_by_the_same_measure() {
        let rest = |case: Case, text: &'static str, prefix: &str| {
            case.strip_prefix(text.as_bytes(), prefix.as_bytes())
        };
        assert_eq!(rest(Case::Exact, "/Opt/x", "/Opt"), Some(b"/x".as_slice()));
        assert_eq!(rest(Case::Exact, "/Opt/x", "/opt"), None);
        assert_eq!(rest(Case::Folded, "/Opt/x", "/oPT"), Some(b"/x".as_slice()));
        assert_eq!(rest(Case::Folded, "/Op", "/opt"), None);
    }
}
