//! The execs that a log has.

use std::collections::HashMap;
use std::path::Path;

use crate::audit::{Chain, displayed, escaped, quoted};
use crate::front::Logged;
use crate::recorded::{Lines, NoCall, Record};

use super::ExpectError;

/// An exec that was decided.
#[derive(Debug)]
pub(super) struct Exec {
    pub(super) id: String,
    pub(super) program: Vec<u8>,
    /// `None` if the log has not all of it.
    pub(super) argv: Option<Vec<Vec<u8>>>,
    /// Where its session was started.
    pub(super) cwd: Option<Vec<u8>>,
    /// Why it was refused, if it was.
    pub(super) refused: Option<String>,
}

/// What a log tells of them.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) execs: Vec<Exec>,
    /// Lines that are no records, and what is known to be missing: of them nobody can tell.
    pub(super) gaps: Vec<String>,
}

/// Whose execs are meant.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose<'a> {
    All,
    /// Of this one session, whose gate said by what its log is to be known: who may write the file may have
    /// written to it.
    Session(&'a Logged),
}

impl Seen {
    /// Reads a log.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(&mut self, log: &Path, whose: Whose<'_>) -> Result<(), ExpectError> {
        let mut lines = Lines::open(log)?;
        let (mut chain, mut is_whole) = (Chain::default(), true);
        // By the session's ID: several may write to one log.
        let mut started_in = HashMap::new();
        while let Some(line) = lines.next()? {
            let record = match line.record() {
                Ok(record) => record,
                Err(damage) => {
                    self.gaps.push(escaped(&damage.to_string()));
                    continue;
                }
            };
            if let Whose::Session(logged) = whose {
                if record.session() != logged.session {
                    continue;
                }
                is_whole &= chain.follow(line.text.trim_ascii_end());
            }
            match record.kind.as_ref() {
                "session.start" => {
                    started_in.insert(record.session().to_owned(), record.started_in());
                }
                "audit.gap" => self.gaps.push("records are missing (audit.gap)".to_owned()),
                "exec.decision" => {
                    let cwd = started_in.get(record.session()).cloned().flatten();
                    self.execs.extend(Exec::of(&record, cwd));
                }
                _ => {}
            }
        }
        if let Whose::Session(logged) = whose
            && !(is_whole && logged.head == Some(chain.head()))
        {
            let log = log.display().to_string();
            self.gaps
                .push(escaped(&format!("{log} is not what the gate wrote")));
        }
        Ok(())
    }
}

impl Exec {
    /// Of a decision; none if nothing was there to be executed.
    fn of(record: &Record<'_>, cwd: Option<Vec<u8>>) -> Option<Self> {
        let decided = record.decision.as_ref()?;
        if decided.verdict == "none" {
            return None;
        }
        let is_refused = decided.verdict != "allow" && !record.is_observed();
        let rule = decided
            .rule
            .as_ref()
            .map(|rule| format!("rule {}", rule.id));
        let why = rule.unwrap_or_else(|| decided.reason.to_string());
        let (program, argv) = match record.call() {
            Ok(call) => (call.resolved.unwrap_or(call.path), Some(call.argv)),
            Err(NoCall::Cut | NoCall::NoProc | NoCall::NoArgv | NoCall::NoPath) => {
                (record.program().into_bytes(), None)
            }
        };
        Some(Self {
            id: record.exec_id.map_or("-".to_owned(), |id| id.to_string()),
            program,
            argv,
            cwd,
            refused: is_refused.then(|| escaped(&why)),
        })
    }

    /// As it could be typed.
    pub(super) fn in_words(&self) -> String {
        let program = quoted(&displayed(&self.program));
        let Some(argv) = &self.argv else {
            return format!("{program} with arguments that the log has not");
        };
        let rest = argv.iter().skip(1).map(|word| quoted(&displayed(word)));
        let words: Vec<_> = [program].into_iter().chain(rest).collect();
        words.join(" ")
    }
}
