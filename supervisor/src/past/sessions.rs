//! The record of sessions: a directory with an empty file a session, whose name says when it was alive.
//!
//! A live session's file is locked by its gate, and the kernel lets go at the gate's end however that
//! comes. A session whose end nobody recorded ends when the next looks: until then it may have had
//! members.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, renameat};
use rustix::io::Errno;

use super::span::Span;
use super::{PastError, clock, failed};
use crate::audit::SessionNote;

/// Its name in the state directory: no session's, which begins with no dot.
const DIRECTORY: &str = ".sessions";

/// Most ended sessions that are kept one by one. Beyond, the older half of them becomes one that was
/// alive from the first's begin to the last's end: more than was, never less.
const KEPT_MAX: usize = 1024;

/// Most listings of a directory that changes while it is listed.
const LISTINGS_MAX: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Sessions {
    directory: PathBuf,
}

/// A session that is alive for as long as this is.
#[derive(Debug)]
pub(crate) struct LiveSession {
    /// The directory, which may be covered by another by then.
    directory: OwnedFd,
    span: Span,
    lock: Option<File>,
}

impl Sessions {
    pub(super) fn below(state: &Path) -> Self {
        let directory = state.join(DIRECTORY);
        Self { directory }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Every session that there was and is, the newest first; what was left open by a gate that is gone
    /// has its end recorded.
    ///
    /// # Errors
    /// If one cannot be told.
    pub(super) fn settled(&self) -> Result<Vec<Span>, PastError> {
        let mut spans = self.listed()?;
        for span in spans.iter_mut().filter(|span| span.ended.is_none()) {
            if !self.is_held(span)? {
                self.end(span)?;
            }
        }
        spans.sort_by_key(|span| std::cmp::Reverse(span.began));
        self.bound(&mut spans)?;
        Ok(spans)
    }

    /// Records that a session begins.
    pub(super) fn begin(&self, note: &SessionNote, filters: u32) -> Result<LiveSession, PastError> {
        let span = Span {
            began: clock::last_tick(),
            ended: None,
            gate: std::process::id(),
            filters,
            id: note.id.clone(),
            name: note.name.clone(),
        };
        // Locked before it has the name by which it counts.
        let fresh = self.directory.join(format!(".{}", span.id));
        let lock = create(&fresh).map_err(failed("make", &fresh))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| failed("lock", &fresh)(errno.into()))?;
        let path = self.directory.join(span.file_name());
        std::fs::rename(&fresh, &path).map_err(failed("make", &path))?;
        let directory = File::open(&self.directory).map_err(failed("open", &self.directory))?;
        Ok(LiveSession {
            directory: directory.into(),
            span,
            lock: Some(lock),
        })
    }

    /// Lists until two listings are alike: one misses what is renamed meanwhile (readdir(3)).
    fn listed(&self) -> Result<Vec<Span>, PastError> {
        let mut names = self.names()?;
        for _ in 0..LISTINGS_MAX {
            let again = self.names()?;
            if again == names {
                let parse = |name: &String| {
                    let damaged = || self.directory.join(name).display().to_string();
                    Span::parse(name).ok_or_else(|| PastError::Damaged(damaged()))
                };
                return names.iter().map(parse).collect();
            }
            names = again;
        }
        let busy = io::Error::from(io::ErrorKind::ResourceBusy);
        Err(failed("list", &self.directory)(busy))
    }

    fn names(&self) -> Result<Vec<String>, PastError> {
        let failed = failed("list", &self.directory);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.directory).map_err(&failed)? {
            let name = entry.map_err(&failed)?.file_name();
            names.push(name.to_string_lossy().into_owned());
        }
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        Ok(names)
    }

    /// Whether the gate of `span` lives.
    fn is_held(&self, span: &Span) -> Result<bool, PastError> {
        let path = self.directory.join(span.file_name());
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = match options.open(&path) {
            // It has ended since it was listed, and was alive until then.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            file => file.map_err(failed("open", &path))?,
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(failed("lock", &path)(errno.into())),
        }
    }

    fn end(&self, span: &mut Span) -> Result<(), PastError> {
        let failed = failed("record the end of a session in", &self.directory);
        let directory = File::open(&self.directory).map_err(&failed)?;
        end_in(directory.as_fd(), span).map_err(failed)
    }

    /// Makes one of the oldest, if `spans`, the newest first, are too many. The one is there before they
    /// are gone: whatever interrupts this, none is missing.
    fn bound(&self, spans: &mut Vec<Span>) -> Result<(), PastError> {
        let ended = |span: &&Span| span.ended.is_some();
        if spans.iter().filter(ended).count() <= KEPT_MAX {
            return Ok(());
        }
        let old: Vec<Span> = spans
            .iter()
            .filter(ended)
            .skip(KEPT_MAX / 2)
            .cloned()
            .collect();
        let began = old.iter().map(|span| span.began).min();
        let times = old.iter().flat_map(|span| [Some(span.began), span.ended]);
        let (Some(began), ended) = (began, times.flatten().max()) else {
            return Ok(());
        };
        let one = Span {
            began,
            ended,
            gate: 0,
            filters: 0,
            id: "-".to_owned(),
            name: "one-of-many-old-ones".to_owned(),
        };
        let path = self.directory.join(one.file_name());
        match create(&path) {
            // Another start makes the same.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => drop(made.map_err(failed("make", &path))?),
        }
        for span in &old {
            let path = self.directory.join(span.file_name());
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(failed("remove", &path))?,
            }
        }
        spans.retain(|span| !old.contains(span));
        spans.push(one);
        Ok(())
    }
}

fn end_in(directory: BorrowedFd<'_>, span: &mut Span) -> io::Result<()> {
    let live = span.file_name();
    span.ended = Some(clock::now());
    match renameat(directory, live, directory, span.file_name()) {
        // Another start was faster.
        Err(Errno::NOENT) => Ok(()),
        done => Ok(done?),
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path)
}

impl LiveSession {
    /// Records the end, once: no member is left. What is changed once this returns is changed after it.
    pub(crate) fn end(&mut self) {
        let Some(lock) = self.lock.take() else { return };
        if let Err(error) = end_in(self.directory.as_fd(), &mut self.span) {
            tracing::error!(%error, "the session's end is not recorded: the next one's start is");
        }
        drop(lock);
        self.span.ended.into_iter().for_each(clock::pass);
    }
}

impl Drop for LiveSession {
    fn drop(&mut self) {
        // Of a gate that panics the processes are still there: they can change a policy.
        if !std::thread::panicking() {
            self.end();
        }
    }
}
