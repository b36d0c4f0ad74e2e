//! A tree for people at a terminal: a line an exec, printable ASCII alone.

use std::fmt;

use super::super::exec::Exec;
use super::drawn::{Drawn, Shown, counts};
use super::fold::Alike;
use super::processes::{Origin, Process};

/// How deep it is drawn.
const DEPTH_MAX: usize = 100;

/// The branches to the left of a line.
#[derive(Clone, Copy, Debug)]
struct Branch<'a> {
    /// Before the process's own first line.
    first: &'a str,
    /// Before all others of it, and of what is below it.
    rest: &'a str,
    depth: usize,
}

impl fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session;
        let command = session.command.as_deref();
        let command = command.unwrap_or("its beginning is not in the log");
        writeln!(f, "session {}: {command}", session.name)?;
        if !session.policy.is_empty() {
            writeln!(f, "policy  {}", session.policy.join(", "))?;
        }
        for line in counts(self) {
            writeln!(f, "        {line}")?;
        }
        writeln!(f, "\n{:>10}  {:<8} {:>7}", "seconds", "exec", "process")?;
        for alike in self.shapes.fold(&session.processes.roots()) {
            let top = Branch {
                first: "",
                rest: "",
                depth: 0,
            };
            self.process(f, alike, top)?;
        }
        Ok(())
    }
}

impl Drawn<'_> {
    fn process(&self, f: &mut fmt::Formatter<'_>, alike: Alike, branch: Branch<'_>) -> fmt::Result {
        let processes = &self.session.processes;
        let Some(process) = processes.get(alike.first) else {
            return Ok(());
        };
        let note = self.note(process, alike);
        let (first, mut steps) = self.steps(process);
        match first {
            Some(exec) => line(f, process, Some(exec), branch.first, &note)?,
            None => line(f, process, None, branch.first, &note)?,
        }
        if branch.depth >= DEPTH_MAX && process.children().next().is_some() {
            let more = "more is below, which --json has";
            let (space, rest) = ("", branch.rest);
            return writeln!(f, "{space:>41}{rest}`-- {more}");
        }
        while let Some(shown) = steps.next() {
            let is_last = steps.len() == 0;
            match shown {
                Shown::Exec(exec) => {
                    line(f, process, Some(exec), &format!("{}= ", branch.rest), "")?
                }
                Shown::Child(child) => {
                    let (corner, below) = match is_last {
                        true => ("`-- ", "    "),
                        false => ("+-- ", "|   "),
                    };
                    let below = Branch {
                        first: &format!("{}{corner}", branch.rest),
                        rest: &format!("{}{below}", branch.rest),
                        depth: branch.depth + 1,
                    };
                    self.process(f, child, below)?;
                }
            }
        }
        Ok(())
    }

    /// How many look like it, and what of its origin is not to be seen from where it stands.
    fn note(&self, process: &Process, alike: Alike) -> String {
        let mut note = String::new();
        if alike.times > 1 {
            note = format!("  x {}{}", alike.times, self.until(alike));
        }
        match process.origin {
            Origin::Command | Origin::Parent(_) => {}
            Origin::Adopted => note += "  <- adopted: its parent had ended, and is not in the log",
            Origin::Unknown => note += "  <- its parent is not in the log",
        }
        note
    }
}

/// What a process is while it has executed nothing.
fn before(process: &Process) -> &'static str {
    match process.has_executed() {
        true => "(before it executed anything)",
        false => "(executed nothing itself)",
    }
}

fn line(
    f: &mut fmt::Formatter<'_>,
    process: &Process,
    exec: Option<&Exec>,
    branch: &str,
    note: &str,
) -> fmt::Result {
    let pid = process.pid;
    let Some(exec) = exec else {
        let text = format!("{}{note}", before(process));
        return writeln!(f, "{:>20} {pid:>7}  {:<10} {branch}{text}", "", "");
    };
    let at = exec.at.map_or(String::new(), |at| format!("{at:.3}"));
    let why = match exec.why() {
        why if why.is_empty() => why,
        why => format!("  ({why})"),
    };
    let (id, word, call) = (&exec.id, exec.fate.word(), &exec.call);
    writeln!(
        f,
        "{at:>10}  {id:<8} {pid:>7}  {word:<10} {branch}{call}{why}{note}"
    )
}
