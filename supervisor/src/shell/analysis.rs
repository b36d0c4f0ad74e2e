//! What stands in a shell's text.

use serde::{Deserialize, Serialize};

use crate::audit::quoted;

/// What is refused where the grammar does not go on.
pub(super) const BROKEN: &str = "syntax error";

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
    /// Where it works.
    #[serde(default, skip_serializing_if = "Place::is_start")]
    pub(crate) place: Place,
    /// Whether it may be another one, or none: the text itself gives its name another meaning, as a
    /// function or an alias, or it may be a line of a here-document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_doubtful: bool,
}

/// A directory, as far as a text says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Place {
    /// That in which the shell starts.
    #[default]
    Start,
    /// This one, from there.
    In(String),
    /// Only the running shell can tell.
    Untold,
}

/// What a shell does with a text, one thing after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    Command(&'a Segment),
    Redirect(&'a Redirect),
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
    /// Where a relative path is meant from.
    #[serde(default, skip_serializing_if = "Place::is_start")]
    pub(crate) place: Place,
    /// Whether it may be a line of a here-document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_doubtful: bool,
}

impl Place {
    fn is_start(&self) -> bool {
        *self == Self::Start
    }

    /// The one that `cd` enters from here.
    pub(super) fn entered(&self, to: &str) -> Self {
        match self {
            _ if to.starts_with('/') => Self::In(to.to_owned()),
            Self::Start => Self::In(to.to_owned()),
            Self::In(from) => Self::In(format!("{from}/{to}")),
            Self::Untold => Self::Untold,
        }
    }

    /// Its path, of a shell that starts in `start`.
    pub(crate) fn below(&self, start: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Start => Some(start.to_vec()),
            Self::In(to) if to.starts_with('/') => Some(to.clone().into_bytes()),
            Self::In(to) => Some([start, b"/", to.as_bytes()].concat()),
            Self::Untold => None,
        }
    }
}

impl Analysis {
    /// Its commands and the files that it opens, in the order in which they stand.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        let of_segments = self.segments.iter().enumerate();
        let commands = of_segments.map(|(at, segment)| (at, Step::Command(segment)));
        let of_files = self.redirects.iter();
        let redirects = of_files.map(|redirect| (redirect.behind, Step::Redirect(redirect)));
        let mut steps: Vec<_> = redirects.chain(commands).collect();
        // Of one number, what a command opens comes before the next command.
        steps.sort_by_key(|(at, _)| *at);
        steps.into_iter().map(|(_, step)| step)
    }
}

impl Redirect {
    /// The tool that does the same.
    pub(crate) fn tool(&self) -> &'static str {
        match self.writes {
            true => "file_write",
            false => "file_read",
        }
    }

    /// As it is shown.
    pub(crate) fn in_words(&self) -> String {
        let sign = if self.writes { '>' } else { '<' };
        format!("{sign} {}", quoted(&self.path))
    }

    /// Whether it opens what is there for every process, and no file of anybody's: `/dev/null`.
    pub(crate) fn is_stream(&self) -> bool {
        const STREAMS: [&str; 9] = [
            "full", "null", "random", "stderr", "stdin", "stdout", "tty", "urandom", "zero",
        ];
        let device = self.path.strip_prefix("/dev/");
        device.is_some_and(|name| STREAMS.contains(&name))
    }
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
