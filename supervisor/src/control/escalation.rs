//! What passes between two sessions of which one puts questions to the other's people.

use serde::{Deserialize, Serialize};

use super::wire::Request;
use crate::approval::FactsDigest;
use crate::audit::{Approver, ExecId};

/// A question of another session, as that sends it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Escalated {
    /// Which session asks, and what its operator calls it.
    pub(crate) session_id: String,
    pub(crate) session: String,
    /// The exec's ID there.
    pub(crate) request_id: ExecId,
    pub(crate) digest: FactsDigest,
    pub(crate) request: Request,
}

/// Where a question comes from that is another session's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct EscalatedFrom {
    pub(crate) session_id: String,
    pub(crate) session: String,
    /// The exec's ID there.
    pub(crate) request_id: ExecId,
}

impl Escalated {
    pub(crate) fn from(&self) -> EscalatedFrom {
        EscalatedFrom {
            session_id: self.session_id.clone(),
            session: self.session.clone(),
            request_id: self.request_id,
        }
    }
}

/// How a question ended that was put to another session's people: in the names of the session that asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct EscalationSettled {
    pub(crate) session_id: String,
    pub(crate) request_id: ExecId,
    pub(crate) digest: FactsDigest,
    pub(crate) is_allowed: bool,
    /// `user` if a person said so; else why nobody did.
    pub(crate) reason: String,
    /// Who said so, as the kernel told the session that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Approver>,
    /// What that person said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<String>,
    /// What it was called in the session that was asked: in its records, and to its people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked_as: Option<AskedAs>,
}

/// A question's names in the session whose people were asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct AskedAs {
    pub(crate) session: String,
    pub(crate) request_id: ExecId,
}
