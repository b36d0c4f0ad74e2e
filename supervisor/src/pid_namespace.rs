//! Process numbers of the session's own: `--pid-namespace`.
//!
//! CMD and all below it are in a pid namespace in which nothing outside has a number, so nobody in there
//! can signal, limit, trace or name the gate. The gate stays outside and sees them by numbers of its own.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{
    PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};

use crate::fdpass;
use crate::init;
use crate::system::{SystemError, cannot};
use crate::tracee::Tid;

/// Longest answer of the namespace's first process, in bytes: one line.
const ANSWER_MAX_BYTES: usize = 1024;

/// How long the gate waits for the end of that process, in milliseconds: no longer than for a process
/// that the kernel lets go.
const END_WITHIN: u16 = 1000;

/// Why there is none; nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PidNamespaceError {
    #[error(
        "--pid-namespace needs namespaces of the session's own, which only root can have \
         (CAP_SYS_ADMIN): {0}; start it with `sudo`, in a container \
         with that capability (`--cap-add SYS_ADMIN`), and with --user if CMD is not to be root"
    )]
    NotRoot(io::Error),
    #[error(
        "cannot make a pid namespace for the session: {0}; is \
         `/proc/sys/user/max_pid_namespaces` 0, or does a seccomp profile forbid it?"
    )]
    Unshare(io::Error),
    #[error("{0}")]
    System(#[from] SystemError),
    #[error("{0}")]
    Init(String),
    #[error("the first process of the session's pid namespace ended before it was ready")]
    InitEnded,
}

/// A pid namespace, held by its first process. Dropped, everything in it is ended.
#[derive(Debug)]
pub(crate) struct PidNamespace {
    first: Tid,
    pidfd: OwnedFd,
    socket: OwnedFd,
}

impl PidNamespace {
    /// Makes one and has `start` start a process that is in it, while the calling process, which must
    /// have one thread only, stays where it is. `/proc` is the namespace's own thereafter, for the
    /// caller as well: it must be in the mount namespace that is the session's.
    ///
    /// # Errors
    /// If there can be none, or `start` fails.
    pub(crate) fn around<T>(
        start: impl FnOnce() -> Result<T, SystemError>,
    ) -> Result<(Self, T), PidNamespaceError> {
        const RETURN: &str = "stay outside the session's pid namespace (setns)";
        let own = File::open("/proc/self/ns/pid").map_err(cannot(RETURN))?;
        unshare(CloneFlags::CLONE_NEWPID)
            .map_err(|errno| PidNamespaceError::Unshare(errno.into()))?;
        let started = Self::begin().and_then(|namespace| Ok((namespace, start()?)));
        // With children elsewhere no thread could be started: clone(2), EINVAL of CLONE_THREAD.
        setns(own, CloneFlags::CLONE_NEWPID).map_err(cannot(RETURN))?;
        let (namespace, started) = started?;
        namespace.mount_proc()?;
        Ok((namespace, started))
    }

    fn begin() -> Result<Self, SystemError> {
        const START: &str = "start the first process of the session's pid namespace";
        let (socket, theirs) = fdpass::pair().map_err(cannot(START))?;
        let first = Command::new("/proc/self/exe")
            .arg0("execward")
            .arg(init::ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(cannot(START))?;
        let first = Tid::new(first.id());
        let pidfd = first
            .as_rustix()
            .ok_or(rustix::io::Errno::SRCH)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
        Ok(Self {
            first,
            pidfd: pidfd.map_err(cannot(START))?,
            socket,
        })
    }

    fn mount_proc(&self) -> Result<(), PidNamespaceError> {
        const ASK: &str = "ask the first process of the session's pid namespace";
        let said = fdpass::send(self.socket.as_fd(), init::MOUNT, &[], SendFlags::empty());
        said.map_err(cannot(ASK))?;
        let mut answer = [0; ANSWER_MAX_BYTES];
        let heard = fdpass::receive(self.socket.as_fd(), &mut answer, RecvFlags::empty());
        let (length, _) = heard.map_err(cannot(ASK))?;
        match answer.get(..length).unwrap_or_default() {
            init::READY => Ok(()),
            [] => Err(PidNamespaceError::InitEnded),
            why => Err(PidNamespaceError::Init(why.escape_ascii().to_string())),
        }
    }

    /// The first process, by the caller's numbers. It adopts the namespace's orphans.
    pub(crate) fn first(&self) -> Tid {
        self.first
    }

    /// Whether the first process ends or has ended. Its socket closes before the kernel kills the rest.
    pub(crate) fn is_ending(&self) -> bool {
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::empty())];
        !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(0))
    }

    /// Has the kernel kill everything in it.
    pub(crate) fn kill(&self) {
        if let Err(errno) = pidfd_send_signal(&self.pidfd, Signal::KILL) {
            tracing::debug!(%errno, "the session's pid namespace is gone already");
        }
    }
}

impl Drop for PidNamespace {
    fn drop(&mut self) {
        self.kill();
        let mut fds = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
        if !matches!(poll(&mut fds, END_WITHIN), Ok(1..)) {
            tracing::warn!("the session's pid namespace does not end");
            return;
        }
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        if let Err(errno) = waitid(WaitId::PidFd(self.pidfd.as_fd()), ended) {
            tracing::debug!(%errno, "its first process is reaped already");
        }
    }
}
