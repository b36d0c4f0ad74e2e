//! Path patterns: which absolute paths a policy means.
//!
//! A pattern is taken apart once, at load. Its literal directories become the *head*,
//! compared byte by byte and component by component; only what begins with the first
//! wildcard is a *tail* for globset. Two things follow. The places of a session, which
//! may hold any byte, never pass through a pattern engine; and most patterns of a real
//! policy are a comparison of bytes.
//!
//! This is the only file that names globset, because globset's defaults are not this
//! language: there `*` crosses `/`, and `[`, `{` and `,` have a meaning.

use std::str;

use globset::{Candidate, GlobBuilder, GlobSet};
use thiserror::Error;

use crate::case::Case;
use crate::escape::{EscapeError, Unit, decode};
use crate::keys::nearest;
use crate::path::file_name;
use crate::places::Places;

/// Longest tail of a pattern, in bytes.
///
/// `PATH_MAX` of Linux: execve(2) takes no longer path, so a longer pattern is a mistake.
/// It also bounds what globset compiles.
const TAIL_MAX_BYTES: usize = 4096;

/// A pattern of absolute paths.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    /// The literal directories that every match lies in, as they are written and without a trailing slash; for
    /// [`Tail::Itself`], the path.
    head: Vec<u8>,
    /// The same with the directories in it resolved, if that is another path.
    resolved: Option<Vec<u8>>,
    tail: Tail,
    case: Case,
}

/// What may follow the head.
#[derive(Debug, Clone)]
enum Tail {
    /// Nothing: the head is the path.
    Itself,
    /// `D/`: the head and everything below it.
    Directory,
    /// `D/**`: everything below the head.
    Below,
    /// A path relative to the head that this glob matches.
    Glob {
        glob: GlobSet,
        /// The last component, if it has no wildcard.
        file_name: Option<Vec<u8>>,
        /// Whether the pattern begins with `**/`: it means files in any directory.
        anywhere: bool,
        /// How many components a match has below the head, if that is given.
        depth: Option<usize>,
    },
}

/// Why text is not a path pattern.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum PatternError {
    #[error(transparent)]
    Escape(#[from] EscapeError),
    #[error("a path pattern is absolute")]
    Relative,
    #[error("a place such as `${{home}}` stands before a `/` or at the end")]
    Joined,
    #[error("unknown place `${{{}}}`", .0.escape_debug())]
    UnknownPlace(String),
    #[error("`${{{0}}}` has no absolute path in this session")]
    UnsetPlace(&'static str),
    #[error("the home directory of another user cannot be named with `~`")]
    OtherHome,
    #[error("a path pattern has no empty component and no `.` or `..`")]
    Component,
    #[error("`**` stands alone between slashes")]
    Crossing,
    #[error("a byte that is not UTF-8 after a wildcard is not supported by this version yet")]
    RawByte,
    #[error("the part after the first wildcard is too long to match any path")]
    TooLong,
    #[error("globset refused the pattern")]
    Refused,
}

impl PatternError {
    /// What the author could write instead.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Escape(error) => error.help().map(str::to_owned),
            Self::Relative => Some("begin it with `/`, `~/`, `${workspace}/` or `**/`".to_owned()),
            Self::UnknownPlace(name) => Some(match nearest(name, Places::NAMES) {
                Some(nearest) => format!("the nearest place is `${{{nearest}}}`"),
                None => format!("the places are {}", list_of_places()),
            }),
            Self::OtherHome => Some("write the directory, or `\\~` for the character".to_owned()),
            Self::Component => Some("paths are compared after they have been resolved".to_owned()),
            Self::Crossing => Some("`a/**/b` crosses directories; `a*b` stays in one".to_owned()),
            Self::UnsetPlace("workspace") => Some(
                "start in the project's directory, or name it with --workspace; the home \
                 directory and `/` are none"
                    .to_owned(),
            ),
            Self::Joined => Some("a path is compared component by component".to_owned()),
            Self::UnsetPlace(_) | Self::RawByte | Self::TooLong | Self::Refused => None,
        }
    }
}

fn list_of_places() -> String {
    Places::NAMES
        .map(|name| format!("`${{{name}}}`"))
        .join(", ")
}

impl PathPattern {
    /// Compiles `text`, with the session's places put in.
    pub(crate) fn parse(text: &str, places: &Places, case: Case) -> Result<Self, PatternError> {
        let (place, rest) = split_place(text, places)?;
        let mut units: Vec<Unit> = place.iter().copied().map(Unit::Byte).collect();
        units.extend(decode(rest)?);
        Self::compile(&units, case)
    }

