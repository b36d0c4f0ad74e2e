//! The control channel: how people answer questions and change the policy. See [`wire`] for what is said.

mod channel;
mod client;
mod connection;
mod escalation;
mod feed;
#[cfg(test)]
mod manual;
mod peer;
mod place;
mod protocol;
mod refusals;
mod sender;
mod server;
mod status;
mod tool_check;
mod verbs;
mod wire;

pub(crate) use channel::{ClientId, Control, ControlError, Notice, Report};
pub(crate) use client::{ClientError, Session, Where, sessions};
pub(crate) use escalation::{AskedAs, Escalated, EscalatedFrom, EscalationSettled};
pub(crate) use feed::Feed;
pub(crate) use place::SocketPlace;
pub(crate) use sender::{Bouncer, Stranger};
pub(crate) use status::{Execs, Health, InForce, LogState, Questions, Status};
pub(crate) use tool_check::{ToolCheck, ToolVerdict};
pub(crate) use verbs::{VerbError, allowing, answer, load_policy, pending, status, stop};
pub(crate) use wire::{
    Decision, FromClient, FromGate, LINE_MAX_BYTES as CLIENT_LINE_MAX_BYTES, PolicyLoaded,
    REASON_MAX_BYTES, Request, Required, Response, Scope, Settled, ShownGrant, ShownProcess,
    Unanswered, line,
};
