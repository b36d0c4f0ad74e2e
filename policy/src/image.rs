//! One file of a call, seen the way a rule looks at it: its names and its arguments.
//!
//! A call has one image for the program and one for each `#!` interpreter. Rules differ in
//! how much they believe of an image, which is a [`Reading`].

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::case::Case;
use crate::class;
use crate::digest::Digest;
use crate::dispatch;
use crate::grammar::{self, Grammar};
use crate::guise::Guise;
use crate::host::Host;
use crate::module;
use crate::operand::{self, FileOperand};
use crate::path::{collapse, file_name, has_parent_step, without_empty_steps};
use crate::request::{ExecRequest, Interpreter, Origin, ProgramFile};
use crate::trust::Trust;
use crate::version::is_version_in;
use crate::watch::Change;
use crate::wrapper;

/// What counts when it is in doubt whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Only what is proven: for a rule that permits.
    Strict,
    /// Whatever may be: for a rule that forbids or asks.
    Doubtful,
}

impl Reading {
    /// The reading of an exception: what takes away from a permission is believed as easily
    /// as a prohibition, and the reverse.
    pub(crate) fn of_exceptions(self) -> Self {
        match self {
            Self::Strict => Self::Doubtful,
            Self::Doubtful => Self::Strict,
        }
    }
}

/// One file that the kernel loads for a call.
#[derive(Debug, Clone)]
pub(crate) struct Image<'r> {
    file: &'r ProgramFile,
    /// The given path without `.` and empty components, which change nothing.
    given: Cow<'r, [u8]>,
    /// The given path with each `..` taken as text, if it has any. The kernel may go
    /// elsewhere, so this name can only raise a doubt.
    collapsed: Option<Vec<u8>>,
    /// The path of the file itself, if that is not the given one.
    resolved: Option<&'r [u8]>,
    pub(crate) request: &'r ExecRequest,
    /// The `#!` levels that end in this file; none for the program.
    levels: &'r [Interpreter],
    pub(crate) trust: &'r Trust,
    kinds: OnceCell<Kinds>,
    has_guises: OnceCell<bool>,
    files: OnceCell<Vec<FileOperand>>,
    hosts: OnceCell<Vec<Option<Host>>>,
}

/// Every image of a call.
#[derive(Debug)]
pub(crate) struct Images<'r> {
    pub(crate) program: Image<'r>,
    /// Those of the `#!` interpreters, outermost first.
    pub(crate) interpreters: Vec<Image<'r>>,
}

/// What an image is by its names in doubt, looked up once.
#[expect(clippy::struct_excessive_bools, reason = "each is a class of its own")]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Kinds {
    pub(crate) is_multicall: bool,
    pub(crate) is_loader: bool,
    pub(crate) is_interpreter: bool,
    pub(crate) is_shell: bool,
    /// Whether its arguments may name what it starts, by itself or as another command.
    pub(crate) starts_another: bool,
}

impl<'r> Images<'r> {
    pub(crate) fn of(request: &'r ExecRequest, trust: &'r Trust) -> Self {
        Self {
            program: Image::of_program(request, trust),
            interpreters: Image::of_interpreters(request, trust).collect(),
        }
    }

    /// Each, the program first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Image<'r>> {
        std::iter::once(&self.program).chain(&self.interpreters)
    }
}

impl<'r> Image<'r> {
    /// The image of the file passed to execve(2).
    pub(crate) fn of_program(request: &'r ExecRequest, trust: &'r Trust) -> Self {
        Self::new(&request.program, request, &[], trust)
    }

    /// The images of the files that an ancestor of the call is; arguments are not theirs.
    pub(crate) fn of_ancestors(&self) -> impl Iterator<Item = Self> {
        let (request, trust) = (self.request, self.trust);
        let files = request
            .lineage
            .ancestors
            .iter()
            .flat_map(|ancestor| &ancestor.files);
        files.map(move |file| Self::new(file, request, &[], trust))
    }

    /// The images of the `#!` interpreters, outermost first.
    fn of_interpreters(request: &'r ExecRequest, trust: &'r Trust) -> impl Iterator<Item = Self> {
        let levels = request.interpreters.as_slice();
        levels.iter().enumerate().map(move |(depth, interpreter)| {
            let levels = levels.get(..=depth).unwrap_or(levels);
            Self::new(&interpreter.file, request, levels, trust)
        })
    }

