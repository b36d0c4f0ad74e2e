//! Who sent a control message, and whether that process may answer.
//!
//! A socket says little: a connected one can be inherited into the session, and the kernel then
//! names whoever called connect (tried). Every message is judged by the credentials that the kernel
//! put on it as it was sent.

use crate::audit::Approver;
use crate::tracee::{Procfs, StatusError, Tid};

/// Longest chain of parents that is followed; the kernel's limit of nested processes is no lower.
const ANCESTORS_MAX: usize = 4096;

/// Tells the members of the session from everyone else.
#[derive(Debug)]
pub(crate) struct Bouncer {
    proc: Procfs,
    gate: Tid,
    uid: u32,
    filters: u32,
}

/// Why a process may not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stranger {
    #[error("the kernel does not say who sent it")]
    Unknown,
    #[error("it was sent by uid {0}")]
    Uid(u32),
    #[error("process {0} is in the session: it descends from the gate")]
    Descendant(Tid),
    #[error(
        "process {pid} is under more seccomp filters ({theirs}) than the gate ({ours}), as the \
         members of a session are"
    )]
    Filtered { pid: Tid, theirs: u32, ours: u32 },
    #[error("process {pid} cannot be looked at: {error}")]
    Unseen { pid: Tid, error: StatusError },
    #[error("process {pid} sent it over a connection that process {connected} opened")]
    Another { pid: Tid, connected: Tid },
    #[error("process {0} has ended, and its number may be another's")]
    Ended(Tid),
    #[error("the parents of process {0} changed while they were read")]
    Unsteady(Tid),
}

impl Bouncer {
    /// For messages to the calling process, by what it is itself.
    ///
    /// # Errors
    /// If its own status cannot be read.
    pub(crate) fn of_this_process(proc: Procfs) -> Result<Self, StatusError> {
        let gate = Tid::own();
        let filters = proc.task(gate).map_err(StatusError::Read)?.filters()?;
        let uid = rustix::process::geteuid().as_raw();
        Ok(Self {
            proc,
            gate,
            uid,
            filters,
        })
    }

    /// For a process that asks about itself, by what the gate of a live session is.
    pub(crate) fn of_gate(proc: Procfs, gate: Tid, filters: u32) -> Self {
        let uid = rustix::process::geteuid().as_raw();
        Self {
            proc,
            gate,
            uid,
            filters,
        }
    }

    /// Whether `sender` may answer: of the gate's uid or root, and no member of a session.
    ///
    /// # Errors
    /// Why not. What cannot be told is a no.
    pub(crate) fn judge(&self, sender: Approver) -> Result<(), Stranger> {
        if sender.uid != self.uid && sender.uid != 0 {
            return Err(Stranger::Uid(sender.uid));
        }
        self.judge_process(Tid::new(sender.pid))
    }

    /// Whether `pid` is no member of a session.
    ///
    /// # Errors
    /// As [`Bouncer::judge`].
    pub(crate) fn judge_process(&self, pid: Tid) -> Result<(), Stranger> {
        if pid.as_u32() == 0 {
            return Err(Stranger::Unknown);
        }
        let unseen = |error| Stranger::Unseen { pid, error };
        // A filter cannot be taken off: whoever descends from CMD, by however many forks, has it.
        let task = self.proc.task(pid).map_err(StatusError::Read);
        let theirs = task.and_then(|task| task.filters()).map_err(unseen)?;
        if theirs > self.filters {
            let ours = self.filters;
            return Err(Stranger::Filtered { pid, theirs, ours });
        }
        let ancestors = self.ancestors(pid).map_err(unseen)?;
        if ancestors.contains(&self.gate) {
            return Err(Stranger::Descendant(pid));
        }
        if self.ancestors(pid).map_err(unseen)? != ancestors {
            return Err(Stranger::Unsteady(pid));
        }
        Ok(())
    }

    /// Whether `server` can be a gate, and no member of a session that passes for one.
    ///
    /// A gate puts itself under filters (`confinement`), so their number says nothing of it. Its parent
    /// says: a gate's is the front, outside; a member's is a member, or the gate that adopted it.
    ///
    /// # Errors
    /// As [`Bouncer::judge`].
    pub(crate) fn judge_gate(&self, server: Tid) -> Result<(), Stranger> {
        let unseen = |error| Stranger::Unseen { pid: server, error };
        let parent = || self.proc.status(server).map(|status| status.ppid);
        let front = parent().map_err(unseen)?;
        self.judge_process(front)?;
        if parent().map_err(unseen)? != front {
            return Err(Stranger::Unsteady(server));
        }
        Ok(())
    }

    /// `pid`, its parent, and so on to the first process.
    fn ancestors(&self, pid: Tid) -> Result<Vec<Tid>, StatusError> {
        let mut chain = vec![pid];
        let mut next = pid;
        while next != self.gate && chain.len() < ANCESTORS_MAX {
            next = self.proc.status(next)?.ppid;
            if next.as_u32() == 0 {
                break;
            }
            chain.push(next);
        }
        Ok(chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bouncer() -> Bouncer {
        Bouncer::of_this_process(Procfs::open().unwrap()).unwrap()
    }

    fn own_uid() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn whoever_is_outside_and_of_this_uid_may_answer() {
        let outside = std::os::unix::process::parent_id();
        let sender = Approver {
            uid: own_uid(),
            pid: outside,
        };
        assert!(bouncer().judge(sender).is_ok());
    }

    #[test]
    fn a_child_another_uid_and_nobody_may_not() {
        let mut child = std::process::Command::new("sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        let sender = |uid, pid| Approver { uid, pid };
        let judge = |sender| bouncer().judge(sender).unwrap_err();
        let inside = judge(sender(own_uid(), child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(matches!(inside, Stranger::Descendant(_)), "{inside}");
        let other = judge(sender(12345, std::os::unix::process::parent_id()));
        assert!(matches!(other, Stranger::Uid(12345)), "{other}");
        let hidden = judge(sender(own_uid(), 0));
        assert!(matches!(hidden, Stranger::Unknown), "{hidden}");
        let gone = judge(sender(own_uid(), 0x7fff_fff0));
        assert!(matches!(gone, Stranger::Unseen { .. }), "{gone}");
    }
}
