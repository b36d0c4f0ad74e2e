//! A session that is only observed (`run --observe`): every exec goes on, and the log says what the
//! policy would have said of it.
//!
//! What the gate would refuse on its own account goes on as well, held to nothing: that is its
//! outcome, `unverified`. What protects the gate itself stays, and a task whose memory never answers
//! is killed as ever: the gate would wait for it.

use std::time::Instant;

use crate::audit::{Caller, Outcome, Program};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::seccomp::{Notification, Reply};

impl Gate {
    /// Lets an exec go on that would be refused: record, outcome, answer.
    pub(crate) fn observe(
        &mut self,
        notification: Notification,
        received: Instant,
        judgement: &Judgement,
        (program, caller): (Program, Option<Caller>),
    ) {
        let reply = Reply::Continue;
        let (id, recorded) = self.record(program, judgement, None, received, Some(reply));
        if let Err(error) = recorded {
            tracing::error!(%error, %id, "an exec that is observed is missing from the log");
        }
        let caller = caller.unwrap_or(Caller {
            pid: notification.tid(),
            tid: notification.tid(),
        });
        let outcome = Outcome::of(Outcome::UNVERIFIED);
        self.ledger.outcome(id, caller, outcome, &self.watch);
        self.answer(notification, reply);
    }

    /// What came of an image that would have been killed at its stop, or was.
    pub(crate) fn lenient(&self, outcome: Outcome) -> Outcome {
        match outcome.result {
            "killed" if self.is_observed => Outcome {
                result: Outcome::UNVERIFIED,
                ..outcome
            },
            _ => outcome,
        }
    }
}
