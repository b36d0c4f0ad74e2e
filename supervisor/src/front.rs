//! What the caller started: it stands for CMD in the caller's eyes.
//!
//! It stays in CMD's process group, passes on what was sent to it alone, stops when CMD stops, ends
//! as CMD ends, and ends the session if the gate does not.

mod first;
mod jobs;
mod prompt;
mod start;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use rustix::process::{PidfdFlags, pidfd_open};

use crate::approval::Prompt;
use crate::exit::ExitStatus;
use crate::kin;
use crate::link::{Link, Message};
use crate::own_process::raise_limits;
use crate::ptrace::CommandStatus;
use crate::session::{ADOPT, CLOSE_MEMORY, TAKE_SIGNALS};
use crate::system::{DOCTOR, SystemError, cannot};
use crate::terminal::{Console, TerminalError};
use crate::tracee::{Procfs, ProcfsError, Tid, is_alive};
use crate::watch::{Activity, Beat, Pulse, monotonic};

pub(crate) use first::is_first;
use start::{leave_output_to_command, start_gate, take_signals};

/// How often the gate's pulse is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long the gate may be silent, or in one activity, before the front says so.
pub(crate) const SILENCE: Duration = Duration::from_secs(3);

/// What keeps a gate from showing that it lives.
pub(crate) const SILENT: &str = "the gate does not run: it is stopped, or gets no processor";

/// Stop signals of a terminal, which CMD gets as well: the front stops when CMD has.
const STOPS: [Signal; 3] = [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU];

/// Where a session is logged.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) path: PathBuf,
    /// Its ID there.
    pub(crate) session: String,
    /// The digest of its last record, if the gate has written that.
    pub(crate) head: Option<String>,
}

/// Runs the gate in a process of its own and waits for CMD, and for its log if `awaits_log`. `arguments` are
/// those of `run`, and `visitor` is the connection of a process that hands itself over to become CMD, if CMD is
/// none that the gate starts. Where it was logged, if it began.
///
/// # Errors
/// If the session cannot be had: nothing ran, and the gate goes no further without the front.
pub(crate) fn run(
    arguments: Vec<OsString>,
    is_quiet: bool,
    prompt: Prompt,
    awaits_log: bool,
    visitor: Option<OwnedFd>,
) -> Result<(ExitStatus, Option<Logged>), FrontError> {
    prctl::set_child_subreaper(true).map_err(cannot(ADOPT))?;
    let proc = Procfs::open()?;
    let null = File::options().read(true).write(true).open("/dev/null");
    let null = null.map_err(cannot("open /dev/null"))?;
    let (link, theirs) = Link::pair().map_err(cannot("make a pair of sockets for the gate"))?;
    let pulse = Pulse::new().map_err(cannot(
        "make memory that front and gate share (memfd_create)",
    ))?;
    let (mut console, guest) = prompt::console(prompt, &proc)?.unzip();
    let gate = start_gate(&theirs, &pulse, guest.as_ref(), visitor.as_ref(), arguments)?;
    let is_elsewhere = visitor.is_some();
    drop((theirs, guest, visitor));
    // Outside the filter as it is, whoever could trace it could have it exec anything.
    prctl::set_dumpable(false).map_err(cannot(CLOSE_MEMORY))?;
    let signals = take_signals().map_err(cannot(TAKE_SIGNALS))?;
    // A signal would end the front without putting the terminal right before it is read.
    if let Some(console) = &mut console {
        console.close_to_others(&proc)?;
    }
    raise_limits();
    leave_output_to_command(&null).map_err(cannot("leave the output to the command"))?;
    drop(null);
    let gate_pid = Tid::new(gate.id());
    let pidfd = open_pidfd(gate_pid).map_err(cannot("watch the gate (pidfd_open)"))?;
    match link.say_ready() {
        // What a gate that is gone has said is still to be heard.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        said => said.map_err(cannot("tell the gate to go on"))?,
    }
    let mut front = Front {
        link,
        pulse,
        signals,
        proc,
        gate,
        pidfd,
        console,
        has_begun: false,
        logged: None,
        awaits_log,
        command: None,
        is_elsewhere,
        is_quiet,
        said: None,
        asked_to_end: None,
        ran: Duration::ZERO,
    };
    let status = front.stand_in();
    Ok((status, front.logged.take()))
}

