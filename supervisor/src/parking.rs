//! Execs that wait for a person: their tasks stay in their notifications, not seized, and the
//! listener goes on serving others.
//!
//! A question leaves when it is answered, when its task is gone, when a signal that should end the
//! task is seen waiting for it, or when nobody answered in time. The kernel wakes nobody for the
//! two in the middle, so waiting tasks are looked at.

mod question;

use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use execward_policy::{ExecRequest, Ruleset};
use rustix::fs::{Mode, OFlags};

use crate::approval::{
    Approvers, CallDigest, FactsDigest, Pending, Prompt, Refused, Seat, Waiting,
};
use crate::audit::{ApprovalNote, ExecId, Program, Reason, SessionNote};
use crate::consent::Answer;
use crate::control::{Bouncer, Control, ControlError, Notice, SocketPlace};
use crate::exec::Image;
use crate::fault::{self, Phase};
use crate::from_below::FromBelow;
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::offered::Offered;
use crate::plan::Plan;
use crate::room::Share;
use crate::seccomp::Notification;
use crate::subject::Subject;
use crate::tracee::Procfs;
use crate::withdrawal::CutShort;

/// How often tasks that wait are looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Everything about questions.
#[derive(Debug)]
pub(crate) struct Parking {
    prompt: Prompt,
    seat: Seat,
    pub(crate) session: SessionNote,
    pub(crate) control: Option<Control>,
    pub(crate) pending: Pending<Parked>,
    /// Questions of other sessions.
    pub(crate) from_below: Pending<FromBelow>,
    /// Whether who is asked sees what looks like a secret.
    pub(crate) reveals: bool,
    /// Where CMD works.
    pub(crate) workspace: Vec<u8>,
    pub(crate) cut_short: CutShort,
    pub(crate) refused: Refused,
    /// Whether other rules are in force than those by which open questions were asked.
    pub(crate) is_to_reconsider: bool,
    pub(crate) next_look: Option<Instant>,
}

/// An exec that waits.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) notification: Notification,
    pub(crate) subject: Subject,
    pub(crate) judgement: Judgement,
    pub(crate) asked: Box<Asked>,
}

/// What an exec that was asked about is known by, from the question to its decision.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) exec_id: ExecId,
    pub(crate) digest: FactsDigest,
    pub(crate) call: CallDigest,
    /// Whether it is about what its files hold, too.
    pub(crate) is_digested: bool,
    /// The rules by which an answer could be kept.
    pub(crate) offered: Offered,
    /// The rule that asks; none where the policy's mode does.
    pub(crate) asked_by: Option<String>,
    pub(crate) received: Instant,
    pub(crate) at: Instant,
    pub(crate) expires: Instant,
    pub(crate) answer: Option<Answer>,
    /// Whether nobody answered in time.
    pub(crate) is_expired: bool,
    /// The socket of the higher supervisor whose people are asked, if that is not who is asked here.
    pub(crate) higher: Option<String>,
    /// Whether nobody was left to answer.
    pub(crate) is_abandoned: bool,
    /// As asked, for a record of an exec that can no longer be looked at.
    pub(crate) program: Program,
    pub(crate) share: Share,
    /// Held, so that no other file gets its inode numbers.
    image: Image,
}

