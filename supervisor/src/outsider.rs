//! CMD where it is no child of the gate's: its end is seen by pidfd, and nobody here reaps it, nor adopts what it
//! leaves.

mod sys;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Signal, pidfd_send_signal};

use crate::ptrace::CommandStatus;
use crate::tracee::{HeldProcesses, TaskDir, Tid, is_alive};

/// A process that became CMD somewhere else.
#[derive(Debug)]
pub(crate) struct Outsider {
    pidfd: OwnedFd,
    task: TaskDir,
    /// Processes that have executed something: where they have another parent, nothing else tells that they are
    /// of the session.
    members: HeldProcesses<()>,
}

impl Outsider {
    /// The process of `pidfd`, whose proc directory is `task`.
    pub(crate) fn new(pidfd: OwnedFd, task: TaskDir) -> Self {
        Self {
            pidfd,
            task,
            members: HeldProcesses::new(),
        }
    }

    /// Notes that process `tgid`, which stands still at its exec-stop, is of the session.
    pub(crate) fn executed(&mut self, tgid: Tid) {
        if self.members.get(tgid).is_none() {
            self.members.hold(tgid, ());
        }
    }

    /// Those that live, CMD among them: all others of the session are below them, but what has executed nothing and
    /// lost its parent.
    pub(crate) fn live(&self) -> Vec<Tid> {
        let cmd = self.task.tid();
        let others = self.members.live().filter(|tgid| *tgid != cmd);
        let cmd = Some(cmd).filter(|_| is_alive(self.pidfd.as_fd()));
        cmd.into_iter().chain(others).collect()
    }

    /// Kills CMD, by what is held of it: its number may be another's as soon as it is reaped.
    pub(crate) fn kill(&self) {
        if let Err(errno) = pidfd_send_signal(&self.pidfd, Signal::KILL) {
            tracing::debug!(%errno, "CMD was gone");
        }
    }

    /// How it ended; `None` while it lives.
    ///
    /// The kernel tells of a process that is reaped by its pidfd (Linux 6.15), and of one that is not by its
    /// proc directory. Between the two it may tell neither, and an older kernel does not at all.
    pub(crate) fn end(&self) -> Option<CommandStatus> {
        if is_alive(self.pidfd.as_fd()) {
            return None;
        }
        let reaped = || sys::exit_status(self.pidfd.as_fd());
        let raw = reaped().or_else(|| self.status_of_zombie()).or_else(reaped);
        let status = raw.and_then(CommandStatus::of_end);
        Some(status.unwrap_or(CommandStatus::Unseen))
    }

    fn status_of_zombie(&self) -> Option<i32> {
        status_in(&self.task.read("stat").ok()?)
    }
}

/// Readable once it has ended.
impl AsFd for Outsider {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// The last field of a zombie's `stat`, its wait status: proc_pid_stat(5), "`exit_code`".
fn status_in(stat: &[u8]) -> Option<i32> {
    // Its name, in parentheses, may hold anything.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = str::from_utf8(stat.get(end..)?).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let is_zombie = matches!(fields.nth(1), Some("Z" | "X"));
    is_zombie.then(|| fields.last()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    use super::*;
    use crate::tracee::{Procfs, Tid};

    /// A child stands for somebody else's: nothing here waits for it but the test.
    #[test]
    fn an_end_is_told_before_and_after_it_is_reaped() {
        for (script, status) in [
            ("read x; exit 7", CommandStatus::Exited(7)),
            ("read x; kill -9 $$", CommandStatus::Signaled(9)),
        ] {
            let mut shell = Command::new("sh");
            shell.args(["-c", script]).stdin(Stdio::piped());
            let mut child = shell.spawn().unwrap();
            let pid = Tid::new(child.id());
            let pidfd = pidfd_open(pid.as_rustix().unwrap(), PidfdFlags::empty()).unwrap();
            let task = Procfs::open().unwrap().task(pid).unwrap();
            let outsider = Outsider::new(pidfd, task);
            assert_eq!(outsider.end(), None);
            drop(child.stdin.take());
            let mut fds = [PollFd::new(outsider.as_fd(), PollFlags::POLLIN)];
            assert_eq!(poll(&mut fds, PollTimeout::from(30_000_u16)), Ok(1));
            assert_eq!(outsider.end(), Some(status));
            child.wait().unwrap();
            let seen = outsider.end().unwrap();
            assert!(seen == status || seen == CommandStatus::Unseen, "{seen:?}");
        }
    }

    #[test]
    fn a_zombies_status_is_the_last_field_whatever_it_is_called() {
        assert_eq!(status_in(b"7 (a) Z 1) Z 1 7 0 1792\n"), Some(1792));
        assert_eq!(status_in(b"7 (a) S 1 7 0 1792\n"), None);
        assert_eq!(status_in(b"7 (a) Z\n"), None);
        assert_eq!(status_in(b""), None);
    }
}
