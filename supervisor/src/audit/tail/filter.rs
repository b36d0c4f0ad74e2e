//! Which records are shown.

use std::collections::HashSet;
use std::time::Duration;

use globset::GlobMatcher;
use jiff::Timestamp;
use serde_json::Value;

use super::line::{number, text};

/// Which records are shown: those that meet all of it. What is missing from the log is always shown, and of an exec
/// that is shown so is what came of it.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Only what was refused.
    pub(crate) is_refused: bool,
    /// Only what a person was asked about.
    pub(crate) is_asked: bool,
    pub(crate) rule: Option<String>,
    pub(crate) reason: Option<String>,
    /// The program's path.
    pub(crate) program: Option<GlobMatcher>,
    /// One of the arguments behind the first.
    pub(crate) argument: Option<GlobMatcher>,
    pub(crate) cwd: Option<GlobMatcher>,
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    /// Only decisions that took as long.
    pub(crate) slow: Option<Duration>,
    /// Only what stands behind this record of its session.
    pub(crate) after: Option<u64>,
}

/// A filter, and the execs that passed it.
#[derive(Debug)]
pub(super) struct Sieve<'a> {
    filter: &'a Filter,
    /// By session and ID, until their outcome has come.
    execs: HashSet<(String, String)>,
}

impl<'a> Sieve<'a> {
    pub(super) fn of(filter: &'a Filter) -> Self {
        let execs = HashSet::new();
        Self { filter, execs }
    }

    /// Whether a record is shown.
    pub(super) fn passes(&mut self, record: &Value) -> bool {
        if text(record, "/type") == "audit.gap" {
            return true;
        }
        let filter = self.filter;
        if !filter.is_of_time(record) {
            return false;
        }
        if !filter.is_about_execs() {
            return true;
        }
        let exec = || {
            let [session, id] = ["/session/id", "/exec_id"].map(|key| text(record, key).to_owned());
            (session, id)
        };
        match text(record, "/type") {
            "exec.outcome" => self.execs.remove(&exec()),
            "exec.decision" if filter.passes(record) => {
                if text(record, "/effect/sent") == "continue" {
                    self.execs.insert(exec());
                }
                true
            }
            "exec.held" | "tool.decision" => filter.passes(record),
            _ => false,
        }
    }
}

impl Filter {
    fn is_of_time(&self, record: &Value) -> bool {
        let time: Option<Timestamp> = text(record, "/ts").parse().ok();
        let is_after = |least: Timestamp| time.is_some_and(|time| time >= least);
        let is_before = |most: Timestamp| time.is_some_and(|time| time <= most);
        self.since.is_none_or(is_after)
            && self.until.is_none_or(is_before)
            && self
                .after
                .is_none_or(|after| number(record, "/seq") > after)
    }

    /// Whether it says anything of execs.
    fn is_about_execs(&self) -> bool {
        self.is_refused
            || self.is_asked
            || self.slow.is_some()
            || [&self.rule, &self.reason].iter().any(|it| it.is_some())
            || [&self.program, &self.argument, &self.cwd]
                .iter()
                .any(|it| it.is_some())
    }

    fn passes(&self, record: &Value) -> bool {
        let is = |wanted: &Option<String>, key| {
            wanted
                .as_ref()
                .is_none_or(|wanted| text(record, key) == wanted)
        };
        let matches = |glob: &Option<GlobMatcher>, key| {
            glob.as_ref()
                .is_none_or(|glob| glob.is_match(text(record, key)))
        };
        let has_argument = |glob: &GlobMatcher| {
            let words = record.pointer("/proc/argv").and_then(Value::as_array);
            let mut words = words
                .into_iter()
                .flatten()
                .skip(1)
                .filter_map(Value::as_str);
            words.any(|word| glob.is_match(word))
        };
        let total = || Duration::from_micros(number(record, "/lat/total"));
        let is_held = text(record, "/type") == "exec.held";
        let refused = || match text(record, "/type") {
            "tool.decision" => text(record, "/decision/verdict") == "deny",
            _ => text(record, "/effect/sent") == "errno",
        };
        (!self.is_refused || refused())
            && (!self.is_asked || is_held || record.get("approval").is_some())
            && is(&self.rule, "/decision/rule/id")
            && is(&self.reason, "/decision/reason")
            && matches(&self.program, "/proc/path")
            && matches(&self.cwd, "/proc/cwd")
            && self.argument.as_ref().is_none_or(has_argument)
            && self.slow.is_none_or(|slow| !is_held && total() >= slow)
    }
}
