//! How an exec is refused: record, line, answer, in this order.

use std::time::Instant;

use nix::errno::Errno;

use crate::audit::{Caller, ExecId, LogError, Program, Reason};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::ledger::Conclusion;
use crate::parking::Asked;
use crate::refusal::Refusal;
use crate::seccomp::{Notification, Reply};
use crate::subject::Subject;
use crate::tracee::{TaskDir, Tid};

/// An exec that cannot be read whole.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) received: Instant,
    pub(crate) caller: Option<Caller>,
    pub(crate) ground: Reason,
    pub(crate) detail: String,
    /// What the task is told.
    pub(crate) errno: Errno,
    pub(crate) asked: Option<Box<Asked>>,
}

impl Gate {
    /// There is no such file. Of an exec that was asked about there was one: that is a decision.
    pub(crate) fn answer_missing(
        &mut self,
        notification: Notification,
        subject: Subject,
        errno: Errno,
    ) {
        match subject.asked {
            Some(asked) => {
                let detail = format!("its file is gone: {errno}");
                let judgement = Judgement::refusal(Reason::ChangedSincePrompt, detail);
                let (program, received) = (subject.program, subject.received);
                self.record_refusal(program, received, &judgement, Some(&asked), errno);
            }
            None => self.ledger.missed(&self.watch),
        }
        self.answer(notification, Reply::Fail(errno));
    }

    /// Refuses an exec whose task and strings are known: record, line, answer.
    pub(crate) fn refuse_exec(
        &mut self,
        notification: Notification,
        subject: Subject,
        judgement: &Judgement,
    ) {
        if subject.asked.is_some() {
            self.let_end(&subject);
        }
        let Subject {
            received,
            program,
            args,
            view,
            caller,
            asked,
            ..
        } = subject;
        if self.is_observed {
            let who = (program, Some(caller));
            return self.observe(notification, received, judgement, who);
        }
        let errno = judgement.errno();
        let count = self.parking.refused.count(Instant::now());
        let judgement = &judgement.clone().among(count);
        let id = self.record_refusal(program, received, judgement, asked.as_deref(), errno);
        let stop = count.map(|count| {
            format!("stop, and ask what to do: {count} calls were refused within a minute")
        });
        let refusal = Refusal {
            path: &args.path,
            argv: &self.rules.redaction().argv(&args.argv),
            ground: judgement.ground_in_words(),
            reason: judgement.reason_in_words(),
            instead: stop.as_deref().or(judgement.instead.as_deref()),
            remedy: judgement.remedy.as_ref(),
            id: id.to_string(),
        };
        let was_told = self.say(&refusal.line(), view.task(), caller.pid);
        if caller.pid == self.command.pid {
            self.command.was_told = was_told;
        }
        self.answer(notification, Reply::Fail(errno));
    }

    /// Puts `line` on the standard error of a task that waits in its exec; whether it is there.
    pub(crate) fn say(&mut self, line: &[u8], task: &TaskDir, tgid: Tid) -> bool {
        let Some(notices) = &mut self.notices else {
            return false;
        };
        let (proc, filesystems) = (&self.kernel.proc, &mut self.kernel.filesystems);
        let told = notices.tell(line, proc, filesystems, task, tgid);
        if let Err(errno) = &told {
            tracing::debug!(%errno, "no line on the standard error");
        }
        told.is_ok()
    }

    /// Refuses an exec that cannot be read whole, with the kernel's errno where it would refuse it
    /// too: record, answer.
    pub(crate) fn refuse(&mut self, notification: Notification, unread: Unread) {
        let program = unread.caller.as_ref().map(Program::of).unwrap_or_default();
        let judgement = Judgement::refusal(unread.ground, unread.detail);
        if self.is_observed {
            let who = (program, unread.caller);
            return self.observe(notification, unread.received, &judgement, who);
        }
        let (asked, errno) = (unread.asked.as_deref(), unread.errno);
        self.record_refusal(program, unread.received, &judgement, asked, errno);
        self.answer(notification, Reply::Fail(errno));
    }

    fn record_refusal(
        &mut self,
        program: Program,
        received: Instant,
        judgement: &Judgement,
        asked: Option<&Asked>,
        errno: Errno,
    ) -> ExecId {
        let reply = Some(Reply::Fail(errno));
        let (id, recorded) = self.record(program, judgement, asked, received, reply);
        // Without its record it is refused all the same, and the gap is counted.
        if let Err(error) = recorded {
            tracing::error!(%error, %id, "a refusal is missing from the log");
        }
        if let Some(asked) = asked {
            self.keep_answer(asked);
            self.settle_question(asked, false, judgement.ground);
        }
        id
    }

    /// What a person said is on the disk before anybody is told, also where nothing goes on by it: a power
    /// cut must not take a record that somebody answers for.
    pub(crate) fn keep_answer(&self, asked: &Asked) {
        if asked.answer.is_some()
            && let Err(error) = self.ledger.sync(&self.watch)
        {
            tracing::error!(%error, id = %asked.exec_id, "a person's answer is not on the disk");
        }
    }

    /// Writes an exec's one decision, under the ID that it was asked about by, or a new one.
    pub(crate) fn record(
        &mut self,
        program: Program,
        judgement: &Judgement,
        asked: Option<&Asked>,
        received: Instant,
        reply: Option<Reply>,
    ) -> (ExecId, Result<(), LogError>) {
        let exec_id = match asked {
            Some(asked) => asked.exec_id,
            None => self.ledger.next_id(),
        };
        if judgement.ground == Reason::Grant
            && let Some(rule) = &judgement.rule
        {
            let (command, path) = program.in_words();
            self.granted.used(&rule.id, command, path);
        }
        let conclusion = Conclusion {
            exec_id,
            program,
            decided: judgement.decided(),
            approval: asked.map(Asked::note),
            received,
            reply,
        };
        (exec_id, self.ledger.decided(conclusion, &self.watch))
    }

    pub(crate) fn answer(&mut self, notification: Notification, reply: Reply) {
        if let Err(errno) = notification.respond(reply).map(drop) {
            self.listener_failed(errno);
        }
    }

    /// The listener refuses an answer: nothing can be promised any more.
    pub(crate) fn listener_failed(&mut self, errno: Errno) {
        tracing::error!(%errno, "the listener refuses an answer: ending the session");
        self.end_session();
    }

    /// Why the kernel does not let the gate trace a task.
    pub(crate) fn why_not_seized(&self, subject: &Subject, errno: Errno) -> String {
        let tracer = subject.view.status().tracer;
        if tracer.as_u32() != 0 {
            return format!("it is traced by process {tracer}; detach the debugger");
        }
        format!(
            "the kernel does not let it be traced ({errno}): it made itself undumpable, or a \
             security module (Yama, AppArmor) forbids it"
        )
    }

    /// Refuses an exec whose task cannot be traced: what it would load could not be checked.
    pub(crate) fn refuse_untraceable(
        &mut self,
        notification: Notification,
        subject: Subject,
        judgement: &Judgement,
        errno: Errno,
    ) {
        if !notification.is_pending() {
            return self.lose(notification, subject.asked);
        }
        let detail = self.why_not_seized(&subject, errno);
        let judgement = judgement.or_refusal(Reason::Unverifiable, detail);
        self.refuse_exec(notification, subject, &judgement);
    }
}
