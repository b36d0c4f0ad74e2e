//! The event loop: one thread that alone polls the listener, reaps, and traces.
//!
//! SIGCHLD is process-wide and a tracee belongs to the thread that seized it, so everything that
//! waits for either is here. Nothing here waits for anything else.

use std::collections::{HashMap, VecDeque};
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use execward_policy::Ruleset;
use execward_shim::handshake::{self, Report};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;

use crate::attached::{Attached, InFlight};
use crate::audit::{Ended, Program, Reason};
use crate::influence::Protected;
use crate::judge::{Judgement, OperatorGrant};
use crate::kernel::Kernel;
use crate::kin;
use crate::ledger::Ledger;
use crate::link::{Link, Message};
use crate::pipeline::Subject;
use crate::ptrace::{self, CommandStatus, Stopped, WaitEvent};
use crate::readers::{Finding, JobId, Readers};
use crate::refusal::{Notices, Refusal};
use crate::seccomp::{Listener, Notification, Reply};
use crate::tracee::Tid;
use crate::watch::Watch;

/// What becomes of processes that outlive CMD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterlife {
    /// They go on, and so does the gate.
    Linger,
    /// They are killed.
    Kill,
}

/// A session's gate.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) kernel: Kernel,
    pub(crate) rules: Rc<Ruleset>,
    pub(crate) operator: Option<OperatorGrant>,
    pub(crate) attached: Attached,
    pub(crate) awaiting: HashMap<JobId, (Notification, Subject)>,
    pub(crate) readers: Readers,
    pub(crate) ledger: Ledger,
    pub(crate) watch: Watch,
    pub(crate) queued: HashMap<Tid, VecDeque<Notification>>,
    pub(crate) notices: Option<Notices>,
    pub(crate) listener: Rc<Listener>,
    pub(crate) signals: SignalFd,
    pub(crate) link: Link,
    /// The shim's end of the hand-over, until CMD's first exec is over.
    pub(crate) shim: Option<OwnedFd>,
    pub(crate) protected: Protected,
    pub(crate) command: Command,
    pub(crate) afterlife: Afterlife,
    pub(crate) is_over: bool,
}

/// CMD, as its parent sees it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) pid: Tid,
    /// As typed, for messages.
    pub(crate) name: String,
    pub(crate) ended: Option<CommandStatus>,
    /// Whether its last exec was refused with a line on its standard error.
    pub(crate) was_told: bool,
    pub(crate) front_knows: bool,
}

/// Most notifications taken in one turn before reaping and timers have theirs.
const NOTIFICATIONS_A_TURN: usize = 64;

/// What one poll found.
#[derive(Default)]
struct Ready {
    notification: bool,
    hangup: bool,
    signal: bool,
    reader: bool,
    link: bool,
    shim: bool,
}

impl Gate {
    /// Runs until no process of the session is left.
    ///
    /// # Errors
    /// If the listener or poll(2) fail: the caller ends the session then.
    pub(crate) fn run(&mut self) -> Result<(), Errno> {
        loop {
            let ready = self.wait()?;
            if ready.signal {
                self.take_signals()?;
            }
            if ready.reader {
                self.take_findings();
            }
            if ready.notification {
                self.take_notifications()?;
            }
            if ready.shim {
                self.take_report();
            }
            self.interrupt_overdue();
            if ready.link {
                self.front_is_gone();
            }
            if ready.hangup || self.is_over {
                self.reap()?;
                if self.command.ended.is_some() {
                    break;
                }
            }
        }
        self.ledger.end(
            self.command.ended.map(Ended::from).unwrap_or_default(),
            &self.watch,
        );
        Ok(())
    }

