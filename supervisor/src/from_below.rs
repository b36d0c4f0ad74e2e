//! Questions of other sessions, which their policies have put to this one's people.
//!
//! This session's policy is not asked, and nothing that its people say of them is kept. They go no further: a
//! question goes up one step, so that no two sessions pass one to and fro.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::approval::{Approvers, FactsDigest, NotAnswered, Release};
use crate::audit::{ApprovalNote, Approver, Decided, ExecId, LogError, Reason};
use crate::clock;
use crate::consent::Said;
use crate::control::{
    AskedAs, ClientId, Escalated, EscalatedFrom, EscalationSettled, Notice, Required, Settled,
};
use crate::gate::Gate;
use crate::parking::LOOK_EVERY;

/// Most that are open at once.
const OPEN_MAX: usize = 64;

/// One that is open.
#[derive(Debug)]
pub(crate) struct FromBelow {
    /// What it is called here.
    id: ExecId,
    from: EscalatedFrom,
    digest: FactsDigest,
    /// Who put it, and hears how it ends.
    client: ClientId,
    at: Instant,
}

/// What a person here said of one.
#[derive(Clone, Debug)]
pub(crate) struct SaidHere {
    said: Said,
    approver: Approver,
    reason: Option<String>,
    client: ClientId,
}

impl SaidHere {
    pub(crate) fn new(
        said: Said,
        reason: Option<String>,
        approver: Approver,
        client: ClientId,
    ) -> Self {
        Self {
            said,
            approver,
            reason,
            client,
        }
    }
}

/// How one ends.
struct End {
    ground: Reason,
    /// Why, where nobody said so.
    why: Option<String>,
    answer: Option<SaidHere>,
}

impl End {
    fn without_answer(ground: Reason, why: impl Into<String>) -> Self {
        Self {
            ground,
            why: Some(why.into()),
            answer: None,
        }
    }
}

impl Gate {
    /// Puts a question of another session to this one's people.
    pub(crate) fn hear_escalated(
        &mut self,
        question: Escalated,
        sender: Approver,
        client: ClientId,
    ) {
        let open = FromBelow {
            id: self.ledger.next_id(),
            from: question.from(),
            digest: question.digest.clone(),
            client,
            at: Instant::now(),
        };
        let refused = match self.parking.approvers() {
            _ if question.request.escalated_from.is_some() => {
                Some((Reason::NoApprover, "it was put to others already"))
            }
            Approvers::Nobody => Some((Reason::NoApprover, "nobody is there to be asked")),
            _ if self.parking.from_below.iter().count() >= OPEN_MAX => {
                Some((Reason::Overload, "too many others wait"))
            }
            Approvers::Prompt | Approvers::Terminal | Approvers::Socket => None,
        };
        if let Some((ground, why)) = refused {
            return self.settle_below(open, End::without_answer(ground, why));
        }
        let lasts = patience(
            self.rules.ask_timeout(),
            question.request.expires_at,
            clock::now(),
        );
        if let Err(error) = self.put_below(&open, question, sender, lasts) {
            let why = format!("the question cannot be logged: {error}");
            return self.settle_below(open, End::without_answer(Reason::SupError, why));
        }
        let (id, digest, expires) = (open.id, open.digest.clone(), open.at + lasts);
        self.parking.from_below.ask(id, digest, expires, open);
        let next = Instant::now() + LOOK_EVERY;
        self.parking.next_look.get_or_insert(next);
    }

    /// The record, then the question.
    fn put_below(
        &mut self,
        open: &FromBelow,
        question: Escalated,
        sender: Approver,
        lasts: Duration,
    ) -> Result<(), LogError> {
        let mut request = question.request;
        let approval = ApprovalNote {
            ttl_s: Some(lasts.as_secs()),
            escalated_from: Some(open.from.clone()),
            ..ApprovalNote::default()
        };
        let proc = request.proc.clone();
        self.ledger
            .held_for_another(open.id, sender, proc, approval, &self.watch)?;
        request.amendments.clear();
        request.escalated_from = Some(open.from.clone());
        let required = Required {
            session_id: self.parking.session.id.clone(),
            request_id: open.id,
            digest: question.digest,
            request,
        };
        self.notify(&required);
        self.parking.tell(Notice::Asked(Box::new(required)));
        Ok(())
    }

    /// Takes a person's answer to one, or to those that are alike.
    ///
    /// # Errors
    /// If it is open no more, or others wait than the answer is meant for.
    pub(crate) fn answer_below(
        &mut self,
        id: ExecId,
        digest: &FactsDigest,
        release: Release,
        answer: SaidHere,
    ) -> Result<(), NotAnswered> {
        for open in self.parking.from_below.answer(id, digest, release)? {
            let end = End {
                ground: Reason::User,
                why: None,
                answer: Some(answer.clone()),
            };
            self.settle_below(open, end);
        }
        Ok(())
    }

