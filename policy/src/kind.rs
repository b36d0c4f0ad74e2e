//! Whether a string is of the kind that its key holds.

use crate::case::Case;
use crate::command::Command;
use crate::digest::Digest;
use crate::duration;
use crate::escape;
use crate::flag::Flag;
use crate::host::HostPattern;
use crate::keys::Kind;
use crate::pattern::PathPattern;
use crate::places::Places;
use crate::program::Program;
use crate::variable::Variable;
use crate::watch::EnvName;
use crate::word::Word;

/// What is wrong with a string, and what the author could write instead.
pub(crate) type Complaint = (String, Option<String>);

impl Kind {
    /// Reads a string only to learn whether it can be read.
    pub(crate) fn check(self, text: &str, places: &Places) -> Result<(), Complaint> {
        let entry = text.strip_prefix('!').unwrap_or(text);
        match self {
            Self::Free | Self::Include => Ok(()),
            Self::Id => id(text),
            Self::Program => program(entry, places, Case::Exact).map(drop),
            Self::Command => command(entry, places, Case::Exact).map(drop),
            Self::Literal => literal(text).map(drop),
            Self::Flag => flag(entry, places, Case::Exact).map(drop),
            Self::Word => word(entry, places, Case::Exact).map(drop),
            Self::Path => path(entry, places, Case::Exact).map(drop),
            Self::Host => host(entry).map(drop),
            Self::Env => env(entry, places, Case::Exact).map(drop),
            Self::EnvName => env_name(text, places).map(drop),
            Self::Name => name(entry, places),
            Self::Digest => digest(text).map(drop),
            Self::Duration => duration::parse(text).map(drop),
        }
    }
}

/// The id of a rule.
pub(crate) fn id(text: &str) -> Result<(), Complaint> {
    let is_id_byte = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    if !text.is_empty() && text.bytes().all(is_id_byte) {
        return Ok(());
    }
    let help = "an id has the characters a to z, 0 to 9, `.`, `_` and `-`".to_owned();
    Err((format!("`{}` is no id", text.escape_debug()), Some(help)))
}

/// An entry of `program`.
pub(crate) fn program(text: &str, places: &Places, case: Case) -> Result<Program, Complaint> {
    Program::parse(text, places, case).map_err(|error| (error.to_string(), error.help()))
}

/// An entry of `command`.
pub(crate) fn command(text: &str, places: &Places, case: Case) -> Result<Command, Complaint> {
    Command::parse(text, places, case).map_err(|error| (error.to_string(), error.help()))
}

/// An entry of `flags`.
pub(crate) fn flag(text: &str, places: &Places, case: Case) -> Result<Flag, Complaint> {
    Flag::parse(text, places, case).map_err(|error| (error.to_string(), error.help()))
}

/// A pattern of paths.
pub(crate) fn path(text: &str, places: &Places, case: Case) -> Result<PathPattern, Complaint> {
    PathPattern::parse(text, places, case).map_err(|error| (error.to_string(), error.help()))
}

/// An element of a vector: literal but for the backslash, which writes any byte.
pub(crate) fn literal(text: &str) -> Result<Vec<u8>, Complaint> {
    escape::literal(text).map_err(|error| (error.to_string(), error.help().map(str::to_owned)))
}

/// A SHA-256 digest.
pub(crate) fn digest(text: &str) -> Result<Digest, Complaint> {
    let help = || "`sha256sum FILE` prints it".to_owned();
    let message = || "a digest has 64 hexadecimal digits".to_owned();
    Digest::parse(text).ok_or_else(|| (message(), Some(help())))
}

/// A pattern of one argument.
pub(crate) fn word(text: &str, places: &Places, case: Case) -> Result<Word, Complaint> {
    if text.is_empty() {
        return Err(("the pattern is empty".to_owned(), None));
    }
    Word::parse(text, places, case)
        .map_err(|error| (error.to_string(), error.help().map(str::to_owned)))
}

/// An entry of `host`.
pub(crate) fn host(text: &str) -> Result<HostPattern, Complaint> {
    let help = "write a name, `*.name` or an address, with `:port` or without".to_owned();
    let message = || format!("`{}` is no host", text.escape_debug());
    HostPattern::parse(text).ok_or_else(|| (message(), Some(help)))
}

/// An entry of `env`.
pub(crate) fn env(text: &str, places: &Places, case: Case) -> Result<Variable, Complaint> {
    let (variable, _) = text.split_once('=').unwrap_or((text, ""));
    name(variable, places)?;
    Variable::parse(text, places, case)
        .map_err(|error| (error.to_string(), error.help().map(str::to_owned)))
}

/// An entry of `[env] untrusted`, with its `!` if it has one.
pub(crate) fn env_name(text: &str, places: &Places) -> Result<EnvName, Complaint> {
    name(text.strip_prefix('!').unwrap_or(text), places)?;
    EnvName::parse(text, places)
        .map_err(|error| (error.to_string(), error.help().map(str::to_owned)))
}

fn name(text: &str, places: &Places) -> Result<(), Complaint> {
    if text.is_empty() || text.contains(['=', '\0', ' ']) {
        return Err((format!("`{}` is no name", text.escape_debug()), None));
    }
    word(text, places, Case::Exact).map(drop)
}
