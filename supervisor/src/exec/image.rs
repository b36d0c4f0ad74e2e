//! The file that an exec names, with the interpreters that the kernel would put before it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::attempt::{ExecAttempt, ExecFlags};
use super::file::{FileFacts, FileId, HeldFile, Kind, examine};
use super::lookup::{Located, Lookup, LookupError};
use crate::path::join;
use crate::tracee::{Credentials, as_task};

/// Most interpreters before the kernel answers `ELOOP` (exec_binprm in fs/exec.c).
const INTERPRETERS_MAX: usize = 5;

/// What the kernel would load.
#[derive(Debug)]
pub(crate) struct Image {
    /// The named file, then each `#!` interpreter.
    files: Vec<HeldFile>,
    end: ChainEnd,
}

/// An image without its descriptors: how one crosses from a reader thread, which has its own.
#[derive(Clone, Debug)]
pub(crate) struct ImageFacts {
    files: Vec<FileFacts>,
    end: ChainEnd,
}

/// How the chain of interpreters ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainEnd {
    /// In an ELF image, which will be `/proc/<pid>/exe`.
    Elf,
    /// In something that only the kernel can tell.
    Unknown,
    /// In nothing that runs.
    Fails,
}

/// What names the target of an exec.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) dirfd: i32,
    pub(crate) path: &'a [u8],
    pub(crate) flags: ExecFlags,
}

impl<'a> Target<'a> {
    /// What an exec of `path` names.
    pub(crate) fn of(attempt: &ExecAttempt, path: &'a [u8]) -> Self {
        Self {
            dirfd: attempt.dirfd,
            path,
            flags: attempt.flags,
        }
    }

    /// What execve(2) takes `path` for.
    pub(crate) fn of_path(path: &'a [u8]) -> Self {
        Self {
            dirfd: libc::AT_FDCWD,
            path,
            flags: ExecFlags::default(),
        }
    }

    /// Whether it is a descriptor, or relative to one.
    pub(crate) fn is_by_descriptor(self) -> bool {
        self.dirfd != libc::AT_FDCWD && !self.path.starts_with(b"/")
    }
}

impl Image {
    /// Finds the target and its interpreters as the task would, with no more rights than it.
    ///
    /// # Errors
    /// If there is no such file for the task, or it cannot be told.
    pub(crate) fn find(
        lookup: &mut Lookup<'_>,
        target: Target<'_>,
        own: &Credentials,
    ) -> Result<Self, LookupError> {
        let (file, given) = find_target(lookup, target, own)?;
        let target = examine(lookup, file, given, own)?;
        if !target.facts.may_execute() {
            return Err(LookupError::NotExecutable);
        }
        let mut files = vec![target];
        let end = loop {
            let Some(last) = files.last() else {
                break ChainEnd::Fails;
            };
            match &last.facts.kind {
                Kind::Elf => break ChainEnd::Elf,
                Kind::Other | Kind::Unreadable => break ChainEnd::Unknown,
                Kind::NotRegular => break ChainEnd::Fails,
                Kind::Script { .. } if files.len() > INTERPRETERS_MAX => break ChainEnd::Fails,
                Kind::Script { interpreter, .. } => {
                    let path = interpreter.clone();
                    match find_interpreter(lookup, &path, own) {
                        Ok(file) => files.push(file),
                        Err(LookupError::Kernel(_)) => break ChainEnd::Fails,
                        Err(error) => return Err(error),
                    }
                }
            }
        };
        Ok(Self { files, end })
    }

    /// The file that a task at its exec-stop has loaded.
    ///
    /// # Errors
    /// If it cannot be looked at.
    pub(crate) fn loaded(lookup: &mut Lookup<'_>, own: &Credentials) -> Result<Self, LookupError> {
        let file = lookup
            .view
            .task()
            .follow("exe")
            .map_err(LookupError::Kernel)?;
        let given = lookup
            .proc
            .name_of(file.as_fd())
            .map_err(LookupError::Kernel)?;
        let located = Located {
            file,
            path: None,
            links: Vec::new(),
        };
        Ok(Self {
            files: vec![examine(lookup, located, given, own)?],
            end: ChainEnd::Elf,
        })
    }

    /// The named file.
    pub(crate) fn target(&self) -> Option<&HeldFile> {
        self.files.first()
    }

    /// The named file and its interpreters.
    pub(crate) fn files(&self) -> &[HeldFile] {
        &self.files
    }

    pub(super) fn files_mut(&mut self) -> &mut [HeldFile] {
        &mut self.files
    }

    /// The interpreters, in the order in which the kernel meets them.
    pub(crate) fn interpreters(&self) -> &[HeldFile] {
        self.files.get(1..).unwrap_or_default()
    }

    /// The file that will be `/proc/<pid>/exe`, where that can be told.
    pub(crate) fn loaded_id(&self) -> Option<FileId> {
        match self.end {
            ChainEnd::Elf => self.files.last().map(|file| file.facts.id),
            ChainEnd::Unknown | ChainEnd::Fails => None,
        }
    }

