//! The processes of a session with their execs, as its records tell them.
//!
//! A record has its process's number and its parent's, and where a rule looks at what led to an exec, the execs
//! that did. That is all that is used. What never executed anything has no record: it stands in the tree as the
//! parent of others, and who its own parent was, nobody wrote down. A process that lost its parent is adopted by
//! the gate. A number that comes back with another parent is another process.

use std::collections::HashMap;

use super::super::entry::{Entry, Proc};
use super::super::exec::Exec;
use crate::audit::ExecId;

/// Most steps upward in which a circle is looked for; a log that somebody wrote by hand may have longer ones.
const STEPS_MAX: usize = 4096;

/// Where a process comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is CMD.
    Command,
    /// This one is its parent, or the nearest above that executed something.
    Parent(usize),
    /// Its parent had ended before it executed anything.
    Adopted,
    /// The log does not say.
    Unknown,
}

/// A process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    ppid: Option<u32>,
    pub(super) origin: Origin,
    /// Its execs, in their order; none of one that is known as the parent of others alone.
    execs: Vec<usize>,
    /// How many execs the session had when it was first seen.
    since: usize,
    /// What it did, one after the other: what a process started before an exec, the image after that did not.
    pub(super) steps: Vec<Step>,
}

/// What a process did.
#[derive(Debug)]
pub(super) enum Step {
    Exec(usize),
    /// These were started, and it executed nothing between them.
    Children(Vec<usize>),
}

/// Those of a session.
#[derive(Debug, Default)]
pub(super) struct Processes {
    all: Vec<Process>,
    execs: Vec<Exec>,
    /// The process of each exec.
    owners: Vec<usize>,
    /// The latest of each number.
    by_pid: HashMap<u32, usize>,
    by_id: HashMap<ExecId, usize>,
    /// CMD's parent, which adopts what lost its own.
    adopter: Option<u32>,
    /// Whether the session's beginning was seen: the first to execute something is CMD.
    is_from_start: bool,
}

impl Processes {
    /// The session begins.
    pub(super) fn begin(&mut self) {
        self.is_from_start = self.all.is_empty();
    }

    /// Takes a decision, or a question.
    pub(super) fn take(&mut self, entry: &Entry<'_>, at: Option<f64>) {
        let Some(proc) = &entry.proc else { return };
        let known = entry.exec_id.and_then(|id| self.by_id.get(&id).copied());
        if let Some(exec) = known.and_then(|at| self.execs.get_mut(at)) {
            return exec.decided(entry);
        }
        let owner = self.process_of(proc);
        let exec = self.execs.len();
        self.execs.push(Exec::of(entry, proc, at));
        self.owners.push(owner);
        if let Some(id) = entry.exec_id {
            self.by_id.insert(id, exec);
        }
        if let Some(process) = self.all.get_mut(owner) {
            process.execs.push(exec);
        }
    }

    /// Takes what came of an exec.
    pub(super) fn end(&mut self, entry: &Entry<'_>) {
        let exec = entry.exec_id.and_then(|id| self.by_id.get(&id).copied());
        if let Some(exec) = exec.and_then(|at| self.execs.get_mut(at))
            && let Some(outcome) = &entry.outcome
        {
            exec.ended(outcome);
        }
    }

