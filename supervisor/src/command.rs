//! CMD, as its parent sees it and the front is told.

use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use execward_shim::handshake::{self, Report};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};

use crate::gate::{Afterlife, Gate};
use crate::link::Message;
use crate::outsider::Outsider;
use crate::pid_namespace::PidNamespace;
use crate::ptrace::{CommandStatus, Stopped};
use crate::tracee::Tid;

/// CMD, as its parent sees it.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) pid: Tid,
    /// The same, if the gate is not its parent.
    pub(crate) outsider: Option<Outsider>,
    /// As typed, for messages.
    pub(crate) name: String,
    pub(crate) ended: Option<CommandStatus>,
    /// Whether its last exec was refused with a line on its standard error.
    pub(crate) was_told: bool,
    pub(crate) front_knows: bool,
}

impl Command {
    /// CMD before its first exec: process `pid`, and what it is to become.
    pub(crate) fn new(pid: Tid, outsider: Option<Outsider>, argv: &[OsString]) -> Self {
        let name = argv.first().map(|word| word.as_bytes().escape_ascii());
        Self {
            pid,
            outsider,
            name: name.map(|name| name.to_string()).unwrap_or_default(),
            ended: None,
            was_told: false,
            front_knows: false,
        }
    }

    /// Processes of the session that are none of the gate's own descendants, and above all others.
    pub(crate) fn outsiders(&self) -> Vec<Tid> {
        self.outsider.as_ref().map_or_else(Vec::new, Outsider::live)
    }

    /// What is readable once CMD has ended, where no signal tells of that.
    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        let outsider = self.outsider.as_ref().filter(|_| self.ended.is_none());
        outsider.map(AsFd::as_fd)
    }
}

impl Gate {
    /// A child was stopped, or a task that nobody seized made the gate its tracer.
    pub(crate) fn meet_pause(&mut self, tid: Tid, signal: i32) {
        let was_traced = Stopped::with_signal(tid, signal).detach().is_ok();
        if !was_traced && tid == self.command.pid {
            self.tell_front(&Message::Paused(signal));
        }
    }

    /// CMD, no child of the gate's, may have ended.
    pub(crate) fn look_at_outsider(&mut self) {
        let outsider = self.command.outsider.as_ref();
        let outsider = outsider.filter(|_| self.command.ended.is_none());
        if let Some(status) = outsider.and_then(Outsider::end) {
            self.command_ended(status);
        }
    }

    pub(crate) fn take_report(&mut self) {
        let Some(shim) = self.shim.take() else { return };
        if let Ok(Report::Failed { errno, .. }) = handshake::receive_report(&shim) {
            let name = &self.command.name;
            #[expect(clippy::wildcard_enum_match_arm, reason = "errnos are an open set")]
            let words = match errno {
                Errno::EPERM if self.command.was_told => None,
                Errno::ENOENT if name.contains('/') => Some(format!(
                    "cannot find `{name}`, or the interpreter that it names"
                )),
                Errno::ENOENT => Some(format!("cannot find `{name}` on the PATH")),
                Errno::EPERM => Some(format!("`{name}` was refused; see the audit log")),
                errno => Some(format!("cannot execute `{name}`: {}", errno.desc())),
            };
            self.tell_front(&Message::NotExecuted(words));
        }
    }

    pub(crate) fn command_ended(&mut self, status: CommandStatus) {
        self.command.ended = Some(status);
        self.take_report();
        self.tell_of_loss();
        if self.afterlife == Afterlife::Kill {
            self.end_session();
        }
        // Before the front ends: whoever goes on then and edits a policy is no member.
        if self.nobody_is_left() {
            self.alive.end();
        }
        // A front that is told may be gone at once.
        self.needs_no_front();
        self.tell_front(&Message::Ended(status));
    }

    fn needs_no_front(&mut self) {
        self.command.front_knows = true;
        self.parking.front_is_gone();
        self.watch.needs_no_front();
    }

    /// CMD ended because the first process of its namespace did, and not by the gate.
    fn tell_of_loss(&self) {
        let namespace = self.namespace.as_ref().filter(|_| !self.is_over);
        if namespace.is_some_and(PidNamespace::is_ending) {
            let why = "the first process of the session's pid namespace was ended from outside, and \
                       with it the kernel ended the session; start it again";
            tracing::error!("{why}");
            self.tell_front(&Message::Lost(why.to_owned()));
        }
    }

    /// Whoever started the session is gone without CMD: as if CMD itself had been killed.
    pub(crate) fn front_is_gone(&mut self) {
        self.needs_no_front();
        if self.command.ended.is_none() {
            tracing::warn!("the front is gone: killing CMD");
            if let Some(outsider) = &self.command.outsider {
                outsider.kill();
            } else if let Err(errno) = kill(self.command.pid.as_pid(), Signal::SIGKILL) {
                tracing::debug!(%errno, "CMD was gone");
            }
        }
    }

    fn tell_front(&self, message: &Message) {
        if let Err(error) = self.link.send(message) {
            tracing::warn!(%error, ?message, "the front was not told");
        }
    }
}
