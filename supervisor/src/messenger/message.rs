//! What the gate and its messenger say to each other: JSON, one packet a message.

use serde::{Deserialize, Serialize};

use crate::audit::ExecId;
use crate::control::{Escalated, EscalationSettled};

/// Longest packet. A question's texts are cut long before.
pub(super) const PACKET_MAX_BYTES: usize = 128 << 10;

/// What the gate wants done.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToMessenger {
    /// Start this program with `question`, a line of JSON, on its standard input.
    Notify { argv: Vec<String>, question: String },
    /// Put a question to the people of the session whose control socket is `to`.
    Escalate {
        to: String,
        question: Box<Escalated>,
    },
    /// It is settled already.
    Withdraw { to: String, request_id: ExecId },
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromMessenger {
    /// A program did not do as it should, and what it said.
    NotNotified {
        program: String,
        why: String,
        said: String,
    },
    /// A program ended in order, and what it said.
    Notified { program: String, said: String },
    /// A question that was put is answered, or will not be.
    Settled(Box<EscalationSettled>),
    /// A question was not put, or nobody is there any more who was asked.
    NoRoute { request_id: ExecId, why: String },
}
