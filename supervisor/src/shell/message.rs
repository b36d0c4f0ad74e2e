//! What passes between those who ask about a text and the process that parses: one packet a text, one
//! an answer, each behind the text's number.

use std::io;

use serde::{Deserialize, Serialize};

use super::analysis::Analysis;

/// Longest text that is analysed, in bytes.
pub(super) const TEXT_MAX_BYTES: usize = 64 << 10;

/// Longest answer, in bytes: below what a socket takes at once, `net.core.wmem_default`.
pub(super) const ANSWER_MAX_BYTES: usize = 192 << 10;

/// Which text: numbers are not used again while an answer to one may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TextId(u32);

/// What is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Analysed(Analysis),
    /// Why not.
    NotAnalysed(String),
}

impl TextId {
    /// How many bytes it takes in a packet.
    pub(super) const LENGTH: usize = size_of::<u32>();

    /// That of whatever text was being parsed.
    pub(super) const CURRENT: Self = Self(0);

    /// The one after it.
    pub(super) fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(1))
    }

    /// A packet about it.
    pub(super) fn packet(self, text: &[u8]) -> Vec<u8> {
        [&self.0.to_le_bytes(), text].concat()
    }

    /// A packet's number, and the rest of it.
    pub(super) fn split(packet: &[u8]) -> Option<(Self, &[u8])> {
        let (number, rest) = packet.split_first_chunk()?;
        Some((Self(u32::from_le_bytes(*number)), rest))
    }
}

impl Answer {
    /// As a packet about `id`.
    ///
    /// # Errors
    /// If it is no JSON, which it is.
    pub(super) fn encode(&self, id: TextId) -> io::Result<Vec<u8>> {
        let mut answer = serde_json::to_vec(self)?;
        if answer.len() > ANSWER_MAX_BYTES {
            answer = serde_json::to_vec(&Self::NotAnalysed("what is in it is too much".into()))?;
        }
        Ok(id.packet(&answer))
    }
}
