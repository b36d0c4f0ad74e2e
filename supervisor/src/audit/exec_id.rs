//! What an exec is called.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names one exec of a session in its refusal line and in both of its records. Hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExecId(pub(crate) u64);

impl fmt::Display for ExecId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.0)
    }
}

/// Fewest digits of an ID: each session begins with the first of so many.
const SHORTEST: usize = 4;

impl ExecId {
    /// Whether somebody who types `text` means it: the start of it, where that can be no whole ID; else all of
    /// it. The start of a later, longer ID may be an earlier one, and whoever saw that means that.
    pub(crate) fn is_meant_by(self, text: &str) -> bool {
        let own = self.to_string();
        match text.len() {
            0 => false,
            digits if digits < SHORTEST => own.starts_with(text),
            _ => own == text,
        }
    }
}

impl<'de> Deserialize<'de> for ExecId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let id = u64::from_str_radix(&text, 16).map_err(serde::de::Error::custom)?;
        Ok(Self(id))
    }
}

impl Serialize for ExecId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_id_means_no_longer_one() {
        assert!(ExecId(0x1001).is_meant_by("1001") && ExecId(0x1001).is_meant_by("10"));
        assert!(!ExecId(0x10012).is_meant_by("1001") && ExecId(0x10012).is_meant_by("10012"));
        assert!(!ExecId(0x1001).is_meant_by("") && !ExecId(0x1001).is_meant_by("2"));
    }
}
