//! What is wrong with a log is known, and the log goes on.
//!
//! A seal is the first line of a new file, by itself a chain of one record, and has the digest of every file before. As
//! long as these are as they were, what is wrong with them is not said again as the log's state.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::copies::Copies;
use super::walk::Proof;
use super::{ProofError, State};
use crate::audit::{
    Approver, Body, FileNote, Files, Limits, Log, SessionNote, TailError, hexadecimal,
};

impl Proof {
    /// Seals the log at `path`, whose faults are these.
    ///
    /// # Errors
    /// If a session writes to it, or it cannot be read or written.
    pub(super) fn seal(&self, path: &Path, why: &str) -> Result<(), ProofError> {
        let limits = Limits {
            segment_bytes: u64::MAX,
            kept_bytes: None,
        };
        let id = uuid::Uuid::now_v7().to_string();
        let note = SessionNote {
            name: format!("seal-{}", id.get(..8).unwrap_or_default()),
            id,
        };
        let log = Log::open(path, note, limits).map_err(ProofError::Seal)?;
        let files = files(path)?;
        let sealed = log.begin_with(|segment| Body::Sealed {
            sender: Approver::own(),
            detail: why.to_owned(),
            segment,
            faults: self.faults,
            files,
        });
        match sealed {
            Ok(true) => Ok(()),
            Ok(false) => Err(ProofError::Busy),
            Err(error) => Err(ProofError::Seal(error)),
        }
    }
}

/// All files of a log as they are. The last one has the name that it will have.
fn files(path: &Path) -> Result<Vec<FileNote>, ProofError> {
    let failed = |error| {
        let path = path.to_owned();
        ProofError::Log(TailError::Read { path, error })
    };
    let mut files = Files::of(path).map_err(failed)?;
    let mut notes = Vec::new();
    while let Some((path, file)) = files.next().map_err(failed)? {
        let name = path.file_name().unwrap_or_default();
        notes.push(FileNote {
            name: name.display().to_string(),
            sha256: digest(file).map_err(failed)?,
        });
    }
    Ok(notes)
}

/// SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// If it cannot be read.
pub(super) fn digest(file: File) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut file = BufReader::with_capacity(64 << 10, file);
    loop {
        let read = file.fill_buf()?;
        if read.is_empty() {
            return Ok(hexadecimal(&digest.finalize()));
        }
        digest.update(read);
        let len = read.len();
        file.consume(len);
    }
}

/// Seals the log at `path`, if anything is wrong with it, and says so.
///
/// # Errors
/// As [`Proof::of`] and [`Proof::seal`].
pub(super) fn sealed(path: &Path, why: &str) -> Result<Proof, ProofError> {
    let copies = Copies::default();
    let proof = Proof::of(path, &copies)?;
    match proof.state() {
        State::Anchored | State::Intact => Ok(proof),
        State::Truncated | State::Altered => {
            proof.seal(path, why)?;
            Proof::of(path, &copies)
        }
    }
}
