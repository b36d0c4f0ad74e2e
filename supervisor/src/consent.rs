//! A person's answer, from the control channel to the exec that it lets go on or refuses.
//!
//! Before an exec goes on, everything about it is read again: while it waited its memory, its file
//! and its directory may have changed, and the answer was about what they were.

use std::time::{Duration, Instant};

use execward_policy::Decision;

use crate::approval::{Approvers, NotAnswered, Release, in_words};
use crate::audit::{Approver, Reason};
use crate::control::{self, AskedAs, ClientId, Control, Notice, Report, Response};
use crate::exec::Image;
use crate::from_below::SaidHere;
use crate::gate::Gate;
use crate::grants::{NotGranted, Span};
use crate::judge::Judgement;
use crate::offered::Lasting;
use crate::parking::{Asked, Parked};
use crate::subject::Subject;

/// What a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

impl Said {
    fn of(decision: control::Decision) -> Self {
        match decision {
            control::Decision::AllowOnce | control::Decision::AllowAlways => Self::Allow,
            control::Decision::Deny => Self::Deny,
        }
    }
}

/// What a person said to one question.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) said: Said,
    pub(crate) span: Span,
    /// How it is kept, if it is to last.
    pub(crate) lasting: Option<Lasting>,
    pub(crate) approver: Approver,
    pub(crate) reason: Option<String>,
    /// From the question to this answer.
    pub(crate) waited: Duration,
    /// Who is to be told what came of it, if it was said here.
    pub(crate) client: Option<ClientId>,
    /// What the question was called where it was said, if that is another session.
    pub(crate) asked_as: Option<AskedAs>,
}

/// Why an answer is not taken. The question, if there is one, stays open.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("this is another session: its ID is {0}")]
    OtherSession(String),
    #[error("{0}")]
    NotAnswered(#[from] NotAnswered),
    #[error(
        "this is a question of another session: answer it once, by `allow` or `deny` without `--for`"
    )]
    OnceOnly,
    #[error("this question is for the people of the session at {0}: it is answered there")]
    Higher(String),
    #[error("{0}")]
    Contradiction(&'static str),
    #[error(
        "an answer that lasts and covers `{scope}` is not offered here, since it would not be heeded or \
         there is no such rule; {offered}"
    )]
    NotOffered {
        scope: execward_policy::Scope,
        offered: String,
    },
    #[error("{0}")]
    NotGranted(#[from] NotGranted),
}

impl Gate {
    /// Takes what the control channel has to say.
    pub(crate) fn take_reports(&mut self) {
        let Some(control) = &self.parking.control else {
            return;
        };
        for report in control.take_reports() {
            match report {
                Report::Answer {
                    response,
                    approver,
                    client,
                } => {
                    if let Err(error) = self.hear_answer(*response, approver, client) {
                        let why = error.to_string();
                        self.parking.tell(Notice::Rejected(client, why));
                    }
                }
                Report::Policy {
                    offered,
                    sender,
                    client,
                } => self.hear_policy(offered, sender, client),
                Report::Grants(client) => self.show_grants(client),
                Report::Grant {
                    grant,
                    sender,
                    client,
                } => self.hear_grant(*grant, sender, client),
                Report::Revoke { id, sender, client } => self.hear_revoke(id, sender, client),
                Report::Status(client) => self.show_status(client),
                Report::Stop {
                    kills,
                    sender,
                    client,
                } => self.hear_stop(kills, sender, client),
                Report::Tool {
                    check,
                    sender,
                    client,
                } => self.hear_tool_check(*check, sender, client),
                Report::Escalated {
                    question,
                    sender,
                    client,
                } => self.hear_escalated(*question, sender, client),
                Report::EscalationWithdrawn { request_id, client } => {
                    self.withdraw_below(request_id, client);
                }
                Report::Left(client) => self.leave_below(client),
                Report::Refused { sender, why } => {
                    self.ledger.refused_sender(sender, why, &self.watch);
                }
            }
        }
    }

    /// The session is over: nobody can answer any more, and what was tried is recorded.
    pub(crate) fn close_control(&mut self) {
        let reports = self.parking.control.take().map(Control::close);
        for report in reports.unwrap_or_default() {
            // An answer now answers nothing, and its client sees the end.
            if let Report::Refused { sender, why } = report {
                self.ledger.refused_sender(sender, why, &self.watch);
            }
        }
    }

