//! Policy files on disk: how they are read, when they were changed, and whose the floor must be.

use std::cell::{OnceCell, RefCell};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use execward_policy::{Included, Includes};
use jiff::Timestamp;

use super::PolicyError;
use crate::audit::{PolicyNote, digest};
use crate::past;
use crate::regular;
use crate::root::Root;
use crate::tracee::Procfs;

/// A policy file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolicyFile {
    /// Absolute, links in it as they were named.
    pub(crate) path: PathBuf,
    /// Empty where there is no file.
    pub(crate) text: Vec<u8>,
    /// When its content, its name or the link to it was changed last; of no file that is not known, and
    /// the earliest time.
    pub(crate) changed: Timestamp,
}

impl PolicyFile {
    /// Reads `file`, which was opened as `path`. What is changed after the reading is changed later.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn of(file: &File, path: &Path) -> io::Result<Self> {
        let text = read_whole(file)?;
        let changed = |seen: &fs::Metadata| past::stamp(seen.ctime(), seen.ctime_nsec());
        let itself = changed(&file.metadata()?);
        // A link that leads elsewhere now; a name that is gone is not known to have been one.
        let link = path.symlink_metadata();
        let link = link.map_or(Timestamp::MAX, |seen| changed(&seen));
        Ok(Self {
            path: std::path::absolute(path)?,
            text,
            changed: itself.max(link),
        })
    }

    /// Whether there was a file.
    pub(crate) fn is_there(&self) -> bool {
        self.changed > Timestamp::MIN
    }

    /// The one that is not at `path`.
    ///
    /// # Errors
    /// If `path` is relative, and to nothing.
    pub(crate) fn missing(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            text: Vec::new(),
            changed: Timestamp::MIN,
        })
    }
}

/// Reads a policy file.
pub(super) fn read(path: &Path) -> Result<PolicyFile, PolicyError> {
    let read = regular::open(path).and_then(|file| PolicyFile::of(&file, path));
    read.map_err(failed(path))
}

/// Reads a policy file that need not be there.
pub(super) fn read_if_there(path: &Path) -> Result<Option<PolicyFile>, PolicyError> {
    match regular::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => {
            let read = opened.and_then(|file| PolicyFile::of(&file, path));
            read.map(Some).map_err(failed(path))
        }
    }
}

pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> PolicyError + '_ {
    move |error| PolicyError::Read {
        path: path.to_owned(),
        error,
    }
}

/// Reads a file that is no longer than a policy, or enough of it to tell.
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    read_whole(&regular::open(path)?)
}

/// Reads a file to just behind the length that no policy has: how much there is does not matter.
fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(execward_policy::SOURCE_MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The kernel's one name of a file, by whatever ways it was reached. One proc serves all the names
/// of a policy: a detached one is mounted for it.
#[derive(Debug)]
pub(super) struct Namer {
    proc: OnceCell<Procfs>,
    /// Below which the directories lie.
    root: Arc<Root>,
}

impl Namer {
    pub(super) fn below(root: &Arc<Root>) -> Self {
        Self {
            proc: OnceCell::new(),
            root: Arc::clone(root),
        }
    }

    fn name_of(&self, fd: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
        let proc = match self.proc.get() {
            Some(proc) => proc,
            None => {
                let opened = Procfs::open()?;
                self.proc.get_or_init(|| opened)
            }
        };
        Ok(proc.name_of(fd)?)
    }

    /// What a directory's path comes to, if there is such a directory.
    pub(super) fn resolve(&self, directory: &[u8]) -> Option<Vec<u8>> {
        let fd = self.root.find_directory(directory).ok()?;
        self.name_of(fd.as_fd()).ok()
    }
}

/// Reads the floor, if there is one.
///
/// # Errors
/// If it is not root's alone: whoever could write it could lift what it demands. The
/// directory above counts as the file does.
pub(super) fn read_floor(path: &Path) -> Result<Option<PolicyFile>, PolicyError> {
    let failed = failed(path);
    let file = match regular::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(file) => file,
    };
    let directory = path.parent().unwrap_or(Path::new("/"));
    for seen in [
        file.metadata().map_err(&failed)?,
        fs::metadata(directory).map_err(&failed)?,
    ] {
        const OTHERS_MAY_WRITE: u32 = 0o022;
        if seen.uid() != 0 {
            return Err(PolicyError::Floor("or its directory is not owned by root"));
        }
        if seen.mode() & OTHERS_MAY_WRITE != 0 {
            return Err(PolicyError::Floor(
                "or its directory may be written by others",
            ));
        }
    }
    PolicyFile::of(&file, path).map(Some).map_err(failed)
}

/// The files that a policy includes, in the order of reading, for its account.
#[derive(Debug, Default)]
pub(super) struct Notes(RefCell<Vec<PolicyNote>>);

impl Notes {
    pub(super) fn keep(&self, name: &str, text: &[u8]) {
        let mut notes = self.0.borrow_mut();
        if !notes.iter().any(|known| known.name == name) {
            notes.push(PolicyNote {
                name: name.to_owned(),
                sha256: digest([text]),
            });
        }
    }

    pub(super) fn into_vec(self) -> Vec<PolicyNote> {
        self.0.into_inner()
    }
}

/// Reads what policies include, relative to themselves.
#[derive(Debug)]
pub(super) struct FileIncludes {
    notes: Notes,
    files: RefCell<Vec<PolicyFile>>,
    namer: Namer,
}

impl Includes for FileIncludes {
    fn read(&self, includer: &str, path: &str) -> Result<Included, String> {
        self.open_and_read(includer, path)
            .map_err(|error| error.to_string())
    }

    fn resolve(&self, directory: &[u8]) -> Option<Vec<u8>> {
        self.namer.resolve(directory)
    }
}

impl FileIncludes {
    /// For a policy whose paths lie below `root`. The policy's own files lie where this process is.
    pub(super) fn below(root: &Arc<Root>) -> Self {
        Self {
            notes: Notes::default(),
            files: RefCell::default(),
            namer: Namer::below(root),
        }
    }

    /// The files that were included, and the notes of them.
    pub(super) fn into_parts(self) -> (Vec<PolicyFile>, Vec<PolicyNote>) {
        (self.files.into_inner(), self.notes.into_vec())
    }

    fn open_and_read(&self, includer: &str, path: &str) -> io::Result<Included> {
        let directory = Path::new(includer).parent().unwrap_or(Path::new(""));
        let path = directory.join(path);
        let file = regular::open(&path)?;
        let read = PolicyFile::of(&file, &path)?;
        let text = read.text.clone();
        let mut files = self.files.borrow_mut();
        if !files.contains(&read) {
            files.push(read);
        }
        drop(files);
        let name = PathBuf::from(OsString::from_vec(self.namer.name_of(file.as_fd())?));
        let name = name.display().to_string();
        self.notes.keep(&name, &text);
        Ok(Included { name, text })
    }
}