/// Why there is no session. Its text is shown behind `execward: `.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrontError {
    #[error("{0}")]
    System(#[from] SystemError),
    #[error("{0}")]
    Proc(#[from] ProcfsError),
    #[error("{0}")]
    Terminal(#[from] TerminalError),
    #[error(
        "cannot start the gate: execward's own executable is not to be had from /proc/self/exe: {0}; mount proc at /proc"
    )]
    NoExecutable(io::Error),
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Front {
    link: Link,
    pulse: Pulse,
    signals: SignalFd,
    proc: Procfs,
    gate: Child,
    pidfd: OwnedFd,
    /// The user's terminal, if it is asked there.
    console: Option<Console>,
    /// Whether CMD may have run.
    has_begun: bool,
    logged: Option<Logged>,
    /// Whether the front stays until the log is whole.
    awaits_log: bool,
    command: Option<(Tid, OwnedFd)>,
    /// Whether CMD is a process of a container's, and neither below the front nor in its group.
    is_elsewhere: bool,
    is_quiet: bool,
    /// The stall that was told last, by when it began.
    said: Option<Duration>,
    /// When somebody last asked for the session's end, and how.
    asked_to_end: Option<(Duration, Signal)>,
    /// How long the front has run since the gate was last seen to: its own stops do not count.
    ran: Duration,
}

impl Front {
    fn stand_in(&mut self) -> ExitStatus {
        loop {
            let before = monotonic();
            let (has_signal, has_message, gate_ended) = self.wait();
            if has_signal {
                self.pass_signals_on();
            }
            if has_message {
                match self.link.receive() {
                    Ok(Some(message)) => {
                        if let Some(status) = self.hear(message) {
                            self.show_the_rest();
                            self.outlast_gate();
                            return status;
                        }
                        continue;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Ok(None) | Err(_) => return self.gate_is_gone(),
                }
            }
            if gate_ended || self.gate_is_a_zombie() {
                return self.gate_is_gone();
            }
            self.turn_console();
            // A wait that took longer than it may was one in which the front was stopped.
            self.ran += monotonic().saturating_sub(before).min(LOOK_EVERY);
            if let Some(status) = self.look_at_pulse() {
                return status;
            }
        }
    }

    fn wait(&self) -> (bool, bool, bool) {
        // Until CMD is known there is nobody to pass signals on to: they wait, unread, unless they are to
        // end a start that does not get on.
        let signals = match self.command.is_some() || self.said.is_some() {
            true => PollFlags::POLLIN,
            false => PollFlags::empty(),
        };
        let mut fds = vec![
            PollFd::new(self.signals.as_fd(), signals),
            PollFd::new(self.link.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN),
        ];
        fds.extend(self.console.iter().flat_map(Console::interest));
        let limit = PollTimeout::try_from(LOOK_EVERY).unwrap_or(PollTimeout::MAX);
        if poll(&mut fds, limit).is_err() {
            return (false, false, false);
        }
        let is_ready = |at: usize| fds.get(at).is_none_or(|fd| fd.any().unwrap_or(true));
        (is_ready(0), is_ready(1), is_ready(2))
    }

    /// What follows from a message; a status if it is the end.
    fn hear(&mut self, message: Message) -> Option<ExitStatus> {
        match message {
            Message::Failed(why) => {
                self.say(&why);
                return Some(ExitStatus::OwnFailure);
            }
            Message::Started {
                pid,
                notice,
                control,
                log,
                session,
            } => {
                let pid = Tid::new(pid);
                self.has_begun = true;
                let path = PathBuf::from(OsString::from_vec(log));
                self.logged = Some(Logged {
                    path,
                    session,
                    head: None,
                });
                self.command = open_pidfd(pid).ok().map(|pidfd| (pid, pidfd));
                if !self.is_quiet {
                    self.say(&notice);
                }
                self.ask_here(control);
            }
            Message::NotExecuted(why) => {
                if let Some(why) = why {
                    self.say(&why);
                }
            }
            Message::Lost(why) => self.say(&why),
            Message::Paused(signal) => self.stop_with_command(signal),
            Message::Ended(status) => return Some(self.ended(status)),
            Message::Logged(head) => {
                if let Some(logged) = &mut self.logged {
                    logged.head = Some(head);
                }
            }
        }
        None
    }

    fn ended(&mut self, status: CommandStatus) -> ExitStatus {
        if status == CommandStatus::Unseen {
            self.say(
                "CMD has ended, and this kernel does not tell how (Linux 6.15 does); whoever started it knows",
            );
        }
        ExitStatus::Command(status)
    }

    /// A gate with a thread that the kernel does not let go is never reaped, but its first thread
    /// is seen to have ended.
    fn gate_is_a_zombie(&self) -> bool {
        self.proc
            .status(Tid::new(self.gate.id()))
            .is_ok_and(|status| status.is_ended())
    }

    /// Without its gate the session cannot exec, and nobody would say why.
    fn gate_is_gone(&mut self) -> ExitStatus {
        if let Ok(Some(Message::Ended(status))) = self.link.receive() {
            self.show_the_rest();
            return self.ended(status);
        }
        // Its descriptors close before it can be reaped; a thread that the kernel does not let go
        // must not keep us, so the wait is short.
        let mut fds = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
        let limit = PollTimeout::try_from(LOOK_EVERY).unwrap_or(PollTimeout::ZERO);
        let reaped = poll(&mut fds, limit).map(|_| self.gate.try_wait());
        let how = match reaped.unwrap_or(Ok(None)) {
            Ok(Some(status)) => status.to_string(),
            Ok(None) | Err(_) => "not reaped by the kernel".to_owned(),
        };
        self.say(&match self.has_begun {
            true => format!(
                "the gate is gone ({how}): every further exec of the session fails with ENOSYS; \
                 ending its processes"
            ),
            false => format!(
                "the gate ended before the command began ({how}) and could not say why; nothing \
                 ran. Something kills it, or the limit of open files (`ulimit -n`) is too low; \
                 {DOCTOR}"
            ),
        });
        self.kill_members(Tid::own());
        ExitStatus::OwnFailure
    }

    /// Says that the gate stands still; a status if somebody asked for the end since.
    fn look_at_pulse(&mut self) -> Option<ExitStatus> {
        // A gate that stands still at once has not shown yet that it lives.
        let never = Beat {
            at: Duration::ZERO,
            activity: Activity::Free,
            since: Duration::ZERO,
        };
        let beat = self.pulse.read().or(self.has_begun.then_some(never))?;
        let now = monotonic();
        if now.saturating_sub(beat.at) < SILENCE {
            self.ran = Duration::ZERO;
        }
        let in_activity = beat.at.saturating_sub(beat.since);
        let runs = self.ran < SILENCE;
        let (began, what) = if !runs {
            (beat.at, SILENT.to_owned())
        } else if beat.activity != Activity::Free && in_activity >= SILENCE {
            (beat.since, in_words(beat.activity))
        } else {
            return None;
        };
        if let Some((_, signal)) = self.asked_to_end.filter(|(at, _)| *at >= began) {
            self.say(&format!(
                "{what}; ending the session's processes, as {signal} asks"
            ));
            return Some(self.end_without_gate(runs));
        }
        if self.said != Some(began) {
            self.said = Some(began);
            self.say(&format!("{what}; the session's execs wait"));
        }
        None
    }

    /// Kills CMD and what is below it, and below `ancestor`.
    fn kill_members(&self, ancestor: Tid) {
        let command = self.command.as_ref().filter(|_| self.is_elsewhere);
        if let Some((pid, _)) = command.filter(|(_, pidfd)| is_alive(pidfd.as_fd())) {
            kin::kill_with_descendants(&self.proc, *pid);
        }
        kin::kill_descendants(&self.proc, &[ancestor]);
    }

    /// The gate, which would end the session, stands still. One that waits for a disk ends by itself
    /// when that answers, with its records written.
    fn end_without_gate(&mut self, gate_runs: bool) -> ExitStatus {
        self.kill_members(Tid::new(self.gate.id()));
        if !gate_runs && let Err(error) = self.gate.kill() {
            tracing::debug!(%error, "the gate was gone");
        }
        ExitStatus::OwnFailure
    }
}

/// What the gate waits for.
pub(crate) fn in_words(activity: Activity) -> String {
    match activity {
        Activity::Reading(tid) => {
            format!("the gate waits for the memory of process {tid}, which does not answer")
        }
        Activity::Recording => "the gate waits for the disk under its audit log".to_owned(),
        Activity::Free => "the gate waits".to_owned(),
    }
}

fn open_pidfd(pid: Tid) -> io::Result<OwnedFd> {
    let pid = pid.as_rustix().ok_or(Errno::ESRCH)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// On standard error, if anyone reads it: whoever does not must not end the session by that.
pub(crate) fn say(text: &str) {
    let line = format!("execward: {text}\n");
    if let Err(error) = io::stderr().write_all(line.as_bytes()) {
        tracing::debug!(%error, "nobody was told: {text}");
    }
}
