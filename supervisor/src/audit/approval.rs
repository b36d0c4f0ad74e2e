//! What records say of questions and their answers.

use nix::sys::socket::UnixCredentials;
use serde::{Deserialize, Serialize};

use crate::control::{AskedAs, EscalatedFrom};
use crate::grants::{Grant, Span};

/// A question and its answer, in the exec's records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ApprovalNote {
    /// Who answered, as the kernel says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Approver>,
    /// By what way the answer came: `socket`, or `escalation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<&'static str>,
    /// How long the answer holds: `once`, `session`, `always`, or until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<String>,
    /// How long the question may wait, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ttl_s: Option<u64>,
    /// How long it did wait, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wait_ms: Option<u64>,
    /// What the approver said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The control socket of the higher supervisor that it was put to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) escalated_to: Option<String>,
    /// The session that was asked there, and the question's ID in its records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked_as: Option<AskedAs>,
    /// The session whose exec it is about, and the exec's ID in its records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) escalated_from: Option<EscalatedFrom>,
}

/// What somebody said of calls, in the records of its beginning and its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct GrantNote {
    pub(crate) id: String,
    /// `allow` or `deny`.
    pub(crate) action: &'static str,
    /// The exec that was asked about, and its session.
    pub(crate) exec_id: String,
    pub(crate) session: String,
    /// `exact`, `flags`, `prefix`, `program`.
    pub(crate) scope: String,
    /// `session`, `always`, or until when.
    pub(crate) duration: String,
    pub(crate) covers: String,
    pub(crate) rule: String,
    /// How many execs it decided.
    pub(crate) uses: u64,
}

impl GrantNote {
    pub(crate) fn of(grant: &Grant, span: Span) -> Self {
        Self {
            id: grant.id.clone(),
            action: grant.action.as_str(),
            exec_id: grant.note.exec.clone(),
            session: grant.note.session.clone(),
            scope: grant.note.scope.clone(),
            duration: span.to_string(),
            covers: grant.note.covers.clone(),
            rule: grant.rule.clone(),
            uses: grant.note.usage.uses,
        }
    }
}

/// A process that sends control messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Approver {
    /// Its real user.
    pub(crate) uid: u32,
    /// Its number; 0 if it is not visible from here.
    pub(crate) pid: u32,
}

impl Approver {
    /// The calling process.
    pub(crate) fn own() -> Self {
        Self {
            uid: rustix::process::getuid().as_raw(),
            pid: std::process::id(),
        }
    }

    /// The sender in a message's credentials; `None` if they hold no such process.
    pub(crate) fn of(credentials: &UnixCredentials) -> Option<Self> {
        let pid = u32::try_from(credentials.pid()).ok()?;
        Some(Self {
            uid: credentials.uid(),
            pid,
        })
    }
}
