//! The gate's side of the hand-over: start the shim, take its listener, say why there is none.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::rc::Rc;
use std::time::Duration;

use execward_shim::Rights;
use execward_shim::handshake::{self, Report, Stage, Version};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{Pid, getpgid, getppid, setpgid};

use crate::fdpass;
use crate::judge::OperatorGrant;
use crate::newcomer::{Arrived, Newcomer};
use crate::outsider::Outsider;
use crate::own_process::keep_on_exec;
use crate::pid_namespace::PidNamespace;
use crate::plan::Plan;
use crate::seccomp::Listener;
use crate::session::SessionError;
use crate::system::{SystemError, cannot};
use crate::terminal;
use crate::tracee::Tid;
use crate::user::{AnotherUser, environment};

/// How long a shim may take to install its filter, and to say so.
pub(crate) const HANDOVER_DEADLINE: Duration = Duration::from_secs(10);

/// The process that becomes CMD, before the go-ahead. Dropped, it does not: a start that failed leaves nothing
/// behind.
#[derive(Debug)]
pub(crate) struct Candidate {
    /// By which it is told.
    socket: OwnedFd,
    process: Process,
    namespace: Option<PidNamespace>,
}

#[derive(Debug)]
enum Process {
    /// A shim of the gate's own.
    Ours(Waiting),
    /// That of a container, whose socket is its end if nothing is said.
    Newcomer(Box<Arrived>),
}

/// A shim before the go-ahead. Dropped, it is ended.
#[derive(Debug)]
struct Waiting {
    shim: Child,
    is_released: bool,
}

/// What may become CMD from here on.
#[derive(Debug)]
pub(crate) struct Released {
    pub(crate) socket: OwnedFd,
    pub(crate) pid: u32,
    pub(crate) namespace: Option<PidNamespace>,
    /// CMD, if that is no child of the gate's.
    pub(crate) outsider: Option<Outsider>,
}

impl Candidate {
    /// A shim of the gate's own, in a pid namespace of the session's own if there is to be one.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn spawned(
        terminal: Option<&OwnedFd>,
        plan: &Plan<'_>,
    ) -> Result<Self, SessionError> {
        let pair = fdpass::pair().map_err(cannot("make a pair of sockets for the shim"))?;
        let (socket, theirs) = pair;
        let spawn = || spawn_shim(&theirs, terminal, plan);
        let (namespace, waiting) = match plan.args.pid_namespace {
            false => (None, spawn()?),
            true => {
                let (namespace, waiting) = PidNamespace::around(spawn)?;
                (Some(namespace), waiting)
            }
        };
        Ok(Self {
            socket,
            process: Process::Ours(waiting),
            namespace,
        })
    }

    /// The process of a container.
    pub(crate) fn of(newcomer: Newcomer) -> Self {
        let (socket, arrived) = newcomer.into_arrived();
        Self {
            socket,
            process: Process::Newcomer(Box::new(arrived)),
            namespace: None,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        match &self.process {
            Process::Ours(waiting) => waiting.shim.id(),
            Process::Newcomer(arrived) => arrived.pid,
        }
    }

    /// Its listener, and in which version it is to be answered.
    ///
    /// # Errors
    /// If it does not hand one over in time.
    pub(crate) fn listener(&self) -> Result<(Rc<Listener>, Version), SessionError> {
        match &self.process {
            Process::Ours(_) => receive_listener(&self.socket),
            Process::Newcomer(arrived) => Ok((Rc::clone(&arrived.listener), arrived.version)),
        }
    }

    /// It may become CMD from here on.
    pub(crate) fn release(self) -> Released {
        let pid = self.pid();
        let outsider = match self.process {
            Process::Ours(mut waiting) => {
                waiting.is_released = true;
                None
            }
            Process::Newcomer(arrived) => Some(arrived.outsider),
        };
        Released {
            socket: self.socket,
            pid,
            namespace: self.namespace,
            outsider,
        }
    }
}

impl Released {
    /// What whoever started the session has said by that. Nobody here has typed what a container starts.
    pub(crate) fn operator_grant(&self, cmd: &[OsString]) -> Option<OperatorGrant> {
        self.outsider.is_none().then(|| OperatorGrant {
            process: Tid::new(self.pid),
            argv: cmd.iter().map(|word| word.as_bytes().to_vec()).collect(),
        })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_released
            && let Err(error) = self.shim.kill().and_then(|()| self.shim.wait())
        {
            tracing::error!(%error, "the shim is not ended");
        }
    }
}

/// Has the gate lead the session on CMD's terminal, if that is one of its own; whether it is.
pub(crate) fn lead_session(
    terminal: Option<&OwnedFd>,
    plan: &Plan<'_>,
) -> Result<bool, SystemError> {
    if let Some(terminal) = terminal {
        let owner = plan.cmd.user().map(AnotherUser::uid);
        terminal::lead(terminal, owner).map_err(cannot("lead a session on CMD's terminal"))?;
    }
    Ok(terminal.is_some())
}

