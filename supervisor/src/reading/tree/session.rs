//! The session whose tree it is.

use std::collections::HashSet;

use jiff::Timestamp;

use super::super::entry::Entry;
use super::processes::Processes;
use crate::audit::escaped;

/// A session, as far as its lines were read.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) name: String,
    /// CMD, printable ASCII; `None` where the log has not the session's beginning.
    pub(super) command: Option<String>,
    /// The policy files in force at its beginning.
    pub(super) policy: Vec<String>,
    pub(super) is_observed: bool,
    pub(super) began: Option<Timestamp>,
    began_ns: Option<u64>,
    /// Seconds to the last record.
    pub(super) seconds: f64,
    /// How CMD ended, in words, if the session is over.
    pub(super) end: Option<String>,
    /// Execs of files that were not there.
    pub(super) target_missing: u64,
    /// Records that are missing.
    pub(super) lacking: u64,
    pub(super) processes: Processes,
}

/// The session of a log that is meant: the last that begins in it, of this name if one is given.
#[derive(Debug)]
pub(super) struct Meant<'a> {
    name: Option<&'a str>,
    seen: HashSet<String>,
    session: Option<Session>,
}

impl<'a> Meant<'a> {
    pub(super) fn called(name: Option<&'a str>) -> Self {
        Self {
            name,
            seen: HashSet::new(),
            session: None,
        }
    }

    /// Takes a record, which may be another session's.
    pub(super) fn take(&mut self, entry: &Entry<'_>) {
        let id = entry.session.id.as_ref();
        if !self.seen.contains(id) {
            self.seen.insert(id.to_owned());
            if self.name.is_none_or(|name| name == entry.session.name) {
                self.session = Some(Session::of(entry));
            }
        }
        if let Some(session) = self.session.as_mut().filter(|session| session.id == id) {
            session.take(entry);
        }
    }

    /// The session, and how many others the log has; `None` if it has none that is meant.
    pub(super) fn found(self) -> Option<(Session, usize)> {
        let others = self.seen.len().saturating_sub(1);
        let mut session = self.session?;
        session.processes.settle();
        Some((session, others))
    }
}

impl Session {
    fn of(entry: &Entry<'_>) -> Self {
        Self {
            id: entry.session.id.to_string(),
            name: escaped(&entry.session.name),
            began: entry.time(),
            began_ns: entry.boot_ns,
            ..Self::default()
        }
    }

    fn take(&mut self, entry: &Entry<'_>) {
        let at = self.since_begin(entry);
        self.seconds = self.seconds.max(at.unwrap_or(0.0));
        match entry.kind.as_ref() {
            "session.start" => {
                self.processes.begin();
                let words = entry.cmd.iter().flatten().map(|word| printed(word));
                self.command = Some(words.collect::<Vec<_>>().join(" "));
                let files = entry.policy.iter().flatten();
                self.policy = files.map(|file| escaped(&file.name)).collect();
                self.is_observed = entry.observe;
            }
            "session.end" => {
                self.end = Some(match (entry.exit_code, entry.signal) {
                    (Some(code), _) => format!("CMD ended with {code}"),
                    (None, Some(signal)) => format!("signal {signal} ended CMD"),
                    (None, None) => "CMD did not end by itself".to_owned(),
                });
            }
            "exec.decision" | "exec.held" => self.processes.take(entry, at),
            "exec.outcome" => self.processes.end(entry),
            "exec.summary" => self.target_missing += entry.target_missing.unwrap_or(0),
            "audit.gap" => self.lacking += entry.gap.map_or(0, |gap| gap.count),
            _ => {}
        }
    }

    /// By the clock that nobody sets, where both records have it.
    fn since_begin(&self, entry: &Entry<'_>) -> Option<f64> {
        if let (Some(began), Some(now)) = (self.began_ns, entry.boot_ns) {
            let passed = std::time::Duration::from_nanos(now.saturating_sub(began));
            return Some(passed.as_secs_f64());
        }
        let passed = entry.time()?.duration_since(self.began?).as_secs_f64();
        Some(passed.max(0.0))
    }
}

/// A word of CMD, which the record has escaped already; a log that somebody wrote may have others.
fn printed(word: &str) -> String {
    let printable = |c: char| match c {
        ' '..='~' => String::from(c),
        other => other.escape_default().to_string(),
    };
    match crate::audit::is_plain(word.as_bytes()) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.chars().map(printable).collect::<String>()),
    }
}
