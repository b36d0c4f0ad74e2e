//! What else the policy was asked with: enough to put the same question to another policy later.
//!
//! Written into a decision's `proc` as `inputs`, and read back from there. Within it what is absent is
//! none; `streams` and `history`, which only some policies look at, are absent if nobody looked.

mod leads;

use execward_policy::{
    Digest, ExecRequest, Interpreter, Origin, ProgramFile, Redaction, Stream, Variables,
};
use serde::{Deserialize, Serialize};

use super::exec_id::ExecId;
use super::text::{ExactBytes, RawBytes, Text};
use leads::LeadNote;

/// Where it stands in a record.
const POINTER: &str = "/proc/inputs";

/// What else the policy was asked with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Inputs<'a> {
    #[serde(default, borrow)]
    file: FileNote<'a>,
    /// The `#!` interpreters, outermost first.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    interpreters: Vec<FileNote<'a>>,
    /// The variables that tell.
    #[serde(default, borrow)]
    env: VariablesNote<'a>,
    /// What the standard descriptors were.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    streams: Option<[StreamNote<'a>; 3]>,
    /// Where the paths lead that the call names and a rule looks at.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    leads: Vec<LeadNote<'a>>,
    /// The execs that made the caller what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    history: Option<History>,
}

/// The execs that led to a call, the nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct History {
    pub(crate) execs: Vec<ExecId>,
    /// Whether there may be others that nobody knows of.
    #[serde(default, rename = "broken", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_broken: bool,
}

/// A file beyond its path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct FileNote<'a> {
    /// The path as passed, made absolute.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    given: Option<Text<'a>>,
    /// Its own path, where that is not the given one.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    path: Option<Text<'a>>,
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    links: Vec<Text<'a>>,
    /// What the rules in force called this very file elsewhere.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<Text<'a>>,
    /// Where it lies, if not in the session's own root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<OriginNote>,
    /// Whether the session had no hand in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    settled: bool,
    /// Whether it was to run with rights that its caller lacks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    gains_rights: bool,
    /// Whether it is such a file, whoever calls it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    brings_rights: bool,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    sha256: Option<Text<'a>>,
    /// Of an interpreter: what follows its path on the `#!` line.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    argument: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OriginNote {
    Foreign,
    Anonymous,
    Unstable,
}

/// Names alone: a value may be a secret.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct VariablesNote<'a> {
    /// Watched, and not as when the session began.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<Text<'a>>,
    /// Watched, and there no more.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    gone: Vec<Text<'a>>,
    /// There, and named by a rule.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    named: Vec<Text<'a>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StreamNote<'a> {
    Unknown,
    Plain,
    #[serde(borrow)]
    File(Text<'a>),
}

impl Inputs<'static> {
    /// What the policy was asked with in `request`, `variables` and `history`.
    pub(super) fn of(
        request: &ExecRequest,
        variables: &Variables,
        history: Option<History>,
        (secrets, redaction): (&[Vec<u8>], &Redaction),
        exact: &mut ExactBytes,
    ) -> Self {
        let names = |key: &str, names: &[Vec<u8>], exact: &mut ExactBytes| {
            let at = |place| format!("{POINTER}/env/{key}/{place}");
            let names = names.iter().enumerate();
            names
                .map(|(place, name)| Text::of(name, || at(place), exact))
                .collect()
        };
        let env = VariablesNote {
            changed: names("changed", &variables.changed, exact),
            gone: names("gone", &variables.gone, exact),
            named: names("named", &variables.named, exact),
        };
        let interpreters = request.interpreters.iter().enumerate();
        let interpreters = interpreters.map(|(level, interpreter)| {
            let at = format!("{POINTER}/interpreters/{level}");
            let argument = interpreter.argument.as_deref().map(|it| redaction.text(it));
            let argument =
                argument.map(|it| Text::of(&it.shown(), || format!("{at}/argument"), exact));
            FileNote {
                argument,
                ..FileNote::of(&interpreter.file, &at, exact)
            }
        });
        let interpreters = interpreters.collect();
        let is_looked_at = request.streams.iter().any(|it| *it != Stream::Unknown);
        Self {
            file: FileNote::of(&request.program, &format!("{POINTER}/file"), exact),
            interpreters,
            env,
            streams: is_looked_at.then(|| streams(&request.streams, exact)),
            leads: leads::of(request, secrets, exact),
            history,
        }
    }
}

impl FileNote<'static> {
    fn of(file: &ProgramFile, at: &str, exact: &mut ExactBytes) -> Self {
        let path = file.resolved.as_ref();
        let path = path.filter(|path| **path != file.given);
        let mut paths = |key: &str, paths: &[Vec<u8>]| {
            let paths = paths.iter().enumerate();
            let paths =
                paths.map(|(place, path)| Text::of(path, || format!("{at}/{key}/{place}"), exact));
            paths.collect()
        };
        Self {
            links: paths("links", &file.links),
            aliases: paths("aliases", &file.aliases),
            given: Some(Text::of(&file.given, || format!("{at}/given"), exact)),
            path: path.map(|path| Text::of(path, || format!("{at}/path"), exact)),
            origin: match file.origin {
                Origin::Session => None,
                Origin::Foreign => Some(OriginNote::Foreign),
                Origin::Anonymous => Some(OriginNote::Anonymous),
                Origin::Unstable => Some(OriginNote::Unstable),
            },
            settled: file.is_settled,
            gains_rights: file.gains_rights,
            brings_rights: file.brings_rights,
            sha256: file.sha256.as_ref().map(|digest| digest.to_string().into()),
            argument: None,
        }
    }
}

