//! What passes over the control socket: JSON objects, one a line.
//!
//! ```text
//! gate                                     client
//! hello {protocol, oldest, sessionId …} ─►
//!                                      ◄── hello {protocol}
//!                                      ◄── list
//! approval_required …, listed          ──►
//!                                      ◄── subscribe
//! approval_required …, subscribed      ──►  and from then on approval_required, approval_settled
//!                                      ◄── approval_response {sessionId, requestId, digest, decision}
//! approval_settled                     ──►  once it is recorded
//!                                      ◄── policy_part {part} …, policy_load
//! policy_loaded or policy_rejected     ──►  once it is recorded
//!                                      ◄── grants
//! grant …, grants_listed               ──►
//!                                      ◄── grant {…}
//! granted {id}                         ──►  once it is recorded
//!                                      ◄── revoke {id}
//! revoked {id}                         ──►  once it is recorded
//!                                      ◄── status
//! status {…}                           ──►
//!                                      ◄── stop {kill}
//! stopping                             ──►  and closes when nobody is left
//!                                      ◄── tool_check {requestId, tool, …}
//! tool_verdict {requestId, verdict}    ──►  once it is recorded
//!                                      ◄── escalate {sessionId, requestId, digest, request}
//!                                      ◄── escalation_withdrawn {requestId}
//! escalation_settled {requestId}       ──►  once it is recorded
//! error {error}                        ──►  to whatever cannot be done
//! ```
//!
//! Readers ignore fields that they do not know, the gate those of a `tool_check` excepted: one of them
//! may name a file. See [`protocol`](super::protocol) for versions.

mod shown_grant;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::escalation::{Escalated, EscalatedFrom, EscalationSettled};
use super::status::Status;
use super::tool_check::{ToolCheck, ToolVerdict};
use crate::approval::{FactsDigest, ShownAmendment, ShownScript, ShownVariables};
use crate::audit::{ExactBytes, ExecId, Program, RuleNote, ascii_json, shown_argv};
use crate::grants::Span;
pub(crate) use shown_grant::ShownGrant;

/// Longest line that the gate takes, its newline included.
pub(crate) const LINE_MAX_BYTES: usize = 16 << 10;

/// Longest piece of a policy, in bytes of printable ASCII: escaped it fits a line.
pub(crate) const PART_MAX_BYTES: usize = 7 << 10;

/// Most bytes that all pieces of a policy have.
pub(crate) const BUNDLE_MAX_BYTES: usize = 32 << 20;

/// Longest reason that an approver may give, in bytes.
pub(crate) const REASON_MAX_BYTES: usize = 1 << 10;

/// What the gate says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FromGate {
    /// The first line of a connection.
    #[serde(rename_all = "camelCase")]
    Hello {
        /// The newest version of these messages that it speaks.
        protocol: u32,
        /// The oldest; left out by a gate that speaks one alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        oldest: Option<u32>,
        session_id: String,
        /// What the operator calls the session.
        session: String,
    },
    /// An exec waits for an answer.
    ApprovalRequired(Box<Required>),
    /// An exec waits no longer.
    ApprovalSettled(Settled),
    /// Every open question has been sent.
    Listed,
    /// Every open question has been sent, and every new one will be.
    Subscribed,
    /// The policy that was sent is in force, and what it is made of.
    PolicyLoaded(PolicyLoaded),
    /// It is not; the one before goes on.
    PolicyRejected { error: String },
    /// What the policy says of a call of a tool.
    ToolVerdict(ToolVerdict),
    /// A grant that counts.
    Grant(Box<ShownGrant>),
    /// Every grant that counts has been sent.
    GrantsListed,
    /// The grant of that id counts.
    Granted { id: String },
    /// The grant of that id counts no more.
    Revoked { id: String },
    /// How the session is.
    Status(Box<Status>),
    /// The session is ended: the connection closes when nobody is left.
    Stopping,
    /// A question of the client's session is answered, or will not be.
    EscalationSettled(Box<EscalationSettled>),
    /// What the client asked for is not done.
    Error { error: String },
}

/// A policy that is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct PolicyLoaded {
    /// Its files and presets.
    pub(crate) files: Vec<String>,
    /// How many rules it has.
    pub(crate) rules: usize,
}

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Required {
    pub(crate) session_id: String,
    /// The exec's ID, as in its records and in the line on its standard error.
    pub(crate) request_id: ExecId,
    /// Of everything that the answer will hold for. To be echoed.
    pub(crate) digest: FactsDigest,
    pub(crate) request: Request,
}

/// What a person needs to know. `proc` is that of the exec's records.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    pub(crate) proc: serde_json::Value,
    /// The exact bytes of values in the request that are not UTF-8: base64 by JSON pointer.
    #[serde(default, skip_serializing_if = "ExactBytes::is_empty")]
    pub(crate) bytes: ExactBytes,
    /// The processes that it is below, nearest first, up to CMD.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestry: Vec<ShownProcess>,
    /// How the target begins, if it is a script that the task may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) script: Option<ShownScript>,
    /// The names of watched variables that are not as when the session began.
    #[serde(default, skip_serializing_if = "ShownVariables::is_empty")]
    pub(crate) environment: ShownVariables,
    /// The rule that asks; none where the policy's mode does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<RuleNote>,
    /// Why it asks, in the words of its author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) asked_at: Timestamp,
    /// When nobody can answer any more.
    pub(crate) expires_at: Timestamp,
    /// What becomes of the exec then.
    #[serde(default)]
    pub(crate) unanswered: Unanswered,
    /// The rules that could be saved, so that calls like this one are not asked about again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) amendments: Vec<ShownAmendment>,
    /// The session whose exec it is about, if that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) escalated_from: Option<EscalatedFrom>,
}