    fn hear_answer(
        &mut self,
        response: Response,
        approver: Approver,
        client: ClientId,
    ) -> Result<(), NotTaken> {
        let span = response.span().map_err(NotTaken::Contradiction)?;
        let session = &self.parking.session.id;
        if response.session_id != *session {
            return Err(NotTaken::OtherSession(session.clone()));
        }
        let (id, digest) = (response.request_id, &response.digest);
        let said = Said::of(response.decision);
        let release = match (said, response.these) {
            (Said::Deny, _) => Release::All,
            (Said::Allow, count) => count.map_or(Release::Oldest, Release::These),
        };
        if self.parking.from_below.find(id, digest).is_ok() {
            if span != Span::Once {
                return Err(NotTaken::OnceOnly);
            }
            let reason = response.reason.clone();
            let answer = SaidHere::new(said, reason, approver, client);
            return Ok(self.answer_below(id, digest, release, answer)?);
        }
        let open = self.parking.pending.find(id, digest)?;
        if let Some(to) = &open.asked.higher {
            return Err(NotTaken::Higher(to.clone()));
        }
        let lasting = match span {
            Span::Once => None,
            Span::Subtree => {
                self.granted.check(span)?;
                Some(open.asked.offered.with_all_below())
            }
            Span::Session | Span::Always | Span::Until(_) => {
                let scope = response.scope.into();
                let found = open.asked.offered.find(said, scope);
                let lasting = found.map_err(|scopes| NotTaken::not_offered(scope, &scopes))?;
                self.granted.check(span)?;
                Some(lasting)
            }
        };
        let call = open.asked.call.clone();
        let card = self.parking.pending.answer(id, digest, release)?;
        let now = Instant::now();
        if said == Said::Deny {
            self.parking.refused.say_no(call, now);
        }
        let mut answer = Answer {
            said,
            span,
            lasting,
            approver,
            reason: response.reason,
            waited: Duration::ZERO,
            client: Some(client),
            asked_as: None,
        };
        for parked in card {
            answer.waited = now.saturating_duration_since(parked.asked.at);
            self.obey(parked, answer.clone());
            // Kept once, for all of them.
            answer.lasting = None;
        }
        Ok(())
    }

    pub(crate) fn obey(&mut self, parked: Parked, answer: Answer) {
        let Parked {
            notification,
            mut subject,
            judgement,
            mut asked,
        } = parked;
        let (said, reason) = (answer.said, answer.reason.clone());
        asked.answer = Some(answer);
        if !notification.is_pending() {
            return self.lose(notification, Some(asked));
        }
        match said {
            Said::Allow => self.examine(notification, Some(asked)),
            Said::Deny => {
                let judgement = match self.keep_deny(&asked) {
                    Ok(()) => judgement.of_person(Said::Deny, Reason::User, reason),
                    Err(error) => judgement.unkept(&error),
                };
                subject.asked = Some(asked);
                self.refuse_exec(notification, subject, &judgement);
            }
        }
    }

    /// What stands once a person's answer to this very question counts too. A deny of the policy's is
    /// never lifted. Of a session that is only observed nobody is asked, and nothing is refused.
    pub(crate) fn weigh(
        &mut self,
        judgement: Judgement,
        subject: &Subject,
        image: &Image,
    ) -> Judgement {
        if self.is_observed {
            return judgement.unheeded();
        }
        if let Some(asked) = &subject.asked {
            return self.weigh_answer(judgement, asked, subject, image);
        }
        if judgement.decision != Decision::Ask {
            return judgement;
        }
        if !self.parking.refused.is_silent()
            && let Some(ago) = self
                .parking
                .refused
                .said_no(&subject.call(image), Instant::now())
        {
            let why = format!("the same call was refused {} ago", in_words(ago));
            return judgement.of_person(Said::Deny, Reason::User, Some(why));
        }
        if !judgement.escalates && self.parking.approvers() == Approvers::Nobody {
            return judgement.left_unanswered(Reason::NoApprover);
        }
        judgement
    }

    /// Judges every open question again: what is allowed or denied by now waits no longer.
    pub(crate) fn reconsider(&mut self) {
        if !std::mem::take(&mut self.parking.is_to_reconsider) {
            return;
        }
        let open = self.parking.pending.iter().map(|(id, _)| id);
        for id in open.collect::<Vec<_>>() {
            if let Some(parked) = self.parking.pending.withdraw(id) {
                let Parked {
                    notification,
                    asked,
                    ..
                } = parked;
                if notification.is_pending() {
                    self.examine(notification, Some(asked));
                } else {
                    self.lose(notification, Some(asked));
                }
            }
        }
    }

    fn weigh_answer(
        &mut self,
        judgement: Judgement,
        asked: &Asked,
        subject: &Subject,
        image: &Image,
    ) -> Judgement {
        if asked.digest != subject.digest(image) {
            return judgement.refused(Reason::ChangedSincePrompt);
        }
        let goes_higher = judgement.decision == Decision::Ask && judgement.escalates;
        if judgement.decision == Decision::Ask && goes_higher != asked.higher.is_some() {
            // Another policy has others asked than were.
            return judgement.refused(Reason::ChangedSincePrompt);
        }
        if asked.is_expired && judgement.decision == Decision::Ask {
            return judgement.left_unanswered(Reason::Timeout);
        }
        if asked.is_abandoned && judgement.decision == Decision::Ask {
            return judgement.left_unanswered(Reason::NoApprover);
        }
        let said = asked.answer.as_ref().map(|answer| answer.said);
        if judgement.decision == Decision::Deny || said != Some(Said::Allow) {
            return judgement;
        }
        match self.keep_allow(asked, subject, image) {
            Ok(passed_down) => {
                let judgement = judgement.of_person(Said::Allow, Reason::User, None);
                judgement.passing_down(passed_down)
            }
            Err(error) => judgement.unkept(&error),
        }
    }
}

impl NotTaken {
    fn not_offered(scope: execward_policy::Scope, scopes: &str) -> Self {
        let offered = match scopes {
            "" => "answer once".to_owned(),
            scopes => format!("answer once, or with the scope {scopes}"),
        };
        Self::NotOffered { scope, offered }
    }
}