fn streams(streams: &[Stream; 3], exact: &mut ExactBytes) -> [StreamNote<'static>; 3] {
    let mut number = 0;
    streams.each_ref().map(|stream| {
        let at = format!("{POINTER}/streams/{number}/file");
        number += 1;
        match stream {
            Stream::Unknown => StreamNote::Unknown,
            Stream::Plain => StreamNote::Plain,
            Stream::File(path) => StreamNote::File(Text::of(path, || at, exact)),
        }
    })
}

impl Inputs<'_> {
    /// Whether a value under `pointer` is one of theirs.
    pub(super) fn is_at(pointer: &str) -> bool {
        pointer.starts_with(POINTER)
    }

    /// The execs that led to the call, if anybody looked.
    pub(crate) fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// Whether anybody looked at the standard descriptors.
    pub(crate) fn has_streams(&self) -> bool {
        self.streams.is_some()
    }

    /// The variables that tell.
    pub(crate) fn variables(&self, raw: &RawBytes) -> Variables {
        let names = |key: &str, names: &[Text<'_>]| {
            let at = |place| format!("{POINTER}/env/{key}/{place}");
            let names = names.iter().enumerate();
            names
                .map(|(place, name)| name.bytes(|| at(place), raw))
                .collect()
        };
        Variables {
            changed: names("changed", &self.env.changed),
            gone: names("gone", &self.env.gone),
            named: names("named", &self.env.named),
        }
    }

    /// The call with `argv` in `cwd` that the policy was asked about; without its environment and
    /// history, and where nobody looked, with streams that are unknown.
    pub(crate) fn request(
        &self,
        argv: Vec<Vec<u8>>,
        cwd: Option<Vec<u8>>,
        raw: &RawBytes,
    ) -> ExecRequest {
        let interpreters = self.interpreters.iter().enumerate();
        let interpreters = interpreters.map(|(level, note)| {
            let at = format!("{POINTER}/interpreters/{level}");
            let argument = note.argument.as_ref();
            Interpreter {
                file: note.file(&at, raw),
                argument: argument.map(|it| it.bytes(|| format!("{at}/argument"), raw)),
            }
        });
        let leads = self.leads.iter().enumerate();
        let program = self.file.file(&format!("{POINTER}/file"), raw);
        ExecRequest {
            interpreters: interpreters.collect(),
            cwd: cwd.filter(|cwd| cwd.starts_with(b"/")),
            destinations: leads
                .map(|(place, lead)| lead.destination(place, raw))
                .collect(),
            streams: self.streams(raw),
            ..ExecRequest::new(program, argv)
        }
    }

    fn streams(&self, raw: &RawBytes) -> [Stream; 3] {
        let Some(streams) = &self.streams else {
            return Default::default();
        };
        let mut number = 0;
        streams.each_ref().map(|stream| {
            let at = || format!("{POINTER}/streams/{number}/file");
            let stream = match stream {
                StreamNote::Unknown => Stream::Unknown,
                StreamNote::Plain => Stream::Plain,
                StreamNote::File(path) => Stream::File(path.bytes(at, raw)),
            };
            number += 1;
            stream
        })
    }
}

impl FileNote<'_> {
    fn file(&self, at: &str, raw: &RawBytes) -> ProgramFile {
        let of = |key: &str, text: &Text<'_>| text.bytes(|| format!("{at}/{key}"), raw);
        let given = self
            .given
            .as_ref()
            .map(|it| of("given", it))
            .unwrap_or_default();
        let paths = |key: &str, paths: &[Text<'_>]| {
            let paths = paths.iter().enumerate();
            let paths = paths.map(|(place, path)| of(&format!("{key}/{place}"), path));
            paths.collect()
        };
        let origin = match self.origin {
            None => Origin::Session,
            Some(OriginNote::Foreign) => Origin::Foreign,
            Some(OriginNote::Anonymous) => Origin::Anonymous,
            Some(OriginNote::Unstable) => Origin::Unstable,
        };
        let own = || (origin != Origin::Anonymous).then(|| given.clone());
        ProgramFile {
            resolved: self.path.as_ref().map(|it| of("path", it)).or_else(own),
            links: paths("links", &self.links),
            aliases: paths("aliases", &self.aliases),
            origin,
            is_settled: self.settled,
            gains_rights: self.gains_rights,
            brings_rights: self.brings_rights,
            sha256: digest(self.sha256.as_ref()),
            given,
        }
    }
}

/// One that was not taken, and one that is none, is unknown to every rule.
fn digest(text: Option<&Text<'_>>) -> Option<Digest> {
    text.and_then(|text| Digest::parse(text.as_str()))
}

#[cfg(test)]
mod tests;
