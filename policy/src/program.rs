//! Which file: an entry of `program`, and the first word of `command`.

use thiserror::Error;

use crate::case::Case;
use crate::class::{Class, SETUID, classes};
use crate::escape::{EscapeError, Unit, decode};
use crate::grammar::{self, Grammar};
use crate::guise::Guise;
use crate::image::{Image, Reading};
use crate::keys::nearest;
use crate::path::file_name;
use crate::pattern::{PathPattern, PatternError};
use crate::places::Places;
use crate::trust::SYSTEM_DIRS;
use crate::version::is_version_in;

/// A file by its bare name or by a pattern of its path.
#[derive(Debug, Clone)]
pub(crate) enum Program {
    /// The file of that name in a trusted directory; in doubt, in any.
    Name { name: Vec<u8>, case: Case },
    /// The file with such a path.
    Path(PathPattern),
    /// Any file of the class.
    Class(&'static Class),
}

/// What an image has in any case that an entry means: an index by it misses none.
#[derive(Debug)]
pub(crate) enum Needs<'p> {
    /// One of these file names, or a version of it.
    Name(Vec<&'p [u8]>),
    /// A path that is one of these or lies below.
    Directory(Vec<&'p [u8]>),
}

/// Why text does not name a program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ProgramError {
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error("the name of a program is empty")]
    Empty,
    #[error("there is no class `{}`", .0.escape_debug())]
    Class(String),
    #[error("a bare name takes no wildcard")]
    Wildcard,
    #[error("a bare name is the name of a file")]
    NotAFile,
}

impl From<EscapeError> for ProgramError {
    fn from(error: EscapeError) -> Self {
        Self::Pattern(error.into())
    }
}

impl ProgramError {
    /// What the author could write instead.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Pattern(error) => error.help(),
            Self::Class(name) => {
                let names = || classes().map(|(name, _)| name);
                let written = name.strip_prefix('@').unwrap_or(name);
                Some(match nearest(written, names()) {
                    Some(nearest) => format!("the nearest is `@{nearest}`"),
                    None => format!(
                        "the classes are `@{}`",
                        names().collect::<Vec<_>>().join("`, `@")
                    ),
                })
            }
            Self::Wildcard => Some("write a path pattern, such as `/usr/bin/python*`".to_owned()),
            Self::Empty | Self::NotAFile => None,
        }
    }
}

impl Program {
    /// Reads one entry, with its `!` already taken off.
    pub(crate) fn parse(text: &str, places: &Places, case: Case) -> Result<Self, ProgramError> {
        if text.is_empty() {
            return Err(ProgramError::Empty);
        }
        if let Some(class) = text.strip_prefix('@') {
            let class = Class::named(class);
            return class
                .map(Self::Class)
                .ok_or_else(|| ProgramError::Class(text.to_owned()));
        }
        if text.starts_with(['~', '$', '/']) {
            return Ok(Self::Path(PathPattern::parse(text, places, case)?));
        }
        let units = decode(text)?;
        if units.contains(&Unit::Byte(b'/')) {
            return Ok(Self::Path(PathPattern::parse(text, places, case)?));
        }
        let name: Option<Vec<u8>> = units.iter().map(Unit::byte).collect();
        let name = name.ok_or(ProgramError::Wildcard)?;
        if name == b"." || name == b".." {
            return Err(ProgramError::NotAFile);
        }
        Ok(Self::Name { name, case })
    }

    /// Whether the entry means this image.
    pub(crate) fn covers(&self, image: &Image<'_>, reading: Reading) -> bool {
        match self {
            Self::Name { name, case } => image.is_called(name, *case, reading),
            Self::Path(pattern) => image.names(reading).any(|path| pattern.matches(path)),
            Self::Class(class) => class.covers(image, reading),
        }
    }

    /// Whether the entry means this image or, in doubt, what it may be under another name.
    pub(crate) fn selects(&self, image: &Image<'_>, reading: Reading) -> bool {
        self.covers(image, reading)
            || (reading == Reading::Doubtful && image.guises().any(|guise| self.may_be(&guise)))
    }

