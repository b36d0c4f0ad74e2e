//! A person's answer, from the control channel to the exec that it lets go on or refuses.
//!
//! Before an exec goes on, everything about it is read again: while it waited its memory, its file
//! and its directory may have changed, and the answer was about what they were.

use std::time::{Duration, Instant};

use execward_policy::Decision;

use crate::approval::{Approvers, FactsDigest, GrantKey, NotAnswered, Said, TooMany};
use crate::audit::{Approver, Reason};
use crate::control::{self, ClientId, Control, Notice, Report, Response, Span};
use crate::exec::Image;
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::parking::{Asked, Parked};
use crate::subject::Subject;

/// What a person said to one question.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) said: Said,
    pub(crate) span: Span,
    pub(crate) approver: Approver,
    pub(crate) reason: Option<String>,
    /// From the question to this answer.
    pub(crate) waited: Duration,
    /// Who is to be told what came of it.
    pub(crate) client: ClientId,
}

/// Why an answer is not taken. The question, if there is one, stays open.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("this is another session: its ID is {0}")]
    OtherSession(String),
    #[error("{0}")]
    NotAnswered(#[from] NotAnswered),
    #[error("{0}")]
    Contradiction(&'static str),
    #[error(
        "its file has no name in the session that an answer could be bound to; answer once \
         (not_bindable)"
    )]
    NotBindable,
    #[error("{0}")]
    TooMany(#[from] TooMany),
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
                Report::Tool {
                    check,
                    sender,
                    client,
                } => self.hear_tool_check(*check, sender, client),
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
        let open = self.parking.pending.find(id, digest)?;
        if span == Span::Session {
            let key = open.asked.key.as_ref().ok_or(NotTaken::NotBindable)?;
            self.parking.grants.check_room(key)?;
        }
        let parked = self.parking.pending.answer(id, digest)?;
        let said = match response.decision {
            control::Decision::AllowOnce | control::Decision::AllowAlways => Said::Allow,
            control::Decision::Deny => Said::Deny,
        };
        let waited = Instant::now().saturating_duration_since(parked.asked.at);
        self.obey(
            parked,
            Answer {
                said,
                span,
                approver,
                reason: response.reason,
                waited,
                client,
            },
        );
        Ok(())
    }

    fn obey(&mut self, parked: Parked, answer: Answer) {
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
                self.keep_grant(&asked);
                subject.asked = Some(asked);
                let judgement = judgement.of_person(Said::Deny, Reason::User, reason);
                self.refuse_exec(notification, subject, &judgement);
            }
        }
    }

    /// What stands once a person's word counts too: the answer to this very question, else what was
    /// said earlier in the session. A deny of the policy's is never lifted.
    pub(crate) fn weigh(
        &mut self,
        judgement: Judgement,
        subject: &Subject,
        image: &Image,
    ) -> Judgement {
        if let Some(asked) = &subject.asked {
            return self.weigh_answer(judgement, asked, &subject.digest(image));
        }
        if judgement.decision != Decision::Ask {
            return judgement;
        }
        let grants = Some(&self.parking.grants).filter(|grants| !grants.is_empty());
        let said = grants.and_then(|grants| {
            let key = GrantKey::exact(image, &subject.args.argv, &subject.cwd)?;
            grants.find(&key)
        });
        match said {
            Some(said) => judgement.of_person(said, Reason::Grant, None),
            None if self.parking.approvers() == Approvers::Nobody => {
                judgement.left_unanswered(Reason::NoApprover)
            }
            None => judgement,
        }
    }

    fn weigh_answer(
        &mut self,
        judgement: Judgement,
        asked: &Asked,
        digest: &FactsDigest,
    ) -> Judgement {
        if asked.digest != *digest {
            return judgement.refused(Reason::ChangedSincePrompt);
        }
        if asked.is_expired && judgement.decision == Decision::Ask {
            return judgement.left_unanswered(Reason::Timeout);
        }
        let said = asked.answer.as_ref().map(|answer| answer.said);
        if judgement.decision == Decision::Deny || said != Some(Said::Allow) {
            return judgement;
        }
        self.keep_grant(asked);
        judgement.of_person(Said::Allow, Reason::User, None)
    }

    /// Keeps an answer that is to last. There is room: it was looked for when the answer came.
    fn keep_grant(&mut self, asked: &Asked) {
        if let (Some(key), Some(answer)) = (&asked.key, &asked.answer)
            && answer.span == Span::Session
            && let Err(error) = self.parking.grants.keep(key.clone(), answer.said)
        {
            tracing::error!(%error, "an answer holds only once");
        }
    }
}