    /// The log ends: each gets its children, where they stand among its execs.
    pub(super) fn settle(&mut self) {
        let mut families: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.all.len()];
        for (child, process) in self.all.iter().enumerate() {
            if let Origin::Parent(parent) = process.origin
                && let Some(family) = families.get_mut(parent)
            {
                family.push((process.since, child));
            }
        }
        for (process, family) in self.all.iter_mut().zip(families) {
            process.steps = steps(&process.execs, &family);
        }
    }

    /// Those without a parent among them.
    pub(super) fn roots(&self) -> Vec<usize> {
        let all = self.all.iter().enumerate();
        let roots = all.filter(|(_, process)| !matches!(process.origin, Origin::Parent(_)));
        roots.map(|(at, _)| at).collect()
    }

    pub(super) fn all(&self) -> &[Process] {
        &self.all
    }

    pub(super) fn get(&self, at: usize) -> Option<&Process> {
        self.all.get(at)
    }

    pub(super) fn every_exec(&self) -> &[Exec] {
        &self.execs
    }

    pub(super) fn exec(&self, at: usize) -> Option<&Exec> {
        self.execs.get(at)
    }

    pub(super) fn execs<'a>(&'a self, process: &'a Process) -> impl Iterator<Item = &'a Exec> {
        process.execs.iter().filter_map(|at| self.execs.get(*at))
    }

    fn process_of(&mut self, proc: &Proc<'_>) -> usize {
        let (pid, ppid) = (proc.pid.unwrap_or(0), proc.ppid);
        let history = proc.inputs.as_ref().and_then(|it| it.history.as_ref());
        let nearest = history.and_then(|history| history.execs.first());
        let nearest = nearest.and_then(|id| self.owners.get(*self.by_id.get(id)?).copied());
        let same = self.by_pid.get(&pid).copied().filter(|at| {
            let is_adopted = ppid.is_some() && ppid == self.adopter;
            self.all.get(*at).is_some_and(|known| {
                known.execs.is_empty() || known.ppid == ppid || is_adopted || nearest == Some(*at)
            })
        });
        let same_is_new = same
            .and_then(|at| self.all.get(at))
            .is_none_or(|it| it.execs.is_empty());
        let at = same.unwrap_or_else(|| self.add(pid));
        if same_is_new {
            let origin = self.origin(at, ppid, nearest);
            if let Some(process) = self.all.get_mut(at) {
                process.ppid = ppid;
                process.origin = origin;
            }
        }
        at
    }

    /// Where process `at` comes from, which executes something for the first time.
    fn origin(&mut self, at: usize, ppid: Option<u32>, nearest: Option<usize>) -> Origin {
        if self.execs.is_empty() && self.is_from_start {
            self.adopter = ppid;
            return Origin::Command;
        }
        let parent = match (nearest, ppid) {
            (Some(nearest), _) => nearest,
            (None, None) => return Origin::Unknown,
            (None, Some(_)) if ppid == self.adopter => return Origin::Adopted,
            (None, Some(ppid)) => match self.by_pid.get(&ppid) {
                Some(parent) => *parent,
                None => self.add(ppid),
            },
        };
        match self.is_above(at, parent) {
            true => Origin::Unknown,
            false => Origin::Parent(parent),
        }
    }

    /// Whether `below` is `at` or below it, or nobody can tell.
    fn is_above(&self, at: usize, below: usize) -> bool {
        let mut step = below;
        for _step in 0..STEPS_MAX {
            if step == at {
                return true;
            }
            match self.all.get(step).map(|process| process.origin) {
                Some(Origin::Parent(parent)) => step = parent,
                Some(Origin::Command | Origin::Adopted | Origin::Unknown) | None => return false,
            }
        }
        true
    }

    fn add(&mut self, pid: u32) -> usize {
        let at = self.all.len();
        self.all.push(Process {
            pid,
            ppid: None,
            origin: Origin::Unknown,
            execs: Vec::new(),
            since: self.execs.len(),
            steps: Vec::new(),
        });
        self.by_pid.insert(pid, at);
        at
    }
}

impl Process {
    pub(super) fn has_executed(&self) -> bool {
        !self.execs.is_empty()
    }

    /// All that it started.
    pub(super) fn children(&self) -> impl Iterator<Item = usize> {
        let children = self.steps.iter().filter_map(|step| match step {
            Step::Children(children) => Some(children),
            Step::Exec(_) => None,
        });
        children.flatten().copied()
    }
}

/// The execs of a process, and between them the children, each with how many execs there were before it.
fn steps(execs: &[usize], children: &[(usize, usize)]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut left = children;
    for exec in execs {
        let earlier = left.partition_point(|(since, _)| since < exec);
        let (before, after) = left.split_at_checked(earlier).unwrap_or((left, &[]));
        if !before.is_empty() {
            steps.push(Step::Children(before.iter().map(|(_, it)| *it).collect()));
        }
        steps.push(Step::Exec(*exec));
        left = after;
    }
    if !left.is_empty() {
        steps.push(Step::Children(left.iter().map(|(_, it)| *it).collect()));
    }
    steps
}