    fn new(
        file: &'r ProgramFile,
        request: &'r ExecRequest,
        levels: &'r [Interpreter],
        trust: &'r Trust,
    ) -> Self {
        let given = without_empty_steps(&file.given);
        let collapsed = has_parent_step(&given).then(|| collapse(&given));
        let resolved = file.resolved.as_deref();
        let resolved = resolved.filter(|resolved| *resolved != given.as_ref());
        Self {
            file,
            given,
            collapsed,
            resolved,
            request,
            levels,
            trust,
            kinds: OnceCell::new(),
            has_guises: OnceCell::new(),
            files: OnceCell::new(),
            hosts: OnceCell::new(),
        }
    }

    /// The files that the call names, as far as this image will find them.
    pub(crate) fn files(&self) -> &[FileOperand] {
        self.files.get_or_init(|| operand::files(self))
    }

    /// The watched variables that are not as they were when the session began.
    pub(crate) fn changes(&self) -> Vec<Change<'r>> {
        let start = self.request.start_env.as_deref();
        let now = self.request.env.as_deref().unwrap_or_default();
        self.trust.watch.changes(start, now)
    }

    /// The hosts that the call names; `None` for one that cannot be told.
    pub(crate) fn hosts(&self) -> &[Option<Host>] {
        self.hosts.get_or_init(|| operand::hosts(self))
    }

    /// What it is by whatever name it has.
    pub(crate) fn kinds(&self) -> Kinds {
        *self.kinds.get_or_init(|| {
            let names = || self.names(Reading::Doubtful).map(file_name);
            let mut kinds = Kinds {
                starts_another: names().any(wrapper::starts_another),
                ..Kinds::default()
            };
            for class in names().flat_map(class::of_file_name) {
                match class.name {
                    "multicall" => (kinds.is_multicall, kinds.starts_another) = (true, true),
                    "loaders" => (kinds.is_loader, kinds.starts_another) = (true, true),
                    "interpreters" => kinds.is_interpreter = true,
                    "shells" => kinds.is_shell = true,
                    _ => {}
                }
            }
            kinds
        })
    }

    /// The names that count under `reading`.
    ///
    /// Strictly, a name counts if the file is one of the session and the name cannot lead
    /// elsewhere than its text says; otherwise every name does.
    pub(crate) fn names(&self, reading: Reading) -> impl Iterator<Item = &[u8]> {
        let is_in_doubt = reading == Reading::Doubtful;
        let given = std::iter::once(self.given.as_ref());
        let links = self.file.links.iter().map(Vec::as_slice);
        let names = given.chain(links).chain(self.resolved);
        let names =
            names.filter(move |name| is_in_doubt || self.is_provable() && !has_parent_step(name));
        // Of these the text alone says nothing.
        let aliases = self.file.aliases.iter().map(Vec::as_slice);
        let doubtful = aliases.chain(self.collapsed.as_deref());
        names.chain(doubtful.filter(move |_| is_in_doubt))
    }

    /// The grammars of the commands that it is by the names that count under `reading`.
    pub(crate) fn grammars(&self, reading: Reading) -> impl Iterator<Item = &'static Grammar> {
        self.names(reading).map(file_name).filter_map(grammar::of)
    }

    /// Whether a bare file name means this image.
    ///
    /// Strictly: one of its names is that name in a trusted directory, and the session has no
    /// hand in which file that is (see [`Trust`]). In doubt: any of its names is that name,
    /// or a version of it.
    pub(crate) fn is_called(&self, name: &[u8], case: Case, reading: Reading) -> bool {
        self.names(reading).any(|path| match reading {
            Reading::Strict => {
                case.is_same(file_name(path), name) && self.trust.vouches_for(path, self.file)
            }
            Reading::Doubtful => is_version_in(case, file_name(path), name),
        })
    }

    /// Whether `path`, a name of the file, may be meant by its last component alone.
    pub(crate) fn is_vouched_for(&self, path: &[u8]) -> bool {
        self.trust.vouches_for(path, self.file)
    }

    /// Whether a name of it is that of a known program in letters of another case.
    pub(crate) fn is_recased(&self) -> bool {
        let mut names = self.names(Reading::Doubtful).map(file_name);
        names.any(class::is_recased)
    }

    /// Whether the file brings rights that the caller lacks.
    pub(crate) fn gains_rights(&self) -> bool {
        self.file.gains_rights
    }

    /// Whether the file has no path.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.file.origin == Origin::Anonymous
    }

    /// Whether the session cannot have changed the file.
    pub(crate) fn is_settled(&self) -> bool {
        self.file.is_settled
    }

    /// Whether the file itself is one that a bare name could mean.
    pub(crate) fn is_trusted(&self) -> bool {
        let resolved = self.file.resolved.as_deref();
        self.is_provable() && resolved.is_some_and(|path| self.trust.vouches_for(path, self.file))
    }

    /// The commands that the call may be under another name than the file's.
    pub(crate) fn guises(&self) -> impl Iterator<Item = Guise<'_>> {
        // Most calls have none, and most rules ask.
        let find_any = || self.find_guises().next().is_some();
        let has_any = *self.has_guises.get_or_init(find_any);
        has_any.then(|| self.find_guises()).into_iter().flatten()
    }

    fn find_guises(&self) -> impl Iterator<Item = Guise<'_>> {
        let names = || self.names(Reading::Doubtful).map(file_name);
        let module = names().any(module::is_python).then(|| self.module());
        let called = dispatch::called(self).into_iter();
        let other = called.clone().filter(|_| !self.kinds().is_multicall);
        let other = other.map(|name| Guise {
            name,
            path: None,
            is_applet: false,
            word: None,
            skipped: 0,
            image: self,
        });
        names()
            .chain(called)
            .flat_map(move |name| self.joined(name))
            .chain(module.flatten())
            .chain(other)
            .chain(dispatch::applet(self))
            .chain(dispatch::loaded(self))
            .chain(dispatch::scripted(self))
    }

    /// Whether it is a `#!` file, which the kernel gives to an interpreter.
    pub(crate) fn is_script(&self) -> bool {
        self.is_program() && !self.request.interpreters.is_empty()
    }

    /// Whether the file runs as another command than its name says.
    pub(crate) fn is_disguised(&self) -> bool {
        dispatch::called(self).is_some() || dispatch::is_another(self)
    }

    /// Whether it is the file passed to execve(2), and no interpreter of it.
    pub(crate) fn is_program(&self) -> bool {
        self.levels.is_empty()
    }

    /// `git-push` as `git push`: each way to part the name at a dash.
    fn joined<'i>(&'i self, name: &'i [u8]) -> impl Iterator<Item = Guise<'i>> {
        let dashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'-');
        dashes.filter_map(move |(at, _)| {
            let (name, word) = (name.get(..at)?, name.get(at + 1..)?);
            (!name.is_empty() && !word.is_empty()).then_some(Guise {
                name,
                path: None,
                is_applet: false,
                word: Some(word),
                skipped: 0,
                image: self,
            })
        })
    }

    /// `python3 -m pip` as `pip`.
    fn module(&self) -> Option<Guise<'_>> {
        let module::Module { name, skipped } = module::of(self.arguments())?;
        // `pip.__main__`, `pip._internal`: parts of pip.
        let name = name.split(|byte| *byte == b'.').next().unwrap_or(name);
        // Python's own, and not the editor of that name.
        if name == b"code" {
            return None;
        }
        Some(Guise {
            name,
            path: None,
            is_applet: false,
            word: None,
            skipped,
            image: self,
        })
    }

    /// The arguments after the first element, as this image will find them.
    ///
    /// For an interpreter the kernel builds them: at each level the argument of the `#!`
    /// line, if there is one, and the path of the script; then the caller's arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &'r [u8]> + Clone + use<'r> {
        let (request, levels) = (self.request, self.levels);
        let inserted = levels
            .iter()
            .enumerate()
            .rev()
            .flat_map(move |(depth, level)| {
                let outer = depth.checked_sub(1).and_then(|outer| levels.get(outer));
                let script = outer.map_or(&request.program, |outer| &outer.file);
                let argument = level.argument.as_deref();
                argument
                    .into_iter()
                    .chain(std::iter::once(script.given.as_slice()))
            });
        inserted.chain(request.argv.iter().skip(1).map(Vec::as_slice))
    }

    /// The digest of the file, if anybody has taken it.
    pub(crate) fn digest(&self) -> Option<&Digest> {
        self.file.sha256.as_ref()
    }

    /// Whether the text of a name says which file this is.
    fn is_provable(&self) -> bool {
        match self.file.origin {
            Origin::Session => self.file.resolved.is_some(),
            Origin::Foreign | Origin::Anonymous | Origin::Unstable => false,
        }
    }
}

#[cfg(test)]
mod tests;
