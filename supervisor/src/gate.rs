//! The event loop: one thread that alone polls the listener, reaps, and traces.
//!
//! SIGCHLD is process-wide and a tracee belongs to the thread that seized it, so everything that
//! waits for either is here. Nothing here waits for anything else.

mod turn;

use std::collections::{HashMap, VecDeque};
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use execward_policy::Ruleset;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::unistd::getppid;

use crate::answer::Unread;
use crate::attached::{Attached, InFlight};
use crate::audit::{Ended, Reason};
use crate::beginning::Beginning;
use crate::cli::RunArgs;
use crate::command::Command;
use crate::describer::Describer;
use crate::fault::{self, Phase};
use crate::findings::Awaiting;
use crate::front;
use crate::grants::{Granted, Patience};
use crate::influence::Protected;
use crate::judge::OperatorGrant;
use crate::kernel::Kernel;
use crate::kin;
use crate::ledger::Ledger;
use crate::lineage::Lineages;
use crate::link::{Link, Message};
use crate::messenger::Messenger;
use crate::notices::Notices;
use crate::parking::{Asked, Parking};
use crate::past::LiveSession;
use crate::pid_namespace::PidNamespace;
use crate::ptrace::{self, Stopped, WaitEvent};
use crate::readers::Readers;
use crate::recent::Recent;
use crate::room::Room;
use crate::seccomp::{Listener, Notification};
use crate::texts::Texts;
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

impl Afterlife {
    pub(crate) fn of(args: &RunArgs) -> Self {
        // What another user leaves running would share the caller's terminal; and a container ends with the
        // command that it was started for.
        let is_short = args.user.is_some() || front::is_first(getppid());
        // What is to be expected is known once nobody is left.
        let is_counted = args.expect.is_some();
        if args.kill_at_exit || is_counted || is_short && !args.linger {
            Self::Kill
        } else {
            Self::Linger
        }
    }
}

/// A session's gate.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) kernel: Kernel,
    pub(crate) rules: Rc<Ruleset>,
    /// What people said, which is in `rules`.
    pub(crate) granted: Granted,
    pub(crate) operator: Option<OperatorGrant>,
    pub(crate) describer: Describer,
    pub(crate) beginning: Beginning,
    pub(crate) lineages: Lineages,
    pub(crate) recent: Recent,
    pub(crate) attached: Attached,
    pub(crate) awaiting: Awaiting,
    pub(crate) readers: Readers,
    pub(crate) texts: Texts,
    pub(crate) ledger: Ledger,
    pub(crate) watch: Watch,
    pub(crate) room: Room,
    pub(crate) queued: HashMap<Tid, VecDeque<Queued>>,
    pub(crate) parking: Parking,
    pub(crate) messenger: Option<Messenger>,
    pub(crate) notices: Option<Notices>,
    pub(crate) listener: Rc<Listener>,
    pub(crate) signals: SignalFd,
    pub(crate) link: Link,
    /// The shim's end of the hand-over, until CMD's first exec is over.
    pub(crate) shim: Option<OwnedFd>,
    pub(crate) protected: Protected,
    pub(crate) command: Command,
    pub(crate) namespace: Option<PidNamespace>,
    pub(crate) afterlife: Afterlife,
    pub(crate) is_over: bool,
    /// Whether every exec goes on, and the log alone says what the policy says.
    pub(crate) is_observed: bool,
    pub(crate) alive: LiveSession,
}

/// A notification that waits for another exec of its thread group, with what was asked about it.
type Queued = (Notification, Option<Box<Asked>>);

/// Most notifications taken in one turn before reaping and timers have theirs.
const NOTIFICATIONS_A_TURN: usize = 64;

impl Gate {
    /// Runs until no process of the session is left.
    ///
    /// # Errors
    /// If the listener or poll(2) fail: the caller ends the session then.
    pub(crate) fn run(&mut self) -> Result<(), Errno> {
        let result = self.turn_until_over();
        if result.is_ok() {
            self.alive.end();
        }
        self.withdraw_all();
        self.meet_end_of_all();
        self.close_control();
        self.granted.flush(Patience::Leisure);
        let ended = self.command.ended.map(Ended::from).unwrap_or_default();
        self.ledger.end(ended, &self.watch);
        // Who waits for the log is told by what to know it.
        if let Err(error) = self.link.send(&Message::Logged(self.ledger.head())) {
            tracing::debug!(%error, "the front has gone before");
        }
        result
    }

