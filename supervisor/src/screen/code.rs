//! What a person types to be heard.

use uuid::Uuid;

/// Characters that are told apart at a glance; a power of two, so that each is as likely as any.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// How many there are in a code.
pub(super) const LEN: usize = 2;

/// Two characters that nobody knows who does not see the question that they are drawn with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code(String);

impl Code {
    /// Another one.
    pub(crate) fn fresh() -> Self {
        // All of a random UUID but two places is random, these among it.
        let random = Uuid::new_v4();
        let bytes = random.as_bytes().iter().take(LEN);
        let bytes = bytes.filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()));
        Self(bytes.copied().map(char::from).collect())
    }

    pub(crate) fn is(&self, typed: &str) -> bool {
        self.0 == typed
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_two_characters_and_differ() {
        let codes: Vec<_> = (0..64).map(|_| Code::fresh()).collect();
        assert!(codes.iter().all(|code| code.0.len() == LEN));
        assert!(codes.iter().any(|code| *code != codes[0]));
    }
}
