//! `run --expect`: the list is read before CMD runs, and a session that executed something else has failed.

use std::fs::{File, Metadata, OpenOptions, metadata};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::ExpectError;
use super::difference::Difference;
use super::list::List;
use super::seen::{Seen, Whose};
use crate::cli::RunArgs;
use crate::exit::ExitStatus;
use crate::front::{self, Logged};
use crate::places::Places;
use crate::ptrace::CommandStatus;

/// What is expected of a session.
#[derive(Debug)]
pub(crate) struct Expectations {
    list: List,
    junit: Option<Output>,
}

/// A file that is opened before anybody could put another in its place.
#[derive(Debug)]
pub(super) struct Output {
    path: PathBuf,
    file: File,
}

impl Output {
    /// # Errors
    /// If it cannot be opened for writing, is a link, or is one of the files that are `read` or written besides.
    pub(super) fn open<'p>(
        path: &Path,
        read: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Result<Self, ExpectError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o644);
        let opened = options.custom_flags(libc::O_NOFOLLOW).open(path);
        let emptied = opened.and_then(|file| {
            let own = file.metadata()?;
            let is_own = |seen: Metadata| (seen.dev(), seen.ino()) == (own.dev(), own.ino());
            if read
                .into_iter()
                .any(|other| metadata(other).is_ok_and(is_own))
            {
                return Err(io::Error::other("it is the list, or the log"));
            }
            file.set_len(0)?;
            Ok(file)
        });
        Ok(Self {
            file: emptied.map_err(|error| failed(path, error))?,
            path: path.to_owned(),
        })
    }

    pub(super) fn write(&mut self, difference: &Difference<'_>) -> Result<(), ExpectError> {
        let report = super::junit::report(difference).map_err(io::Error::other);
        let written = report.and_then(|text| self.file.write_all(text.as_bytes()));
        written.map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, error: io::Error) -> ExpectError {
    let path = path.to_owned();
    ExpectError::Write { path, error }
}

impl Expectations {
    /// Those that the arguments name, if they do.
    ///
    /// # Errors
    /// If the list has faults, or the report cannot be written.
    pub(crate) fn of(args: &RunArgs) -> Result<Option<Self>, ExpectError> {
        let Some(path) = &args.expect else {
            return Ok(None);
        };
        let list = List::read(path)?;
        let Some(junit) = &args.junit else {
            return Ok(Some(Self { list, junit: None }));
        };
        // Without either, the log has a name that nobody knew.
        let log = match (&args.audit, &args.session) {
            (Some(audit), _) => Some(audit.clone()),
            (None, Some(name)) => Some(Places::of(&args.state)?.log(name)),
            (None, None) => None,
        };
        let junit = Output::open(junit, [path].into_iter().chain(&log))?;
        Ok(Some(Self {
            list,
            junit: Some(junit),
        }))
    }

    /// What a session that ended so comes to: says the difference, and fails what has not failed by itself.
    ///
    /// # Errors
    /// If its log cannot be read, or the report not be written.
    pub(crate) fn judge(
        mut self,
        status: ExitStatus,
        logged: Option<&Logged>,
    ) -> Result<ExitStatus, ExpectError> {
        let Some(logged) = logged else {
            // Nothing ran, and the front has said why.
            return Ok(status);
        };
        let mut seen = Seen::default();
        seen.read(&logged.path, Whose::Session(logged))?;
        let difference = Difference::between(&self.list, &seen);
        if !difference.is_none() {
            front::say(difference.to_string().trim_end());
        }
        if let Some(junit) = &mut self.junit {
            junit.write(&difference)?;
        }
        if difference.is_none() {
            return Ok(status);
        }
        let has_failed = !matches!(
            status,
            ExitStatus::Command(CommandStatus::Exited(0) | CommandStatus::Unseen)
        );
        Ok(if has_failed {
            status
        } else {
            ExitStatus::Finding
        })
    }
}