    /// Whether the pattern matches `path`: absolute, no empty component, no `.`.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        self.heads().any(|head| self.matches_below(head, path))
    }

    /// Puts the directory that the head really is beside what is written: `/bin` may be `/usr/bin`.
    pub(crate) fn resolve_head(&mut self, resolve: &dyn Fn(&[u8]) -> Option<Vec<u8>>) {
        let name = match &self.tail {
            // The file itself may be a link to many a thing; only where it lies counts.
            Tail::Itself => file_name(&self.head),
            Tail::Directory | Tail::Below | Tail::Glob { .. } => b"",
        };
        let end = self.head.len() - name.len();
        let directory = self.head.get(..end).unwrap_or_default();
        let directory = directory.strip_suffix(b"/").unwrap_or(directory);
        if directory.is_empty() {
            return;
        }
        let resolved = resolve(directory).filter(|resolved| resolved != directory);
        self.resolved = resolved.map(|resolved| match name {
            b"" => resolved,
            name => [&resolved, b"/".as_slice(), name].concat(),
        });
    }

    fn matches_below(&self, head: &[u8], path: &[u8]) -> bool {
        let Some(rest) = self.case.strip_prefix(path, head) else {
            return false;
        };
        // `/opt/a` is not a directory of `/opt/ab`: what follows the head begins with a slash.
        let below = rest.strip_prefix(b"/").filter(|below| !below.is_empty());
        match &self.tail {
            Tail::Itself => rest.is_empty(),
            Tail::Directory => rest.is_empty() || below.is_some(),
            Tail::Below => below.is_some(),
            Tail::Glob { glob, .. } => {
                below.is_some_and(|below| glob.is_match_candidate(&Candidate::from_bytes(below)))
            }
        }
    }

    /// Whether the pattern may match something below the directory `path`.
    ///
    /// A pattern of files in any directory says nothing of where they lie, and matches nowhere
    /// below.
    pub(crate) fn may_match_below(&self, path: &[u8]) -> bool {
        if self.is_anywhere() {
            return false;
        }
        let path = if path == b"/" { b"" } else { path };
        let lies_below = |inner: &[u8], outer: &[u8]| {
            let rest = self.case.strip_prefix(inner, outer);
            rest.is_some_and(|rest| rest.starts_with(b"/"))
        };
        let reaches_below = |head: &[u8]| match &self.tail {
            Tail::Glob { depth, .. } if self.case.is_same(head, path) || lies_below(path, head) => {
                let above = path.get(head.len()..).unwrap_or_default();
                let above = above.iter().filter(|byte| **byte == b'/').count();
                depth.is_none_or(|depth| depth > above)
            }
            Tail::Glob { .. } | Tail::Itself | Tail::Directory | Tail::Below => false,
        };
        self.heads()
            .any(|head| lies_below(head, path) || reaches_below(head))
    }

    /// The file name that every match has, if there is one, as it is written.
    pub(crate) fn file_name(&self) -> Option<&[u8]> {
        match &self.tail {
            Tail::Itself => Some(file_name(&self.head)),
            Tail::Directory | Tail::Below => None,
            Tail::Glob { file_name, .. } => file_name.as_deref(),
        }
    }

    /// Whether every match has the file name `name`.
    pub(crate) fn is_file_name(&self, name: &[u8]) -> bool {
        let mut own = self.file_name().into_iter();
        own.any(|own| self.case.is_same(own, name))
    }

    /// The literal directories of which every match lies in one, or is one; empty if there are
    /// none. As they are written.
    pub(crate) fn heads(&self) -> impl Iterator<Item = &[u8]> {
        [self.head.as_slice()]
            .into_iter()
            .chain(self.resolved.as_deref())
    }

    /// Whether the pattern is one path without wildcards.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self.tail, Tail::Itself)
    }

    /// How its letters are compared.
    pub(crate) fn case(&self) -> Case {
        self.case
    }

    /// Whether every path matches: `/**`.
    pub(crate) fn is_everything(&self) -> bool {
        self.head.is_empty() && matches!(self.tail, Tail::Below | Tail::Directory)
    }

    /// Whether the first directory of what it means is a wildcard: `/*/bin`.
    pub(crate) fn is_of_root(&self) -> bool {
        self.head.is_empty() && !self.is_literal()
    }

    /// Whether the pattern means files in any directory (`**/…`).
    pub(crate) fn is_anywhere(&self) -> bool {
        matches!(self.tail, Tail::Glob { anywhere: true, .. })
    }

    fn compile(units: &[Unit], case: Case) -> Result<Self, PatternError> {
        let mut components: Vec<&[Unit]> = units.split(|unit| *unit == Unit::Byte(b'/')).collect();
        match components.first() {
            Some([]) if components.len() > 1 => drop(components.remove(0)),
            Some(first) if is_crossing(first) && components.len() > 1 => {}
            _ => return Err(PatternError::Relative),
        }
        let is_directory = components.pop_if(|last| last.is_empty()).is_some();
        for component in &components {
            check_component(component)?;
        }
        let wild = components.iter().position(|component| is_wild(component));
        let (head, tail) = components.split_at(wild.unwrap_or(components.len()));
        let tail = match (tail, is_directory) {
            // The root has no name of its own, and `/` means the root alone.
            ([], true) if head.is_empty() => {
                return Ok(Self {
                    head: b"/".to_vec(),
                    resolved: None,
                    tail: Tail::Itself,
                    case,
                });
            }
            ([], true) => Tail::Directory,
            ([], false) => Tail::Itself,
            ([only], _) if is_crossing(only) => Tail::Below,
            _ => compile_tail(tail, is_directory, head.is_empty(), case)?,
        };
        let head = head
            .iter()
            .flat_map(|name| [b'/'].into_iter().chain(literal_bytes(name)));
        Ok(Self {
            head: head.collect(),
            resolved: None,
            tail,
            case,
        })
    }
}