/// Starts `execward __shim SOCKET RIGHTS CMD…` in the caller's process group, or on a terminal of CMD's own
/// in a group of its own: an exec before the filter exists. No code of ours runs between fork and exec.
fn spawn_shim(
    socket: &OwnedFd,
    terminal: Option<&OwnedFd>,
    plan: &Plan<'_>,
) -> Result<Waiting, SystemError> {
    const START: &str = "start the shim from /proc/self/exe";
    let front = getppid();
    let group = getpgid(Some(front)).map_err(cannot(START))?;
    keep_on_exec(socket).map_err(cannot(START))?;
    let rights = match plan.cmd.user() {
        Some(user) => user.rights(),
        None if plan.args.keep_caps => Rights::Keep,
        None => Rights::Drop,
    };
    let mut shim = Command::new("/proc/self/exe");
    shim.arg0("execward")
        .arg("__shim")
        .arg(socket.as_raw_fd().to_string())
        .arg(rights.to_string())
        .args(&plan.cmd.words)
        .env_clear()
        .envs(environment(plan.cmd.user()));
    let shim = if let Some(terminal) = terminal {
        in_foreground(terminal, &mut shim).map_err(cannot(START))?
    } else if plan.args.pid_namespace {
        born_into(group, &mut shim).map_err(cannot(START))?
    } else {
        let spawned = shim.process_group(group.as_raw()).spawn();
        spawned.map_err(cannot(START))?
    };
    Ok(Waiting {
        shim,
        is_released: false,
    })
}

/// Starts a process in a group of its own, which has `terminal`'s keys.
fn in_foreground(terminal: &OwnedFd, process: &mut Command) -> io::Result<Child> {
    let mut spawned = process.process_group(0).spawn()?;
    if let Err(error) = terminal::give(terminal, spawned.id()) {
        spawned.kill()?;
        spawned.wait()?;
        return Err(error);
    }
    Ok(spawned)
}

/// Starts a process in a group for which it has no number to join it by: the gate joins for it, and
/// leaves again.
fn born_into(group: Pid, process: &mut Command) -> io::Result<Child> {
    let own = Pid::from_raw(0);
    setpgid(own, group)?;
    let spawned = process.spawn();
    setpgid(own, own)?;
    spawned
}

/// Waits for the shim's listener.
///
/// # Errors
/// If none comes in time, with what the shim reported.
pub(crate) fn receive_listener(shim: &OwnedFd) -> Result<(Rc<Listener>, Version), SessionError> {
    let mut fds = [PollFd::new(shim.as_fd(), PollFlags::POLLIN)];
    let limit = PollTimeout::try_from(HANDOVER_DEADLINE).unwrap_or(PollTimeout::MAX);
    if !matches!(poll(&mut fds, limit), Ok(1..)) {
        let seconds = HANDOVER_DEADLINE.as_secs();
        return Err(SessionError::Shim(format!(
            "the shim did not hand its listener over within {seconds} s; something may stop or \
             trace it"
        )));
    }
    match handshake::receive_report(shim) {
        Ok(Report::Listening { listener, version }) => match Listener::new(listener) {
            Ok(listener) => Ok((listener, version)),
            Err(errno) => Err(SessionError::Shim(format!(
                "what the shim handed over is no listener: {errno}"
            ))),
        },
        Ok(Report::Failed { stage, errno }) => {
            Err(SessionError::Shim(why_not_supervised(stage, errno)))
        }
        Ok(Report::Closed) => Err(SessionError::Shim(
            "the shim died before it installed the filter; the kernel log may say why".into(),
        )),
        Err(error) => Err(SessionError::Shim(format!(
            "the shim's report cannot be read: {error}; the limit of open files (`ulimit -n`) may \
             be too low"
        ))),
    }
}

/// What the shim failed at, and the cause behind an errno of seccomp(2) with what to do.
#[expect(clippy::wildcard_enum_match_arm, reason = "errnos are an open set")]
fn why_not_supervised(stage: Stage, errno: Errno) -> String {
    let why = match errno {
        _ if stage != Stage::Install => return format!("{stage} failed: {errno}"),
        Errno::EBUSY => {
            "another seccomp listener governs this process tree (an outer execward, a container \
             runtime, WSL's mirrored networking), and the kernel allows one; start execward \
             outside it"
        }
        Errno::EINVAL => {
            "this kernel lacks a flag that the gate needs (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, \
             Linux 5.19); use a newer kernel"
        }
        Errno::ENOSYS => {
            "this kernel or container has no seccomp(2); enable CONFIG_SECCOMP_FILTER, or allow \
             seccomp in the container's profile"
        }
        Errno::EPERM => {
            "a seccomp profile (a container's, a service's) or a security module forbids it; allow \
             it there"
        }
        Errno::EACCES => {
            "the kernel does not let this process install a filter, no_new_privs set or not; a \
             security module forbids it"
        }
        other => return format!("{stage} failed: {other}"),
    };
    format!("{stage} failed: {errno}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What no shim of this version does.
    #[test]
    fn a_report_that_is_none_and_a_listener_that_is_none_are_told_apart() {
        let told = |say: &dyn Fn(&OwnedFd)| {
            let (gate, shim) = crate::fdpass::pair().unwrap();
            say(&shim);
            receive_listener(&gate).unwrap_err().to_string()
        };
        let unreadable = told(&|shim| {
            let flags = rustix::net::SendFlags::empty();
            crate::fdpass::send(shim.as_fd(), b"of another version", &[], flags).unwrap();
        });
        assert!(unreadable.starts_with("the shim's report cannot be read: "));
        let null = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        let none = told(&|shim| handshake::send_listener(shim, &null).unwrap());
        assert!(
            none.starts_with("what the shim handed over is no listener: "),
            "{none}"
        );
    }
}
