//! A record, as far as it is counted and drawn. What is absent is unknown.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::audit::{ExecId, History, PolicyNote, RuleNote};

/// A record of any type.
#[derive(Debug, Deserialize)]
pub(super) struct Entry<'a> {
    #[serde(default, borrow)]
    pub(super) v: Cow<'a, str>,
    /// `exec.decision`, `session.start` …
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) ts: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) session: SessionRef<'a>,
    pub(super) exec_id: Option<ExecId>,
    #[serde(default, borrow)]
    pub(super) decision: Option<Decided<'a>>,
    #[serde(default, borrow)]
    pub(super) effect: Option<Effect<'a>>,
    #[serde(default)]
    pub(super) approval: Option<Approval>,
    #[serde(default, borrow)]
    pub(super) outcome: Option<Outcome<'a>>,
    #[serde(default, borrow)]
    pub(super) proc: Option<Proc<'a>>,
    /// Microseconds, by what they were spent on.
    #[serde(default, borrow)]
    pub(super) lat: BTreeMap<Cow<'a, str>, Value>,
    #[serde(default)]
    pub(super) gap: Option<Gap>,
    /// Nanoseconds since the machine started.
    #[serde(default)]
    pub(super) boot_ns: Option<u64>,
    /// Of a session's start: the files in force.
    #[serde(default)]
    pub(super) policy: Option<Vec<PolicyNote>>,
    /// Likewise: CMD and its arguments, escaped.
    #[serde(default)]
    pub(super) cmd: Option<Vec<String>>,
    /// Likewise: whether everything runs.
    #[serde(default)]
    pub(super) observe: bool,
    /// Of a session's end: CMD's status.
    #[serde(default)]
    pub(super) exit_code: Option<u8>,
    #[serde(default)]
    pub(super) signal: Option<i32>,
    /// Of a summary: execs of files that were not there.
    #[serde(default)]
    pub(super) target_missing: Option<u64>,
}

/// Whose record it is.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SessionRef<'a> {
    #[serde(default, borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) name: Cow<'a, str>,
}

/// What was said of an exec.
#[derive(Debug, Deserialize)]
pub(super) struct Decided<'a> {
    #[serde(borrow)]
    pub(super) verdict: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) reason: Cow<'a, str>,
    #[serde(default)]
    pub(super) rule: Option<RuleNote>,
}

/// What the kernel was told.
#[derive(Debug, Deserialize)]
pub(super) struct Effect<'a> {
    #[serde(borrow)]
    pub(super) sent: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) errno: Option<Cow<'a, str>>,
}

/// That a person was asked.
#[derive(Debug, Deserialize)]
pub(super) struct Approval {
    /// How long, in milliseconds.
    #[serde(default)]
    pub(super) wait_ms: Option<u64>,
}

/// What came of an exec that went on.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome<'a> {
    #[serde(borrow)]
    pub(super) result: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) errno: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) difference: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) loaded: Option<Loaded<'a>>,
}

/// What was loaded in place of what was judged.
#[derive(Debug, Deserialize)]
pub(super) struct Loaded<'a> {
    #[serde(borrow)]
    pub(super) exe: Cow<'a, str>,
}

/// The exec itself.
#[derive(Debug, Deserialize)]
pub(super) struct Proc<'a> {
    #[serde(default)]
    pub(super) pid: Option<u32>,
    #[serde(default)]
    pub(super) ppid: Option<u32>,
    #[serde(default, borrow)]
    pub(super) req_path: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) path: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    pub(super) argv: Option<Vec<Cow<'a, str>>>,
    #[serde(default)]
    pub(super) argv_cut: bool,
    #[serde(default, borrow)]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) inputs: Option<Inputs>,
}

/// What the policy was asked with, as far as it tells what led to an exec.
#[derive(Debug, Deserialize)]
pub(super) struct Inputs {
    #[serde(default)]
    pub(super) history: Option<History>,
}

/// Records that are missing.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Gap {
    #[serde(default)]
    pub(super) count: u64,
}

impl Entry<'_> {
    /// When; `None` if that cannot be read.
    pub(super) fn time(&self) -> Option<Timestamp> {
        self.ts.parse().ok()
    }

    /// Whether nothing was judged, since there is no file.
    pub(super) fn is_missing(&self) -> bool {
        let decided = self.decision.as_ref();
        decided.is_some_and(|decided| decided.verdict == "none")
    }

    /// Whether the kernel was told to refuse an exec that was judged.
    pub(super) fn is_refused(&self) -> bool {
        let told = |effect: &Effect<'_>| effect.sent == "errno";
        self.effect.as_ref().is_some_and(told) && !self.is_missing()
    }

    /// What the file is called, or what it was called by.
    pub(super) fn program(&self) -> &str {
        let proc = self.proc.as_ref();
        let path = proc.and_then(|proc| proc.path.as_deref().or(proc.req_path.as_deref()));
        path.unwrap_or("-")
    }
}
