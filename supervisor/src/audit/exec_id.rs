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

impl ExecId {
    /// The first one of a session: another in each, of six digits, so that an ID of one is hardly one of
    /// another as well, whose question it would answer.
    pub(crate) fn first() -> Self {
        const RANGE: std::ops::Range<u64> = 0x10_0000..0xf0_0000;
        // The first half of a random UUID, some bits of which are the same in all.
        let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
        Self(RANGE.start + random % (RANGE.end - RANGE.start))
    }

    /// Whether somebody who types `text` means it. The start of an ID is that of others too, some of which
    /// may come only after it was read.
    pub(crate) fn is_meant_by(self, text: &str) -> bool {
        self.to_string() == text
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
    fn an_id_is_meant_by_all_of_it_alone() {
        assert!(ExecId(0x1001).is_meant_by("1001"));
        assert!(
            ["", "1", "100", "10010", "1002"]
                .iter()
                .all(|it| !ExecId(0x1001).is_meant_by(it))
        );
        assert!(!ExecId(0x10012).is_meant_by("1001"));
    }

    #[test]
    fn sessions_begin_with_ids_of_six_digits_that_differ() {
        let firsts: Vec<_> = (0..64).map(|_| ExecId::first()).collect();
        assert!(firsts.iter().all(|id| id.to_string().len() == 6));
        assert!(firsts.iter().any(|id| *id != firsts[0]));
    }
}
