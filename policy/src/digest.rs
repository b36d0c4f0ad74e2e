//! A SHA-256 digest, as policies write it and as files have it.

use std::fmt;

/// The 32 bytes of a SHA-256 digest. Displays as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Reads 64 hexadecimal digits of either case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() == 64)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::try_from(pair.iter().fold(0, |value, digit| value << 4 | digit)).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_64_digits_of_either_case() {
        let text = "0123456789abcdef".repeat(4);
        assert_eq!(Digest::parse(&text).unwrap().to_string(), text);
        assert_eq!(Digest::parse(&text.to_uppercase()), Digest::parse(&text));
        for wrong in [&text[1..], &text.replace('0', "g"), &format!("{text}0"), ""] {
            assert_eq!(Digest::parse(wrong), None, "{wrong}");
        }
    }
}
