//! Every record, field by field. Names are a contract: they are never renamed inside a major
//! version; readers ignore what they do not know; absent means unknown, and null is never written.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::{ApprovalNote, Approver, GrantNote};
use super::exec_id::ExecId;
use super::outcome::Outcome;
use super::program::Program;
use super::reason::Reason;
use super::session::{PolicyNote, SessionEnd, SessionStart};
use super::text::ExactBytes;
use super::tool::ToolNote;
use crate::tracee::Tid;

/// What a record says, by its `type`.
#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(crate) enum Body {
    /// What was decided about one exec. Written before the kernel is told.
    #[serde(rename = "exec.decision")]
    Decision {
        exec_id: ExecId,
        proc: Box<Program>,
        decision: Decided,
        effect: Effect,
        /// Present if a person was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalNote>,
        lat: Latency,
    },
    /// An exec waits for a person's answer. Its decision follows.
    #[serde(rename = "exec.held")]
    Held {
        exec_id: ExecId,
        proc: Box<Program>,
        decision: Decided,
        approval: ApprovalNote,
    },
    /// A question of another session is put to this one's people.
    #[serde(rename = "escalation.held")]
    EscalationHeld {
        exec_id: ExecId,
        sender: Approver,
        /// The exec, as the other session tells of it.
        proc: serde_json::Value,
        approval: ApprovalNote,
    },
    /// How that ended. Written before anybody is told.
    #[serde(rename = "escalation.settled")]
    EscalationSettled {
        exec_id: ExecId,
        decision: Decided,
        approval: ApprovalNote,
    },
    /// What was decided about a call of a tool, which its host makes or not.
    #[serde(rename = "tool.decision")]
    ToolDecision {
        tool: Box<ToolNote>,
        decision: Decided,
        sender: Approver,
    },
    /// A process that may not answer tried to use the control channel.
    #[serde(rename = "approval.refused")]
    ApprovalRefused { sender: Approver, detail: String },
    /// Another policy is in force from here on.
    #[serde(rename = "policy.loaded")]
    PolicyLoaded {
        sender: Approver,
        policy: Vec<PolicyNote>,
        /// The file beside the log that has all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        kept: Option<String>,
    },
    /// What a person said counts from here on.
    #[serde(rename = "grant.added")]
    GrantAdded {
        sender: Approver,
        grant: Box<GrantNote>,
    },
    /// It counts no more: somebody took it back, or it cannot be kept, and why.
    #[serde(rename = "grant.removed")]
    GrantRemoved {
        #[serde(skip_serializing_if = "Option::is_none")]
        sender: Option<Approver>,
        grant: Box<GrantNote>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// A policy that was sent is not in force; the one before goes on.
    #[serde(rename = "policy.rejected")]
    PolicyRejected { sender: Approver, detail: String },
    /// Somebody ends the session: whether every process is killed, or asked to end.
    #[serde(rename = "session.stop")]
    SessionStop {
        sender: Approver,
        #[serde(rename = "kill")]
        kills: bool,
    },
    /// What came of an exec that the kernel was told to go on with. Written before its image runs.
    #[serde(rename = "exec.outcome")]
    Outcome {
        exec_id: ExecId,
        proc: Caller,
        outcome: Outcome,
    },
    /// Execs of files that are not there, answered with the kernel's errno.
    #[serde(rename = "exec.summary")]
    Summary(Summary),
    /// The session's first record.
    #[serde(rename = "session.start")]
    SessionStart(Box<SessionStart>),
    /// Its last.
    #[serde(rename = "session.end")]
    SessionEnd(SessionEnd),
    /// Records that could not be written; their execs were refused.
    #[serde(rename = "audit.gap")]
    Gap { gap: Gap },
    /// All before it in its chain is signed.
    #[serde(rename = "audit.checkpoint")]
    Checkpoint,
    /// A file of the log ends here: with its `number`, and whether its size or its age is the reason.
    #[serde(rename = "audit.close")]
    Close { segment: SegmentNote },
    /// The next one begins, with its `number` and the name that the one before has now.
    #[serde(rename = "audit.open")]
    Open { segment: SegmentNote },
    /// What is wrong with all before is known, and stays as it is: the files as they were found.
    #[serde(rename = "audit.sealed")]
    Sealed {
        sender: Approver,
        detail: String,
        segment: SegmentNote,
        faults: u64,
        files: Vec<FileNote>,
    },
    /// An earlier file of the log is about to be removed: it is more than is to be kept.
    #[serde(rename = "audit.evicted")]
    Evicted { segment: SegmentNote },
}

