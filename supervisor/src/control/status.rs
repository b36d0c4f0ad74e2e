//! What a session is like, as its gate tells: whether it is healthy, apart from what it has counted.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::approval::Approvers;
use crate::audit::{PolicyNote, Tally, escaped};

/// A session, now.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    pub(crate) session_id: String,
    /// What the operator calls it.
    pub(crate) session: String,
    /// Of the execward that gates it.
    pub(crate) version: String,
    /// The gate's process.
    pub(crate) gate: u32,
    pub(crate) started_at: Timestamp,
    /// Whether CMD has ended, and others of the session go on.
    pub(crate) is_lingering: bool,
    /// Whether every exec goes on, and the log alone says what the policy says.
    pub(crate) is_observed: bool,
    pub(crate) health: Health,
    pub(crate) policy: InForce,
    pub(crate) questions: Questions,
    pub(crate) execs: Execs,
    pub(crate) log: LogState,
    /// Since the session began.
    pub(crate) counters: Tally,
}

/// Whether the session does what it promises.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Health {
    /// What does not work, and what follows; healthy is a session of which there is none.
    pub(crate) problems: Vec<String>,
}

/// By what it judges.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct InForce {
    pub(crate) files: Vec<PolicyNote>,
    /// Of the files and presets.
    pub(crate) rules: usize,
    pub(crate) grants: usize,
}

/// What waits for a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Questions {
    /// Through whom a question could be answered that is asked now.
    pub(crate) approvers: Approvers,
    /// Clients that are told of each.
    pub(crate) subscribers: usize,
    pub(crate) open: usize,
    /// For how long the oldest of them waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_seconds: Option<u64>,
}

/// What is on its way.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Execs {
    /// Told to go on, and not loaded yet.
    pub(crate) in_flight: usize,
    /// Behind another of their thread group.
    pub(crate) queued: usize,
}

/// Where what happens is written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct LogState {
    pub(crate) path: String,
    /// Of the session.
    pub(crate) records: u64,
}

impl Status {
    pub(crate) fn is_healthy(&self) -> bool {
        self.health.problems.is_empty()
    }

    /// For people, several lines of printable ASCII.
    pub(crate) fn in_words(&self) -> String {
        let ended = if self.is_lingering {
            ", CMD has ended and others go on"
        } else {
            ""
        };
        let observed = if self.is_observed {
            ", only observed: NOTHING IS REFUSED"
        } else {
            ""
        };
        let health = if self.is_healthy() {
            "healthy"
        } else {
            "NOT healthy"
        };
        let mut lines = vec![format!(
            "session {} (gate {}) since {}{ended}{observed}: {health}",
            escaped(&self.session),
            self.gate,
            self.started_at
        )];
        let problems = self.health.problems.iter();
        lines.extend(problems.map(|problem| row("problem", &escaped(problem))));
        lines.push(row("policy", &self.policy.in_words()));
        lines.push(row("questions", &self.questions.in_words()));
        lines.push(row("execs", &self.execs_in_words()));
        let (path, records) = (escaped(&self.log.path), self.log.records);
        lines.push(row("log", &format!("{path} ({records} records)")));
        lines.join("\n")
    }

    fn execs_in_words(&self) -> String {
        let (count, execs) = (&self.counters, self.execs);
        format!(
            "{} decided ({} allowed, {} refused, {} asked), {} of files that are not there; {} in \
             flight, {} queued",
            count.decisions,
            count.allowed,
            count.refused,
            count.asked,
            count.target_missing,
            execs.in_flight,
            execs.queued
        )
    }
}

impl InForce {
    fn in_words(&self) -> String {
        let names: Vec<_> = self.files.iter().map(|it| escaped(&it.name)).collect();
        let (rules, grants) = (self.rules, self.grants);
        format!("{} ({rules} rules, {grants} grants)", names.join(", "))
    }
}

impl Questions {
    fn in_words(&self) -> String {
        let who = match self.approvers {
            Approvers::Prompt => "asked on the terminal that it was started on",
            Approvers::Terminal => "told to who reads the session's terminal",
            Approvers::Socket => "asked at the control socket",
            Approvers::Nobody => "asked of nobody: each is refused",
        };
        let oldest = self.oldest_seconds.map_or(String::new(), |seconds| {
            format!(", the oldest for {seconds} s")
        });
        let (open, subscribers) = (self.open, self.subscribers);
        format!("{open} open{oldest}; {who} ({subscribers} clients subscribed)")
    }
}

fn row(what: &str, value: &str) -> String {
    format!("  {what:<10} {value}")
}
