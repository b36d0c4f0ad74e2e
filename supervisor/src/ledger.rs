//! The session's account: records in the order in which they must be written, and counts.

mod people;

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::audit::{
    ApprovalNote, Approver, Body, Caller, Decided, Effect, Ended, ExecId, Latency, Log, LogError,
    Outcome, PolicyNote, Program, SessionEnd, SessionStart, Summary, Tally, ToolNote,
};
use crate::clock;
use crate::policy::Kept;
use crate::seccomp::Reply;
use crate::watch::{Activity, Watch};

/// How often missing targets are summed up.
const SUMMARY_EVERY: Duration = Duration::from_secs(60);

/// The log, and what was counted beside it.
#[derive(Debug)]
pub(crate) struct Ledger {
    log: Log,
    /// Whether what is missing from the log runs.
    is_observed: bool,
    started: Timestamp,
    /// In force.
    policy: Vec<PolicyNote>,
    tally: Tally,
    missing: u64,
    summed: Instant,
    next: ExecId,
}

/// What a ledger says of itself.
#[derive(Debug)]
pub(crate) struct Account<'a> {
    /// The log's.
    pub(crate) path: &'a Path,
    /// Records of the session in the log.
    pub(crate) written: u64,
    /// Records that could not be written since the last of them.
    pub(crate) missing: u64,
    pub(crate) started: Timestamp,
    pub(crate) policy: &'a [PolicyNote],
    pub(crate) tally: Tally,
    /// What could not be done for the log beside its records.
    pub(crate) trouble: Option<String>,
}

/// What is decided about one exec.
#[derive(Debug)]
pub(crate) struct Conclusion {
    pub(crate) exec_id: ExecId,
    pub(crate) program: Program,
    pub(crate) decided: Decided,
    /// If a person was asked.
    pub(crate) approval: Option<ApprovalNote>,
    pub(crate) received: Instant,
    /// What the kernel will be told; nothing if the task is gone.
    pub(crate) reply: Option<Reply>,
}

impl Ledger {
    pub(crate) fn new(log: Log, is_observed: bool) -> Self {
        Self {
            log,
            is_observed,
            started: clock::now(),
            policy: Vec::new(),
            tally: Tally::default(),
            missing: 0,
            summed: Instant::now(),
            next: ExecId::first(),
        }
    }

    /// What it says of itself now.
    pub(crate) fn account(&self) -> Account<'_> {
        let (written, missing) = self.log.written();
        Account {
            path: self.log.path(),
            written,
            missing,
            started: self.started,
            policy: &self.policy,
            tally: self.tally,
            trouble: self.log.trouble(),
        }
    }

    /// A name for the next exec.
    pub(crate) fn next_id(&mut self) -> ExecId {
        let id = self.next;
        self.next = ExecId(id.0 + 1);
        id
    }

    /// # Errors
    /// If the record cannot be written: the session does not start.
    pub(crate) fn start(
        &mut self,
        mut start: SessionStart,
        kept: &Kept,
        watch: &Watch,
    ) -> Result<(), LogError> {
        self.policy.clone_from(&start.policy);
        start.kept = watch.during(Activity::Recording, || self.log.keep(kept));
        let body = Body::SessionStart(Box::new(start));
        watch.during(Activity::Recording, || {
            self.log.append(&body)?;
            self.log.sync_first()
        })
    }

    /// Writes down that an exec waits for a person.
    ///
    /// # Errors
    /// If it is not in the log: the exec is refused then.
    pub(crate) fn held(
        &mut self,
        exec_id: ExecId,
        program: Program,
        decision: Decided,
        approval: ApprovalNote,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let body = Body::Held {
            exec_id,
            proc: Box::new(program),
            decision,
            approval,
        };
        self.append(&body, watch)?;
        self.tally.asked += 1;
        Ok(())
    }

    /// Writes down what is decided, before the kernel is told.
    ///
    /// # Errors
    /// If it is not in the log: the exec is refused then.
    pub(crate) fn decided(
        &mut self,
        conclusion: Conclusion,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let reply = conclusion.reply;
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let received = conclusion.received;
        let stages = match conclusion.approval {
            Some(_) => [None, None],
            None => conclusion.program.stages(received),
        };
        let [read, eval] = stages.map(|stage| stage.map(micros));
        let body = Body::Decision {
            exec_id: conclusion.exec_id,
            proc: Box::new(conclusion.program),
            decision: conclusion.decided,
            effect: effect(reply),
            approval: conclusion.approval,
            lat: Latency {
                read,
                eval,
                total: micros(received.elapsed()),
            },
        };
        self.append(&body, watch)?;
        self.tally.decisions += 1;
        match reply {
            Some(Reply::Continue) => self.tally.allowed += 1,
            Some(Reply::Fail(_)) => self.tally.refused += 1,
            None => self.tally.withdrawn += 1,
        }
        Ok(())
    }

    /// Writes down what is decided about a call of a tool, before its host is told.
    ///
    /// # Errors
    /// If it is not in the log: the call is refused then.
    pub(crate) fn tool_decided(
        &mut self,
        tool: ToolNote,
        decision: Decided,
        sender: Approver,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let tool = Box::new(tool);
        let body = Body::ToolDecision {
            tool,
            decision,
            sender,
        };
        self.append(&body, watch)?;
        self.tally.tool_calls += 1;
        Ok(())
    }

    /// Waits until all that is written is on the disk.
    ///
    /// # Errors
    /// What fdatasync(2) answers.
    pub(crate) fn sync(&self, watch: &Watch) -> Result<(), LogError> {
        watch.during(Activity::Recording, || self.log.sync())
    }

    /// Writes down what came of an exec that went on; whether that succeeded.
    pub(crate) fn outcome(
        &mut self,
        exec_id: ExecId,
        caller: Caller,
        outcome: Outcome,
        watch: &Watch,
    ) -> bool {
        let result = outcome.result;
        let body = Body::Outcome {
            exec_id,
            proc: caller,
            outcome,
        };
        let is_written = self.append(&body, watch).is_ok();
        let counter = match result {
            // What is loaded and not written down is killed.
            "verified" | "changed" if !is_written && !self.is_observed => &mut self.tally.killed,
            "verified" => &mut self.tally.verified,
            "changed" => &mut self.tally.changed,
            "failed" => &mut self.tally.failed,
            "killed" => &mut self.tally.killed,
            Outcome::UNVERIFIED => &mut self.tally.unverified,
            _ => &mut self.tally.vanished,
        };
        *counter += 1;
        is_written
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
            && let Err(error) = self.sync(watch)
        {
            tracing::error!(%error, "the log's end is not synced");
        }
    }

    /// When records are to be signed though no more may come.
    pub(crate) fn next_checkpoint(&self) -> Option<Instant> {
        self.log.next_checkpoint()
    }

    /// Signs those that have waited for it for long.
    pub(crate) fn sign_if_due(&mut self, watch: &Watch) {
        watch.during(Activity::Recording, || self.log.sign_if_due());
    }

    /// The digest of the last record.
    pub(crate) fn head(&self) -> String {
        self.log.head()
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

fn effect(reply: Option<Reply>) -> Effect {
    let (sent, errno) = match reply {
        Some(Reply::Continue) => ("continue", None),
        Some(Reply::Fail(errno)) => ("errno", Some(format!("{errno:?}"))),
        None => ("none", None),
    };
    Effect { sent, errno }
}