    /// Whether the entry means this image *by a name that ends in* the bare name `called`.
    pub(crate) fn covers_as(&self, called: &Self, image: &Image<'_>, reading: Reading) -> bool {
        match self {
            Self::Name { .. } => {
                let mut name = called.file_name().into_iter();
                name.any(|name| self.is_name(name)) && called.covers(image, reading)
            }
            Self::Path(pattern) => image
                .names(reading)
                .any(|path| called.is_name(file_name(path)) && pattern.matches(path)),
            Self::Class(class) => called.covers(image, reading) && class.covers(image, reading),
        }
    }

    /// Whether the entry may mean what `guise` does. Only ever a doubt.
    pub(crate) fn may_be(&self, guise: &Guise<'_>) -> bool {
        match self {
            Self::Name { name, case } => {
                !guise.is_joined() && is_version_in(*case, guise.name, name)
            }
            Self::Class(class) => !guise.is_joined() && class.has_name(guise.name),
            Self::Path(pattern) => {
                let is_applet = || guise.is_applet && pattern.is_file_name(guise.name);
                guise.path.is_some_and(|path| pattern.matches(path)) || is_applet()
            }
        }
    }

    /// Whether the entry is this bare name.
    pub(crate) fn is_name(&self, name: &[u8]) -> bool {
        matches!(self, Self::Name { name: own, case } if case.is_same(own, name))
    }

    /// The pattern, if the entry is one.
    pub(crate) fn pattern(&self) -> Option<&PathPattern> {
        match self {
            Self::Path(pattern) => Some(pattern),
            Self::Name { .. } | Self::Class(_) => None,
        }
    }

