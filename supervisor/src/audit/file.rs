//! The log's file: lines stand in it whole or not at all.
//!
//! Each session holds a shared lock on its log for life. Whoever can make that an exclusive one is the
//! file's only writer, and may cut what lies behind its last whole line.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::log::LogError;
use super::names::Names;
use super::reserve::{Claim, Reserve};
use super::segment::directory_of;
use super::whole::{LINE_MAX_BYTES, end_of_whole, is_of_a_log};
use crate::fault;

/// How long another session may take to cut its end before the lock is somebody else's.
const LOCK_DEADLINE: Duration = Duration::from_secs(1);

/// How often another file may have the log's name once the one that had it is open.
const REPLACED_MAX: usize = 100;

/// An open log file.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
    /// Its name there.
    pub(super) name: OsString,
    /// The directory that it was found in, if that can be read.
    pub(super) directory: Option<File>,
    /// Those that a power cut may still take.
    names: Names,
    /// Whether a piece of a line may stand behind the last whole one.
    is_torn: bool,
    pub(super) reserve: Option<Reserve>,
}

impl LogFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens `path` for appending, 0600, in directories made 0700. Nothing in it is changed.
    ///
    /// # Errors
    /// If that cannot be done, or `path` is something other than a regular file.
    pub(super) fn open(path: &Path) -> Result<Self, LogError> {
        let failed = |error| LogError::Open {
            path: path.to_owned(),
            error,
        };
        let names = Names::make_for(path).map_err(failed)?;
        let (file, seen) = shared(path)?;
        let name = path.file_name().unwrap_or_default().to_owned();
        Ok(Self {
            file,
            path: path.to_owned(),
            name,
            directory: File::open(directory_of(path)).ok(),
            names: if seen.len() == 0 {
                names
            } else {
                Names::default()
            },
            is_torn: false,
            reserve: None,
        })
    }

    /// Makes it ready for lines of our own: an earlier writer may have died inside one, or the machine
    /// under it, and room is set aside for a full disk. How many bytes are not whole.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub(super) fn prepare(&mut self) -> io::Result<u64> {
        let len = self.file.metadata()?.len();
        let whole = end_of_whole(&self.file, len)?;
        if whole < len && !self.set_apart(whole, len)? {
            self.file.write_all(b"\n")?;
        }
        self.reserve = Reserve::set_aside(&self.file)?;
        Ok(len - whole)
    }

    /// The same of another file, which is new.
    ///
    /// # Errors
    /// If a descriptor cannot be copied.
    pub(super) fn succeeded_by(&self, file: File) -> io::Result<Self> {
        Ok(Self {
            file,
            path: self.path.clone(),
            name: self.name.clone(),
            directory: self.directory.as_ref().map(File::try_clone).transpose()?,
            names: Names::default(),
            is_torn: false,
            reserve: None,
        })
    }

    /// Bytes that are set aside for a full disk.
    pub(super) fn reserve_bytes(&self) -> u64 {
        self.reserve.as_ref().map_or(0, Reserve::bytes)
    }

    /// Appends `line` with one write(2).
    ///
    /// # Errors
    /// If it is not in the file whole.
    pub(super) fn append(&mut self, line: &[u8], claim: Claim) -> io::Result<()> {
        if self.is_torn {
            self.mend()?;
        }
        if let (Claim::Plain, Some(reserve)) = (claim, &mut self.reserve) {
            reserve.keep_behind(&self.file, line.len())?;
        }
        fault::while_recording(&self.file, line);
        let error = match self.file.write(line) {
            Ok(written) if written == line.len() => return Ok(()),
            // Cut short, by a full disk or a limit.
            Ok(_) => io::ErrorKind::StorageFull.into(),
            Err(error) => error,
        };
        self.is_torn = true;
        if let Err(error) = self.mend() {
            tracing::warn!(%error, "a torn line stays at the end of the log until the next record");
        }
        Err(error)
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// What fdatasync(2) answers.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// The same, with the file's name where that is new.
    ///
    /// # Errors
    /// What fdatasync(2) or fsync(2) answers.
    pub(super) fn sync_with_names(&mut self) -> io::Result<()> {
        self.sync()?;
        self.names.sync()
    }

    /// Takes away what a failed write left of its line; beside other sessions, ends it.
    fn mend(&mut self) -> io::Result<()> {
        let (whole, len) = self.ends()?;
        if whole < len {
            let cut = alone(&self.file, || self.file.set_len(whole));
            match cut {
                // With the piece went all that was set aside behind it.
                Ok(Some(())) => self.reserve = Reserve::set_aside(&self.file)?,
                // What may only be appended to (chattr(1)) is not cut either.
                Ok(None) | Err(_) => self.file.write_all(b"\n")?,
            }
        }
        self.is_torn = false;
        Ok(())
    }

    /// Moves what is not whole of an earlier writer's into a file beside the log; whether it could.
    fn set_apart(&self, whole: u64, len: u64) -> io::Result<bool> {
        if !is_of_a_log(&self.file, whole, len)? {
            return Ok(false);
        }
        let moved = alone(&self.file, || {
            let mut beside = self.path.clone().into_os_string();
            beside.push(".torn");
            let mut beside = opened(Path::new(&beside))?;
            let seen = beside.metadata()?;
            // By another name it would be somebody else's file.
            if !seen.is_file() || seen.nlink() != 1 {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            (&self.file).seek(SeekFrom::Start(whole))?;
            io::copy(&mut (&self.file).take(len - whole), &mut beside)?;
            beside.write_all(b"\n")?;
            beside.sync_all()?;
            self.file.set_len(whole)?;
            // Lines of our own must not come to lie in what another power cut brings back.
            self.file.sync_all()
        });
        match moved {
            Ok(moved) => Ok(moved.is_some()),
            Err(error) => {
                tracing::warn!(%error, "what is torn of an earlier session stays in the log");
                Ok(false)
            }
        }
    }

    /// Where the last whole line ends, and where the file does.
    fn ends(&self) -> io::Result<(u64, u64)> {
        let len = self.file.metadata()?.len();
        let from = len.saturating_sub(LINE_MAX_BYTES);
        let mut end = vec![0; usize::try_from(len - from).unwrap_or(0)];
        self.file.read_exact_at(&mut end, from)?;
        let whole = match end.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => from + at as u64 + 1,
            None => from,
        };
        Ok((whole, len))
    }
}

