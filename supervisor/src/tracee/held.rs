//! Processes that are held by their pidfds, pidfd_open(2): a number is another's once its process is reaped.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{PidfdFlags, pidfd_open};

use super::{Tid, is_alive};

/// At how many the ended ones are dropped for the first time.
const SWEEP_AT: usize = 64;

/// What is known of processes, each while it lives.
#[derive(Debug)]
pub(crate) struct HeldProcesses<T> {
    processes: HashMap<Tid, (OwnedFd, T)>,
    /// At how many the ended ones are dropped.
    sweep_at: usize,
}

impl<T> HeldProcesses<T> {
    pub(crate) fn new() -> Self {
        Self {
            processes: HashMap::new(),
            sweep_at: SWEEP_AT,
        }
    }

    /// What is known of process `tgid`, if it lives.
    pub(crate) fn get(&self, tgid: Tid) -> Option<&T> {
        let held = self.processes.get(&tgid);
        held.filter(|(pidfd, _)| is_alive(pidfd.as_fd()))
            .map(|(_, known)| known)
    }

    pub(crate) fn get_mut(&mut self, tgid: Tid) -> Option<&mut T> {
        let held = self.processes.get_mut(&tgid);
        held.filter(|(pidfd, _)| is_alive(pidfd.as_fd()))
            .map(|(_, known)| known)
    }

    /// Holds process `tgid`, which stands still. Nothing is known of one that cannot be held.
    pub(crate) fn hold(&mut self, tgid: Tid, known: T) {
        let pid = tgid.as_rustix();
        match pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) {
            Some(Ok(pidfd)) => drop(self.processes.insert(tgid, (pidfd, known))),
            Some(Err(_)) | None => {
                tracing::warn!(%tgid, "a process is not held");
                self.processes.remove(&tgid);
            }
        }
        if self.processes.len() >= self.sweep_at {
            let processes = &mut self.processes;
            processes.retain(|_, (pidfd, _)| is_alive(pidfd.as_fd()));
            self.sweep_at = (processes.len() * 2).max(SWEEP_AT);
        }
    }

    /// Those that live.
    pub(crate) fn live(&self) -> impl Iterator<Item = Tid> {
        let live = self.processes.iter();
        live.filter(|(_, (pidfd, _))| is_alive(pidfd.as_fd()))
            .map(|(tgid, _)| *tgid)
    }
}
