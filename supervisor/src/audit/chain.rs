//! The hash chain: each line carries the digest of the one before it and its own.
//!
//! `hash` is SHA-256 over a domain tag, the previous digest and the exact bytes of the line before
//! `,"hash":`. Hashing bytes as written needs no canonical JSON, and a verifier is twenty lines in
//! any language. It shows accidents and edits by people without the rest of the chain; it is no
//! signature.

use std::fmt;

use sha2::{Digest, Sha256};

/// Separates these digests from every other use of SHA-256.
const DOMAIN: &[u8] = b"execward-audit-v1\0";

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link([u8; 32]);

impl Link {
    /// The digest of a line that follows `self`.
    pub(super) fn next(self, line: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(DOMAIN);
        hash.update(self.0);
        hash.update(line);
        Self(hash.finalize().into())
    }
}

/// One who follows the chain of a session through its lines.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    head: Link,
}

impl Chain {
    /// Whether `line`, without its end, is the next one, as it was written.
    pub(crate) fn follow(&mut self, line: &[u8]) -> bool {
        let next = self.last(line);
        if let Some(next) = next {
            self.head = next;
        }
        next.is_some()
    }

    fn last(&self, line: &[u8]) -> Option<Link> {
        const HASH_BYTES: usize = r#","hash":""}"#.len() + 64;
        let (body, hash) = line.split_at_checked(line.len().checked_sub(HASH_BYTES)?)?;
        let next = self.head.next(body);
        (hash == format!(",\"hash\":\"{next}\"}}").as_bytes()).then_some(next)
    }

    /// The digest of the last line.
    pub(crate) fn head(&self) -> String {
        self.head.to_string()
    }
}

/// Bytes as they are shown.
struct Digits<'a>(&'a [u8]);

impl fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Digits(&self.0).fmt(f)
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    Digits(bytes).to_string()
}

/// The digest of a line whose bytes before `,"hash":` are these, behind one whose digest is `prev`; both in hexadecimal.
/// `None` if `prev` is none.
pub(crate) fn follows(prev: &str, line: &[u8]) -> Option<String> {
    let prev = bytes(prev).map(Link)?;
    Some(prev.next(line).to_string())
}

/// What `digits` are in hexadecimal.
pub(super) fn bytes<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let pairs = digits.as_bytes().chunks(2);
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = pairs.map(pair).collect::<Option<Vec<u8>>>()?;
    bytes.try_into().ok()
}

impl serde::Serialize for Link {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// SHA-256 in hexadecimal, for digests of content.
pub(crate) fn digest(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hash = Sha256::new();
    for piece in pieces {
        hash.update(piece);
    }
    Link(hash.finalize().into()).to_string()
}
