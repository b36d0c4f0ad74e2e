//! Files of cases: calls with the verdicts that a policy is to give, `[[case]]` each.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use execward_policy::{Places as PolicyPlaces, ToolCall};
use serde::Deserialize;
use toml::de::{DeTable, ValueDeserializer};

use super::{PolicyError, files};
use crate::check::{Question, What};

/// Words that a shell would act on.
const SHELL_SIGNS: [&str; 8] = ["|", "||", "&", "&&", ";", ">", ">>", "<"];

/// A call, and what becomes of it.
#[derive(Debug)]
pub(super) struct Case {
    /// `FILE:LINE`.
    pub(super) at: String,
    draft: Draft,
}

/// What is wrong with a file of cases, all of it.
#[derive(Debug, thiserror::Error)]
#[error("the cases have faults, and none is tried\n{}", .0.join("\n"))]
pub(crate) struct CaseFaults(Vec<String>);

/// One table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    /// A program with its arguments, as a line or as words.
    argv: Option<Words>,
    /// A shell's text.
    shell: Option<String>,
    /// The name of a tool.
    tool: Option<String>,
    #[serde(default)]
    path: Words,
    #[serde(default)]
    url: Words,
    /// `KEY=VALUE` each.
    #[serde(default)]
    arg: Words,
    /// Where the call is made [default: the workspace].
    cwd: Option<String>,
    /// `NAME=VALUE` each.
    #[serde(default)]
    env: Words,
    /// The programs below which it is made, the nearest first.
    #[serde(default)]
    via: Words,
    expect: Option<Expected>,
    /// The rule that is to decide.
    rule: Option<String>,
}

/// One text, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum Words {
    One(String),
    Many(Vec<String>),
}

/// What is expected of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Expected {
    Allow,
    Ask,
    Deny,
}

impl Default for Words {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Words {
    fn list(&self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text.clone()],
            Self::Many(texts) => texts.clone(),
        }
    }
}

impl Expected {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The cases of these files.
///
/// # Errors
/// If one cannot be read, or for every fault of every one.
pub(super) fn read(paths: &[PathBuf], needs_expected: bool) -> Result<Vec<Case>, PolicyError> {
    let (mut cases, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        let bytes = files::read(path)?.text;
        let name = path.display().to_string();
        let mut found = Vec::new();
        match str::from_utf8(&bytes) {
            Ok(text) => parse(&name, text, needs_expected, &mut cases, &mut found),
            Err(error) => found.push((place(&bytes, error.valid_up_to()), "not UTF-8".to_owned())),
        }
        found.sort();
        let shown = |((line, column), message)| format!("{name}:{line}:{column}: {message}");
        faults.extend(found.into_iter().map(shown));
    }
    if faults.is_empty() {
        return Ok(cases);
    }
    Err(PolicyError::Cases(CaseFaults(faults)))
}

fn parse(
    name: &str,
    text: &str,
    needs_expected: bool,
    cases: &mut Vec<Case>,
    faults: &mut Vec<((usize, usize), String)>,
) {
    let mut fault = |at: Option<std::ops::Range<usize>>, message: &str| {
        let message = message.lines().collect::<Vec<_>>().join(" ");
        faults.push((place(text.as_bytes(), at.map_or(0, |at| at.start)), message));
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        fault(error.span(), error.message());
    }
    let mut is_empty = errors.is_empty();
    for (key, value) in table.get_ref() {
        is_empty = false;
        let list = value.get_ref().as_array();
        let Some(list) = list.filter(|_| key.get_ref() == "case") else {
            fault(Some(key.span()), "only `[[case]]` may stand here");
            continue;
        };
        for table in list.iter() {
            let span = table.span();
            let draft = Draft::deserialize(ValueDeserializer::from(table.clone()));
            match draft.map(|draft| draft.checked(needs_expected)) {
                Ok(Ok(draft)) => cases.push(Case {
                    at: format!("{name}:{}", place(text.as_bytes(), span.start).0),
                    draft,
                }),
                Ok(Err(message)) => fault(Some(span), message),
                Err(error) => fault(error.span().or(Some(span)), error.message()),
            }
        }
    }
    if is_empty {
        fault(None, "there is no `[[case]]`");
    }
}

impl Draft {
    /// Whether one call is described, and whole.
    fn checked(self, needs_expected: bool) -> Result<Self, &'static str> {
        let calls = [
            self.argv.is_some(),
            self.shell.is_some(),
            self.tool.is_some(),
        ];
        if calls.into_iter().filter(|is_there| *is_there).count() != 1 {
            return Err("a case has one of `argv`, `shell` and `tool`");
        }
        let of_tool = [&self.path, &self.url, &self.arg];
        if self.tool.is_none() && of_tool.iter().any(|words| !words.list().is_empty()) {
            return Err("`path`, `url` and `arg` are of a `tool`");
        }
        if self.arg.list().iter().any(|it| !it.contains('=')) {
            return Err("an `arg` is KEY=VALUE");
        }
        if self.env.list().iter().any(|it| !it.contains('=')) {
            return Err("a variable of `env` is NAME=VALUE");
        }
        if self
            .words()
            .is_none_or(|words| words.first().is_some_and(String::is_empty))
        {
            return Err(
                "`argv` is a program with its arguments, in quotes where a shell wants them",
            );
        }
        if matches!(self.argv, Some(Words::One(_)))
            && self
                .words()
                .is_some_and(|words| words.iter().any(|it| SHELL_SIGNS.contains(&it.as_str())))
        {
            return Err(
                "`argv` is one call: say `shell` of a text with `|`, `;`, `&` or `>`, or write the words as a list",
            );
        }
        if self.tool.as_ref().is_some_and(String::is_empty)
            || self.texts().any(|text| text.contains('\0'))
        {
            return Err("a tool has a name, and no text a NUL");
        }
        if needs_expected && self.expect.is_none() {
            return Err("a case has `expect`: \"allow\", \"ask\" or \"deny\"");
        }
        Ok(self)
    }

