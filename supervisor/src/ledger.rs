//! The session's account: records in the order in which they must be written, and counts.

use std::time::Instant;

use crate::audit::{
    Body, Caller, Decided, Effect, Ended, ExecId, Latency, Log, LogError, Outcome, Program,
    SessionEnd, SessionStart, Summary, Tally,
};
use crate::seccomp::Reply;
use crate::watch::{Activity, Watch};

/// How often missing targets are summed up.
const SUMMARY_EVERY: std::time::Duration = std::time::Duration::from_secs(60);

/// The log, and what was counted beside it.
#[derive(Debug)]
pub(crate) struct Ledger {
    log: Log,
    tally: Tally,
    missing: u64,
    summed: Instant,
    next: u64,
}

impl Ledger {
    pub(crate) fn new(log: Log) -> Self {
        // Four digits from the first on.
        const FIRST_ID: u64 = 0x1000;
        Self {
            log,
            tally: Tally::default(),
            missing: 0,
            summed: Instant::now(),
            next: FIRST_ID,
        }
    }

    /// A name for the next exec.
    pub(crate) fn next_id(&mut self) -> ExecId {
        let id = ExecId(self.next);
        self.next += 1;
        id
    }

    /// # Errors
    /// If the record cannot be written: the session does not start.
    pub(crate) fn start(&mut self, start: SessionStart) -> Result<(), LogError> {
        self.log.append(&Body::SessionStart(Box::new(start)))?;
        self.log.sync()
    }

    /// Writes down what is decided, before the kernel is told `reply`.
    ///
    /// # Errors
    /// If it is not in the log: the exec is refused then.
    pub(crate) fn decided(
        &mut self,
        exec_id: ExecId,
        program: Program,
        decision: Decided,
        reply: Reply,
        received: Instant,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let effect = match reply {
            Reply::Continue => Effect {
                sent: "continue",
                errno: None,
            },
            Reply::Fail(errno) => Effect {
                sent: "errno",
                errno: Some(format!("{errno:?}")),
            },
        };
        let total = u64::try_from(received.elapsed().as_micros()).unwrap_or(u64::MAX);
        let lat = Latency { total };
        let body = Body::Decision {
            exec_id,
            proc: Box::new(program),
            decision,
            effect,
            lat,
        };
        self.append(&body, watch)?;
        self.tally.decisions += 1;
        match reply {
            Reply::Continue => self.tally.allowed += 1,
            Reply::Fail(_) => self.tally.refused += 1,
        }
        Ok(())
    }

    /// Writes down what came of an exec that went on; whether that succeeded.
    pub(crate) fn outcome(
        &mut self,
        exec_id: ExecId,
        caller: Caller,
        outcome: Outcome,
        watch: &Watch,
    ) -> bool {
        let counter = match outcome.result {
            "verified" => &mut self.tally.verified,
            "changed" => &mut self.tally.changed,
            "failed" => &mut self.tally.failed,
            "killed" => &mut self.tally.killed,
            _ => &mut self.tally.vanished,
        };
        *counter += 1;
        let body = Body::Outcome {
            exec_id,
            proc: caller,
            outcome,
        };
        self.append(&body, watch).is_ok()
    }

    /// Counts an exec of a file that is not there.
    pub(crate) fn missed(&mut self, watch: &Watch) {
        self.missing += 1;
        self.tally.target_missing += 1;
        if self.summed.elapsed() >= SUMMARY_EVERY {
            self.sum_up(watch);
        }
    }

    /// The session's last records.
    pub(crate) fn end(&mut self, ended: Ended, watch: &Watch) {
        self.sum_up(watch);
        let body = Body::SessionEnd(SessionEnd {
            ended,
            count: self.tally,
        });
        if self.append(&body, watch).is_ok()
            && let Err(error) = self.log.sync()
        {
            tracing::error!(%error, "the log's end is not synced");
        }
    }

    fn sum_up(&mut self, watch: &Watch) {
        self.summed = Instant::now();
        if self.missing > 0 {
            let body = Body::Summary(Summary {
                target_missing: self.missing,
            });
            if self.append(&body, watch).is_ok() {
                self.missing = 0;
            }
        }
    }

    fn append(&mut self, body: &Body, watch: &Watch) -> Result<(), LogError> {
        watch
            .during(Activity::Recording, || self.log.append(body))
            .inspect_err(|error| tracing::error!(%error, "a record was not written"))
    }
}
