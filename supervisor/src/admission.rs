//! How an exec is let go on: seize, record, store what is expected, answer, in this order.

use std::sync::Arc;
use std::time::Instant;

use execward_policy::Ancestor;
use nix::errno::Errno;

use crate::attached::InFlight;
use crate::audit::{Caller, ExecId, Outcome, Reason};
use crate::exec::{ExecArgs, Expectation, Image};
use crate::fault::{self, Phase};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::parking::Asked;
use crate::ptrace;
use crate::refusal::Refusal;
use crate::seccomp::{Answered, Notification, Reply};
use crate::subject::Subject;
use crate::tracee::{TaskDir, Tid};

/// What an exec that goes on is to load.
#[derive(Debug)]
pub(crate) struct Loads {
    pub(crate) expectation: Expectation,
    /// What the process will be to its descendants, and its parent; none for a missing target, or
    /// if no rule asks for history.
    pub(crate) history: Option<(Arc<Ancestor>, Tid)>,
    pub(crate) image: Option<Image>,
}

impl Gate {
    /// An exec of which nothing can load is stopped where it fails, to see with what. Asked for
    /// inside the call, the stop comes behind it (tried).
    fn stop_if_it_must_fail(&self, tid: Tid, exec: &InFlight) {
        let target = exec.image.as_ref().and_then(|image| image.target());
        let is_executable = target.is_some_and(|file| file.facts().mode & 0o111 != 0);
        if exec.expectation.exe.is_none() || !is_executable {
            self.interrupt(tid);
        }
    }

    /// Lets the kernel go on with an exec, and holds it to what was decided.
    pub(crate) fn admit(
        &mut self,
        notification: Notification,
        subject: Subject,
        loads: Loads,
        judgement: &Judgement,
    ) {
        let (tid, tgid) = (subject.caller.tid, subject.caller.pid);
        if !self.attached.has(tid)
            && let Err(errno) = ptrace::seize(tid)
        {
            return self.refuse_untraceable(notification, subject, judgement, errno);
        }
        fault::at(Phase::AfterSeize);
        let Subject {
            received,
            caller,
            program,
            attempt,
            args,
            view,
            share,
            destinations,
            asked,
            ..
        } = subject;
        let reply = Some(Reply::Continue);
        let (exec_id, recorded) =
            self.record(program, judgement, asked.as_deref(), received, reply);
        let is_recorded = recorded.is_ok() && self.is_safe_on_disk(judgement, exec_id, &caller);
        let is_sound = is_recorded || self.is_observed;
        if !is_sound {
            self.say_unrecorded(&args, exec_id, view.task(), tgid);
        }
        let task = Some(view.into_task()).filter(|_| tid == tgid);
        let exec = InFlight {
            exec_id,
            tgid,
            task,
            attempt,
            args,
            expectation: loads.expectation,
            history: loads.history,
            destinations,
            image: loads.image,
            _share: share,
        };
        self.stop_if_it_must_fail(tid, &exec);
        self.attached.expect(tid, exec, Instant::now());
        if !is_sound {
            self.release(tid, tgid);
            self.settle_admission(asked.as_deref(), false, Reason::SupError);
            return self.answer(notification, Reply::Fail(Errno::EPERM));
        }
        let answered = go_on(notification);
        if answered == Ok(Answered::Taken) {
            fault::at(Phase::AfterContinue);
            self.settle_admission(asked.as_deref(), true, judgement.ground);
        } else {
            self.release(tid, tgid);
            self.ledger
                .outcome(exec_id, caller, Outcome::of("vanished"), &self.watch);
            self.settle_admission(asked.as_deref(), false, Reason::Withdrawn);
        }
        if let Err(errno) = answered {
            self.listener_failed(errno);
        }
    }

    /// Tells a task that would have been let go on why it is not.
    fn say_unrecorded(&mut self, args: &ExecArgs, exec_id: ExecId, task: &TaskDir, tgid: Tid) {
        let refusal = Refusal {
            path: &args.path,
            argv: &self.rules.redaction().argv(&args.argv),
            ground: "its record cannot be written".to_owned(),
            reason: Some("the audit log is full or broken; a person must look at it"),
            instead: None,
            remedy: None,
            id: exec_id.to_string(),
        };
        self.say(&refusal.line(), task, tgid);
    }

    /// What a person let go on is on the disk before it does: a power cut must not take the record
    /// of a decision that somebody answers for. Beside a person the few milliseconds do not show.
    fn is_safe_on_disk(&mut self, judgement: &Judgement, exec_id: ExecId, caller: &Caller) -> bool {
        if judgement.ground != Reason::User {
            return true;
        }
        let Err(error) = self.ledger.sync(&self.watch) else {
            return true;
        };
        tracing::error!(%error, %exec_id, "a person's answer is not on the disk: refused");
        let outcome = Outcome {
            detail: Some(format!("refused: its record cannot be synced: {error}")),
            ..Outcome::of("failed")
        };
        self.ledger
            .outcome(exec_id, caller.clone(), outcome, &self.watch);
        false
    }

    fn settle_admission(&self, asked: Option<&Asked>, is_allowed: bool, ground: Reason) {
        if let Some(asked) = asked {
            self.settle_question(asked, is_allowed, ground);
        }
    }
}

/// Tells the kernel, unless what was seized by its number is no longer the task that asked.
fn go_on(notification: Notification) -> Result<Answered, Errno> {
    if notification.is_pending() {
        return notification.respond(Reply::Continue);
    }
    notification.abandon();
    Ok(Answered::Gone)
}