impl Parking {
    /// Opens the control channel, unless nobody is ever to be asked and no socket is named. `has_prompt`: the
    /// front asks on its terminal.
    ///
    /// # Errors
    /// If it cannot be had.
    pub(crate) fn start(
        plan: &Plan<'_>,
        has_prompt: bool,
        proc: Procfs,
    ) -> Result<Self, ControlError> {
        let (args, session) = (plan.args, plan.note.clone());
        let at = match (&args.control, args.prompt()) {
            (Some(path), _) => Some(SocketPlace::listen_at(path)?),
            (None, Prompt::None) => None,
            (None, Prompt::Auto | Prompt::Tty | Prompt::Socket) => Some(SocketPlace::listen_below(
                plan.places.sockets(),
                &session.name,
            )?),
        };
        let control = match at {
            None => None,
            Some(at) => {
                let bouncer = Bouncer::of_this_process(proc).map_err(std::io::Error::other)?;
                let meant = plan.policy.scene.clone();
                Some(Control::start(at, session.clone(), meant, bouncer)?)
            }
        };
        Ok(Self {
            prompt: args.prompt(),
            seat: seat(has_prompt),
            session,
            control,
            pending: Pending::default(),
            from_below: Pending::default(),
            reveals: args.reveal,
            workspace: plan.policy.scene.places.workspace.clone(),
            cut_short: CutShort::default(),
            refused: Refused::default(),
            is_to_reconsider: false,
            next_look: None,
        })
    }

    /// Who can answer a question that is asked now.
    pub(crate) fn approvers(&self) -> Approvers {
        let Some(control) = self.control.as_ref().filter(|control| control.is_open()) else {
            return Approvers::Nobody;
        };
        self.prompt.approvers(self.seat, control.subscribers())
    }

    /// Where the control socket is, if there is one.
    pub(crate) fn socket(&self) -> Option<Vec<u8>> {
        let path = self.control.as_ref()?.path();
        Some(path.as_os_str().as_bytes().to_vec())
    }

    /// Nobody is at the front's terminal any more.
    pub(crate) fn front_is_gone(&mut self) {
        if self.seat == Seat::Prompt {
            self.seat = Seat::Empty;
        }
    }

    /// For the session's first line: who is asked, and how.
    pub(crate) fn in_words(&self, rules: &Ruleset) -> String {
        let execward = std::env::current_exe().unwrap_or_else(|_| "execward".into());
        let timeout = crate::approval::in_words(rules.ask_timeout());
        if rules.never_asks() {
            return "asks are refused (the policy never asks)".to_owned();
        }
        let control = self
            .control
            .as_ref()
            .filter(|_| self.prompt != Prompt::None);
        let Some(control) = control else {
            return "asks are refused (--prompt none)".to_owned();
        };
        let path = control.path();
        match self.prompt.approvers(self.seat, 0) {
            Approvers::Prompt => format!("asks wait {timeout} for your answer on this terminal"),
            Approvers::Terminal => format!(
                "asks wait {timeout} for `{} allow ID` in another terminal",
                execward.display()
            ),
            Approvers::Socket => format!("asks wait {timeout} for an answer at {}", path.display()),
            Approvers::Nobody => format!(
                "asks wait {timeout} while a client is subscribed at {}, else they are refused",
                path.display()
            ),
        }
    }

    /// When waiting tasks are to be looked at.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        let next = [
            self.next_look,
            self.pending.next_expiry(),
            self.from_below.next_expiry(),
        ];
        next.into_iter().flatten().min()
    }

    pub(crate) fn tell(&self, notice: Notice) {
        if let Some(control) = &self.control {
            control.tell(notice);
        }
    }
}

/// Without a prompt the gate is in the front's session, so its terminal is the front's.
fn seat(has_prompt: bool) -> Seat {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    match has_prompt {
        true => Seat::Prompt,
        false if rustix::fs::open("/dev/tty", flags, Mode::empty()).is_ok() => Seat::Reader,
        false => Seat::Empty,
    }
}