/// A process that is an ancestor of the one that asks, as it is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShownProcess {
    pub(crate) pid: u32,
    /// Its program's file.
    pub(crate) path: String,
}

/// What becomes of an exec that nobody answers for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unanswered {
    /// The policy's `ask_fallback` lets it go.
    Allow,
    /// It is refused.
    #[default]
    Deny,
}

impl Unanswered {
    /// What the exec will be, in a sentence for people.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Allow => "let go",
            Self::Deny => "denied",
        }
    }
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settled {
    pub(crate) session_id: String,
    pub(crate) request_id: ExecId,
    /// Whether the kernel was told to go on.
    pub(crate) is_allowed: bool,
    /// On what ground, as in the exec's record: `user`, `timeout` …
    pub(crate) reason: String,
}

/// What a client says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum FromClient {
    /// The first line of a connection: the version that both speak from here on.
    Hello { protocol: u32 },
    /// Send every open question.
    List,
    /// The same, and every one to come: the client is an approver from here on.
    Subscribe,
    /// An answer.
    ApprovalResponse(Response),
    /// A piece of a [`Bundle`](crate::policy::Bundle)'s JSON, which is longer than a line may be.
    PolicyPart { part: String },
    /// The pieces are all: the policy that they make is to be in force from here on.
    PolicyLoad,
    /// Send every grant that counts.
    Grants,
    /// Have a grant count, of an exec that is over: who says it and when is not the client's to say.
    Grant(Box<ShownGrant>),
    /// Take the grant of that id back.
    Revoke { id: String },
    /// Tell how the session is.
    Status,
    /// End the session: kill every process of it, or tell each to end.
    Stop {
        #[serde(default, rename = "kill")]
        kills: bool,
    },
    /// Judge a call of a tool that the client is about to make.
    ToolCheck(ToolCheck),
    /// Put a question of another session to this one's people.
    Escalate(Box<Escalated>),
    /// Such a question is settled already.
    #[serde(rename_all = "camelCase")]
    EscalationWithdrawn { request_id: ExecId },
}

/// An answer to one question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    pub(crate) session_id: String,
    pub(crate) request_id: ExecId,
    pub(crate) digest: FactsDigest,
    pub(crate) decision: Decision,
    #[serde(default)]
    pub(crate) scope: Scope,
    /// Of an `allow-once`: all that wait with the same question, which must be so many. Left out: the one
    /// that has waited for longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) these: Option<usize>,
    /// Left out: once, and for `allow-always` the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) duration: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Decision {
    AllowOnce,
    AllowAlways,
    Deny,
}

/// What a lasting answer covers: see [`execward_policy::Scope`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// This program, argv and working directory
    #[default]
    Exact,
    /// Its command with these flags or fewer
    Flags,
    /// Its command in its ordinary use
    Prefix,
    /// Its program with any arguments
    Program,
}

impl From<Scope> for execward_policy::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Exact => Self::Exact,
            Scope::Flags => Self::Flags,
            Scope::Prefix => Self::Prefix,
            Scope::Program => Self::Program,
        }
    }
}

impl Request {
    /// # Errors
    /// If the record's fields are no JSON, which they are.
    pub(crate) fn new(
        program: &Program,
        rule: Option<RuleNote>,
        reason: Option<String>,
        [asked_at, expires_at]: [Timestamp; 2],
        unanswered: Unanswered,
    ) -> serde_json::Result<Self> {
        let program = program.shown();
        Ok(Self {
            proc: serde_json::to_value(&program)?,
            bytes: program.exact_bytes().clone(),
            rule,
            reason,
            asked_at,
            expires_at,
            unanswered,
            ancestry: Vec::new(),
            script: None,
            environment: ShownVariables::default(),
            amendments: Vec::new(),
            escalated_from: None,
        })
    }
}

impl Request {
    /// Shows the arguments as they are, secrets and all: to who is asked, and to nobody else.
    pub(crate) fn reveal(&mut self, argv: &[Vec<u8>]) {
        let (argv, _) = shown_argv(argv, "/proc/argv", &mut self.bytes);
        if let Some(proc) = self.proc.as_object_mut() {
            proc.insert("argv".to_owned(), argv.into());
            proc.remove("redacted");
        }
    }
}

impl Response {
    /// How long it holds.
    ///
    /// # Errors
    /// If decision and duration contradict each other, or the reason is too long.
    pub(crate) fn span(&self) -> Result<Span, &'static str> {
        if self
            .reason
            .as_ref()
            .is_some_and(|reason| reason.len() > REASON_MAX_BYTES)
        {
            return Err("the reason is longer than 1024 bytes");
        }
        let span = match (self.decision, self.duration) {
            (Decision::AllowOnce, None | Some(Span::Once)) => Span::Once,
            (Decision::AllowOnce, Some(_)) => return Err("`allow-once` lasts once"),
            (Decision::AllowAlways, Some(Span::Once)) => return Err("`allow-always` lasts"),
            (Decision::AllowAlways, duration) => duration.unwrap_or(Span::Session),
            (Decision::Deny, Some(Span::Subtree)) => {
                return Err("nothing runs below what is refused");
            }
            (Decision::Deny, duration) => duration.unwrap_or_default(),
        };
        if self.these.is_some() && self.decision != Decision::AllowOnce {
            return Err("only an `allow-once` is for so many; others are for all that are alike");
        }
        if matches!(span, Span::Once | Span::Subtree) && self.scope != Scope::Exact {
            return Err(
                "a scope is that of an answer for more processes than this one: say how long",
            );
        }
        Ok(span)
    }
}

/// A message as its line: printable ASCII, so that no argument moves a reader's cursor.
pub(crate) fn line(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = ascii_json(message)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests;
