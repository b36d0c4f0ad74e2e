//! What a person types to be heard.

use uuid::Uuid;

/// Characters that are told apart at a glance, and none that is a key of the screen: a code that is typed
/// when its question is gone does nothing.
pub(super) const ALPHABET: &[u8; 24] = b"bcefgmnprstvwxyz23456789";

/// What is left of a byte's values where each character is as likely as any.
const EVEN: u8 = u8::MAX - u8::MAX % 24;

/// How many there are in a code.
pub(super) const LEN: usize = 2;

/// Two characters that nobody knows who does not see the question that they are drawn with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code(String);

impl Code {
    /// Another one.
    pub(crate) fn fresh() -> Self {
        // All of a random UUID but two places is random, its first six bytes among it.
        let random = std::iter::repeat_with(Uuid::new_v4);
        let bytes = random.flat_map(|uuid| uuid.into_bytes().into_iter().take(6));
        let even = bytes.filter(|byte| *byte < EVEN).map(usize::from);
        let characters = even.filter_map(|byte| ALPHABET.get(byte % ALPHABET.len()));
        Self(characters.copied().map(char::from).take(LEN).collect())
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