    /// The grammar of the program, if it is one by name and there is a table of it.
    pub(crate) fn grammar(&self) -> Option<&'static Grammar> {
        let name = self.file_name()?;
        grammar::named(name, self.case())
    }

    /// How the letters of the entry are compared.
    pub(crate) fn case(&self) -> Case {
        match self {
            Self::Name { case, .. } => *case,
            Self::Path(pattern) => pattern.case(),
            Self::Class(_) => Case::Exact,
        }
    }

    /// The file name that one name of every covered image has, if there is one, as it is written.
    pub(crate) fn file_name(&self) -> Option<&[u8]> {
        match self {
            Self::Name { name, .. } => Some(name),
            Self::Path(pattern) => pattern.file_name(),
            Self::Class(_) => None,
        }
    }

    /// What every image has that the entry may mean, by its own names or another, if anything.
    pub(crate) fn needs(&self) -> Option<Needs<'_>> {
        // What is spelled as the caller likes is found under no name.
        if self.case() == Case::Folded {
            return None;
        }
        match self {
            Self::Name { name, .. } => Some(Needs::Name(vec![name])),
            Self::Class(class) => class.file_names().map(Needs::Name),
            Self::Path(pattern) => {
                if let Some(name) = pattern.file_name() {
                    return Some(Needs::Name(vec![name]));
                }
                let has_head = pattern.heads().all(|head| !head.is_empty());
                has_head.then(|| Needs::Directory(pattern.heads().collect()))
            }
        }
    }

    /// The paths at which the entry's files are, where they come down to a few. Where the case of
    /// letters does not count, as they are written and in small letters.
    pub(crate) fn paths(&self) -> Vec<Vec<u8>> {
        let spellings = |text: &[u8]| {
            let plain = Some(self.case().plain(text).into_owned());
            let plain = plain.filter(|plain| plain != text);
            std::iter::once(text.to_vec()).chain(plain)
        };
        let of_name = |name: &[u8]| {
            let directories = SYSTEM_DIRS.iter();
            let paths = directories.map(|directory| [directory, b"/".as_slice(), name].concat());
            paths.collect::<Vec<_>>()
        };
        match self {
            Self::Name { name, .. } => spellings(name).flat_map(|name| of_name(&name)).collect(),
            Self::Class(class) => {
                let members = class.members.iter();
                members
                    .flat_map(|member| of_name(member.as_bytes()))
                    .collect()
            }
            Self::Path(pattern) if pattern.is_literal() => {
                pattern.heads().flat_map(spellings).collect()
            }
            Self::Path(_) => Vec::new(),
        }
    }

    /// Whether it means the files that bring rights.
    pub(crate) fn is_of_rights(&self) -> bool {
        matches!(self, Self::Class(class) if class.name == SETUID)
    }

    /// See [`PathPattern::resolve_head`].
    pub(crate) fn resolve_head(&mut self, resolve: &dyn Fn(&[u8]) -> Option<Vec<u8>>) {
        if let Self::Path(pattern) = self {
            pattern.resolve_head(resolve);
        }
    }

    /// Whether the entry has no wildcard.
    pub(crate) fn is_literal(&self) -> bool {
        match self {
            Self::Name { .. } => true,
            Self::Class(_) => false,
            Self::Path(pattern) => pattern.is_literal(),
        }
    }

    /// Whether the entry is a path pattern that means files in any directory.
    pub(crate) fn is_anywhere(&self) -> bool {
        match self {
            Self::Name { .. } | Self::Class(_) => false,
            Self::Path(pattern) => pattern.is_anywhere(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{ExecRequest, ProgramFile};
    use crate::trust::Trust;

    fn covers(text: &str, path: &str, reading: Reading) -> bool {
        let request = ExecRequest::new(ProgramFile::at(path), Vec::new());
        let program = Program::parse(text, &Places::of_tests(), Case::Exact).unwrap();
        let trust = Trust::default();
        program.covers(&Image::of_program(&request, &trust), reading)
    }

    #[test]
    fn a_bare_name_in_doubt_is_that_name_anywhere() {
        assert!(covers("git", "/usr/bin/git", Reading::Strict));
        assert!(!covers("git", "/tmp/git", Reading::Strict));
        assert!(covers("git", "/tmp/git", Reading::Doubtful));
        assert!(!covers("git", "/tmp/gitk", Reading::Doubtful));
    }

    #[test]
    fn a_path_is_that_path_in_both_readings() {
        for reading in [Reading::Strict, Reading::Doubtful] {
            assert!(covers("~/bin/x", "/home/u/bin/x", reading));
            assert!(!covers("~/bin/x", "/usr/bin/x", reading));
        }
    }

    #[test]
    fn letters_of_either_case_are_one_where_case_is_ignored() {
        let covers = |text: &str, path: &str, reading| {
            let request = ExecRequest::new(ProgramFile::at(path), Vec::new());
            let program = Program::parse(text, &Places::of_tests(), Case::Folded).unwrap();
            program.covers(&Image::of_program(&request, &Trust::default()), reading)
        };
        for reading in [Reading::Strict, Reading::Doubtful] {
            assert!(covers("Git", "/usr/bin/gIT", reading));
            assert!(covers("~/Bin/x*", "/home/u/bin/XY", reading));
            assert!(!covers("Git", "/usr/bin/gitk", reading));
        }
        assert!(covers("pip", "/tmp/PIP3.11", Reading::Doubtful));
        assert!(!covers("git", "/tmp/GIT", Reading::Strict));
    }

    #[test]
    fn the_paths_of_a_name_are_those_of_both_spellings() {
        let paths = |text: &str, case| {
            let program = Program::parse(text, &Places::of_tests(), case).unwrap();
            program.paths()
        };
        assert_eq!(paths("Git", Case::Folded).len(), 2 * SYSTEM_DIRS.len());
        assert_eq!(paths("git", Case::Folded).len(), SYSTEM_DIRS.len());
        assert_eq!(paths("/opt/X", Case::Folded), [b"/opt/X", b"/opt/x"]);
        assert_eq!(paths("/opt/X", Case::Exact), [b"/opt/X"]);
    }

    #[test]
    fn special_characters_can_begin_a_bare_name() {
        assert!(covers(r"\@x", "/usr/bin/@x", Reading::Strict));
        assert!(covers(r"\~x", "/usr/bin/~x", Reading::Strict));
        assert!(covers("[", "/usr/bin/[", Reading::Strict));
        assert!(covers(r"a\*", "/usr/bin/a*", Reading::Strict));
    }

    #[test]
    fn malformed_entries_are_refused() {
        for (text, error) in [
            ("", ProgramError::Empty),
            ("@shell", ProgramError::Class("@shell".to_owned())),
            ("python*", ProgramError::Wildcard),
            ("**", ProgramError::Wildcard),
            ("..", ProgramError::NotAFile),
            ("bin/git", ProgramError::Pattern(PatternError::Relative)),
            ("./git", ProgramError::Pattern(PatternError::Relative)),
        ] {
            assert_eq!(
                Program::parse(text, &Places::of_tests(), Case::Exact).err(),
                Some(error),
                "{text}"
            );
        }
    }
}