/// Splits `~` or `${name}` off the front and returns its value with what follows.
fn split_place<'t>(text: &'t str, places: &'t Places) -> Result<(&'t [u8], &'t str), PatternError> {
    let (name, rest) = if let Some(rest) = text.strip_prefix('~') {
        if !is_at_boundary(rest) {
            return Err(PatternError::OtherHome);
        }
        ("home", rest)
    } else if let Some((name, rest)) = text.strip_prefix("${").and_then(|t| t.split_once('}')) {
        if !is_at_boundary(rest) {
            return Err(PatternError::Joined);
        }
        (name, rest)
    } else {
        return Ok((b"", text));
    };
    let name = Places::NAMES
        .into_iter()
        .find(|known| *known == name)
        .ok_or_else(|| PatternError::UnknownPlace(name.to_owned()))?;
    let value = places.get(name).unwrap_or_default();
    // An empty value is the root, without its slash, or no value at all: neither is a place.
    if !value.starts_with(b"/") {
        return Err(PatternError::UnsetPlace(name));
    }
    Ok((value, rest))
}

fn is_at_boundary(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

fn check_component(component: &[Unit]) -> Result<(), PatternError> {
    let is_literal = |text: &[u8]| {
        component
            .iter()
            .copied()
            .eq(text.iter().copied().map(Unit::Byte))
    };
    if component.is_empty() || is_literal(b".") || is_literal(b"..") {
        return Err(PatternError::Component);
    }
    let has_crossing = component.windows(2).any(is_crossing);
    if has_crossing && !is_crossing(component) {
        return Err(PatternError::Crossing);
    }
    Ok(())
}

fn compile_tail(
    tail: &[&[Unit]],
    is_directory: bool,
    at_root: bool,
    case: Case,
) -> Result<Tail, PatternError> {
    let text = glob_text(tail)?;
    let text = if is_directory {
        format!("{{{text},{text}/**}}")
    } else {
        text
    };
    let glob = GlobBuilder::new(&text)
        .literal_separator(true)
        .backslash_escape(true)
        .case_insensitive(case == Case::Folded)
        .build()
        .map_err(|_| PatternError::Refused)?;
    // A set of one: unlike globset's matcher of one glob, building it reports failure.
    let glob = GlobSet::new([glob]).map_err(|_| PatternError::Refused)?;
    let last = tail.last().filter(|last| !is_directory && !is_wild(last));
    Ok(Tail::Glob {
        glob,
        file_name: last.map(|last| literal_bytes(last).collect()),
        anywhere: at_root && tail.first().is_some_and(|first| is_crossing(first)),
        depth: (!is_directory && !tail.iter().any(|name| is_crossing(name))).then_some(tail.len()),
    })
}

/// Writes components as a glob in which nothing but our wildcards has a meaning.
fn glob_text(components: &[&[Unit]]) -> Result<String, PatternError> {
    let mut text = Vec::new();
    for component in components {
        if !text.is_empty() {
            text.push(b'/');
        }
        for unit in *component {
            match unit {
                Unit::Many => text.push(b'*'),
                Unit::One => text.push(b'?'),
                Unit::Byte(byte) if byte.is_ascii_punctuation() => text.extend([b'\\', *byte]),
                Unit::Byte(byte) => text.push(*byte),
            }
        }
    }
    if text.len() > TAIL_MAX_BYTES {
        return Err(PatternError::TooLong);
    }
    String::from_utf8(text).map_err(|_| PatternError::RawByte)
}

fn is_wild(component: &[Unit]) -> bool {
    component.iter().any(|unit| unit.byte().is_none())
}

/// Whether a component is `**`.
fn is_crossing(component: &[Unit]) -> bool {
    component == [Unit::Many, Unit::Many]
}

fn literal_bytes(component: &[Unit]) -> impl Iterator<Item = u8> {
    component.iter().filter_map(Unit::byte)
}

#[cfg(test)]
mod tests;
