//! Whether a log is whole: nothing in it was changed, and nothing is missing.
//!
//! ```text
//! files ──► lines ──► Entry ──► Chains ──► Proof ──► text, JSON
//!                        copies ──┘
//! ```
//!
//! Each line is held against its own digest, against the line before it in its session's chain, and against the signature
//! of the next checkpoint; each file against the name that the next one has for it; each session against what its first
//! record says stood before it. What all of that cannot show is a log that was made anew as a whole: copies of its
//! records that somebody else keeps show that.

mod chain;
mod copies;
mod entry;
mod fault;
mod report;
mod seal;
mod verb;
mod walk;

use std::io;
use std::path::PathBuf;

use crate::audit::{LogError, TailError};
use crate::exit::ExitStatus;

pub(crate) use verb::{seal, verify};

/// What can be said of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// Whole, and each session is that of which there is a copy elsewhere.
    Anchored,
    /// Whole, as far as it says itself.
    Intact,
    /// Something is missing at the end of a session or of the log.
    Truncated,
    /// Something was changed, added, moved, or taken out.
    Altered,
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Anchored => "anchored",
            Self::Intact => "intact",
            Self::Truncated => "truncated",
            Self::Altered => "altered",
        }
    }

    fn status(self) -> ExitStatus {
        match self {
            Self::Anchored | Self::Intact => ExitStatus::Success,
            Self::Truncated | Self::Altered => ExitStatus::LogDamaged,
        }
    }
}

/// Why nothing can be said of a log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProofError {
    #[error("{0}")]
    Log(#[from] TailError),
    #[error("cannot read `{}`: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// A copy proves nothing that is no record.
    #[error("line {line} of `{}` is no copy of a record: {why}; give lines of a log as they are", path.display())]
    NoCopy {
        path: PathBuf,
        line: usize,
        why: String,
    },
    #[error(
        "a session writes to the log, and it is sealed when nobody does; `execward stop` ends one"
    )]
    Busy,
    #[error("the log cannot be sealed: {0}")]
    Seal(#[source] LogError),
    #[error("cannot write: {0}")]
    Out(#[from] io::Error),
}

impl ProofError {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::NoCopy { .. } => ExitStatus::Usage,
            Self::Busy => ExitStatus::Finding,
            Self::Log(_) | Self::Read { .. } | Self::Seal(_) | Self::Out(_) => ExitStatus::Io,
        }
    }
}

#[cfg(test)]
mod tests;
