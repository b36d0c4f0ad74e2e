//! What stands in a shell's text.

use serde::{Deserialize, Serialize};

/// What a shell would do with a text, as far as the text says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Analysis {
    /// Whether all of it is known: every word is written out, and nothing in it is refused.
    pub(crate) ok: bool,
    /// The first thing that keeps it from being known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Its commands, in the order in which they stand, those within others too.
    pub(crate) segments: Vec<Segment>,
    /// The pipelines in order, each by the places of its commands in `segments`.
    pub(crate) chains: Vec<Vec<usize>>,
    /// What is refused, each thing with its place.
    pub(crate) refused: Vec<Refused>,
    /// The files that redirections open, where the name is written out.
    pub(crate) redirects: Vec<Redirect>,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Segment {
    /// As it is written.
    pub(crate) raw: String,
    /// Whether the shell does it itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_builtin: bool,
    /// Its words as the program would get them; none if one of them is only known when it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) argv: Option<Vec<String>>,
    /// The variables that are set for it, `NAME=VALUE` each, as far as they are written out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) env: Vec<String>,
}

/// Something that makes a text do what it does not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refused {
    /// What it is, in words.
    pub(crate) token: String,
    /// Where it begins, both from 1.
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// As it is written, cut.
    pub(crate) raw: String,
}

/// A file that a shell opens for a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Redirect {
    pub(crate) path: String,
    /// Whether it is made or written to.
    pub(crate) writes: bool,
    /// How many commands stand before it.
    pub(crate) behind: usize,
}

impl Refused {
    /// What it is and where, in one line.
    pub(crate) fn in_words(&self) -> String {
        let Self {
            token,
            line,
            column,
            raw,
        } = self;
        format!("{token} `{}` at {line}:{column}", raw.escape_debug())
    }
}
