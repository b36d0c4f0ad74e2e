//! Questions that end without an answer: in time, by a signal, with their task or with the session.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::approval::Approvers;
use crate::audit::Reason;
use crate::control::{Notice, Settled, Unanswered};
use crate::exec::Destinations;
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::parking::{Asked, LOOK_EVERY, Parked};
use crate::seccomp::Notification;
use crate::tracee::Tid;

/// Signals by which a person or a caller ends a program.
const ENDING: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGHUP,
];

/// How long a signal that ended a question ends the next ones of the same process too. A shell that
/// catches it while its child looks through PATH, as dash does, would have it ask once more for each
/// directory.
const ENDS_MORE: Duration = Duration::from_secs(1);

/// Processes whose questions a signal has ended just now.
#[derive(Debug, Default)]
pub(crate) struct CutShort(HashMap<Tid, Instant>);

impl CutShort {
    fn note(&mut self, process: Tid, now: Instant) {
        self.0
            .retain(|_, at| now.saturating_duration_since(*at) < ENDS_MORE);
        self.0.insert(process, now);
    }

    /// Whether a signal ended a question of `process` a moment ago.
    pub(crate) fn holds(&self, process: Tid, now: Instant) -> bool {
        let at = self.0.get(&process);
        at.is_some_and(|at| now.saturating_duration_since(*at) < ENDS_MORE)
    }
}

impl Gate {
    /// Looks at every task that waits, if it is time to.
    pub(crate) fn look_at_parked(&mut self, now: Instant) {
        if self.parking.next_look().is_none_or(|at| at > now) {
            return;
        }
        self.look_below(now);
        for parked in self.parking.pending.expire(now) {
            self.expire(parked);
        }
        self.settle_abandoned();
        let ended = self
            .parking
            .pending
            .iter()
            .filter(|(_, parked)| !parked.notification.is_pending() || parked.is_to_end());
        for id in ended.map(|(id, _)| id).collect::<Vec<_>>() {
            if let Some(parked) = self.parking.pending.withdraw(id) {
                self.parking.cut_short.note(parked.subject.caller.pid, now);
                self.withdraw(parked, Reason::Signalled);
            }
        }
        let is_idle = self.parking.pending.is_empty() && self.parking.from_below.is_empty();
        self.parking.next_look = (!is_idle).then(|| now + LOOK_EVERY);
    }

    /// Settles every question that nobody is left to answer, as one that is asked now would be.
    fn settle_abandoned(&mut self) {
        if self.parking.pending.is_empty() || self.parking.approvers() != Approvers::Nobody {
            return;
        }
        // What whoever left said last, it said before it was counted out.
        self.take_reports();
        let open = self.parking.pending.iter();
        let own = open.filter(|(_, parked)| parked.asked.higher.is_none());
        for id in own.map(|(id, _)| id).collect::<Vec<_>>() {
            let Some(mut parked) = self.parking.pending.withdraw(id) else {
                continue;
            };
            if parked.notification.is_pending() {
                parked.asked.is_abandoned = true;
                self.examine(parked.notification, Some(parked.asked));
            } else {
                self.lose(parked.notification, Some(parked.asked));
            }
        }
    }

    /// Nobody answered in time. Where the policy lets such a call go, it is read again first.
    fn expire(&mut self, mut parked: Parked) {
        if parked.judgement.unanswered == Unanswered::Allow && parked.notification.is_pending() {
            parked.asked.is_expired = true;
            return self.examine(parked.notification, Some(parked.asked));
        }
        self.withdraw(parked, Reason::Timeout);
    }

    /// Ends every question, other sessions' too: the session is over. A call of a tool that waits for its paths or
    /// its text is judged without them.
    pub(crate) fn withdraw_all(&mut self) {
        self.withdraw_all_below();
        let calls = std::mem::take(&mut self.awaiting.tool_calls).into_values();
        let shell_calls = std::mem::take(&mut self.awaiting.shell_calls).into_values();
        for question in calls.chain(shell_calls) {
            self.judge_tool(question, Destinations::default());
        }
        let open = self.parking.pending.iter().map(|(id, _)| id);
        for id in open.collect::<Vec<_>>() {
            if let Some(parked) = self.parking.pending.withdraw(id) {
                self.withdraw(parked, Reason::Withdrawn);
            }
        }
    }

    /// Refuses a question's exec on `ground`; with a task that is gone, the record alone.
    fn withdraw(&mut self, parked: Parked, ground: Reason) {
        self.refuse_parked(parked, |judgement| judgement.refused(ground));
    }

    /// Refuses a question's exec by what becomes of its judgement; with a task that is gone, the record alone.
    pub(crate) fn refuse_parked(
        &mut self,
        parked: Parked,
        ending: impl FnOnce(Judgement) -> Judgement,
    ) {
        let Parked {
            notification,
            mut subject,
            judgement,
            asked,
        } = parked;
        if !notification.is_pending() {
            return self.lose(notification, Some(asked));
        }
        subject.asked = Some(asked);
        self.refuse_exec(notification, subject, &ending(judgement));
    }

    /// Lets go of a notification whose task is gone. What was asked gets its decision: none.
    pub(crate) fn lose(&mut self, notification: Notification, asked: Option<Box<Asked>>) {
        if let Some(asked) = asked {
            let judgement = Judgement::refusal(Reason::Withdrawn, "the task is gone".to_owned());
            let program = asked.program.clone();
            let (id, recorded) =
                self.record(program, &judgement, Some(&asked), asked.received, None);
            if let Err(error) = recorded {
                tracing::error!(%error, %id, "a withdrawal is missing from the log");
            }
            self.keep_answer(&asked);
            self.settle_question(&asked, false, Reason::Withdrawn);
        }
        notification.abandon();
    }

    /// Tells clients how a question ended.
    pub(crate) fn settle_question(&self, asked: &Asked, is_allowed: bool, ground: Reason) {
        if let Some(to) = &asked.higher {
            // Nobody here has heard of it.
            if asked.answer.is_none() {
                self.take_back(to, asked.exec_id);
            }
            return;
        }
        let session = &self.parking.session;
        let settled = Settled::new(
            session,
            asked.exec_id,
            is_allowed,
            ground.as_str().to_owned(),
        );
        let client = asked.answer.as_ref().and_then(|answer| answer.client);
        self.parking.tell(Notice::Settled(settled, client));
    }
}

impl Parked {
    /// Whether a signal that should end the task waits for it. Only a lone fatal signal ends a task
    /// in its notification; behind a stop or a resize it stays pending (tried). A blocked one would
    /// not act without the gate either.
    fn is_to_end(&self) -> bool {
        let ending = ENDING
            .iter()
            .fold(0, |mask, signal| mask | 1_u64 << (*signal as u32 - 1));
        match self.subject.view.task().deliverable_signals() {
            Ok(signals) => signals & ending != 0,
            Err(error) => {
                tracing::debug!(%error, "the signals of a waiting task are not seen");
                false
            }
        }
    }
}