impl Asked {
    /// For the decision's record.
    pub(crate) fn note(&self) -> ApprovalNote {
        let waited = match &self.answer {
            Some(answer) => answer.waited,
            None => self.at.elapsed(),
        };
        let wait_ms = Some(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
        let mut note = ApprovalNote {
            wait_ms,
            escalated_to: self.higher.clone(),
            ..ApprovalNote::default()
        };
        if let Some(answer) = &self.answer {
            note.by = Some(answer.approver);
            note.channel = Some(match self.higher {
                Some(_) => "escalation",
                None => "socket",
            });
            note.asked_as.clone_from(&answer.asked_as);
            note.scope = Some(answer.span.to_string());
            note.reason.clone_from(&answer.reason);
        }
        note
    }
}

impl Gate {
    /// Parks an exec that a person is to decide: record, question, line. Refuses it where nobody
    /// can be asked.
    pub(crate) fn ask(
        &mut self,
        notification: Notification,
        mut subject: Subject,
        image: Image,
        judgement: Judgement,
        request: &ExecRequest,
    ) {
        // Other rules ask as well: the question is open already.
        if let Some(asked) = subject.asked.take() {
            return self.park(notification, subject, judgement, asked);
        }
        let now = Instant::now();
        let route = self.rules.escalate_to().filter(|_| judgement.escalates);
        let higher = route.map(str::to_owned);
        let approvers = self.parking.approvers();
        let is_for_nobody = approvers == Approvers::Nobody && higher.is_none();
        if let Some(ground) = self.why_not_ask(&subject, is_for_nobody, now) {
            return self.refuse_exec(notification, subject, &judgement.refused(ground));
        }
        let path = image
            .target()
            .and_then(|file| file.facts().resolved.clone());
        let asked = Box::new(Asked {
            exec_id: self.ledger.next_id(),
            digest: subject.digest(&image),
            call: subject.call(&image),
            is_digested: subject.is_digested,
            offered: Offered::of(&self.rules, request),
            asked_by: judgement.rule.as_ref().map(|rule| rule.id.clone()),
            received: subject.received,
            at: now,
            expires: now + self.rules.ask_timeout(),
            answer: None,
            is_expired: false,
            higher,
            is_abandoned: false,
            program: subject.program.clone(),
            share: subject.share.clone(),
            image,
        });
        let ancestry = self.ancestry(subject.view.status());
        let variables = self.rules.variables(request);
        let required = match self.record_question(&asked, &judgement, ancestry, &variables) {
            Ok(required) => required,
            Err(why) => {
                tracing::error!(why, "a question cannot be asked");
                let judgement = judgement.refused(Reason::SupError);
                return self.refuse_exec(notification, subject, &judgement);
            }
        };
        if let Err(why) = self.put_question(asked.higher.as_deref(), &subject.args.argv, required) {
            subject.asked = Some(asked);
            return self.refuse_exec(notification, subject, &judgement.without_route(why));
        }
        if approvers == Approvers::Terminal && asked.higher.is_none() {
            let waiting = Waiting {
                path: path.as_deref().unwrap_or(&subject.args.path),
                argv: &self.rules.redaction().argv(&subject.args.argv),
                id: asked.exec_id.to_string(),
                timeout: self.rules.ask_timeout(),
                end: judgement.unanswered.in_words(),
            };
            self.say(&waiting.line(), subject.view.task(), subject.caller.pid);
        }
        self.park(notification, subject, judgement, asked);
        fault::at(Phase::Parked);
    }

    fn why_not_ask(&self, subject: &Subject, is_for_nobody: bool, now: Instant) -> Option<Reason> {
        if is_for_nobody {
            Some(Reason::NoApprover)
        } else if self.parking.cut_short.holds(subject.caller.pid, now) {
            Some(Reason::Signalled)
        } else {
            (!subject.share.may_wait()).then_some(Reason::Overload)
        }
    }

    /// Has an exec wait for the answer to the question that was put.
    fn park(
        &mut self,
        notification: Notification,
        subject: Subject,
        judgement: Judgement,
        asked: Box<Asked>,
    ) {
        let (id, digest, expires) = (asked.exec_id, asked.digest.clone(), asked.expires);
        let parked = Parked {
            notification,
            subject,
            judgement,
            asked,
        };
        self.parking.pending.ask(id, digest, expires, parked);
        let now = Instant::now();
        self.parking.next_look.get_or_insert(now + LOOK_EVERY);
    }
}