    /// The other session needs no answer to one any more.
    pub(crate) fn withdraw_below(&mut self, request_id: ExecId, client: ClientId) {
        self.end_below(Reason::Withdrawn, "it is settled there", |open| {
            open.client == client && open.from.request_id == request_id
        });
    }

    /// Whoever put them is gone.
    pub(crate) fn leave_below(&mut self, client: ClientId) {
        self.end_below(Reason::Withdrawn, "whoever asks is gone", |open| {
            open.client == client
        });
    }

    /// Ends those whose time is over, and all where nobody is left to answer.
    pub(crate) fn look_below(&mut self, now: Instant) {
        for open in self.parking.from_below.expire(now) {
            let end = End::without_answer(Reason::Timeout, "nobody answered in time");
            self.settle_below(open, end);
        }
        if self.parking.from_below.is_empty() || self.parking.approvers() != Approvers::Nobody {
            return;
        }
        // What whoever left said last, it said before it was counted out.
        self.take_reports();
        let why = "nobody is left who could be asked";
        self.end_below(Reason::NoApprover, why, |_| true);
    }

    /// The session is over.
    pub(crate) fn withdraw_all_below(&mut self) {
        self.end_below(Reason::Withdrawn, "the session ends", |_| true);
    }

    fn end_below(&mut self, ground: Reason, why: &str, is_meant: impl Fn(&FromBelow) -> bool) {
        let open = self.parking.from_below.iter();
        let meant = open.filter(|(_, open)| is_meant(open)).map(|(id, _)| id);
        for id in meant.collect::<Vec<_>>() {
            if let Some(open) = self.parking.from_below.withdraw(id) {
                self.settle_below(open, End::without_answer(ground, why));
            }
        }
    }

    /// The record, then the word to whoever put it, to whoever answered, and to who is subscribed.
    fn settle_below(&mut self, open: FromBelow, mut end: End) {
        let is_yes = |end: &End| end.answer.as_ref().is_some_and(|it| it.said == Said::Allow);
        let approval = end.note(&open);
        let decided = Decided {
            verdict: if is_yes(&end) { "allow" } else { "deny" },
            reason: end.ground,
            rule: None,
            detail: end.why.clone(),
            refused_lately: None,
            to_allow: None,
        };
        let recorded = self
            .ledger
            .settled_for_another(open.id, decided, approval, &self.watch);
        let answered = end.answer.as_ref().map(|answer| answer.client);
        if let Err(error) = recorded {
            let why = format!("the answer cannot be logged: {error}");
            end = End::without_answer(Reason::SupError, why);
        }
        let is_allowed = is_yes(&end);
        let reason = end.ground.as_str().to_owned();
        let session = &self.parking.session;
        let settled = Settled::new(session, open.id, is_allowed, reason.clone());
        let asked_as = AskedAs {
            session: session.name.clone(),
            request_id: open.id,
        };
        self.parking.tell(Notice::Settled(settled, answered));
        let (by, said) = match end.answer {
            Some(answer) => (Some(answer.approver), answer.reason),
            None => (None, end.why),
        };
        let settled = EscalationSettled {
            session_id: open.from.session_id,
            request_id: open.from.request_id,
            digest: open.digest,
            is_allowed,
            reason,
            by,
            said,
            asked_as: Some(asked_as),
        };
        let notice = Notice::EscalationSettled(open.client, Box::new(settled));
        self.parking.tell(notice);
    }
}

impl End {
    fn note(&self, open: &FromBelow) -> ApprovalNote {
        let waited = open.at.elapsed().as_millis();
        let answer = self.answer.as_ref();
        ApprovalNote {
            by: answer.map(|answer| answer.approver),
            channel: answer.map(|_| "socket"),
            wait_ms: Some(u64::try_from(waited).unwrap_or(u64::MAX)),
            reason: answer.and_then(|answer| answer.reason.clone()),
            escalated_from: Some(open.from.clone()),
            ..ApprovalNote::default()
        }
    }
}

/// How long a question of another session may wait: neither longer than there, nor than here.
fn patience(own: Duration, expires_at: Timestamp, now: Timestamp) -> Duration {
    let left = expires_at.duration_since(now);
    own.min(Duration::try_from(left).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_waits_no_longer_than_either_session_lets_it() {
        let (now, minute) = (Timestamp::UNIX_EPOCH, Duration::from_secs(60));
        let lasts = |seconds| patience(minute, Timestamp::from_second(seconds).unwrap(), now);
        assert_eq!(lasts(3600), minute);
        assert_eq!(lasts(5), Duration::from_secs(5));
        assert_eq!(lasts(-5), Duration::ZERO);
    }
}
