//! The audit log: what was decided and what came of it, one JSON object a line.

mod approval;
mod beside;
mod chain;
mod checkpoint;
mod exec_id;
mod file;
mod files;
mod inputs;
mod log;
mod names;
mod outcome;
mod program;
mod reason;
mod record;
mod reserve;
mod rotation;
mod segment;
mod session;
mod shell;
mod shown;
mod syncer;
mod tail;
mod text;
mod tool;
mod whole;

pub(crate) use approval::{ApprovalNote, Approver, GrantNote};
pub(crate) use chain::{Chain, digest, follows, hexadecimal};
#[cfg(test)]
pub(crate) use checkpoint::forged;
pub(crate) use checkpoint::{Checkpoint, is_signed};
pub(crate) use exec_id::ExecId;
pub(crate) use files::{Files, Place, is_standard_input};
pub(crate) use inputs::{History, Inputs};

pub(crate) use log::{Log, LogError};
pub(crate) use outcome::Outcome;
pub(crate) use program::{Program, shown_argv};
pub(crate) use reason::Reason;
pub(crate) use record::{
    Body, Caller, Decided, Effect, FileNote, Latency, Position, RuleNote, SessionNote, Summary,
};
pub(crate) use rotation::Limits;
pub(crate) use session::{
    CommandNote, Ended, LogNote, PolicyNote, SessionEnd, SessionStart, Supervisor, Tally,
};
pub(crate) use shell::ShellNote;
pub(crate) use shown::{called, escaped, is_plain, quoted};
pub(crate) use tail::{Filter, Shown, TailError, tail};
pub(crate) use text::{ExactBytes, RawBytes, Text, ascii_json, decoded, displayed, text};
pub(crate) use tool::ToolNote;
