//! A directory of execward's own, by its path or held open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, unlinkat};

use crate::places::make_private;

/// Where it is; and where it was once it is held, whatever comes to lie over its path.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    held: Option<Arc<OwnedFd>>,
}

impl Directory {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path, held: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, if it is not there, and holds it open.
    ///
    /// # Errors
    /// If it cannot be made or opened.
    pub(crate) fn hold(&mut self) -> io::Result<()> {
        self.held = Some(Arc::new(self.make()?.into()));
        Ok(())
    }

    /// It, opened.
    ///
    /// # Errors
    /// What open(2) answers.
    pub(crate) fn fd(&self) -> io::Result<Arc<OwnedFd>> {
        if let Some(held) = &self.held {
            return Ok(Arc::clone(held));
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Arc::new(openat(CWD, &self.path, flags, Mode::empty())?))
    }

    /// It, made if it is not there and opened by itself: what is locked by this descriptor is locked no
    /// longer than it is open.
    ///
    /// # Errors
    /// If it cannot be made or opened.
    pub(crate) fn make(&self) -> io::Result<File> {
        if self.held.is_none() {
            make_private(&self.path)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(File::from(openat(&*self.fd()?, ".", flags, Mode::empty())?))
    }

    /// Opens `name` in it, which must be a regular file and no link.
    ///
    /// # Errors
    /// What openat(2) answers: `ELOOP` for a link; and `InvalidInput` for what is no regular file.
    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&*self.fd()?, name, flags, Mode::empty())?);
        if file.metadata()?.is_file() {
            return Ok(file);
        }
        Err(io::ErrorKind::InvalidInput.into())
    }

    /// Makes `name` anew, 0600.
    ///
    /// # Errors
    /// What openat(2) answers; `EEXIST` if it is there.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o600);
        Ok(File::from(openat(&*self.fd()?, name, flags, mode)?))
    }

    /// Puts `from` in the place of `to`.
    ///
    /// # Errors
    /// What renameat(2) answers.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let fd = self.fd()?;
        Ok(renameat(&*fd, from, &*fd, to)?)
    }

    /// Removes `name`.
    ///
    /// # Errors
    /// What unlinkat(2) answers, but that it was not there.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&*self.fd()?, name, AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) => Ok(()),
            removed => Ok(removed?),
        }
    }

    /// The names in it.
    ///
    /// # Errors
    /// What getdents64(2) answers.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.fd()?.as_fd())? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| name != "." && name != "..");
        Ok(names)
    }
}
