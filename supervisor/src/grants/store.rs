//! The file of grants: read as it is, changed whole or not at all.
//!
//! It is the user's, and nobody else may write it. Who changes it holds a lock on its directory, makes
//! sure that it is as execward left it, writes a new one beside it and puts that in its place.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use execward_policy::{
    Diagnostics, Layer, NoIncludes, Places as PolicyPlaces, Ruleset, Source, Style,
};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::document::Document;
use super::{Grant, Usage};
use crate::directory::Directory;
use crate::ownership::{self, NotOwn};
use crate::past::{Past, PastError};
use crate::policy::PolicyFile;

/// How long a change waits for others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    /// Nothing is worth a wait.
    None,
    /// Calls of the session wait meanwhile.
    Gate,
    /// Nobody waits but who starts or ends the session.
    Leisure,
}

impl Patience {
    fn duration(self) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Gate => Duration::from_millis(200),
            Self::Leisure => Duration::from_secs(5),
        }
    }
}

/// How often a lock that others hold is tried.
const LOCK_TRIED_EVERY: Duration = Duration::from_millis(10);

/// Where grants are that outlive their sessions.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    path: PathBuf,
    directory: Directory,
}

/// The file's name.
const NAME: &str = "grants.toml";

/// What is in it.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) file: PolicyFile,
    pub(crate) grants: Vec<Grant>,
}

/// Why the file is not read, or not changed: it is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("cannot {what} the grants `{}`: {error}", path.display())]
    System {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    #[error(
        "the grants `{}` are a link or no regular file; put the file itself in its place", .0.display()
    )]
    NotRegular(PathBuf),
    #[error("the grants {0}")]
    NotOwn(#[from] NotOwn),
    #[error("the grants have faults, and nothing of them is used or changed\n{}", .0.render(Style::Plain))]
    Faults(Diagnostics),
    #[error("{}: {why}; mend it, or remove the file", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("the grants are being changed by another process for too long; try again")]
    Locked,
    #[error(
        "the grants `{}` were changed by something else than execward; look at them, and accept that \
         with `execward policy accept`",
        .0.display()
    )]
    Changed(PathBuf),
    #[error("{0}")]
    Past(#[from] PastError),
}

impl Store {
    /// The file is in `directory`, which need not be there.
    pub(crate) fn below(directory: &Path) -> Self {
        Self {
            path: directory.join(NAME),
            directory: Directory::at(directory.to_owned()),
        }
    }

    /// Goes on where it is now, whatever comes to lie over its path.
    ///
    /// # Errors
    /// If its directory cannot be made or opened.
    pub(crate) fn hold(&mut self) -> Result<(), StoreError> {
        let held = self.directory.hold();
        held.map_err(self.system("hold the directory of"))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn system<'a>(&'a self, what: &'static str) -> impl Fn(io::Error) -> StoreError + 'a {
        move |error| StoreError::System {
            what,
            path: self.path.clone(),
            error,
        }
    }

    fn damaged(&self, why: impl ToString) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }

    /// What is in the file; nothing if there is none.
    ///
    /// # Errors
    /// If it is another's, no regular file, or has any fault.
    pub(crate) fn read(&self) -> Result<Stored, StoreError> {
        let (file, document) = self.document()?;
        let grants = document.grants().map_err(|why| self.damaged(why))?;
        Ok(Stored { file, grants })
    }

    fn document(&self) -> Result<(PolicyFile, Document), StoreError> {
        let file = self.file()?;
        if file.is_there() {
            let source = Source {
                name: &self.path.display().to_string(),
                text: &file.text,
                layer: Layer::User,
            };
            // Faults that a policy could bring to it are found where there is one.
            let loaded =
                empty_policy().and_then(|it| it.with_grants(&[source], &no_places(), &NoIncludes));
            loaded.map_err(StoreError::Faults)?;
        }
        let text = str::from_utf8(&file.text).map_err(|error| self.damaged(error))?;
        let document = Document::read(text).map_err(|error| self.damaged(error))?;
        Ok((file, document))
    }

