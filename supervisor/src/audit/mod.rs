//! The audit log: what was decided and what came of it, one JSON object a line.

mod chain;
mod log;
mod record;
mod session;
mod tail;
mod text;

pub(crate) use chain::digest;

pub(crate) use log::{Log, LogError};
pub(crate) use record::{
    Body, Caller, Decided, Effect, ExecId, Latency, Outcome, Program, Reason, RuleNote,
    SessionNote, Summary,
};
pub(crate) use session::{Ended, PolicyNote, SessionEnd, SessionStart, Supervisor, Tally};
pub(crate) use tail::{Shown, TailError, tail};
