//! Execs that are expected: a list of them, what a log has instead, and the difference.
//!
//! For tests: a session that executes what nobody expected fails, though every exec of it may be allowed.
//!
//! ```text
//! log ──► Seen ──┬── learn ──► list's text
//!                └── Difference ──► text, JUnit
//! list ─► List ──┘
//! ```

mod difference;
mod junit;
mod learn;
mod list;
mod normal;
mod run;
mod seen;
mod verb;

use std::io;
use std::path::PathBuf;

use crate::audit::TailError;
use crate::exit::ExitStatus;

pub(crate) use run::Expectations;
pub(crate) use verb::expect;

/// Why nothing can be said of what was expected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExpectError {
    #[error("{0}")]
    Log(#[from] TailError),
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("cannot read `{}`: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    /// Each fault on a line.
    #[error("the list of expected execs has faults, and nothing runs by it\n{0}")]
    Faults(String),
    #[error("`{}` is there already, and stays as it is: remove it, or name another", .0.display())]
    Exists(PathBuf),
    #[error("cannot write `{}`: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot write: {0}")]
    Out(#[from] io::Error),
}

impl ExpectError {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Faults(_) => ExitStatus::Usage,
            Self::Exists(_) => ExitStatus::Finding,
            Self::Log(_)
            | Self::Places(_)
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Out(_) => ExitStatus::Io,
        }
    }
}
