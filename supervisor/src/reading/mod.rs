//! Logs as people and other programs read them: figures, the tree of a session's execs, and the forms that others
//! take.
//!
//! ```text
//! log ──► Entry ──┬── stats ───► text, JSON
//!                 ├── tree ────► text, HTML, JSON
//!                 └── export ──► ECS, OCSF, CSV, JUnit
//! ```
//!
//! Whoever wrote a log may have written anything: what is counted by name has an end, and what is shown is
//! escaped.

mod counted;
mod entry;
mod exec;
mod export;
mod moment;
mod source;
mod spread;
mod stats;
mod tree;

use std::io;
use std::path::{Path, PathBuf};

use crate::audit::TailError;
use crate::exit::ExitStatus;

pub(crate) use export::{Form, export};
pub(crate) use moment::moment;
pub(crate) use stats::stats;
pub(crate) use tree::tree;

/// Why a log is not read, or not shown.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadingError {
    #[error("{0}")]
    Log(#[from] TailError),
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("{0}")]
    Policy(#[from] crate::policy::PolicyError),
    #[error("`{}` has no such session", .0.display())]
    NoSession(PathBuf),
    #[error("`{}` is there already, and stays as it is: remove it, or name another", .0.display())]
    Exists(PathBuf),
    #[error("cannot write `{}`: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot write: {0}")]
    Out(#[from] io::Error),
}

impl ReadingError {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Policy(error) => error.status(),
            Self::NoSession(_) | Self::Exists(_) => ExitStatus::Finding,
            Self::Log(_) | Self::Places(_) | Self::Write { .. } | Self::Out(_) => ExitStatus::Io,
        }
    }

    /// Of a file that was to be written new.
    fn of_output(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() == io::ErrorKind::AlreadyExists {
            true => Self::Exists(path),
            false => Self::Write { path, error },
        }
    }
}

/// Whoever reads what is written may have seen enough: that is no failure.
fn unless_closed(done: Result<ExitStatus, ReadingError>) -> Result<ExitStatus, ReadingError> {
    match done {
        Err(ReadingError::Out(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(ExitStatus::Success)
        }
        other => other,
    }
}