    /// Every text of the call.
    fn texts(&self) -> impl Iterator<Item = String> {
        let lists = [&self.path, &self.url, &self.arg, &self.env, &self.via].map(Words::list);
        let texts = [&self.shell, &self.tool, &self.cwd].map(Clone::clone);
        let argv = self.argv.iter().flat_map(Words::list);
        lists
            .concat()
            .into_iter()
            .chain(texts.into_iter().flatten())
            .chain(argv.collect::<Vec<_>>())
    }

    /// Those of `argv`; none if it is another call, `None` if they are none.
    fn words(&self) -> Option<Vec<String>> {
        let words = match &self.argv {
            None => return Some(Vec::new()),
            Some(Words::One(line)) => shlex::split(line)?,
            Some(Words::Many(words)) => words.clone(),
        };
        (!words.is_empty()).then_some(words)
    }
}

impl Case {
    pub(super) fn expected(&self) -> Option<Expected> {
        self.draft.expect
    }

    /// The rule that is to decide, if the case says which.
    pub(super) fn rule(&self) -> Option<&str> {
        self.draft.rule.as_deref()
    }

    /// The call, as it is shown.
    pub(super) fn call(&self) -> String {
        let draft = &self.draft;
        match (&draft.shell, &draft.tool) {
            (Some(text), _) => format!("sh -c {text:?}"),
            (None, Some(tool)) => {
                let named = [&draft.path, &draft.url, &draft.arg].map(Words::list);
                format!("tool {tool} {}", named.concat().join(" "))
            }
            (None, None) => draft.words().unwrap_or_default().join(" "),
        }
    }

    /// The question that it puts, where `~` and `${…}` at the start of a word are these places.
    pub(super) fn question(&self, places: &PolicyPlaces) -> Question {
        let draft = &self.draft;
        let texts = |words: &Words| -> Vec<Vec<u8>> {
            let words = words.list();
            words.iter().map(|word| expand(word, places)).collect()
        };
        let what = if let Some(text) = &draft.shell {
            What::Shell(text.clone().into_bytes())
        } else if let Some(tool) = &draft.tool {
            What::Tool(ToolCall {
                paths: texts(&draft.path),
                urls: texts(&draft.url),
                arguments: texts(&draft.arg),
                ..ToolCall::new(tool)
            })
        } else {
            let words = draft.words().unwrap_or_default();
            let words = words
                .iter()
                .map(|word| OsString::from_vec(expand(word, places)));
            What::Program(words.collect())
        };
        let os = |words| texts(words).into_iter().map(OsString::from_vec).collect();
        let workspace = Some(places.workspace.clone()).filter(|it| !it.is_empty());
        let start = workspace.map(|it| PathBuf::from(OsString::from_vec(it)));
        let cwd = draft
            .cwd
            .as_ref()
            .map(|cwd| OsString::from_vec(expand(cwd, places)));
        Question {
            cwd: match (start, cwd) {
                (Some(start), Some(cwd)) => Some(start.join(Path::new(&cwd))),
                (start, cwd) => cwd.map(PathBuf::from).or(start),
            },
            env: os(&draft.env),
            via: os(&draft.via),
            ..Question::about(what)
        }
    }
}

/// A word with the place at its start written out.
fn expand(word: &str, places: &PolicyPlaces) -> Vec<u8> {
    let named: [(&str, &[u8]); 4] = [
        ("~", &places.home),
        ("${home}", &places.home),
        ("${workspace}", &places.workspace),
        ("${tmp}", &places.tmp),
    ];
    let found = named.iter().find_map(|(name, place)| {
        let rest = word.strip_prefix(name)?;
        let is_whole = rest.is_empty() || rest.starts_with('/');
        is_whole.then(|| [place, rest.as_bytes()].concat())
    });
    found.unwrap_or_else(|| word.as_bytes().to_vec())
}

/// Line and column of byte `at`, both from 1.
fn place(text: &[u8], at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before
        .split(|byte| *byte == b'\n')
        .next_back()
        .unwrap_or_default();
    let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
    let lines = before.iter().filter(|byte| **byte == b'\n').count();
    (lines + 1, line.iter().filter(is_first).count() + 1)
}
