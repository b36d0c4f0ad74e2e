//! The calls of the day, as `calls.jsonl` has them.

use std::path::Path;
use std::sync::Arc;

use execward_policy::{
    Ancestor, Basis, Destination, ExecRequest, Interpreter, Lineage, Places, ProgramFile, RuleKey,
    Ruleset, Stream,
};
use jiff::Timestamp;
use serde_json::Value;

/// What the session began with.
const START_ENV: [&str; 9] = [
    "HOME=/home/ada",
    "USER=ada",
    "LOGNAME=ada",
    "SHELL=/bin/bash",
    "LANG=C.UTF-8",
    "TERM=xterm-256color",
    "EDITOR=vim",
    "PAGER=less",
    "PATH=/home/ada/.local/bin:/home/ada/.cargo/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin",
];

/// A call, and the one that led to it.
pub(crate) struct Call {
    pub(crate) request: ExecRequest,
    parent: Option<usize>,
}

impl Call {
    /// The vector as one line; an argument with a blank or a line break has quotes.
    pub(crate) fn line(&self) -> String {
        let words = self.request.argv.iter().map(|word| {
            let word = folded(&String::from_utf8(word.clone()).expect("UTF-8, as the corpus is"));
            match word.contains([' ', '\n', '"']) || word.is_empty() {
                true => format!("{word:?}"),
                false => word,
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }
}

pub(crate) fn places() -> Places {
    Places {
        home: "/home/ada".into(),
        workspace: "/home/ada/engine".into(),
        tmp: "/tmp".into(),
    }
}

/// Text of the corpus, with the places as they are here.
fn unfolded(text: &str) -> String {
    let text = text.replace("${workspace}", "/home/ada/engine");
    text.replace("${tmp}", "/tmp")
        .replace("${home}", "/home/ada")
}

/// The reverse, for what is shown.
fn folded(text: &str) -> String {
    let text = text.replace("/home/ada/engine", "${workspace}");
    text.replace("/home/ada", "${home}")
}

/// What a key has; nothing is null.
fn of<'v>(value: &'v Value, key: &str) -> &'v Value {
    value.get(key).unwrap_or(&Value::Null)
}

fn bytes(value: &Value) -> Vec<u8> {
    unfolded(value.as_str().expect("text")).into_bytes()
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> T) -> Vec<T> {
    let elements = value.as_array().map(Vec::as_slice).unwrap_or_default();
    elements.iter().map(read).collect()
}

fn file(value: &Value) -> ProgramFile {
    let given = bytes(of(value, "program"));
    let resolved = value.get("file").map_or_else(|| given.clone(), bytes);
    // Ada writes below her home and the directory for temporary files, and nowhere else.
    let is_hers = ["/home/", "/tmp/"].map(str::as_bytes);
    let is_hers = is_hers.iter().any(|place| resolved.starts_with(place));
    ProgramFile {
        links: list(of(value, "links"), bytes),
        resolved: Some(resolved),
        is_settled: !is_hers,
        ..ProgramFile::at(given)
    }
}

/// The environment that the session began with, with the changes of a call: `NAME=VALUE`, and
/// `NAME` for one that is gone.
fn environment(changes: &[String]) -> Arc<[Vec<u8>]> {
    let name = |variable: &str| variable.split('=').next().map(str::to_owned);
    let is_changed = |variable: &&str| changes.iter().any(|change| name(change) == name(variable));
    let kept = START_ENV
        .iter()
        .copied()
        .filter(|variable| !is_changed(variable));
    let new = changes.iter().filter(|change| change.contains('='));
    kept.chain(new.map(String::as_str))
        .map(|variable| variable.as_bytes().to_vec())
        .collect()
}

fn call(line: &str) -> Call {
    let value: Value = serde_json::from_str(line).expect("JSON");
    let mut request = ExecRequest::new(file(&value), list(of(&value, "argv"), bytes));
    request.cwd = Some(bytes(of(&value, "cwd")));
    request.interpreters = list(of(&value, "interpreters"), |interpreter| Interpreter {
        file: file(interpreter),
        argument: interpreter.get("argument").map(bytes),
    });
    let changes = list(of(&value, "env"), |change| {
        unfolded(change.as_str().expect("text"))
    });
    request.env = Some(environment(&changes));
    request.start_env = Some(environment(&[]));
    for (number, stream) in ["0", "1", "2"].into_iter().zip(&mut request.streams) {
        if let Some(path) = of(&value, "streams").get(number) {
            *stream = Stream::File(bytes(path));
        }
    }
    let parent = value.get("parent").and_then(Value::as_u64);
    Call {
        request,
        parent: parent.map(|at| usize::try_from(at).expect("an index")),
    }
}

/// Every call, in the order of the day.
pub(crate) fn calls() -> Vec<Call> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/day/calls.jsonl");
    let text = std::fs::read_to_string(path).expect("the corpus");
    text.lines().map(call).collect()
}

/// The calls as `rules` see them: with where the paths lead that they name, and with the history
/// that each has if all of the day ran.
pub(crate) fn seen_by(rules: &Ruleset) -> Vec<Call> {
    let mut calls = calls();
    let mut histories: Vec<Lineage> = Vec::new();
    for Call { request, parent } in &mut calls {
        let history = parent.and_then(|at| histories.get(at));
        request.lineage = history.cloned().unwrap_or_default();
        let paths = rules.named_paths(request).into_iter();
        let destinations = paths.map(|path| (path.clone(), Destination::as_written(&path)));
        request.destinations = destinations.collect();
        let verdict = rules.decide(request, Timestamp::UNIX_EPOCH);
        let allowed_by = match verdict.basis() {
            Basis::Rule(rule) => Some(RuleKey {
                layer: rule.layer(),
                id: rule.id().to_owned(),
            }),
            Basis::Children(_)
            | Basis::SafeBin
            | Basis::Wrapper
            | Basis::UnknownTool
            | Basis::Default { .. } => None,
        };
        let interpreters = request.interpreters.iter().map(|it| it.file.clone());
        let files = std::iter::once(request.program.clone()).chain(interpreters);
        let files = files.collect();
        let image = Arc::new(Ancestor { files, allowed_by });
        let mut history = request.lineage.clone();
        history.ancestors.insert(0, image);
        histories.push(history);
    }
    calls
}
