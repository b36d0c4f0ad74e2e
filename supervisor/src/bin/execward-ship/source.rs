//! Whose log is shipped, and the `execward` that reads it.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::arguments::Arguments;
use crate::said::printable;

/// A log.
#[derive(Debug)]
pub(crate) struct Source {
    /// The program beside this one.
    pub(crate) execward: PathBuf,
    /// The log's path.
    pub(crate) log: PathBuf,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    /// This program's own path.
    #[error("cannot find where execward-ship is: {0}")]
    Own(#[source] io::Error),
    /// The other program.
    #[error("cannot start `{}`, which reads the log: {error}; scripts/install puts both there", path.display())]
    Start {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// There is no such session.
    #[error("{0}")]
    None(String),
    /// The log.
    #[error("cannot read the audit log `{}`: {error}", path.display())]
    Read {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Source {
    /// The log that is meant, which has to be there.
    ///
    /// # Errors
    /// If it is not, or nothing can read it.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, SourceError> {
        let own = std::env::current_exe().map_err(SourceError::Own)?;
        let execward = own.with_file_name("execward");
        let log = match &arguments.log {
            Some(log) => log.clone(),
            None => named(&execward, arguments.session.as_deref())?,
        };
        match std::fs::metadata(&log) {
            Ok(_) => Ok(Self { execward, log }),
            Err(error) => Err(SourceError::Read { path: log, error }),
        }
    }
}

/// Where the session's log is, by `execward audit where`.
fn named(execward: &Path, session: Option<&str>) -> Result<PathBuf, SourceError> {
    let mut asked = Command::new(execward);
    asked.args(["audit", "where"]).stdin(Stdio::null());
    if let Some(session) = session {
        asked.args(["--session", session]);
    }
    let said = asked.output().map_err(|error| SourceError::Start {
        path: execward.to_owned(),
        error,
    })?;
    match said.stdout.strip_suffix(b"\n") {
        Some(path) if said.status.success() => Ok(OsString::from_vec(path.to_vec()).into()),
        Some(_) | None => Err(SourceError::None(printable(said.stderr.trim_ascii()))),
    }
}
