//! A tree for other programs: the processes in a list, each with its parent's place in it, so that no depth is too
//! much for a reader.

use serde::Serialize;

use super::super::exec::Exec;
use super::processes::{Origin, Process};
use super::session::Session;

/// The keys of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Flat<'a> {
    session: SessionNote<'a>,
    others: usize,
    processes: Vec<ProcessNote<'a>>,
}

#[derive(Debug, Serialize)]
struct SessionNote<'a> {
    id: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    policy: &'a [String],
    observed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    began: Option<jiff::Timestamp>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'a str>,
    target_missing: u64,
    missing_records: u64,
}

#[derive(Debug, Serialize)]
struct ProcessNote<'a> {
    pid: u32,
    /// `command`, `parent`, `adopted`, `unknown`.
    origin: &'static str,
    /// The parent's place in the list, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    execs: Vec<ExecNote<'a>>,
}

#[derive(Debug, Serialize)]
struct ExecNote<'a> {
    exec_id: &'a str,
    /// Since the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    call: &'a str,
    verdict: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    /// What became of it, in a word.
    fate: String,
    refused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

impl<'a> Flat<'a> {
    pub(super) fn of(session: &'a Session, others: usize) -> Self {
        let processes = session.processes.all().iter();
        Self {
            session: SessionNote {
                id: &session.id,
                name: &session.name,
                command: session.command.as_deref(),
                policy: &session.policy,
                observed: session.is_observed,
                began: session.began,
                seconds: session.seconds,
                end: session.end.as_deref(),
                target_missing: session.target_missing,
                missing_records: session.lacking,
            },
            others,
            processes: processes.map(|it| ProcessNote::of(session, it)).collect(),
        }
    }
}

impl<'a> ProcessNote<'a> {
    fn of(session: &'a Session, process: &'a Process) -> Self {
        let (origin, parent) = match process.origin {
            Origin::Command => ("command", None),
            Origin::Parent(parent) => ("parent", Some(parent)),
            Origin::Adopted => ("adopted", None),
            Origin::Unknown => ("unknown", None),
        };
        Self {
            pid: process.pid,
            origin,
            parent,
            execs: session.processes.execs(process).map(ExecNote::of).collect(),
        }
    }
}

impl<'a> ExecNote<'a> {
    fn of(exec: &'a Exec) -> Self {
        Self {
            exec_id: &exec.id,
            seconds: exec.at,
            call: &exec.call,
            verdict: &exec.verdict,
            reason: &exec.reason,
            rule: exec.rule.as_deref(),
            fate: exec.fate.word().to_ascii_lowercase().replace(' ', "_"),
            refused: exec.fate.is_refused(),
            detail: exec.detail.as_deref(),
        }
    }
}
