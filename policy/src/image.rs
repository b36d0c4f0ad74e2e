//! One file of a call, seen the way a rule looks at it: its names and its arguments.
//!
//! A call has one image for the program and one for each `#!` interpreter. Rules differ in
//! how much they believe of an image, which is a [`Reading`].

use std::borrow::Cow;

use crate::pattern::file_name;
use crate::request::{ExecRequest, Interpreter, Origin, ProgramFile};

/// Directories in which a bare name is looked for.
const TRUSTED_DIRS: [&[u8]; 6] = [
    b"/usr/bin",
    b"/bin",
    b"/usr/sbin",
    b"/sbin",
    b"/usr/local/bin",
    b"/usr/local/sbin",
];

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
    request: &'r ExecRequest,
    /// The `#!` levels that end in this file; none for the program.
    levels: &'r [Interpreter],
}

impl<'r> Image<'r> {
    /// The image of the file passed to execve(2).
    pub(crate) fn of_program(request: &'r ExecRequest) -> Self {
        Self::new(&request.program, request, &[])
    }

    /// The images of the `#!` interpreters, outermost first.
    pub(crate) fn of_interpreters(request: &'r ExecRequest) -> impl Iterator<Item = Self> {
        let levels = request.interpreters.as_slice();
        levels.iter().enumerate().map(move |(depth, interpreter)| {
            let levels = levels.get(..=depth).unwrap_or(levels);
            Self::new(&interpreter.file, request, levels)
        })
    }

    /// Every image of a call, the program first.
    pub(crate) fn all(request: &'r ExecRequest) -> impl Iterator<Item = Self> {
        std::iter::once(Self::of_program(request)).chain(Self::of_interpreters(request))
    }

    fn new(file: &'r ProgramFile, request: &'r ExecRequest, levels: &'r [Interpreter]) -> Self {
        let given = without_empty_steps(&file.given);
        let collapsed = has_parent_step(&given).then(|| collapse(&given));
        Self {
            file,
            given,
            collapsed,
            request,
            levels,
        }
    }

    /// The names that count under `reading`.
    ///
    /// Strictly, a name counts if the file is one of the session and the name cannot lead
    /// elsewhere than its text says; otherwise every name does.
    pub(crate) fn names(&self, reading: Reading) -> impl Iterator<Item = &[u8]> {
        let given = std::iter::once(self.given.as_ref());
        let links = self.file.links.iter().map(Vec::as_slice);
        let names = given
            .chain(links)
            .chain(self.file.resolved.as_deref())
            .chain(self.collapsed.as_deref());
        names.filter(move |name| match reading {
            Reading::Strict => {
                self.is_provable()
                    && !has_parent_step(name)
                    && self.collapsed.as_deref() != Some(name)
            }
            Reading::Doubtful => true,
        })
    }

    /// Whether a bare file name means this image.
    ///
    /// Strictly: one of its names is that name in a trusted directory, *and* the file itself
    /// lies in a trusted directory. A link in `/usr/local/bin` that leads into a home
    /// directory is the work of whoever owns that home; the rule's author did not name it.
    pub(crate) fn is_called(&self, name: &[u8], reading: Reading) -> bool {
        self.names(reading)
            .filter(|path| file_name(path) == name)
            .any(|path| match reading {
                Reading::Strict => is_trusted(path) && self.is_trusted(),
                Reading::Doubtful => true,
            })
    }

    /// Whether the file itself lies in a trusted directory of the session.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_provable() && self.file.resolved.as_deref().is_some_and(is_trusted)
    }

    /// The arguments after the first element, as this image will find them.
    ///
    /// For an interpreter the kernel builds them: at each level the argument of the `#!`
    /// line, if there is one, and the path of the script; then the caller's arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &'r [u8]> + use<'r> {
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

    /// Whether the text of a name says which file this is.
    fn is_provable(&self) -> bool {
        match self.file.origin {
            Origin::Session => self.file.resolved.is_some(),
            Origin::Foreign | Origin::Anonymous | Origin::Unstable => false,
        }
    }
}

fn is_trusted(path: &[u8]) -> bool {
    let directory = path
        .strip_suffix(file_name(path))
        .and_then(|path| path.strip_suffix(b"/"));
    directory.is_some_and(|directory| TRUSTED_DIRS.contains(&directory))
}

fn steps(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').skip(1)
}

fn has_parent_step(path: &[u8]) -> bool {
    steps(path).any(|step| step == b"..")
}

/// Takes out `.` and empty components; borrows when there are none.
fn without_empty_steps(path: &[u8]) -> Cow<'_, [u8]> {
    let is_empty = |step: &[u8]| step.is_empty() || step == b".";
    if !steps(path).any(is_empty) {
        return Cow::Borrowed(path);
    }
    Cow::Owned(join(steps(path).filter(|step| !is_empty(step))))
}

