//! What the policy is asked about: one exec, as plain bytes.
//!
//! The supervisor fills these in from the stopped task; nothing here reads a task.
//! Everything is owned, unresolved text beside resolved text, because a rule that forbids
//! and a rule that permits trust different parts of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::digest::Digest;
use crate::image::Image;
use crate::path::collapse;
use crate::source::Layer;
use crate::trust::Trust;
use crate::wrapper;

/// One exec: the file, what will be loaded with it, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest {
    /// The file passed to execve(2).
    pub program: ProgramFile,
    /// The interpreters of a `#!` file, one a level, outermost first: the interpreter that
    /// the file itself names, then the one named by that, should it be a script too.
    pub interpreters: Vec<Interpreter>,
    /// The argument vector as the caller passed it. The first element identifies nothing,
    /// but for a multi-call file, which goes by it.
    pub argv: Vec<Vec<u8>>,
    /// Working directory, resolved, if it has a path.
    pub cwd: Option<Vec<u8>>,
    /// The environment as the caller passed it, one `NAME=VALUE` an element, if it was read.
    /// Shared, for it may be long, and whoever read it keeps it too.
    pub env: Option<Arc<[Vec<u8>]>>,
    /// The environment that the session began with, likewise. Without it, everything in `env`
    /// counts as new.
    pub start_env: Option<Arc<[Vec<u8>]>>,
    /// Where the paths of [`Ruleset::named_paths`](crate::Ruleset::named_paths) lead. Of one that
    /// is not here, nobody can tell.
    pub destinations: HashMap<Vec<u8>, Destination>,
    /// What descriptors 0, 1 and 2 are.
    pub streams: [Stream; 3],
    /// Where the exec comes from.
    pub lineage: Lineage,
}

impl ExecRequest {
    /// The vector with which the program will start another, if it is a wrapper such as `env` or
    /// `timeout` and its arguments name one. That is an exec of its own.
    #[must_use]
    pub fn payload_argv(&self) -> Option<Vec<Vec<u8>>> {
        wrapper::payload_argv(&Image::of_program(self, &Trust::default()))
    }
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// The absolute path, with every link on the way followed. What is not there yet has the path
    /// at which it would be made.
    pub path: Vec<u8>,
    /// What is there.
    pub kind: FileKind,
    /// Whether the path names that file in the session's own root and mount namespace, on a file
    /// system that stands by its answers.
    pub is_proven: bool,
    /// Digest of the file there. Needed only of scripts, where
    /// [`Ruleset::wants_digests`](crate::Ruleset::wants_digests) says so; without it a rule with
    /// `script` and `sha256` is in doubt.
    pub sha256: Option<Digest>,
}

impl Destination {
    /// Where `path`, absolute, would lead if there were no links and each `..` meant what it says:
    /// for a call that is only written down.
    #[must_use]
    pub fn as_written(path: &[u8]) -> Self {
        Self::of_file(collapse(path))
    }

    /// The regular file at `path`, which is its own.
    pub(crate) fn of_file(path: Vec<u8>) -> Self {
        Self {
            path,
            kind: FileKind::Regular,
            is_proven: true,
            sha256: None,
        }
    }
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A device, a FIFO, a socket.
    Other,
    /// Nothing.
    Missing,
}

/// What a standard descriptor is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stream {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// No file of the session's choice: closed, a pipe, a socket, a terminal, `/dev/null`, or what
    /// the session was started with.
    Plain,
    /// A file that the session opened, by its path.
    File(Vec<u8>),
}

impl ExecRequest {
    /// A call of `program` without anything that only a live session knows. Its environment is
    /// empty, and its descriptors are plain.
    #[must_use]
    pub fn new(program: ProgramFile, argv: Vec<Vec<u8>>) -> Self {
        Self {
            program,
            interpreters: Vec::new(),
            argv,
            cwd: None,
            env: Some(Arc::default()),
            start_env: None,
            destinations: HashMap::new(),
            streams: [Stream::Plain, Stream::Plain, Stream::Plain],
            lineage: Lineage::default(),
        }
    }
}

/// The exec history that led to a call, nearest first: the execs of the calling process,
/// then those of its parent, upward.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lineage {
    /// Each exec that made one of the calling process's ancestors, or the process itself,
    /// what it is. Images that a later exec replaced are among them.
    pub ancestors: Vec<Arc<Ancestor>>,
    /// Whether a link of the chain is gone, so that there may be ancestors nobody knows of.
    pub is_broken: bool,
}

/// One exec of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ancestor {
    /// The files that were loaded: the program, and its `#!` interpreters.
    pub files: Vec<ProgramFile>,
    /// The rule that allowed it, if a rule did; its `children` may run too.
    pub allowed_by: Option<RuleKey>,
}

/// What a rule is called across reloads of its policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleKey {
    /// The layer in which the id is unique.
    pub layer: Layer,
    /// The rule's id.
    pub id: String,
}

/// One `#!` level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// The interpreter's file.
    pub file: ProgramFile,
    /// What follows the interpreter's path on the `#!` line. The kernel passes it on as
    /// one argument, before the name of the script.
    pub argument: Option<Vec<u8>>,
}

/// A file by every name under which the caller reached it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// The path as passed, made absolute and otherwise untouched.
    pub given: Vec<u8>,
    /// Each symbolic link that stood *for the file* on the way, as an absolute path whose
    /// directory is resolved.
    ///
    /// Links among the directories do not belong here. A name in this list can carry an
    /// allow, and the path of a directory link says nothing about the file that
    /// `…/directory-link/../../elsewhere` leads to.
    pub links: Vec<Vec<u8>>,
    /// The absolute path of the file itself; `None` if it has none (a memfd, a deleted
    /// file).
    pub resolved: Option<Vec<u8>>,
    /// What rules call this very file elsewhere, by its device and inode: of the paths that
    /// [`Ruleset::named_files`](crate::Ruleset::named_files) gives. They count in doubt and
    /// prove nothing.
    pub aliases: Vec<Vec<u8>>,
    /// Where the file lies, and so what its names prove.
    pub origin: Origin,
    /// Whether the session cannot have put the file there or changed it: it may write
    /// neither the file nor a directory above it, or it has not done so since it began.
    pub is_settled: bool,
    /// Whether the file is to run with rights that its caller lacks: set-user-ID, set-group-ID, or
    /// capabilities of its own. The session may be such that nothing gains any; the file is meant.
    pub gains_rights: bool,
    /// Whether it is such a file, whoever calls it.
    pub brings_rights: bool,
    /// Digest of the file. Needed only where
    /// [`Ruleset::wants_digests`](crate::Ruleset::wants_digests) says so; without it a rule
    /// with `sha256` is in doubt.
    pub sha256: Option<Digest>,
}

/// What the names of a file prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The names hold in the session's own root and mount namespace.
    Session,
    /// Another mount namespace or root: the same text may name another file.
    Foreign,
    /// No name leads to it: a memfd, a deleted file, `O_TMPFILE`.
    Anonymous,
    /// The file system decides on each look what the file is: FUSE, a network.
    Unstable,
}

impl ProgramFile {
    /// A file of the session that was reached by its own path and that the session cannot
    /// change.
    #[must_use]
    pub fn at(path: impl Into<Vec<u8>>) -> Self {
        let path = path.into();
        Self {
            given: path.clone(),
            links: Vec::new(),
            resolved: Some(path),
            aliases: Vec::new(),
            origin: Origin::Session,
            is_settled: true,
            gains_rights: false,
            brings_rights: false,
            sha256: None,
        }
    }
}