    fn turn_until_over(&mut self) -> Result<(), Errno> {
        loop {
            let ready = self.wait()?;
            if ready.signal {
                self.take_signals()?;
            }
            if ready.reader {
                self.take_findings();
            }
            if ready.control {
                self.take_reports();
            }
            if ready.messenger {
                self.take_messages();
            }
            if ready.notification {
                self.take_notifications()?;
            }
            if ready.shim {
                self.take_report();
            }
            if ready.command {
                self.look_at_outsider();
            }
            self.interrupt_overdue();
            self.look_at_parked(Instant::now());
            self.count_grants(Instant::now());
            self.ledger.sign_if_due(&self.watch);
            self.end_subtrees();
            self.reconsider();
            if ready.link {
                self.front_is_gone();
            }
            if ready.hangup || self.is_over {
                self.reap()?;
                self.look_at_outsider();
                if self.command.ended.is_some() {
                    return Ok(());
                }
            }
        }
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

    fn take_notifications(&mut self) -> Result<(), Errno> {
        for _ in 0..NOTIFICATIONS_A_TURN {
            fault::at(Phase::BeforeReceive);
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

    fn interrupt_overdue(&mut self) {
        for tid in self.attached.overdue(Instant::now()) {
            self.interrupt(tid);
        }
    }

    /// Asks a traced task to stop as soon as it is out of its system call.
    pub(crate) fn interrupt(&self, tid: Tid) {
        if let Err(errno) = ptrace::interrupt(tid) {
            tracing::debug!(%tid, %errno, "not interrupted");
        }
    }

    /// Parks a notification until the exec of its thread group that is in flight is over.
    pub(crate) fn queue(&mut self, notification: Notification, asked: Option<Box<Asked>>) {
        let status = self.kernel.proc.status(notification.tid());
        match status.map(|status| status.tgid) {
            Ok(tgid) => {
                let queue = self.queued.entry(tgid).or_default();
                queue.push_back((notification, asked));
            }
            Err(_) if !notification.is_pending() => self.lose(notification, asked),
            Err(error) => {
                tracing::error!(%error, "cannot tell the process of a waiting thread");
                let detail = format!("cannot tell its process: {error}");
                let unread = Unread {
                    received: Instant::now(),
                    caller: None,
                    ground: Reason::Unreadable,
                    detail,
                    errno: Errno::EPERM,
                    asked,
                };
                self.refuse(notification, unread);
            }
        }
    }

    /// The exec of `tgid` that was in flight is over: the next may come.
    pub(crate) fn group_is_free(&mut self, tgid: Tid) {
        while !self.attached.is_busy(tgid) {
            let Some((next, asked)) = self.queued.get_mut(&tgid).and_then(VecDeque::pop_front)
            else {
                self.queued.remove(&tgid);
                return;
            };
            if next.is_pending() {
                self.examine(next, asked);
            } else {
                self.lose(next, asked);
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

    /// Whether no process is left that the gate gates (seccomp_unotify(2)).
    pub(crate) fn nobody_is_left(&self) -> bool {
        let mut fds = [PollFd::new(self.listener.as_fd(), PollFlags::empty())];
        matches!(poll(&mut fds, PollTimeout::ZERO), Ok(1..))
    }

    pub(crate) fn end_session(&mut self) {
        self.is_over = true;
        self.kill_members();
    }

    pub(crate) fn kill_members(&self) {
        if let Some(namespace) = &self.namespace {
            // All of them at once. It ends last, when the gate has reaped CMD, and is not waited for here.
            namespace.kill();
        }
        for outsider in self.command.outsiders() {
            kin::kill_with_descendants(&self.kernel.proc, outsider);
        }
        kin::kill_descendants(&self.kernel.proc, &self.ancestors());
    }

    /// Sends `signals` to every process of the session, as far as it forks none meanwhile.
    pub(crate) fn signal_members(&self, signals: &[rustix::process::Signal]) {
        let below = kin::descendants(&self.kernel.proc, &self.ancestors());
        for member in below.into_iter().chain(self.command.outsiders()) {
            kin::signal(member, signals);
        }
    }

    /// Whom the session is below, and who is none of it.
    fn ancestors(&self) -> Vec<Tid> {
        let first = self.namespace.as_ref().map(PidNamespace::first);
        let own = [Tid::own()].into_iter().chain(first);
        own.chain(self.command.outsiders()).collect()
    }
}