    fn file(&self) -> Result<PolicyFile, StoreError> {
        let file = match self.directory.open(NAME) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return PolicyFile::missing(&self.path).map_err(self.system("name"));
            }
            Err(error)
                if error.raw_os_error() == Some(libc::ELOOP)
                    || error.kind() == io::ErrorKind::InvalidInput =>
            {
                return Err(StoreError::NotRegular(self.path.clone()));
            }
            opened => opened.map_err(self.system("open"))?,
        };
        let seen = file.metadata().map_err(self.system("look at"))?;
        ownership::check(&self.path, &seen)?;
        PolicyFile::of(&file, &self.path).map_err(self.system("read"))
    }

    /// Keeps a grant.
    ///
    /// # Errors
    /// If it cannot be kept: nothing has changed then.
    pub(crate) fn add(&self, grant: &Grant, past: &Past) -> Result<(), StoreError> {
        self.change(past, Patience::Gate, |document| {
            document.add(grant).map_err(|error| self.damaged(error))
        })
    }

    /// Takes a grant back; whether it was there.
    ///
    /// # Errors
    /// As of [`Store::add`].
    pub(crate) fn remove(&self, id: &str, past: &Past) -> Result<bool, StoreError> {
        self.change(past, Patience::Gate, |document| Ok(document.remove(id)))
    }

    /// Counts what came of grants.
    ///
    /// # Errors
    /// As of [`Store::add`].
    pub(crate) fn count<'u>(
        &self,
        used: impl IntoIterator<Item = (&'u str, &'u Usage)>,
        past: &Past,
        patience: Patience,
    ) -> Result<(), StoreError> {
        self.change(past, patience, |document| {
            used.into_iter()
                .for_each(|(id, more)| document.count(id, more));
            Ok(())
        })
    }

    /// Makes sure that a grant could be kept now.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn check(&self, past: &Past, patience: Patience) -> Result<(), StoreError> {
        let _lock = self.lock(patience)?;
        let (file, _) = self.document()?;
        self.expect_unchanged(&file, past)
    }

    /// Keeps others from changing the file for as long as what is returned is open, so that the file and
    /// what is accepted of it are looked at together. Nothing where there is no directory, or somebody
    /// holds its lock for too long: then a change in between may look like one of somebody else's.
    pub(crate) fn hold_still(&self) -> Option<File> {
        let directory = self.directory.reopen().ok()?;
        lock(&directory, Patience::Leisure).ok().map(|()| directory)
    }

    fn lock(&self, patience: Patience) -> Result<File, StoreError> {
        let directory = self.directory.make();
        let directory = directory.map_err(self.system("open the directory of"))?;
        lock(&directory, patience).map_err(|errno| match errno {
            Errno::WOULDBLOCK => StoreError::Locked,
            errno => self.system("lock")(errno.into()),
        })?;
        Ok(directory)
    }

    fn expect_unchanged(&self, file: &PolicyFile, past: &Past) -> Result<(), StoreError> {
        if past.difference(file)?.is_some() {
            return Err(StoreError::Changed(self.path.clone()));
        }
        Ok(())
    }

    fn change<T>(
        &self,
        past: &Past,
        patience: Patience,
        change: impl FnOnce(&mut Document) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let directory = self.lock(patience)?;
        let (file, mut document) = self.document()?;
        self.expect_unchanged(&file, past)?;
        let before = document.to_string();
        let changed = change(&mut document)?;
        let text = document.to_string();
        if file.is_there() && text == before {
            return Ok(changed);
        }
        self.replace(&text, &directory)
            .map_err(self.system("write"))?;
        past.accept(&self.file()?)?;
        Ok(changed)
    }

    /// Puts `text` in the file's place, on the disk.
    fn replace(&self, text: &str, directory: &File) -> io::Result<()> {
        let fresh = format!("{NAME}.{}", std::process::id());
        // Left by an earlier process of this number, if it is there.
        self.directory.remove(&fresh)?;
        let written = self.directory.create(&fresh).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            self.directory.rename(&fresh, NAME)
        });
        if written.is_err() {
            self.directory.remove(&fresh).ok();
        }
        written?;
        directory.sync_all()
    }
}

/// Locks `directory` until it is closed. Whoever holds the lock writes a small file.
fn lock(directory: &File, patience: Patience) -> Result<(), Errno> {
    let begun = Instant::now();
    loop {
        match flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if begun.elapsed() < patience.duration() => {
                std::thread::sleep(LOCK_TRIED_EVERY);
            }
            locked => return locked,
        }
    }
}

/// A policy that says nothing.
fn empty_policy() -> Result<Ruleset, Diagnostics> {
    Ruleset::load(&[], &no_places(), &NoIncludes)
}

/// Grants name no place of the language.
pub(super) fn no_places() -> PolicyPlaces {
    PolicyPlaces {
        home: Vec::new(),
        workspace: Vec::new(),
        tmp: Vec::new(),
    }
}
