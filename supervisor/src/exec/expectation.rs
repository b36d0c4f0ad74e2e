//! What must be found at the exec-stop. Pure.

use super::FileId;
use super::loaded::LoadedImage;

/// The image, arguments, environment and name that an allowed exec may load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expectation {
    /// The file behind `/proc/<pid>/exe`; none if nothing is expected to load, as for a missing
    /// target or a file of unknown format: every exec-stop is a difference then.
    pub(crate) exe: Option<FileId>,
    /// Number of arguments, after `#!` lines were applied.
    pub(crate) argc: usize,
    /// Arguments, each with its NUL, then variables likewise: as they lie on the new stack.
    pub(crate) strings: Vec<u8>,
    /// How many of `strings` are arguments.
    pub(crate) argv_bytes: usize,
    /// `AT_EXECFN`.
    pub(crate) execfn: Vec<u8>,
    /// Whether the task is in a mount namespace or root other than the session's, where names
    /// prove nothing.
    pub(crate) is_foreign: bool,
}

/// In what a loaded image is not the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// An image where none was expected.
    Unexpected,
    /// The file.
    File,
    /// The arguments.
    Argv,
    /// The environment.
    Environment,
    /// The name.
    Name,
    /// The ELF interpreter.
    Loader,
    /// The script that an interpreter is about to read.
    Script,
    /// The content of a file, where a rule named its digest.
    Digest,
}

impl Expectation {
    /// What the kernel makes of `argv`, `envp` and `execfn`.
    pub(crate) fn new(
        exe: Option<FileId>,
        argv: &[Vec<u8>],
        envp: &[Vec<u8>],
        execfn: Vec<u8>,
        is_foreign: bool,
    ) -> Self {
        let mut strings = Vec::new();
        join(argv, &mut strings);
        let argv_bytes = strings.len();
        join(envp, &mut strings);
        Self {
            exe,
            argc: argv.len(),
            strings,
            argv_bytes,
            execfn,
            is_foreign,
        }
    }

    /// The first difference between this and what was loaded, if there is one.
    ///
    /// Counts and bytes: equal bytes with an equal argc leave no other way to cut them.
    pub(crate) fn difference(&self, loaded: &LoadedImage) -> Option<Difference> {
        let Some(exe) = self.exe else {
            return Some(Difference::Unexpected);
        };
        if loaded.exe() != exe {
            return Some(Difference::File);
        }
        if loaded.execfn() != self.execfn {
            return Some(Difference::Name);
        }
        if loaded.argc() != self.argc || !loaded.strings().starts_with(self.argv_area()) {
            return Some(Difference::Argv);
        }
        if loaded.strings() != self.strings {
            return Some(Difference::Environment);
        }
        if !loaded.has_plain_loader() {
            return Some(Difference::Loader);
        }
        None
    }

    fn argv_area(&self) -> &[u8] {
        self.strings.get(..self.argv_bytes).unwrap_or_default()
    }
}

impl Difference {
    /// Its word in the log.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unexpected => "unexpected",
            Self::File => "file",
            Self::Argv => "argv",
            Self::Environment => "environment",
            Self::Name => "name",
            Self::Loader => "loader",
            Self::Script => "script",
            Self::Digest => "digest",
        }
    }
}

fn join(strings: &[Vec<u8>], out: &mut Vec<u8>) {
    for string in strings {
        out.extend_from_slice(string);
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXE: FileId = FileId {
        device: (8, 1),
        inode: 42,
    };

    fn strings(list: &[&str]) -> Vec<Vec<u8>> {
        list.iter().map(|text| text.as_bytes().to_vec()).collect()
    }

    fn expected() -> Expectation {
        let (argv, envp) = (strings(&["ls", "-l", ""]), strings(&["A=1", "B=2"]));
        Expectation::new(Some(EXE), &argv, &envp, b"/bin/ls".to_vec(), false)
    }

    fn loaded(exe: FileId, argv: &[&str], envp: &[&str], execfn: &str) -> LoadedImage {
        let all = Expectation::new(None, &strings(argv), &strings(envp), vec![], false);
        LoadedImage::for_tests(exe, all.argc, all.strings, execfn.as_bytes())
    }

    #[test]
    fn the_same_is_no_difference() {
        let same = loaded(EXE, &["ls", "-l", ""], &["A=1", "B=2"], "/bin/ls");
        assert_eq!(expected().difference(&same), None);
    }

    #[test]
    fn each_thing_that_differs_is_named() {
        let other = FileId { inode: 43, ..EXE };
        let (argv, envp): (&[&str], &[&str]) = (&["ls", "-l", ""], &["A=1", "B=2"]);
        let rows = [
            (loaded(other, argv, envp, "/bin/ls"), Difference::File),
            (
                loaded(EXE, &["ls", "-a", ""], envp, "/bin/ls"),
                Difference::Argv,
            ),
            (
                loaded(EXE, &["ls", "-l"], envp, "/bin/ls"),
                Difference::Argv,
            ),
            (
                loaded(EXE, &["ls", "-l", "", ""], envp, "/bin/ls"),
                Difference::Argv,
            ),
            (
                loaded(EXE, &["x", "ls", "-l", ""], envp, "/bin/ls"),
                Difference::Argv,
            ),
            (
                loaded(EXE, argv, &["A=1", "B=3"], "/bin/ls"),
                Difference::Environment,
            ),
            (
                loaded(EXE, argv, &["A=1"], "/bin/ls"),
                Difference::Environment,
            ),
            (loaded(EXE, argv, envp, "/bin/l"), Difference::Name),
        ];
        for (seen, difference) in rows {
            assert_eq!(expected().difference(&seen), Some(difference));
        }
    }

    #[test]
    fn a_variable_cannot_pass_for_an_argument() {
        let moved = loaded(EXE, &["ls", "-l"], &["", "A=1", "B=2"], "/bin/ls");
        assert_eq!(expected().difference(&moved), Some(Difference::Argv));
    }

    #[test]
    fn where_nothing_was_expected_everything_differs() {
        let nothing = Expectation {
            exe: None,
            ..expected()
        };
        let same = loaded(EXE, &["ls", "-l", ""], &["A=1", "B=2"], "/bin/ls");
        assert_eq!(nothing.difference(&same), Some(Difference::Unexpected));
    }
}
