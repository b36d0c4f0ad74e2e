//! What the gate tells of its session.

use std::time::Instant;

use crate::control::{ClientId, Execs, Health, InForce, LogState, Notice, Questions, Status};
use crate::gate::Gate;
use crate::reload::own_rules;
use crate::tracee::Tid;

impl Gate {
    /// Tells a client that may ask how the session is.
    pub(crate) fn show_status(&self, client: ClientId) {
        let status = Box::new(self.status());
        self.parking.tell(Notice::Status(client, status));
    }

    fn status(&self) -> Status {
        let account = self.ledger.account();
        let session = &self.parking.session;
        Status {
            session_id: session.id.clone(),
            session: session.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            gate: Tid::own().as_u32(),
            started_at: account.started,
            is_lingering: self.command.ended.is_some(),
            is_observed: self.is_observed,
            health: Health {
                problems: self.problems(account.missing, account.trouble),
            },
            policy: InForce {
                files: account.policy.to_vec(),
                rules: own_rules(&self.rules),
                grants: self.granted.all().count(),
            },
            questions: self.questions(),
            execs: Execs {
                in_flight: self.attached.in_flight(),
                queued: self.queued.values().map(|queue| queue.len()).sum(),
            },
            log: LogState {
                path: account.path.display().to_string(),
                records: account.written,
            },
            counters: account.tally,
        }
    }

    fn questions(&self) -> Questions {
        let control = self.parking.control.as_ref();
        let asked = self
            .parking
            .pending
            .iter()
            .map(|(_, parked)| parked.asked.at);
        let oldest = asked.min().map(|at| Instant::now().duration_since(at));
        Questions {
            approvers: self.parking.approvers(),
            subscribers: control.map_or(0, |control| control.subscribers()),
            open: self.parking.pending.iter().count(),
            oldest_seconds: oldest.map(|time| time.as_secs()),
        }
    }

    /// What does not work, and what follows from it.
    fn problems(&self, missing: u64, trouble: Option<String>) -> Vec<String> {
        let mut problems: Vec<_> = trouble.into_iter().collect();
        if missing > 0 {
            let fate = if self.is_observed {
                "ran"
            } else {
                "was refused"
            };
            problems.push(format!(
                "the last {missing} records could not be written, and what they were about {fate}: \
                 make room for the log, or mend its disk"
            ));
        }
        let (stuck, readers) = self.readers.stuck();
        if stuck > 0 {
            problems.push(format!(
                "{stuck} of {readers} look-ups hang in a file system that does not answer; if all do, \
                 the session is ended"
            ));
        }
        if let Some(error) = self.granted.problem() {
            problems.push(format!("no answer can be kept for good: {error}"));
        }
        problems
    }
}
