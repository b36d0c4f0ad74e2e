//! A line of a log, as far as a proof needs it.

use std::borrow::Cow;

use serde::Deserialize;

use crate::audit::{Checkpoint, FileNote, Position, follows, is_signed};

/// What every line has at its end.
const HASH_KEY: &[u8] = b",\"hash\":\"";
/// What a checkpoint has before that.
const SIGNATURE_KEY: &[u8] = b",\"sig\":\"";

/// A record.
#[derive(Debug, Deserialize)]
pub(super) struct Entry<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) chain: Cow<'a, str>,
    pub(super) seq: u64,
    #[serde(borrow)]
    pub(super) prev: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) hash: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) session: Session<'a>,
    #[serde(default)]
    pub(super) checkpoint: Option<Checkpoint>,
    #[serde(default, borrow)]
    sig: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) segment: Option<Segment<'a>>,
    #[serde(default)]
    pub(super) log: Option<LogNote>,
    /// Of a seal: what it seals, why, and how much was wrong.
    #[serde(default)]
    pub(super) files: Vec<FileNote>,
    #[serde(default, borrow)]
    pub(super) detail: Cow<'a, str>,
    #[serde(default)]
    pub(super) faults: u64,
    /// Whether it is what its own digest says.
    #[serde(skip)]
    pub(super) is_whole: bool,
    #[serde(skip)]
    line: &'a [u8],
}

#[derive(Debug, Deserialize)]
pub(super) struct Session<'a> {
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Segment<'a> {
    #[serde(default, borrow)]
    pub(super) previous: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) last: Option<Position>,
}

#[derive(Debug, Deserialize)]
pub(super) struct LogNote {
    #[serde(default)]
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) previous: Option<Position>,
}

impl<'a> Entry<'a> {
    /// The record in a line, without its end.
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn of(line: &'a [u8]) -> serde_json::Result<Self> {
        let mut entry: Self = serde_json::from_slice(line)?;
        entry.line = line;
        // What stands behind the digest is covered by nothing.
        let is_last = line.ends_with(format!("{}\"}}", entry.hash).as_bytes());
        entry.is_whole = is_last
            && before(line, HASH_KEY)
                .and_then(|hashed| follows(&entry.prev, hashed))
                .is_some_and(|digest| digest == entry.hash);
        Ok(entry)
    }

    /// Whether its signature is of `key`.
    pub(super) fn is_signed_by(&self, key: &str) -> bool {
        let signed = before(self.line, SIGNATURE_KEY);
        signed
            .zip(self.sig.as_deref())
            .is_some_and(|(signed, signature)| is_signed(signed, key, signature))
    }

    pub(super) fn position(&self) -> Position {
        Position {
            chain: self.chain.to_string(),
            seq: self.seq,
            hash: self.hash.to_string(),
        }
    }
}

/// What stands before the last `key`.
fn before<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let at = line.windows(key.len()).rposition(|window| window == key)?;
    line.get(..at)
}
