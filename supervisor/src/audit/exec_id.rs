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
