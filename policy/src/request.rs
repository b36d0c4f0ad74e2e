//! What the policy is asked about: one exec, as plain bytes.
//!
//! The supervisor fills these in from the stopped task; nothing here reads a task.
//! Everything is owned, unresolved text beside resolved text, because a rule that forbids
//! and a rule that permits trust different parts of it.

/// One exec: the file, what will be loaded with it, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecRequest {
    /// The file passed to execve(2).
    pub program: ProgramFile,
    /// The interpreters of a `#!` file, one a level, outermost first: the interpreter that
    /// the file itself names, then the one named by that, should it be a script too.
    pub interpreters: Vec<Interpreter>,
    /// The argument vector as the caller passed it. The first element identifies nothing
    /// and is never compared.
    pub argv: Vec<Vec<u8>>,
    /// Working directory, if it has a path. No key of this version looks at it.
    pub cwd: Option<Vec<u8>>,
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
    /// Where the file lies, and so what its names prove.
    pub origin: Origin,
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
    /// A file of the session that was reached by its own path.
    #[must_use]
    pub fn at(path: impl Into<Vec<u8>>) -> Self {
        let path = path.into();
        Self {
            given: path.clone(),
            links: Vec::new(),
            resolved: Some(path),
            origin: Origin::Session,
        }
    }
}
