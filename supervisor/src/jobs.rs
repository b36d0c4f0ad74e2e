//! Look-ups that readers do: of what an exec names, of where paths lead, of what files hold.

use std::os::fd::{AsFd, OwnedFd};

use execward_policy::Digest;

use crate::exec::{
    Destinations, ExecAttempt, Image, LookupError, Patience, Target, content_digest,
};
use crate::kernel::Kernel;
use crate::tracee::Tid;

/// One look-up.
#[derive(Clone, Debug)]
pub(crate) enum Job {
    /// Of what an exec names.
    Exec(Box<ExecJob>),
    /// Of where paths lead for a process.
    Paths { of: Tid, named: Vec<Vec<u8>> },
    /// Of what files hold.
    Contents(Box<ContentsJob>),
}

/// A look-up of what an exec names.
#[derive(Clone, Debug)]
pub(crate) struct ExecJob {
    pub(crate) tid: Tid,
    pub(crate) attempt: ExecAttempt,
    /// That of the exec itself.
    pub(crate) path: Vec<u8>,
    /// Whether the files that are found are to be read whole for their digests.
    pub(crate) takes_digests: bool,
    /// The paths that are to be followed too.
    pub(crate) named: Vec<Vec<u8>>,
    /// Those of them whose files are to be read whole.
    pub(crate) scripts: Vec<Vec<u8>>,
}

/// Whether files hold what they held when they were judged.
#[derive(Clone, Debug)]
pub(crate) struct ContentsJob {
    pub(crate) of: Tid,
    /// What those held that are sent along, in their order.
    pub(crate) digests: Vec<Digest>,
    /// Where paths led, and what the files there held.
    pub(crate) scripts: Destinations,
}

/// What a look-up found.
#[derive(Debug)]
pub(crate) enum Found<I> {
    /// The file of an exec, and where the paths lead that it names.
    Exec(Result<(I, Destinations), LookupError>),
    /// Where paths lead.
    Paths(Result<Destinations, LookupError>),
    /// Whether every file holds what it held.
    Contents(bool),
}

impl Job {
    /// Does it, however long it takes, with the files that were sent along.
    pub(crate) fn run(&self, files: &[OwnedFd], kernel: &mut Kernel) -> Found<Image> {
        match self {
            Self::Exec(job) => Found::Exec(job.run(kernel)),
            Self::Paths { of, named } => {
                let view = kernel.view(*of).map_err(LookupError::Kernel);
                let follow = |view| kernel.destinations(&view, named, Patience::Waiting);
                Found::Paths(view.and_then(follow))
            }
            Self::Contents(job) => Found::Contents(job.run(files, kernel).unwrap_or(false)),
        }
    }
}

impl ExecJob {
    fn run(&self, kernel: &mut Kernel) -> Result<(Image, Destinations), LookupError> {
        let view = kernel.view(self.tid).map_err(LookupError::Kernel)?;
        let target = Target::of(&self.attempt, &self.path);
        let mut image = kernel.find(&view, target, Patience::Waiting)?;
        let mut destinations = kernel.destinations(&view, &self.named, Patience::Waiting)?;
        for path in &self.scripts {
            let found = kernel.digested(&view, path, Patience::Waiting)?;
            destinations.extend(found.map(|destination| (path.clone(), destination)));
        }
        if self.takes_digests {
            image.take_digests(&kernel.proc, &view.status().credentials, &kernel.own);
        }
        Ok((image, destinations))
    }
}

impl ContentsJob {
    /// # Errors
    /// If the task is gone: then nobody can tell what it may read.
    fn run(&self, files: &[OwnedFd], kernel: &mut Kernel) -> Result<bool, LookupError> {
        let view = kernel.view(self.of).map_err(LookupError::Kernel)?;
        let task = &view.status().credentials;
        let digest = |file: &OwnedFd| content_digest(file.as_fd(), &kernel.proc, task, &kernel.own);
        let now: Vec<_> = files.iter().filter_map(digest).collect();
        if now != self.digests {
            return Ok(false);
        }
        for (path, judged) in &self.scripts {
            let found = kernel.digested(&view, path, Patience::Waiting)?;
            if found.as_ref() != Some(judged) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<I> Found<I> {
    /// The same with another form of the image.
    pub(crate) fn map<J>(self, form: impl FnOnce(I) -> Result<J, LookupError>) -> Found<J> {
        match self {
            Self::Exec(found) => Found::Exec(
                found.and_then(|(image, destinations)| Ok((form(image)?, destinations))),
            ),
            Self::Paths(found) => Found::Paths(found),
            Self::Contents(holds) => Found::Contents(holds),
        }
    }
}
