//! Checkpoints: lines that sign all that their chain has up to them.
//!
//! A checkpoint is a line with a `checkpoint` and a `sig`, an Ed25519 signature over a domain tag and the exact bytes of
//! the line before `,"sig":`. These hold `prev`, and with it every line before.
//!
//! Each key signs once. The first is named by the session's first line, each further one by the checkpoint before it, and
//! a key is gone from memory with its signature: who takes the gate over later has none for what was written before. None
//! is ever on a disk. Who may write the whole log can still make another with keys of its own: that a copy of a
//! checkpoint elsewhere shows, and nothing in the log.

use std::io;
use std::time::{Duration, Instant};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chain::{bytes, hexadecimal};

/// Separates these signatures from every other use of a key.
const DOMAIN: &[u8] = b"execward-audit-checkpoint-v1\0";

/// Separates the making of a key from every other use of SHA-256.
const NEXT_KEY: &[u8] = b"execward-audit-next-key-v1\0";

/// How many lines are left without a signature.
const UNSIGNED_MAX: u64 = 1000;

/// How long one is.
const UNSIGNED_FOR: Duration = Duration::from_secs(60);

/// What a checkpoint says beside its signature.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// How many were before it in its chain.
    pub(crate) epoch: u64,
    /// `seq` of the first line that it is the first to sign.
    pub(crate) first: u64,
    /// How many lines these are, its own included.
    pub(crate) count: u64,
    /// Whose signature it is, in hexadecimal.
    pub(crate) key: String,
    /// Whose the next one's will be. Without one nothing follows in the chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Who signs the next checkpoint of a chain.
#[derive(Debug)]
pub(super) struct Seal {
    key: SigningKey,
    epoch: u64,
    first: u64,
    /// Since when there is a line that nobody has signed.
    unsigned_since: Option<Instant>,
    /// Whether that failed already.
    is_late: bool,
}

impl Seal {
    /// The first of a chain.
    ///
    /// # Errors
    /// What getrandom(2) answers.
    pub(super) fn first() -> io::Result<Self> {
        Ok(Self {
            key: SigningKey::from_bytes(&random()?),
            epoch: 0,
            first: 0,
            unsigned_since: None,
            is_late: false,
        })
    }

    /// By what its signature is known, in hexadecimal.
    pub(super) fn public(&self) -> String {
        hexadecimal(self.key.verifying_key().as_bytes())
    }

    /// What the line `seq` says as a checkpoint, behind which `next` signs, if anybody does.
    pub(super) fn checkpoint(&self, seq: u64, next: Option<&Self>) -> Checkpoint {
        Checkpoint {
            epoch: self.epoch,
            first: self.first,
            count: seq + 1 - self.first,
            key: self.public(),
            next: next.map(Self::public),
        }
    }

    /// Who signs behind a checkpoint that is the line `seq`. It cannot be told from this one's public key, and this one
    /// not from it.
    ///
    /// # Errors
    /// What getrandom(2) answers.
    pub(super) fn next(&self, seq: u64) -> io::Result<Self> {
        let mut made = Sha256::new();
        made.update(NEXT_KEY);
        made.update(self.key.as_bytes());
        made.update(random()?);
        Ok(Self {
            key: SigningKey::from_bytes(&made.finalize().into()),
            epoch: self.epoch + 1,
            first: seq + 1,
            unsigned_since: None,
            is_late: false,
        })
    }

    /// The signature over the bytes of a line, in hexadecimal.
    pub(super) fn sign(&self, line: &[u8]) -> String {
        hexadecimal(&self.key.sign(&signed(line)).to_bytes())
    }

    /// A line was written that is no checkpoint.
    pub(super) fn wrote(&mut self) {
        self.unsigned_since.get_or_insert_with(Instant::now);
    }

    /// Nothing could be signed now.
    pub(super) fn postpone(&mut self) {
        self.unsigned_since = Some(Instant::now());
        self.is_late = true;
    }

    /// When the lines before `seq` are to be signed.
    pub(super) fn due(&self, seq: u64) -> Option<Instant> {
        let since = self.unsigned_since?;
        let is_much = seq - self.first >= UNSIGNED_MAX && !self.is_late;
        Some(if is_much { since } else { since + UNSIGNED_FOR })
    }
}

/// Whether `signature` over the bytes of a line is of the key that is known as `public`.
pub(crate) fn is_signed(line: &[u8], public: &str, signature: &str) -> bool {
    let key = bytes(public).and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
    let signature = bytes(signature).map(|bytes| Signature::from_bytes(&bytes));
    match (key, signature) {
        (Some(key), Some(signature)) => key.verify_strict(&signed(line), &signature).is_ok(),
        _ => false,
    }
}

/// The signature over the bytes of a line by a key of somebody's own, for tests of those who forge one.
#[cfg(test)]
pub(crate) fn forged(key: &SigningKey, line: &[u8]) -> String {
    hexadecimal(&key.sign(&signed(line)).to_bytes())
}

fn signed(line: &[u8]) -> Vec<u8> {
    [DOMAIN, line].concat()
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    // Up to 256 bytes are not interrupted: getrandom(2).
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        32 => Ok(bytes),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_signs_and_the_next_is_another() {
        let one = Seal::first().unwrap();
        let next = one.next(6).unwrap();
        let (signature, line) = (one.sign(b"line"), b"line");
        assert!(is_signed(line, &one.public(), &signature));
        assert!(!is_signed(b"lime", &one.public(), &signature));
        assert!(!is_signed(line, &next.public(), &signature));
        assert!(!is_signed(
            line,
            &one.public(),
            &signature.replace(['a', '1'], "2")
        ));
        for none in ["", "0", "xy", &"0".repeat(64), &"f".repeat(66)] {
            assert!(!is_signed(line, none, &signature), "{none}");
            assert!(!is_signed(line, &one.public(), none), "{none}");
        }
        let last = next.checkpoint(9, None);
        assert_eq!((last.epoch, last.first, last.count), (1, 7, 3));
        assert_eq!(
            one.checkpoint(6, Some(&next)).next.as_ref(),
            Some(&last.key)
        );
    }
}
