//! A log as it is read: its files one after the other, also while the next begins.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::segment::{Segment, directory_of};
use super::shown::escaped;
use crate::regular;

/// The files of a log that are still to be read, the oldest first.
#[derive(Debug)]
pub(crate) struct Files {
    earlier: VecDeque<PathBuf>,
    /// The one that has the log's name, opened before the others were looked for: none between them is missed.
    last: Option<(PathBuf, File)>,
}

/// Where a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Counted from 1.
    pub(crate) line: usize,
    /// The file's name, where it is not the log's.
    pub(crate) file: Option<Arc<str>>,
}

impl Place {
    /// Before the first line of `file`, of the log at `log`.
    pub(crate) fn beginning(file: &Path, log: &Path) -> Self {
        let name = file.file_name().filter(|_| file != log);
        Self {
            line: 0,
            file: name.map(|name| name.display().to_string().into()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        match &self.file {
            Some(file) => write!(f, " of {}", escaped(file)),
            None => Ok(()),
        }
    }
}

/// Which file, whatever its name is by now.
type Identity = (u64, u64);

impl Files {
    /// Those of the log that somebody names: `-` is standard input, which is one.
    ///
    /// # Errors
    /// If the log, or its directory, cannot be read.
    pub(crate) fn named(path: &Path) -> io::Result<Self> {
        if !is_standard_input(path) {
            return Self::of(path);
        }
        let own = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self {
            earlier: VecDeque::new(),
            last: Some((path.to_owned(), File::from(own))),
        })
    }

    /// All of the log at `path`; of an earlier file's name that one alone.
    ///
    /// # Errors
    /// If the log, or its directory, cannot be read.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let last = regular::open(path)?;
        let own = identity(&last)?;
        let mut earlier = VecDeque::new();
        for segment in earlier_ones(path)? {
            let named = |error: io::Error| {
                let shown = escaped(&segment.display().to_string());
                io::Error::new(error.kind(), format!("{shown}: {error}"))
            };
            match regular::open(&segment).map_err(named) {
                // It had the log's name when that was opened.
                Ok(file) if identity(&file)? == own => break,
                Ok(_) => earlier.push_back(segment),
                // Removed, as more than is kept.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            earlier,
            last: Some((path.to_owned(), last)),
        })
    }

    /// Those of the log at `path` that begin behind `read`, which had its name; none while it has.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn behind(path: &Path, read: &File) -> io::Result<Self> {
        let read = identity(read)?;
        // Who follows a log asks often, and nearly always in vain.
        if identity(&regular::open(path)?)? == read {
            return Ok(Self {
                earlier: VecDeque::new(),
                last: None,
            });
        }
        let mut files = Self::of(path)?;
        let is_it = |path: &PathBuf| {
            let seen = regular::open(path).and_then(|file| identity(&file));
            seen.is_ok_and(|seen| seen == read)
        };
        if let Some(at) = files.earlier.iter().position(is_it) {
            files.earlier.drain(..=at);
        }
        Ok(files)
    }

    pub(crate) fn has_more(&self) -> bool {
        !self.earlier.is_empty() || self.last.is_some()
    }

    /// The next one.
    ///
    /// # Errors
    /// If it cannot be opened, because it has been removed since.
    pub(crate) fn next(&mut self) -> io::Result<Option<(PathBuf, File)>> {
        match self.earlier.pop_front() {
            Some(path) => {
                let file = regular::open(&path)?;
                Ok(Some((path, file)))
            }
            None => Ok(self.last.take()),
        }
    }
}

/// Whether a log that somebody names is none with a name of its own.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn earlier_ones(path: &Path) -> io::Result<Vec<PathBuf>> {
    let directory = directory_of(path);
    let open = match File::open(directory) {
        Ok(open) => open,
        // Who may search it alone reads what they can name.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let segments = Segment::all(&open, path.file_name().unwrap_or_default())?;
    let paths = segments
        .into_iter()
        .map(|segment| directory.join(segment.name));
    Ok(paths.collect())
}

fn identity(file: &File) -> io::Result<Identity> {
    let seen = file.metadata()?;
    Ok((seen.dev(), seen.ino()))
}