    /// Whether the gate could not look at a file that it would have to know again at the stop.
    pub(crate) fn has_unreadable(&self) -> bool {
        self.files
            .iter()
            .any(|file| file.facts.kind == Kind::Unreadable)
    }

    /// The files that are scripts, whose interpreter opens them again later.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &HeldFile> {
        self.files
            .iter()
            .filter(|file| matches!(file.facts.kind, Kind::Script { .. }))
    }

    /// What argv becomes: each `#!` level takes the first argument away and puts interpreter,
    /// argument and script in its place (fs/binfmt_script.c).
    pub(crate) fn final_argv(&self, argv: &[Vec<u8>], execfn: &[u8]) -> Vec<Vec<u8>> {
        let mut result = argv.to_vec();
        let mut script = execfn.to_vec();
        for file in &self.files {
            let Kind::Script {
                interpreter,
                argument,
            } = &file.facts.kind
            else {
                break;
            };
            let front = [interpreter.clone()]
                .into_iter()
                .chain(argument.clone())
                .chain([script]);
            result.splice(..result.len().min(1), front);
            script = interpreter.clone();
        }
        result
    }

    /// Facts and descriptors apart, in the same order.
    pub(crate) fn into_parts(self) -> (ImageFacts, Vec<OwnedFd>) {
        let (facts, fds) = self
            .files
            .into_iter()
            .map(|file| (file.facts, file.fd))
            .unzip();
        (
            ImageFacts {
                files: facts,
                end: self.end,
            },
            fds,
        )
    }

    /// The reverse of [`Image::into_parts`]; `None` if their number differs.
    pub(crate) fn from_parts(facts: ImageFacts, fds: Vec<OwnedFd>) -> Option<Self> {
        if facts.files.len() != fds.len() {
            return None;
        }
        let files = facts.files.into_iter().zip(fds);
        let files = files.map(|(facts, fd)| HeldFile { fd, facts }).collect();
        Some(Self {
            files,
            end: facts.end,
        })
    }
}

/// The descriptor of the named file, and its name as passed, made absolute.
fn find_target(
    lookup: &mut Lookup<'_>,
    target: Target<'_>,
    own: &Credentials,
) -> Result<(Located, Vec<u8>), LookupError> {
    let start = if target.path.starts_with(b"/") {
        None
    } else {
        Some(start_of(lookup, target)?)
    };
    if target.path.is_empty() {
        return match start {
            Some(file) if target.flags.has_empty_path() => {
                let given = lookup
                    .proc
                    .name_of(file.as_fd())
                    .map_err(LookupError::Kernel)?;
                Ok((
                    Located {
                        file,
                        path: None,
                        links: Vec::new(),
                    },
                    given,
                ))
            }
            _ => Err(LookupError::Kernel(Errno::NOENT)),
        };
    }
    let (base, given) = match &start {
        None => (None, target.path.to_vec()),
        Some(start) => {
            let here = lookup
                .proc
                .name_of(start.as_fd())
                .map_err(LookupError::Kernel)?;
            (Some(start.as_fd()), join(here, target.path))
        }
    };
    let located = locate(
        lookup,
        base,
        target.path,
        !target.flags.has_symlink_nofollow(),
        own,
    )?;
    Ok((located, given))
}

/// Where a relative path starts: the working directory, or execveat's descriptor.
fn start_of(lookup: &Lookup<'_>, target: Target<'_>) -> Result<OwnedFd, LookupError> {
    let task = lookup.view.task();
    if target.dirfd == libc::AT_FDCWD {
        return task.follow("cwd").map_err(LookupError::Kernel);
    }
    task.follow(&format!("fd/{}", target.dirfd))
        .map_err(|errno| match errno {
            Errno::NOENT => LookupError::Kernel(Errno::BADF),
            errno => LookupError::Kernel(errno),
        })
}

fn find_interpreter(
    lookup: &mut Lookup<'_>,
    path: &[u8],
    own: &Credentials,
) -> Result<HeldFile, LookupError> {
    // open_exec: relative to the working directory, whatever the script's own path was.
    let start = lookup
        .view
        .task()
        .follow("cwd")
        .map_err(LookupError::Kernel)?;
    let given = if path.starts_with(b"/") {
        path.to_vec()
    } else {
        join(
            lookup
                .proc
                .name_of(start.as_fd())
                .map_err(LookupError::Kernel)?,
            path,
        )
    };
    let located = locate(lookup, Some(start.as_fd()), path, true, own)?;
    examine(lookup, located, given, own)
}

fn locate(
    lookup: &mut Lookup<'_>,
    start: Option<BorrowedFd<'_>>,
    path: &[u8],
    may_end_at_link: bool,
    own: &Credentials,
) -> Result<Located, LookupError> {
    let view = lookup.view;
    let start = start.unwrap_or(view.root(lookup.session));
    as_task(&view.status().credentials, own, || {
        lookup.locate(start, path, may_end_at_link)
    })
    .map_err(LookupError::Kernel)?
}