impl Drop for LogFile {
    /// Gives back what is set aside, unless another session writes here.
    fn drop(&mut self) {
        if self.reserve.take().is_none() {
            return;
        }
        let released = alone(&self.file, || {
            let len = self.file.metadata()?.len();
            self.file.set_len(len)
        });
        if let Err(error) = released {
            tracing::warn!(%error, "room that was set aside stays with the log");
        }
    }
}

impl AsFd for LogFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn opened(path: &Path) -> io::Result<File> {
    // NONBLOCK: a FIFO must not wait here for a reader before it is refused.
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)
}

/// Opens the log at `path` with the lock of a session that is not alone.
fn shared(path: &Path) -> Result<(File, Metadata), LogError> {
    let failed = |error| LogError::Open {
        path: path.to_owned(),
        error,
    };
    for _ in 0..REPLACED_MAX {
        let file = opened(path).map_err(failed)?;
        let seen = file.metadata().map_err(failed)?;
        if !seen.is_file() {
            return Err(LogError::NotRegular(path.to_owned()));
        }
        share(&file).map_err(|error| match error {
            Errno::WOULDBLOCK => LogError::Locked(path.to_owned()),
            other => failed(other.into()),
        })?;
        // Meanwhile another session may have closed this file, and begun the next.
        let named = std::fs::symlink_metadata(path).map_err(failed)?;
        if (named.dev(), named.ino()) == (seen.dev(), seen.ino()) {
            return Ok((file, seen));
        }
    }
    Err(failed(io::ErrorKind::ResourceBusy.into()))
}

/// Takes the lock of a session that is not alone.
///
/// # Errors
/// What flock(2) answers; `WOULDBLOCK` if somebody keeps it for themselves.
pub(super) fn share(file: &File) -> Result<(), Errno> {
    let start = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) if start.elapsed() < LOCK_DEADLINE => {
                thread::sleep(Duration::from_millis(1));
            }
            other => return other,
        }
    }
}

/// Whether no other session may write to `file`, nor will before [`share`].
///
/// # Errors
/// What flock(2) answers.
pub(super) fn is_alone(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// Runs `act` while no other session may write to `file`; `None` if one may.
fn alone<T>(file: &File, act: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
    let done = is_alone(file)?.then(act).transpose();
    // A lock that changes its kind is let go in between (flock(2)).
    share(file)?;
    done
}
