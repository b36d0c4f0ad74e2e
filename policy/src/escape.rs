//! Characters of a pattern, with the backslash taken away.
//!
//! Both pattern dialects of the language share this level: which characters stand for
//! themselves, which are wildcards, and how one writes a byte that has no character.

use thiserror::Error;

use crate::case::Case;
use crate::places::Places;

/// One element of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// This byte and no other.
    Byte(u8),
    /// `?`: any one byte.
    One,
    /// `*`: any run of bytes, the empty one included.
    Many,
}

impl Unit {
    /// The byte that the unit stands for, if it is no wildcard.
    pub(crate) fn byte(&self) -> Option<u8> {
        match self {
            Self::Byte(byte) => Some(*byte),
            Self::One | Self::Many => None,
        }
    }

    /// Whether it is the same element as `other`.
    pub(crate) fn is(self, other: Self, case: Case) -> bool {
        match (self, other) {
            (Self::Byte(own), Self::Byte(other)) => case.is_same_byte(own, other),
            _ => self == other,
        }
    }
}

/// Why text is not a sequence of [`Unit`]s.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum EscapeError {
    #[error("a backslash stands before nothing")]
    Dangling,
    #[error("a backslash has no meaning before `{}`", .0.escape_debug())]
    Unknown(char),
    #[error("`\\x` takes two hexadecimal digits")]
    Hex,
    #[error("a NUL byte can be in no path and no argument")]
    Nul,
    #[error("a `$` here expands nothing")]
    Dollar,
}

impl EscapeError {
    /// What the author could write instead.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            Self::Dangling => Some("write `\\\\` for a backslash"),
            Self::Unknown(_) => {
                Some("only `* ? ! \\ $ @ ~` need a backslash; `\\xHH` is the byte HH")
            }
            Self::Dollar => Some(
                "`${home}`, `${workspace}` and `${tmp}` are places, a path begins with them; \
                 write `\\$` for a dollar sign",
            ),
            Self::Hex | Self::Nul => None,
        }
    }
}

/// Reads `text` into units.
pub(crate) fn decode(text: &str) -> Result<Vec<Unit>, EscapeError> {
    decode_dollars(text, |_| None)
}

/// Reads `text` into units; `${home}` and the like stand for the bytes of that place.
pub(crate) fn decode_with(text: &str, places: &Places) -> Result<Vec<Unit>, EscapeError> {
    decode_dollars(text, |name| {
        places.get(name).filter(|value| value.starts_with(b"/"))
    })
}

fn decode_dollars<'p>(
    text: &str,
    place: impl Fn(&str) -> Option<&'p [u8]>,
) -> Result<Vec<Unit>, EscapeError> {
    let mut units = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '*' => units.push(Unit::Many),
            '?' => units.push(Unit::One),
            '$' => {
                let named = rest
                    .as_str()
                    .strip_prefix('{')
                    .and_then(|it| it.split_once('}'));
                let (name, after) = named.ok_or(EscapeError::Dollar)?;
                let value = place(name).ok_or(EscapeError::Dollar)?;
                units.extend(value.iter().copied().map(Unit::Byte));
                rest = after.chars();
            }
            '\0' => return Err(EscapeError::Nul),
            '\\' => units.push(Unit::Byte(escaped(&mut rest)?)),
            _ => units.extend(utf8(character).map(Unit::Byte)),
        }
    }
    Ok(units)
}

/// Reads `text` in which only a backslash has a meaning.
pub(crate) fn literal(text: &str) -> Result<Vec<u8>, EscapeError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\0' => return Err(EscapeError::Nul),
            '\\' => bytes.push(escaped(&mut rest)?),
            _ => bytes.extend(utf8(character)),
        }
    }
    Ok(bytes)
}

/// The byte that a backslash and what follows it stand for.
fn escaped(rest: &mut std::str::Chars<'_>) -> Result<u8, EscapeError> {
    match rest.next().ok_or(EscapeError::Dangling)? {
        special @ ('*' | '?' | '!' | '\\' | '$' | '@' | '~') => {
            u8::try_from(special).map_err(|_| EscapeError::Unknown(special))
        }
        'x' => match hex_digit(rest)? << 4 | hex_digit(rest)? {
            0 => Err(EscapeError::Nul),
            byte => Ok(byte),
        },
        other => Err(EscapeError::Unknown(other)),
    }
}

fn hex_digit(rest: &mut std::str::Chars<'_>) -> Result<u8, EscapeError> {
    let digit = rest.next().and_then(|digit| digit.to_digit(16));
    digit
        .and_then(|value| u8::try_from(value).ok())
        .ok_or(EscapeError::Hex)
}

fn utf8(character: char) -> impl Iterator<Item = u8> {
    let mut buffer = [0; 4];
    let length = character.encode_utf8(&mut buffer).len();
    buffer.into_iter().take(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<Unit> {
        text.bytes().map(Unit::Byte).collect()
    }

    #[test]
    fn plain_characters_stand_for_their_bytes() {
        assert_eq!(decode("gît [x]{a,b}!@~"), Ok(bytes("gît [x]{a,b}!@~")));
    }

    #[test]
    fn wildcards_are_recognised_unless_escaped() {
        assert_eq!(decode("*?"), Ok(vec![Unit::Many, Unit::One]));
        assert_eq!(decode(r"\*\?\!\\\$\@\~"), Ok(bytes(r"*?!\$@~")));
    }

    #[test]
    fn a_raw_byte_need_not_be_a_character() {
        assert_eq!(
            decode(r"\xff\x2A"),
            Ok(vec![Unit::Byte(0xff), Unit::Byte(b'*')])
        );
    }

    #[test]
    fn malformed_escapes_are_refused() {
        for (text, error) in [
            ("a\\", EscapeError::Dangling),
            ("\\n", EscapeError::Unknown('n')),
            ("\\[", EscapeError::Unknown('[')),
            ("\\x4", EscapeError::Hex),
            ("\\x+4", EscapeError::Hex),
            ("\\x00", EscapeError::Nul),
            ("a\0", EscapeError::Nul),
            ("$HOME", EscapeError::Dollar),
        ] {
            assert_eq!(decode(text), Err(error), "{text:?}");
        }
    }
}
