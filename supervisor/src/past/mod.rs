//! What execward remembers beyond a session: when each was alive, and what was accepted of each policy
//! file. By both, a session's start tells a policy that was changed during an earlier one.
//!
//! A help against mistakes, and called so: whoever has the uid can change all of it.

mod accepted;
mod change;
mod clock;
mod sessions;
mod span;

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::audit::SessionNote;
use crate::control::{Bouncer, Stranger};
use crate::places::make_private;
use crate::policy::PolicyFile;
use crate::tracee::{Procfs, StatusError, Tid};
use accepted::Accepted;
use change::{Change, Difference};
pub(crate) use clock::stamp;
pub(crate) use sessions::LiveSession;
use sessions::Sessions;

/// The memory of one state directory.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    accepted: Accepted,
    sessions: Sessions,
}

/// Why nothing is known of the past, or too much to go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PastError {
    #[error(
        "cannot {what} `{}`, by which execward remembers sessions: {error}; make its directory one \
         that you may write to, or name another with --state", path.display()
    )]
    System {
        what: &'static str,
        path: PathBuf,
        error: io::Error,
    },
    #[error(
        "the state directory `{}` belongs to uid {owner} with mode {mode:03o}; it must belong to uid \
         {own} and be nobody else's to change: make it so, or name another with --state",
        path.display()
    )]
    NotOwn {
        path: PathBuf,
        owner: u32,
        mode: u32,
        own: u32,
    },
    #[error(
        "`{}` is no record of a session, so nobody can tell whether one is missing; look at the \
         policies, remove it, and start again", .0.escape_debug()
    )]
    Damaged(String),
    #[error("{0}")]
    Changed(#[from] change::Refused),
    #[error("a change is accepted from outside every session, and {why} (session {session})")]
    Inside { session: String, why: Stranger },
    #[error("cannot look at the processes: {0}")]
    Proc(String),
}

fn failed<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> PastError + 'a {
    move |error| PastError::System {
        what,
        path: path.to_owned(),
        error,
    }
}

impl Past {
    /// Opens the memory in `state`, made where it is not there.
    ///
    /// # Errors
    /// If it cannot be made, or others may change it.
    pub(crate) fn open(state: &Path) -> Result<Self, PastError> {
        let past = Self {
            accepted: Accepted::below(state),
            sessions: Sessions::below(state),
        };
        for directory in [state, past.accepted.directory(), past.sessions.directory()] {
            make_own(directory)?;
        }
        Ok(past)
    }

    /// Remembers what is accepted where it does now, whatever comes to lie over its path.
    ///
    /// # Errors
    /// If that cannot be opened.
    pub(crate) fn hold(&mut self) -> Result<(), PastError> {
        self.accepted.hold()
    }

    /// Takes `files` for the policy of a session that starts, and remembers them.
    ///
    /// # Errors
    /// As [`Past::examine`], or if they cannot be remembered.
    pub(crate) fn admit(&self, files: &[PolicyFile], command: &str) -> Result<(), PastError> {
        self.examine(files, command)?;
        files.iter().try_for_each(|file| self.accept(file))
    }

    /// Makes sure that no earlier session changed `files`.
    ///
    /// # Errors
    /// [`PastError::Changed`] if the content of one was not accepted and came to be there while an
    /// earlier session was alive. `command` is how it would be accepted.
    pub(crate) fn examine(&self, files: &[PolicyFile], command: &str) -> Result<(), PastError> {
        let spans = self.sessions.settled()?;
        let mut changes = Vec::new();
        for file in files {
            let known = self.accepted.of(&file.path)?;
            changes.extend(Change::find(file, known.as_ref(), &spans));
        }
        if !changes.is_empty() {
            let command = command.to_owned();
            return Err(change::Refused { changes, command }.into());
        }
        Ok(())
    }

    /// What differs in `file` from what was accepted of it, if anything does.
    ///
    /// # Errors
    /// If what was accepted cannot be read.
    pub(crate) fn difference(&self, file: &PolicyFile) -> Result<Option<Difference>, PastError> {
        let known = self.accepted.of(&file.path)?;
        Ok(Difference::find(file, known.as_ref()))
    }

    /// Remembers the content of `file` as accepted.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn accept(&self, file: &PolicyFile) -> Result<(), PastError> {
        self.accepted.keep(file)
    }

    /// Records that the session begins whose gate is the calling process.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub(crate) fn begin(
        &self,
        note: &SessionNote,
        proc: &Procfs,
    ) -> Result<LiveSession, PastError> {
        let own = proc.task(Tid::own()).map_err(StatusError::Read);
        let filters = own.and_then(|own| own.filters());
        let filters = filters.map_err(|error| PastError::Proc(error.to_string()))?;
        self.sessions.begin(note, filters)
    }

    /// Makes sure that the calling process is no member of a live session.
    ///
    /// Of a session in another state directory nothing is known.
    ///
    /// # Errors
    /// [`PastError::Inside`] if it is one, or is under more seccomp filters than a gate was, as members
    /// are whose parents a PID namespace hides.
    pub(crate) fn judge_outside(&self) -> Result<(), PastError> {
        let in_words = |error: &dyn std::error::Error| PastError::Proc(error.to_string());
        for span in self.sessions.settled()? {
            if span.ended.is_some() {
                continue;
            }
            let proc = Procfs::open().map_err(|error| in_words(&error))?;
            let bouncer = Bouncer::of_gate(proc, Tid::new(span.gate), span.filters);
            let judged = bouncer.judge_process(Tid::own());
            judged.map_err(|why| PastError::Inside {
                session: span.name,
                why,
            })?;
        }
        Ok(())
    }
}

/// Makes `directory`, which nobody else may write to.
fn make_own(directory: &Path) -> Result<(), PastError> {
    const OTHERS_MAY_WRITE: u32 = 0o022;
    make_private(directory).map_err(failed("make", directory))?;
    let seen = directory.metadata().map_err(failed("look at", directory))?;
    let own = rustix::process::geteuid().as_raw();
    if seen.uid() == own && seen.mode() & OTHERS_MAY_WRITE == 0 {
        return Ok(());
    }
    Err(PastError::NotOwn {
        path: directory.to_owned(),
        owner: seen.uid(),
        mode: seen.mode() & 0o7777,
        own,
    })
}

#[cfg(test)]
mod tests;
