//! The audit log: what was decided and what came of it, one JSON object a line.

mod chain;
mod log;
mod record;
mod tail;
mod text;

pub(crate) use chain::digest;

pub(crate) use log::{Log, LogError};
pub(crate) use record::{
    Body, Caller, Decided, Effect, Ended, ExecId, Latency, Outcome, PolicyNote, Program, Reason,
    RuleNote, SessionEnd, SessionNote, SessionStart, Summary, Supervisor, Tally,
};
pub(crate) use tail::{Shown, TailError, tail};
