//! Questions that a policy has put to a higher supervisor: they wait here, and are answered there.
//!
//! Nobody here answers them, and where there is no way, or nobody at its end, they are refused. Whatever
//! is said, the exec is read again before it goes on.

use std::time::Instant;

use crate::audit::{ExecId, Reason};
use crate::consent::{Answer, Said};
use crate::control::{Escalated, EscalationSettled, Required};
use crate::gate::Gate;
use crate::grants::Span;
use crate::messenger::ToMessenger;
use crate::parking::Parked;

impl Gate {
    /// Puts a question to the people of the session whose socket is `to`.
    ///
    /// # Errors
    /// Why it is not on its way.
    pub(crate) fn escalate(&self, to: &str, required: Required) -> Result<(), String> {
        let Some(messenger) = &self.messenger else {
            return Err(no_answer(
                to,
                "this session has no process to put questions by",
            ));
        };
        let mut question = Box::new(Escalated {
            session_id: required.session_id,
            session: self.parking.session.name.clone(),
            request_id: required.request_id,
            digest: required.digest,
            request: required.request,
        });
        // An answer from there holds once, so nothing is to be saved of it.
        question.request.amendments.clear();
        let to_put = ToMessenger::Escalate {
            to: to.to_owned(),
            question,
        };
        let put = messenger.send(&to_put);
        put.map_err(|error| no_answer(to, &error.to_string()))
    }

    /// Tells a higher supervisor that a question needs no answer any more.
    pub(crate) fn take_back(&self, to: &str, request_id: ExecId) {
        let to = to.to_owned();
        let message = ToMessenger::Withdraw { to, request_id };
        if let Some(messenger) = &self.messenger
            && let Err(error) = messenger.send(&message)
        {
            tracing::warn!(%error, id = %request_id, "a question stays open above");
        }
    }

    /// A higher supervisor has settled a question.
    pub(crate) fn hear_higher(&mut self, settled: EscalationSettled) {
        let id = settled.request_id;
        let found = self.parking.pending.find(id, &settled.digest);
        let is_ours = settled.session_id == self.parking.session.id;
        let to = found.ok().and_then(|parked| parked.asked.higher.clone());
        let (Some(to), true) = (to, is_ours) else {
            tracing::debug!(%id, "an answer from above comes late, or is about something else");
            return;
        };
        let Some(parked) = self.parking.pending.withdraw(id) else {
            return;
        };
        match settled {
            EscalationSettled {
                by: Some(approver),
                reason,
                is_allowed,
                said,
                asked_as,
                ..
            } if reason == Reason::User.as_str() => {
                let now = Instant::now();
                if !is_allowed {
                    self.parking.refused.say_no(parked.asked.call.clone(), now);
                }
                let answer = Answer {
                    said: if is_allowed { Said::Allow } else { Said::Deny },
                    span: Span::Once,
                    lasting: None,
                    approver,
                    reason: said,
                    waited: now.saturating_duration_since(parked.asked.at),
                    client: None,
                    asked_as,
                };
                self.obey(parked, answer);
            }
            EscalationSettled { reason, said, .. } => {
                let why = said.unwrap_or(reason);
                self.refuse_without_route(parked, no_answer(&to, &why));
            }
        }
    }

    /// A question was not put, or whoever was asked is gone.
    pub(crate) fn lose_route(&mut self, id: ExecId, why: &str) {
        let higher = |(_, parked): (_, &Parked)| parked.asked.higher.clone();
        let found = self.parking.pending.iter().find(|(open, _)| *open == id);
        let Some(to) = found.and_then(higher) else {
            return;
        };
        if let Some(parked) = self.parking.pending.withdraw(id) {
            self.refuse_without_route(parked, no_answer(&to, why));
        }
    }

    /// Every question that was put is lost.
    pub(crate) fn lose_every_route(&mut self, why: &str) {
        let open = self.parking.pending.iter();
        let put = open.filter(|(_, parked)| parked.asked.higher.is_some());
        for id in put.map(|(id, _)| id).collect::<Vec<_>>() {
            self.lose_route(id, why);
        }
    }

    fn refuse_without_route(&mut self, parked: Parked, why: String) {
        self.refuse_parked(parked, |judgement| judgement.without_route(why));
    }
}

fn no_answer(to: &str, why: &str) -> String {
    format!("no answer of the higher supervisor at {to}: {why}")
}
