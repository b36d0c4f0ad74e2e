//! What every drawing of a tree says.

use super::super::exec::Exec;
use super::fold::{Alike, Shapes};
use super::processes::{Process, Step};
use super::session::Session;

/// A session, and what of its tree is folded.
#[derive(Debug)]
pub(super) struct Drawn<'a> {
    pub(super) session: &'a Session,
    pub(super) shapes: Shapes,
    /// How many other sessions the log has.
    pub(super) others: usize,
}

/// What of a process is drawn below its first line.
#[derive(Debug)]
pub(super) enum Shown<'a> {
    Exec(&'a Exec),
    Child(Alike),
}

impl Drawn<'_> {
    /// What a process did first, if that was an exec, and what it did then.
    pub(super) fn steps<'a>(
        &'a self,
        process: &'a Process,
    ) -> (Option<&'a Exec>, std::vec::IntoIter<Shown<'a>>) {
        let mut shown = Vec::new();
        for step in &process.steps {
            match step {
                Step::Exec(at) => {
                    shown.extend(self.session.processes.exec(*at).map(Shown::Exec));
                }
                Step::Children(children) => {
                    shown.extend(self.shapes.fold(children).into_iter().map(Shown::Child));
                }
            }
        }
        let first = match shown.first() {
            Some(Shown::Exec(exec)) => Some(*exec),
            Some(Shown::Child(_)) | None => None,
        };
        let rest = shown.split_off(usize::from(first.is_some()));
        (first, rest.into_iter())
    }

    /// When the last of those alike came.
    pub(super) fn until(&self, alike: Alike) -> String {
        let processes = &self.session.processes;
        let last = processes.get(alike.last);
        let last = last.and_then(|last| processes.execs(last).next());
        let at = last.and_then(|exec| exec.at);
        at.map_or(String::new(), |at| format!(", the last at {at:.3}"))
    }
}

/// The session's counts and its end, a sentence each.
pub(super) fn counts(drawn: &Drawn<'_>) -> Vec<String> {
    let session = drawn.session;
    let execs = session.processes.every_exec();
    let refused = execs.iter().filter(|exec| exec.fate.is_refused()).count();
    let processes = session.processes.all().len();
    let mut counts = vec![format!(
        "{} execs of {processes} processes, {refused} refused or killed; {} of files that are not there",
        execs.len(),
        session.target_missing
    )];
    let end = session.end.as_deref();
    let end = end.unwrap_or("it goes on, or its end is not in the log");
    let began = session
        .began
        .map_or(String::new(), |began| format!("began {began:.0}; "));
    counts.push(format!("{began}{:.3} s; {end}", session.seconds));
    if session.is_observed {
        counts.push("only observed: nothing was refused".to_owned());
    }
    if session.lacking > 0 {
        counts.push(format!(
            "{} records are missing (audit.gap)",
            session.lacking
        ));
    }
    if drawn.others > 0 {
        counts.push(format!(
            "the log has {} other sessions, which --session shows",
            drawn.others
        ));
    }
    counts
}
