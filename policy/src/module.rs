//! Which module a Python interpreter runs: `-m` as its own option parser reads it.
//!
//! The options end at the module, at inline code (`-c`) or at the first operand, so there is at
//! most one module, and one look at each argument finds it (`Python/getopt.c` and
//! `Python/initconfig.c` of CPython; PyPy follows them).

use crate::version::unversioned;

/// Interpreters that run a module by name.
const PYTHONS: [&[u8]; 2] = [b"python", b"pypy"];

/// A module, and how many arguments stand before its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Module<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) skipped: usize,
}

/// Whether a file of this name is such an interpreter, of whatever version.
pub(crate) fn is_python(name: &[u8]) -> bool {
    PYTHONS.contains(&unversioned(name))
}

/// The module that these arguments of an interpreter name.
pub(crate) fn of<'a>(arguments: impl Iterator<Item = &'a [u8]>) -> Option<Module<'a>> {
    let mut arguments = arguments.enumerate();
    while let Some((at, argument)) = arguments.next() {
        let cluster = argument
            .strip_prefix(b"-")
            .filter(|rest| !rest.is_empty())?;
        if let Some(long) = cluster.strip_prefix(b"-") {
            match long {
                b"" => return None,
                b"check-hash-based-pycs" => drop(arguments.next()?),
                _ => {}
            }
            continue;
        }
        let Some(end) = cluster.iter().position(|flag| b"cmWX".contains(flag)) else {
            continue;
        };
        let attached = cluster.get(end + 1..).filter(|rest| !rest.is_empty());
        match cluster.get(end) {
            Some(b'm') => {
                let (last, name) = match attached {
                    Some(name) => (at, name),
                    None => arguments.next()?,
                };
                let skipped = last + 1;
                return Some(Module { name, skipped });
            }
            Some(b'c') | None => return None,
            Some(_) if attached.is_none() => drop(arguments.next()?),
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(line: &str) -> Option<(String, usize)> {
        let found = of(line.split(' ').map(str::as_bytes))?;
        Some((found.name.escape_ascii().to_string(), found.skipped))
    }

    #[test]
    fn the_module_is_found_as_the_interpreter_finds_it() {
        for (line, skipped) in [
            ("-m pip install", 2),
            ("-mpip install", 1),
            ("-Im pip install", 2),
            ("-Bmpip install", 1),
            ("-W module -X m -mpip", 5),
            ("-Wmodule -Xm -B -m pip", 5),
            ("--check-hash-based-pycs never -m pip", 4),
        ] {
            assert_eq!(module(line), Some(("pip".to_owned(), skipped)), "{line}");
        }
    }

    #[test]
    fn what_the_program_itself_is_given_is_no_module() {
        for line in [
            "script.py -m pip",
            "- -m pip",
            "-- -m pip",
            "-c code -m pip",
            "-W -mpip",
            "-m",
            "-v",
            "",
        ] {
            assert_eq!(module(line), None, "{line}");
        }
    }
}
