//! Finding and ending the tree of a session by `status` alone, the one proc file that never blocks.

use std::collections::{HashMap, HashSet};

use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::tracee::{Procfs, Tid};

/// Rounds in which descendants may still appear: each ends all that the one before could fork.
const ROUNDS_MAX: usize = 64;

/// Every live process below one of `ancestors`, but for these.
pub(crate) fn descendants(proc: &Procfs, ancestors: &[Tid]) -> Vec<Tid> {
    let mut children: HashMap<Tid, Vec<Tid>> = HashMap::new();
    for process in proc.processes().unwrap_or_default() {
        if let Ok(status) = proc.status(process)
            && !status.is_over()
        {
            children.entry(status.ppid).or_default().push(process);
        }
    }
    let mut found = Vec::new();
    let mut seen: HashSet<Tid> = ancestors.iter().copied().collect();
    let mut ahead = ancestors.to_vec();
    while let Some(parent) = ahead.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if seen.insert(child) {
                found.push(child);
                ahead.push(child);
            }
        }
    }
    found
}

/// Kills every process below `ancestors`, until none is left. Reaping is the caller's.
pub(crate) fn kill_descendants(proc: &Procfs, ancestors: &[Tid]) {
    for _round in 0..ROUNDS_MAX {
        let found = descendants(proc, ancestors);
        if found.is_empty() {
            return;
        }
        for process in found {
            signal(process, &[Signal::KILL]);
        }
        std::thread::yield_now();
    }
    tracing::error!(?ancestors, "descendants remain that SIGKILL does not end");
}

/// Kills `process`, which is no child of the caller's, and every process below it. It stands still first: whom
/// it forked before is found by it.
pub(crate) fn kill_with_descendants(proc: &Procfs, process: Tid) {
    signal(process, &[Signal::STOP]);
    kill_descendants(proc, &[process]);
    signal(process, &[Signal::KILL]);
}

/// Sends `signals` to `process`, in their order.
pub(crate) fn signal(process: Tid, signals: &[Signal]) {
    let Some(pid) = process.as_rustix() else {
        return;
    };
    // A number that was given away since the look would be another's: by pidfd it is at least
    // one and the same process from here on.
    let sent = pidfd_open(pid, PidfdFlags::empty()).and_then(|pidfd| {
        let mut signals = signals.iter();
        signals.try_for_each(|signal| pidfd_send_signal(&pidfd, *signal))
    });
    if let Err(errno) = sent {
        tracing::debug!(%process, %errno, "not signalled");
    }
}
