//! Execs with what came of them: the records of one exec joined to one.

use std::collections::{HashMap, VecDeque};

use super::super::ReadingError;
use super::super::entry::{Entry, Proc};
use super::super::exec::Exec;
use crate::audit::{escaped, quoted};

/// Most execs that wait for their outcome at once. The one that has waited longest goes without.
const WAITING_MAX: usize = 1 << 14;

/// One exec that was decided.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) exec: Exec,
    pub(super) session: String,
    pub(super) session_name: String,
    pub(super) time: String,
    pub(super) pid: Option<u32>,
    pub(super) ppid: Option<u32>,
    /// As texts for people, as all others: printable ASCII.
    pub(super) program: String,
    pub(super) arguments: String,
    pub(super) cwd: String,
    pub(super) rule_src: String,
    pub(super) effect: String,
    pub(super) errno: String,
    /// Of a question.
    pub(super) wait_ms: Option<u64>,
    /// Microseconds until it was decided.
    pub(super) took_us: Option<u64>,
}

/// The execs whose outcome is not known yet, by session and ID.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    execs: HashMap<(String, u64), Joined>,
    order: VecDeque<(String, u64)>,
}

impl Joined {
    fn of(entry: &Entry<'_>, proc: &Proc<'_>) -> Self {
        let text = |text: Option<&str>| text.map(escaped).unwrap_or_default();
        let words = proc.argv.iter().flatten().skip(1).map(|word| quoted(word));
        let mut arguments = words.collect::<Vec<_>>().join(" ");
        if proc.argv_cut {
            arguments += " ...";
        }
        let rule = entry.decision.as_ref().and_then(|it| it.rule.as_ref());
        let effect = entry.effect.as_ref();
        Self {
            exec: Exec::of(entry, proc, None),
            session: escaped(&entry.session.id),
            session_name: escaped(&entry.session.name),
            time: escaped(&entry.ts),
            pid: proc.pid,
            ppid: proc.ppid,
            program: escaped(entry.program()),
            arguments,
            cwd: text(proc.cwd.as_deref()),
            rule_src: text(rule.map(|rule| rule.src.as_str())),
            effect: text(effect.map(|effect| effect.sent.as_ref())),
            errno: text(effect.and_then(|effect| effect.errno.as_deref())),
            wait_ms: entry.approval.as_ref().and_then(|it| it.wait_ms),
            took_us: entry.lat.get("total").and_then(serde_json::Value::as_u64),
        }
    }
}

impl Waiting {
    /// Takes a record, and shows `show` each exec of which nothing more will come.
    ///
    /// # Errors
    /// What `show` answers.
    pub(super) fn take(
        &mut self,
        entry: &Entry<'_>,
        mut show: impl FnMut(&Joined) -> Result<(), ReadingError>,
    ) -> Result<(), ReadingError> {
        let key = entry.exec_id.map(|id| (entry.session.id.to_string(), id.0));
        match (entry.kind.as_ref(), &entry.proc, key) {
            ("exec.decision", Some(proc), key) => {
                let joined = Joined::of(entry, proc);
                let goes_on = entry
                    .effect
                    .as_ref()
                    .is_some_and(|it| it.sent == "continue");
                let Some(key) = key.filter(|_| goes_on) else {
                    return show(&joined);
                };
                if self.execs.len() >= WAITING_MAX {
                    self.show_first(&mut show)?;
                }
                self.order.push_back(key.clone());
                // One that came before of the same name has no other outcome.
                match self.execs.insert(key, joined) {
                    Some(former) => show(&former),
                    None => Ok(()),
                }
            }
            ("exec.outcome", _, Some(key)) => {
                let Some(mut joined) = self.execs.remove(&key) else {
                    return Ok(());
                };
                if self.execs.is_empty() {
                    self.order.clear();
                }
                if let Some(outcome) = &entry.outcome {
                    joined.exec.ended(outcome);
                }
                show(&joined)
            }
            _ => Ok(()),
        }
    }

    /// The log ends: those that are left have no outcome in it.
    ///
    /// # Errors
    /// What `show` answers.
    pub(super) fn end(
        mut self,
        mut show: impl FnMut(&Joined) -> Result<(), ReadingError>,
    ) -> Result<(), ReadingError> {
        while !self.execs.is_empty() && !self.order.is_empty() {
            self.show_first(&mut show)?;
        }
        Ok(())
    }

    fn show_first(
        &mut self,
        show: &mut impl FnMut(&Joined) -> Result<(), ReadingError>,
    ) -> Result<(), ReadingError> {
        while let Some(key) = self.order.pop_front() {
            if let Some(joined) = self.execs.remove(&key) {
                return show(&joined);
            }
        }
        Ok(())
    }
}
