//! Exec history: which images led to a process, by pidfds that the gate took at each exec.
//!
//! It organises rules and questions. It is no boundary between processes that may trace each
//! other, and a process of the session can break its own chain by ending its parent.

use std::sync::Arc;

use execward_policy::{Ancestor, Lineage};

use crate::audit::{ExecId, History};
use crate::tracee::{HeldProcesses, Procfs, Status, Tid};

/// Most images remembered of one process. One that goes on has no provable history.
const EXECS_MAX: usize = 64;

/// Most steps upward.
const DEPTH_MAX: usize = 1024;

/// Processes that have executed something, while they live.
#[derive(Debug)]
pub(crate) struct Lineages {
    gate: Tid,
    processes: HeldProcesses<Process>,
}

#[derive(Debug)]
struct Process {
    /// The parent when it executed its first image here.
    parent: Tid,
    /// Its images with the execs that made it each of them, the latest first.
    execs: Vec<(ExecId, Arc<Ancestor>)>,
    /// Whether there were more than are remembered.
    is_cut: bool,
}

impl Lineages {
    pub(crate) fn new() -> Self {
        Self {
            gate: Tid::own(),
            processes: HeldProcesses::new(),
        }
    }

    /// Notes that `exec` has made process `tgid` this image. It stands still at its exec-stop.
    pub(crate) fn executed(&mut self, tgid: Tid, parent: Tid, exec: ExecId, image: Arc<Ancestor>) {
        if let Some(process) = self.processes.get_mut(tgid) {
            // Again and again the same is one image of a history.
            if process
                .execs
                .first()
                .is_some_and(|(_, last)| *last == image)
            {
                return;
            }
            process.is_cut |= process.execs.len() >= EXECS_MAX;
            process.execs.truncate(EXECS_MAX - 1);
            process.execs.insert(0, (exec, image));
            return;
        }
        let process = Process {
            parent,
            execs: vec![(exec, image)],
            is_cut: false,
        };
        // One that is not held is unknown to its descendants, whose chains break here.
        self.processes.hold(tgid, process);
    }

    /// The history that leads to a task with this status, and its execs; `cmd` is where it begins.
    pub(crate) fn of(&self, task: &Status, cmd: Tid, proc: &Procfs) -> (Lineage, History) {
        let (mut lineage, mut execs) = (Lineage::default(), Vec::new());
        lineage.is_broken = !self.climb(task, cmd, proc, |process| {
            for (exec, image) in &process.execs {
                execs.push(*exec);
                lineage.ancestors.push(Arc::clone(image));
            }
        });
        let is_broken = lineage.is_broken;
        (lineage, History { execs, is_broken })
    }

    /// Visits the processes from a task up to `cmd`; whether none is missing on the way.
    fn climb(
        &self,
        task: &Status,
        cmd: Tid,
        proc: &Procfs,
        mut visit: impl FnMut(&Process),
    ) -> bool {
        let (mut tgid, mut parent) = (task.tgid, task.ppid);
        let mut is_whole = true;
        for _step in 0..DEPTH_MAX {
            // One that has executed nothing is what its parent is.
            if let Some(process) = self.processes.get(tgid) {
                visit(process);
                // Another parent than at the exec: the one that it had is gone.
                is_whole &= !process.is_cut && process.parent == parent;
            }
            if tgid == cmd {
                return is_whole;
            }
            if parent == self.gate || !is_whole {
                break;
            }
            tgid = parent;
            match self.parent_of(tgid, proc) {
                Some(next) => parent = next,
                None => break,
            }
        }
        false
    }

    /// The parent of an ancestor. While both live, it is the one it was at the exec.
    fn parent_of(&self, tgid: Tid, proc: &Procfs) -> Option<Tid> {
        let parent = self.processes.get(tgid).map(|process| process.parent);
        match parent.filter(|parent| self.processes.get(*parent).is_some()) {
            Some(parent) => Some(parent),
            None => proc.status(tgid).ok().map(|status| status.ppid),
        }
    }
}
