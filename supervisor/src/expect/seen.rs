//! The execs that a log has.

use std::collections::HashMap;
use std::path::Path;

use execward_policy::Origin;

use super::ExpectError;
use crate::audit::{Chain, ExecId, displayed, escaped, quoted};
use crate::front::Logged;
use crate::recorded::{Lines, Record};

/// An exec that was decided.
#[derive(Debug)]
pub(super) struct Exec {
    pub(super) id: String,
    pub(super) program: Vec<u8>,
    /// What runs it by its `#!` line, in the end.
    pub(super) interpreter: Option<Vec<u8>>,
    /// `None` if the log has not all of it.
    pub(super) argv: Option<Vec<Vec<u8>>>,
    /// Where its session was started.
    pub(super) cwd: Option<Vec<u8>>,
    pub(super) fate: String,
    /// What no list can expect.
    pub(super) oddity: Option<String>,
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

/// A session, as far as its lines were read.
#[derive(Debug, Default)]
struct Session {
    chain: Chain,
    is_broken: bool,
    is_over: bool,
    cwd: Option<Vec<u8>>,
    /// Where its execs are among all.
    execs: HashMap<ExecId, usize>,
}

impl Seen {
    /// Reads a log.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(&mut self, log: &Path, whose: Whose<'_>) -> Result<(), ExpectError> {
        let mut lines = Lines::open(log)?;
        // By their IDs: several may write to one log.
        let mut sessions: HashMap<String, Session> = HashMap::new();
        while let Some(line) = lines.next()? {
            let record = match line.record() {
                Ok(record) => record,
                Err(damage) => {
                    self.gaps.push(escaped(&damage.to_string()));
                    continue;
                }
            };
            if !matches!(whose, Whose::Session(logged) if record.session() != logged.session) {
                let session = sessions.entry(record.session().to_owned()).or_default();
                session.is_broken |= !session.chain.follow(line.text.trim_ascii_end());
                self.take(&record, session);
            }
        }
        let name = escaped(&log.display().to_string());
        match whose {
            Whose::Session(logged) => {
                let session = sessions.get(&logged.session);
                let head = session.filter(|it| !it.is_broken).map(|it| it.chain.head());
                if logged.head.is_none() || logged.head != head {
                    self.gaps.push(format!("{name} is not what the gate wrote"));
                }
            }
            Whose::All if sessions.is_empty() => self.gaps.push(format!("{name} has no session")),
            Whose::All => {
                for session in sessions.values() {
                    if session.is_broken {
                        self.gaps
                            .push(format!("{name} lacks records, or some were changed"));
                    } else if !session.is_over {
                        self.gaps
                            .push(format!("a session in {name} goes on, or was cut off"));
                    }
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, record: &Record<'_>, session: &mut Session) {
        match record.kind.as_ref() {
            "session.start" => session.cwd = record.started_in(),
            "session.end" => session.is_over = true,
            "audit.gap" => self.gaps.push("records are missing (audit.gap)".to_owned()),
            "exec.decision" => {
                let exec = Exec::of(record, session.cwd.clone());
                if let (Some(exec), Some(id)) = (exec, record.exec_id) {
                    session.execs.insert(id, self.execs.len());
                    self.execs.push(exec);
                }
            }
            "exec.outcome" => {
                let at = record.exec_id.and_then(|id| session.execs.get(&id));
                if let Some(exec) = at.and_then(|at| self.execs.get_mut(*at)) {
                    exec.ended(record);
                }
            }
            _ => {}
        }
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
        let call = record.call().ok();
        let request = record.request();
        let program = call
            .as_ref()
            .map(|call| call.resolved.clone().unwrap_or(call.path.clone()));
        let interpreter = request
            .as_ref()
            .and_then(|request| request.interpreters.last());
        let origin = request.as_ref().map(|request| request.program.origin);
        Some(Self {
            id: record.exec_id.map_or("-".to_owned(), |id| id.to_string()),
            program: program.unwrap_or_else(|| record.program().into_bytes()),
            interpreter: interpreter.and_then(|it| it.file.resolved.clone()),
            argv: call.map(|call| call.argv),
            cwd,
            fate: match is_refused {
                true => format!("refused ({})", escaped(&why)),
                false => "was let go on, and nothing more is known".to_owned(),
            },
            oddity: match origin {
                Some(Origin::Foreign) => Some("in a mount namespace or root of its own".to_owned()),
                Some(Origin::Anonymous) => Some("from memory, or a file without a name".to_owned()),
                Some(Origin::Session | Origin::Unstable) | None => None,
            },
        })
    }

    fn ended(&mut self, record: &Record<'_>) {
        let outcome = record.outcome().unwrap_or_default();
        self.fate = match outcome {
            "verified" | "changed" | "unverified" => "ran".to_owned(),
            "failed" | "vanished" | "killed" | "target_missing" => {
                format!("did not run ({outcome})")
            }
            other => escaped(other),
        };
        let why = match outcome {
            "changed" => "loaded as something else",
            "unverified" => "held to nothing, since it was only observed",
            _ => return,
        };
        let loaded = record.loaded().map(|exe| format!(": {}", escaped(exe)));
        self.oddity = Some(format!("{why}{}", loaded.unwrap_or_default()));
    }

    /// As it could be typed.
    pub(super) fn in_words(&self) -> String {
        let program = quoted(&displayed(&self.program));
        let Some(argv) = &self.argv else {
            return format!("{program} with arguments that the log has not");
        };
        let rest = argv.iter().skip(1).map(|word| quoted(&displayed(word)));
        let mut words = [program]
            .into_iter()
            .chain(rest)
            .collect::<Vec<_>>()
            .join(" ");
        let first = argv.first().map(|first| name(first));
        if first != Some(name(&self.program)) {
            let called = first.map_or("nothing".to_owned(), |first| quoted(&displayed(first)));
            words += &format!(" (called {called})");
        }
        if let Some(interpreter) = &self.interpreter {
            words += &format!(" (by {})", quoted(&displayed(interpreter)));
        }
        if let Some(oddity) = &self.oddity {
            words += &format!(" ({oddity})");
        }
        words
    }
}

/// The file's name in a path: the first argument is often one, and often the whole path.
pub(super) fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
