//! How an exec is refused: record, line, answer, in this order.

use std::time::Instant;

use nix::errno::Errno;

use crate::audit::{Caller, Program, Reason};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::pipeline::Subject;
use crate::refusal::Refusal;
use crate::seccomp::{Notification, Reply};

impl Gate {
    pub(crate) fn answer_missing(&mut self, notification: Notification, errno: Errno) {
        self.ledger.missed(&self.watch);
        self.answer(notification, Reply::Fail(errno));
    }

    /// Refuses an exec whose task and strings are known: record, line, answer.
    pub(crate) fn refuse_exec(
        &mut self,
        notification: Notification,
        subject: Subject,
        judgement: &Judgement,
    ) {
        let Subject {
            received,
            program,
            args,
            view,
            caller,
            ..
        } = subject;
        let id = self.record_refusal(program, received, judgement, Errno::EPERM);
        if let Some(notices) = &self.notices {
            let refusal = Refusal {
                path: &args.path,
                argv: &args.argv,
                ground: judgement.ground_in_words(),
                reason: judgement.reason_in_words(),
                instead: judgement.instead.as_deref(),
                id,
            };
            let (proc, filesystems) = (&self.kernel.proc, &mut self.kernel.filesystems);
            let told = notices.tell(&refusal, proc, filesystems, view.task(), caller.pid);
            if let Err(errno) = &told {
                tracing::debug!(%errno, "no refusal line");
            }
            if caller.pid == self.command.pid {
                self.command.was_told = told.is_ok();
            }
        }
        self.answer(notification, Reply::Fail(Errno::EPERM));
    }

    /// Refuses an exec that cannot be read whole, with the kernel's errno where it would refuse it
    /// too: record, answer.
    pub(crate) fn refuse(
        &mut self,
        notification: Notification,
        received: Instant,
        caller: Option<&Caller>,
        detail: String,
        errno: Errno,
    ) {
        let program = caller.map(Program::of).unwrap_or_default();
        let judgement = Judgement::refusal(Reason::Unreadable, detail);
        self.record_refusal(program, received, &judgement, errno);
        self.answer(notification, Reply::Fail(errno));
    }

    fn record_refusal(
        &mut self,
        program: Program,
        received: Instant,
        judgement: &Judgement,
        errno: Errno,
    ) -> String {
        let id = self.ledger.next_id();
        let (decided, reply) = (judgement.decided(), Reply::Fail(errno));
        // Without its record it is refused all the same, and the gap is counted.
        if let Err(error) = self
            .ledger
            .decided(id, program, decided, reply, received, &self.watch)
        {
            tracing::error!(%error, %id, "a refusal is missing from the log");
        }
        id.to_string()
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
        errno: Errno,
    ) {
        if !notification.is_pending() {
            return notification.abandon();
        }
        let detail = self.why_not_seized(&subject, errno);
        let judgement = Judgement::refusal(Reason::Unverifiable, detail);
        self.refuse_exec(notification, subject, &judgement);
    }
}