/// A file of the log.
#[derive(Debug, Serialize)]
pub(crate) struct SegmentNote {
    /// Counted from 1.
    number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The name of the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    /// Its own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Its last record.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Position>,
}

/// A file of the log as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileNote {
    pub(crate) name: String,
    pub(crate) sha256: String,
}

/// Which record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) chain: String,
    pub(crate) seq: u64,
    pub(crate) hash: String,
}

impl SegmentNote {
    fn of(number: u32) -> Self {
        Self {
            number,
            reason: None,
            previous: None,
            name: None,
            bytes: None,
            last: None,
        }
    }

    pub(super) fn closed(number: u32, reason: &'static str) -> Self {
        Self {
            reason: Some(reason),
            ..Self::of(number)
        }
    }

    pub(super) fn opened(number: u32, previous: String) -> Self {
        Self {
            previous: Some(previous),
            ..Self::of(number)
        }
    }

    pub(super) fn evicted(number: u32, name: String, bytes: u64, last: Option<Position>) -> Self {
        Self {
            name: Some(name),
            bytes: Some(bytes),
            last,
            ..Self::of(number)
        }
    }
}

/// Which session a record belongs to.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionNote {
    /// Unique.
    pub(crate) id: String,
    /// What the operator calls it.
    pub(crate) name: String,
}

/// The task that called exec.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Caller {
    /// Its process.
    pub(crate) pid: Tid,
    /// Its thread.
    pub(crate) tid: Tid,
}

/// What was said of an exec.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Decided {
    /// allow, ask, deny, or none where nothing was judged.
    pub(crate) verdict: &'static str,
    /// On what ground.
    pub(crate) reason: Reason,
    /// The rule that the verdict rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<RuleNote>,
    /// What went wrong, in words, where something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// How many execs were refused within the last minute, where that is too many: the line says to stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refused_lately: Option<usize>,
    /// The rule that would have allowed it, of a question that there was nobody to put to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to_allow: Option<String>,
}

/// A rule, as far as a reader needs it to find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RuleNote {
    pub(crate) id: String,
    /// `file:line`.
    pub(crate) src: String,
}

/// What the kernel was told.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Effect {
    /// `continue`, `errno`, or `none` where nobody was left to be told.
    pub(crate) sent: &'static str,
    /// The errno's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) errno: Option<String>,
}

/// How long it took, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Latency {
    /// Until its file was found and its arguments were read. Absent where somebody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<u64>,
    /// From there until the policy had been asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) eval: Option<u64>,
    /// From the notification's receipt to this record.
    pub(crate) total: u64,
}

/// Execs that met no file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// How many since the last summary.
    pub(crate) target_missing: u64,
}

/// Records that are missing here.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Gap {
    pub(crate) reason: &'static str,
    pub(crate) count: u64,
    /// When the first of them should have been written.
    pub(crate) from: Timestamp,
}

impl Body {
    /// Whether it is a checkpoint.
    pub(super) fn signs(&self) -> bool {
        matches!(
            self,
            Self::Checkpoint | Self::Close { .. } | Self::SessionEnd(_) | Self::Sealed { .. }
        )
    }

    /// Whether nothing follows it in its chain.
    pub(super) fn is_last(&self) -> bool {
        matches!(self, Self::SessionEnd(_) | Self::Sealed { .. })
    }

    /// The exact bytes of this record's values that are not UTF-8.
    pub(super) fn exact_bytes(&self) -> Option<&ExactBytes> {
        let exact = match self {
            Self::Decision { proc, .. } | Self::Held { proc, .. } => &proc.exact,
            Self::Outcome { outcome, .. } => &outcome.exact,
            Self::ToolDecision { .. }
            | Self::EscalationHeld { .. }
            | Self::EscalationSettled { .. }
            | Self::ApprovalRefused { .. }
            | Self::GrantAdded { .. }
            | Self::GrantRemoved { .. }
            | Self::PolicyLoaded { .. }
            | Self::PolicyRejected { .. }
            | Self::Summary(_)
            | Self::SessionStart(_)
            | Self::SessionStop { .. }
            | Self::SessionEnd(_)
            | Self::Gap { .. }
            | Self::Checkpoint
            | Self::Close { .. }
            | Self::Open { .. }
            | Self::Sealed { .. }
            | Self::Evicted { .. } => return None,
        };
        (!exact.is_empty()).then_some(exact)
    }
}
