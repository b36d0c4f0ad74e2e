//! A record that is exported, and what its session's first record says beside it.

use std::collections::HashMap;

use serde_json::Value;

use crate::audit::quoted;

/// Most sessions whose beginnings are remembered at once; each is forgotten at its end.
const SESSIONS_MAX: usize = 1024;

/// The sessions of a log, as far as its records go.
#[derive(Debug, Default)]
pub(super) struct Sessions(HashMap<String, Value>);

impl Sessions {
    /// Notes what a record says of its session: how it began, and another policy.
    pub(super) fn note(&mut self, record: &Value) {
        let id = text(record, "/session/id").unwrap_or_default();
        match text(record, "/type") {
            Some("session.start") if self.0.len() < SESSIONS_MAX => {
                self.0.insert(id.to_owned(), record.clone());
            }
            Some("policy.loaded") => {
                if let Some(start) = self.0.get_mut(id).and_then(Value::as_object_mut)
                    && let Some(policy) = record.get("policy")
                {
                    start.insert("policy".to_owned(), policy.clone());
                }
            }
            _ => {}
        }
    }

    /// Forgets a session that ends with this record.
    pub(super) fn forget(&mut self, record: &Value) {
        if text(record, "/type") == Some("session.end") {
            self.0
                .remove(text(record, "/session/id").unwrap_or_default());
        }
    }

    /// The record with its session's beginning.
    pub(super) fn event<'a>(&'a self, record: &'a Value, host: Option<&'a str>) -> Event<'a> {
        let id = text(record, "/session/id").unwrap_or_default();
        Event {
            record,
            start: self.0.get(id),
            host,
        }
    }
}

/// A record, as the tables look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    record: &'a Value,
    /// Its session's first record, if the log has it.
    start: Option<&'a Value>,
    /// The machine, if the exporter named it: no record does.
    pub(super) host: Option<&'a str>,
}

impl<'a> Event<'a> {
    /// What kind of record it is.
    pub(super) fn kind(&self) -> &'a str {
        self.text("/type").unwrap_or_default()
    }

    pub(super) fn text(&self, pointer: &str) -> Option<&'a str> {
        text(self.record, pointer)
    }

    pub(super) fn number(&self, pointer: &str) -> Option<u64> {
        self.at(pointer)?.as_u64()
    }

    pub(super) fn at(&self, pointer: &str) -> Option<&'a Value> {
        at(self.record, pointer)
    }

    /// A text of the session's first record.
    pub(super) fn start_text(&self, pointer: &str) -> Option<&'a str> {
        text(self.start?, pointer)
    }

    /// The names of the policy files in force, and their digests.
    pub(super) fn policies(&self) -> Vec<(&'a str, &'a str)> {
        let files = self.start.and_then(|start| at(start, "/policy"));
        let files = files.and_then(Value::as_array).into_iter().flatten();
        let of = |file: &'a Value| Some((text(file, "/name")?, text(file, "/sha256")?));
        files.filter_map(of).collect()
    }

    /// The call as it could be typed.
    pub(super) fn command_line(&self) -> Option<String> {
        let argv = self.at("/proc/argv")?.as_array()?;
        let words = argv.iter().filter_map(Value::as_str).map(quoted);
        Some(words.collect::<Vec<_>>().join(" "))
    }

    /// The file's path, or the one that was called.
    pub(super) fn program(&self) -> Option<&'a str> {
        self.text("/proc/path")
            .or_else(|| self.text("/proc/req_path"))
    }

    /// Whether nothing was judged, since there is no file.
    pub(super) fn is_missing(&self) -> bool {
        self.text("/decision/verdict") == Some("none")
    }

    /// Whether an exec, or a tool's call, was refused by what was decided, or killed.
    pub(super) fn is_refused(&self) -> bool {
        match self.kind() {
            "exec.decision" => self.text("/effect/sent") == Some("errno") && !self.is_missing(),
            "exec.outcome" => self.text("/outcome/result") == Some("killed"),
            "tool.decision" => self.text("/decision/verdict") == Some("deny"),
            _ => false,
        }
    }

    /// Whether it was let go on.
    pub(super) fn is_let(&self) -> bool {
        match self.kind() {
            "exec.decision" => self.text("/effect/sent") == Some("continue") && !self.is_missing(),
            "tool.decision" => self.text("/decision/verdict") == Some("allow"),
            _ => false,
        }
    }

    /// Whether a person's word decided it.
    pub(super) fn is_of_person(&self) -> bool {
        self.at("/approval/by").is_some()
    }

    /// What it says, in a line.
    pub(super) fn message(&self) -> String {
        let word = self
            .text("/outcome/result")
            .or_else(|| self.text("/decision/verdict"));
        let rule = self
            .text("/decision/rule/id")
            .map(|rule| format!("rule {}", quoted(rule)));
        let why = rule.or_else(|| self.text("/decision/reason").map(str::to_owned));
        let why = why.map(|why| format!("({why})"));
        let what = self
            .command_line()
            .or_else(|| self.text("/tool/name").map(quoted));
        let kind = Some(self.kind().to_owned());
        let parts = [kind, word.map(str::to_owned), why, what];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.join(" ")
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    at(value, pointer)?.as_str()
}

/// What stands at a JSON pointer through objects whose names have neither `/` nor `~`: a table looks at some seventy
/// in each record, and `Value::pointer` allocates for every step.
fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    let mut steps = pointer.split('/').skip(1);
    steps.try_fold(value, |value, step| value.get(step))
}