    fn wait(&self) -> Result<Ready, Errno> {
        let mut fds = vec![
            PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.listener.as_fd(), PollFlags::POLLIN),
        ];
        // Closed already, it would be ready for ever.
        if !self.command.front_knows {
            fds.push(PollFd::new(self.link.as_fd(), PollFlags::empty()));
        }
        let link_at = (!self.command.front_knows).then_some(2);
        let shim_at = self.shim.as_ref().map(|shim| {
            fds.push(PollFd::new(shim.as_fd(), PollFlags::POLLIN));
            fds.len() - 1
        });
        let readers_at = fds.len();
        if !self.awaiting.is_empty() {
            fds.extend(
                self.readers
                    .sockets()
                    .map(|fd| PollFd::new(fd, PollFlags::POLLIN)),
            );
        }
        match poll(&mut fds, self.time_out()) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Ready::default()),
            Err(errno) => return Err(errno),
        }
        let seen = |at: usize| {
            fds.get(at)
                .and_then(PollFd::revents)
                .unwrap_or(PollFlags::empty())
        };
        let listener = seen(1);
        let is_late = self
            .readers
            .next_deadline()
            .is_some_and(|at| at <= Instant::now());
        Ok(Ready {
            signal: seen(0).intersects(PollFlags::POLLIN),
            notification: listener.intersects(PollFlags::POLLIN),
            hangup: listener.intersects(PollFlags::POLLHUP | PollFlags::POLLERR),
            link: link_at.is_some_and(|at| seen(at).intersects(PollFlags::POLLHUP)),
            shim: shim_at.is_some_and(|at| !seen(at).is_empty()),
            reader: is_late || (readers_at..fds.len()).any(|at| !seen(at).is_empty()),
        })
    }

    fn time_out(&self) -> PollTimeout {
        let next = [self.attached.next_interrupt(), self.readers.next_deadline()];
        let Some(next) = next.into_iter().flatten().min() else {
            return PollTimeout::NONE;
        };
        let left = next.saturating_duration_since(Instant::now());
        // Rounded up: a time-out that is too short would turn into a busy loop.
        PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::ZERO)
    }

    fn take_signals(&mut self) -> Result<(), Errno> {
        while let Some(signal) = self.signals.read_signal()? {
            if signal.ssi_signo == Signal::SIGTERM as u32 {
                tracing::warn!("SIGTERM: ending the session");
                self.end_session();
            }
        }
        self.reap()
    }

    /// Takes every end and every stop there is.
    fn reap(&mut self) -> Result<(), Errno> {
        while let Some(event) = ptrace::next_event()? {
            match event {
                WaitEvent::Exec(stop) => self.meet_exec(stop),
                WaitEvent::Stopped(stopped) => self.meet_stop(stopped),
                WaitEvent::Ended { tid, status } => {
                    self.meet_end(tid);
                    if tid == self.command.pid {
                        self.command_ended(status);
                    }
                }
                WaitEvent::Paused { tid, signal } if self.attached.has(tid) => {
                    self.meet_stop(Stopped::with_signal(tid, signal));
                }
                WaitEvent::Paused { tid, signal } => self.meet_pause(tid, signal),
                WaitEvent::Resumed => {}
            }
        }
        Ok(())
    }

    /// A child was stopped, or a task that nobody seized made the gate its tracer.
    fn meet_pause(&mut self, tid: Tid, signal: i32) {
        let was_traced = Stopped::with_signal(tid, signal).detach().is_ok();
        if !was_traced && tid == self.command.pid {
            self.tell_front(&Message::Paused(signal));
        }
    }

    fn take_notifications(&mut self) -> Result<(), Errno> {
        for _ in 0..NOTIFICATIONS_A_TURN {
            match self.listener.receive()? {
                Some(notification) => self.take(notification),
                None => return Ok(()),
            }
            let mut fds = [PollFd::new(self.listener.as_fd(), PollFlags::POLLIN)];
            if !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..)) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn take(&mut self, notification: Notification) {
        let judged =
            self.protected
                .judge(notification.data(), notification.tid(), &self.kernel.proc);
        match judged {
            Some(reply) => self.answer(notification, reply),
            None => self.consider(notification),
        }
    }

    fn take_findings(&mut self) {
        for finding in self.readers.findings(Instant::now()) {
            match finding {
                Finding::Done(job, found) => {
                    let Some((notification, subject)) = self.awaiting.remove(&job) else {
                        continue;
                    };
                    if self.attached.is_busy(subject.caller.pid) {
                        self.queue(notification);
                    } else {
                        self.found(notification, subject, found);
                    }
                }
                Finding::Late(job) => {
                    let Some((notification, subject)) = self.awaiting.remove(&job) else {
                        continue;
                    };
                    let detail = "looking the file up took longer than a second".to_owned();
                    let judgement = Judgement::refusal(Reason::ReadDeadline, detail);
                    self.refuse_exec(notification, subject, &judgement);
                }
                Finding::AllStuck => {
                    tracing::error!("every reader waits for a file system: ending the session");
                    self.end_session();
                }
            }
        }
    }

    fn interrupt_overdue(&mut self) {
        for tid in self.attached.overdue(Instant::now()) {
            if let Err(errno) = ptrace::interrupt(tid) {
                tracing::debug!(%tid, %errno, "not interrupted");
            }
        }
    }

    /// Parks a notification until the exec of its thread group that is in flight is over.
    pub(crate) fn queue(&mut self, notification: Notification) {
        let tgid = self
            .kernel
            .proc
            .status(notification.tid())
            .map(|status| status.tgid);
        match tgid {
            Ok(tgid) => self.queued.entry(tgid).or_default().push_back(notification),
            Err(_) if !notification.is_pending() => notification.abandon(),
            Err(error) => {
                tracing::error!(%error, "cannot tell the process of a waiting thread");
                self.answer(notification, Reply::Fail(Errno::EPERM));
            }
        }
    }

    /// The exec of `tgid` that was in flight is over: the next may come.
    pub(crate) fn group_is_free(&mut self, tgid: Tid) {
        while !self.attached.is_busy(tgid) {
            let Some(next) = self.queued.get_mut(&tgid).and_then(VecDeque::pop_front) else {
                self.queued.remove(&tgid);
                return;
            };
            if next.is_pending() {
                self.consider(next);
            } else {
                next.abandon();
            }
        }
    }

    /// Nothing more is expected of `tid`; it is let go as soon as it stands still.
    pub(crate) fn release(&mut self, tid: Tid, tgid: Tid) -> Option<InFlight> {
        let exec = self.attached.release(tid, tgid);
        if let Err(errno) = ptrace::interrupt(tid) {
            tracing::debug!(%tid, %errno, "not interrupted");
            self.attached.take(tid);
        }
        exec
    }

    /// CMD's first exec has loaded: what the operator typed has been done.
    pub(crate) fn consume_operator_grant(&mut self, tgid: Tid) {
        if self
            .operator
            .as_ref()
            .is_some_and(|grant| grant.process == tgid)
        {
            self.operator = None;
        }
    }

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
        let id = self.record_refusal(program, received, judgement);
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

    /// Refuses an exec of which not even the strings are known: record, answer.
    pub(crate) fn refuse(
        &mut self,
        notification: Notification,
        received: Instant,
        program: Program,
        judgement: &Judgement,
    ) {
        self.record_refusal(program, received, judgement);
        self.answer(notification, Reply::Fail(Errno::EPERM));
    }

    fn record_refusal(
        &mut self,
        program: Program,
        received: Instant,
        judgement: &Judgement,
    ) -> String {
        let id = self.ledger.next_id();
        let reply = Reply::Fail(Errno::EPERM);
        let decided = judgement.decided();
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

    fn take_report(&mut self) {
        let Some(shim) = self.shim.take() else { return };
        if let Ok(Report::Failed { errno, .. }) = handshake::receive_report(&shim) {
            let name = &self.command.name;
            let words = match errno {
                Errno::EPERM if self.command.was_told => None,
                Errno::ENOENT => Some(format!("cannot find `{name}` on the PATH")),
                Errno::EPERM => Some(format!("`{name}` was refused; see the audit log")),
                errno => Some(format!("cannot execute `{name}`: {}", errno.desc())),
            };
            self.tell_front(&Message::NotExecuted(words));
        }
    }

    fn command_ended(&mut self, status: CommandStatus) {
        self.command.ended = Some(status);
        self.take_report();
        if self.afterlife == Afterlife::Kill {
            self.end_session();
        }
        self.tell_front(&Message::Ended(status));
        self.command.front_knows = true;
    }

    /// Whoever started the session is gone without CMD: as if CMD itself had been killed.
    fn front_is_gone(&mut self) {
        self.command.front_knows = true;
        if self.command.ended.is_none() {
            tracing::warn!("the front is gone: killing CMD");
            if let Err(errno) = kill(self.command.pid.as_pid(), Signal::SIGKILL) {
                tracing::debug!(%errno, "CMD was gone");
            }
        }
    }

    fn end_session(&mut self) {
        self.is_over = true;
        kin::kill_descendants(&self.kernel.proc, Tid::own());
    }

    fn tell_front(&self, message: &Message) {
        if let Err(error) = self.link.send(message) {
            tracing::warn!(%error, ?message, "the front was not told");
        }
    }
}