/// Takes each `..` as if the component before it were a plain directory.
fn collapse(path: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    for step in steps(path) {
        if step == b".." {
            kept.pop();
        } else {
            kept.push(step);
        }
    }
    join(kept)
}

fn join<'p>(steps: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    steps
        .into_iter()
        .flat_map(|step| [b"/", step].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(program: ProgramFile) -> ExecRequest {
        ExecRequest {
            program,
            interpreters: Vec::new(),
            argv: ["x", "one", "two"].map(Into::into).into(),
            cwd: None,
        }
    }

    fn names(file: &ProgramFile, reading: Reading) -> Vec<String> {
        let request = request(file.clone());
        let image = Image::of_program(&request);
        image
            .names(reading)
            .map(|name| name.escape_ascii().to_string())
            .collect()
    }

    fn file(given: &str, links: &[&str], resolved: &str) -> ProgramFile {
        ProgramFile {
            given: given.into(),
            links: links.iter().map(|link| (*link).into()).collect(),
            ..ProgramFile {
                given: given.into(),
                ..ProgramFile::at(resolved)
            }
        }
    }

    #[test]
    fn every_name_on_the_way_counts_in_both_readings() {
        let file = file(
            "/bin/awk",
            &["/usr/bin/awk", "/etc/alternatives/awk"],
            "/usr/bin/mawk",
        );
        let all = [
            "/bin/awk",
            "/usr/bin/awk",
            "/etc/alternatives/awk",
            "/usr/bin/mawk",
        ];
        assert_eq!(names(&file, Reading::Strict), all);
        assert_eq!(names(&file, Reading::Doubtful), all);
    }

    #[test]
    fn a_path_through_a_parent_proves_nothing_and_raises_every_doubt() {
        let file = file("/opt/dir/.././/tool", &[], "/evil/tool");
        assert_eq!(names(&file, Reading::Strict), ["/evil/tool"]);
        assert_eq!(
            names(&file, Reading::Doubtful),
            ["/opt/dir/../tool", "/evil/tool", "/opt/tool"]
        );
    }

    #[test]
    fn empty_steps_change_nothing() {
        let file = file("/w/.//./configure", &[], "/w/configure");
        assert_eq!(
            names(&file, Reading::Strict),
            ["/w/configure", "/w/configure"]
        );
    }

    #[test]
    fn a_file_that_is_not_the_sessions_has_no_proven_name() {
        for origin in [Origin::Foreign, Origin::Anonymous, Origin::Unstable] {
            let file = ProgramFile {
                origin,
                ..ProgramFile::at("/usr/bin/git")
            };
            assert!(names(&file, Reading::Strict).is_empty(), "{origin:?}");
            assert_eq!(names(&file, Reading::Doubtful).len(), 2, "{origin:?}");
        }
        let nameless = ProgramFile {
            resolved: None,
            ..ProgramFile::at("/usr/bin/git")
        };
        assert!(names(&nameless, Reading::Strict).is_empty());
    }

    #[test]
    fn a_bare_name_is_bound_to_the_trusted_directories() {
        for (file, is_called) in [
            (file("/usr/bin/git", &[], "/usr/bin/git"), true),
            (file("/bin/git", &[], "/usr/bin/git"), true),
            (file("/tmp/x", &["/tmp/x"], "/usr/bin/git"), true),
            (
                file("/usr/bin/git", &["/usr/bin/git"], "/usr/local/bin/git-2"),
                true,
            ),
            (
                file("/usr/local/bin/git", &["/usr/local/bin/git"], "/home/u/git"),
                false,
            ),
            (file("/tmp/git", &["/tmp/git"], "/usr/bin/true"), false),
            (file("/usr/bin/sub/git", &[], "/usr/bin/sub/git"), false),
            (file("/usr/binary/git", &[], "/usr/binary/git"), false),
        ] {
            let request = request(file.clone());
            let image = Image::of_program(&request);
            assert_eq!(
                image.is_called(b"git", Reading::Strict),
                is_called,
                "{file:?}"
            );
            assert!(image.is_called(b"git", Reading::Doubtful), "{file:?}");
        }
    }

    #[test]
    fn an_interpreter_finds_the_vector_that_the_kernel_builds() {
        let interpreter = |path: &str, argument: Option<&str>| Interpreter {
            file: ProgramFile::at(path),
            argument: argument.map(Into::into),
        };
        let request = ExecRequest {
            interpreters: vec![
                interpreter("/w/outer", Some("-o")),
                interpreter("/bin/inner", None),
            ],
            ..request(ProgramFile::at("/w/script"))
        };
        let vectors: Vec<Vec<&[u8]>> = Image::all(&request)
            .map(|image| image.arguments().collect())
            .collect();
        let expected: [&[&[u8]]; 3] = [
            &[b"one", b"two"],
            &[b"-o", b"/w/script", b"one", b"two"],
            &[b"/w/outer", b"-o", b"/w/script", b"one", b"two"],
        ];
        assert_eq!(vectors, expected);
    }
}
