//! One exec as it is shown: its words, and what became of it.

use super::entry::{Decided, Entry, Outcome, Proc};
use crate::audit::{escaped, quoted};

/// Most characters of a call that are shown.
const CALL_MAX: usize = 320;

/// What became of an exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fate {
    /// It waits for an answer, or the log ends before that.
    Waits,
    /// There is no such file.
    Missing,
    /// It was let go on, and nothing more is known.
    LetGo,
    Refused,
    /// Its task was gone before it was decided.
    Withdrawn,
    Ran,
    /// It ran, loaded as something else.
    Changed,
    /// It ran, held to nothing.
    Unverified,
    Failed,
    Vanished,
    Killed,
    /// Of a word that is not known here.
    Unknown,
}

impl Fate {
    /// The word for it, which tells by itself.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Waits => "WAITS",
            Self::Missing => "no file",
            Self::LetGo => "let go",
            Self::Refused => "REFUSED",
            Self::Withdrawn => "withdrawn",
            Self::Ran => "ran",
            Self::Changed => "CHANGED",
            Self::Unverified => "UNVERIFIED",
            Self::Failed => "failed",
            Self::Vanished => "vanished",
            Self::Killed => "KILLED",
            Self::Unknown => "unknown",
        }
    }

    /// Whether somebody who looks through a tree looks for it.
    pub(super) fn is_marked(self) -> bool {
        match self {
            Self::Waits | Self::Refused | Self::Changed | Self::Unverified | Self::Killed => true,
            Self::Missing
            | Self::LetGo
            | Self::Withdrawn
            | Self::Ran
            | Self::Failed
            | Self::Vanished
            | Self::Unknown => false,
        }
    }

    /// Whether it was kept from running.
    pub(super) fn is_refused(self) -> bool {
        matches!(self, Self::Refused | Self::Killed)
    }

    fn of_decision(entry: &Entry<'_>) -> Self {
        let sent = entry.effect.as_ref().map(|effect| effect.sent.as_ref());
        match sent {
            _ if entry.is_missing() => Self::Missing,
            _ if entry.kind == "exec.held" => Self::Waits,
            Some("continue") => Self::LetGo,
            Some("errno") => Self::Refused,
            Some("none") => Self::Withdrawn,
            Some(_) | None => Self::Unknown,
        }
    }

    fn of_outcome(result: &str) -> Self {
        match result {
            "verified" => Self::Ran,
            "changed" => Self::Changed,
            "unverified" => Self::Unverified,
            "failed" => Self::Failed,
            "vanished" => Self::Vanished,
            "killed" => Self::Killed,
            _ => Self::Unknown,
        }
    }
}

/// One exec.
#[derive(Debug)]
pub(super) struct Exec {
    pub(super) id: String,
    /// Seconds since the session began.
    pub(super) at: Option<f64>,
    /// As it could be typed; printable ASCII.
    pub(super) call: String,
    pub(super) verdict: String,
    pub(super) reason: String,
    pub(super) rule: Option<String>,
    pub(super) fate: Fate,
    /// More of its outcome: an errno, or what was loaded instead.
    pub(super) detail: Option<String>,
}

impl Exec {
    /// Of a decision or a question.
    pub(super) fn of(entry: &Entry<'_>, proc: &Proc<'_>, at: Option<f64>) -> Self {
        let mut exec = Self {
            id: entry.exec_id.map_or("-".to_owned(), |id| id.to_string()),
            at,
            call: call(proc),
            verdict: String::new(),
            reason: String::new(),
            rule: None,
            fate: Fate::Unknown,
            detail: None,
        };
        exec.decided(entry);
        exec
    }

    /// Takes what a decision says of it.
    pub(super) fn decided(&mut self, entry: &Entry<'_>) {
        self.fate = Fate::of_decision(entry);
        if let Some(decided) = &entry.decision {
            let Decided {
                verdict,
                reason,
                rule,
            } = decided;
            self.verdict = escaped(verdict);
            self.reason = escaped(reason);
            self.rule = rule.as_ref().map(|rule| escaped(&rule.id));
        }
    }

    /// Takes what came of it.
    pub(super) fn ended(&mut self, outcome: &Outcome<'_>) {
        let fate = Fate::of_outcome(&outcome.result);
        // Of a file that is not there, that is no more than was known.
        if fate != Fate::Failed || self.fate != Fate::Missing {
            self.fate = fate;
        }
        let loaded = outcome.loaded.as_ref();
        let loaded = loaded.map(|loaded| format!("loaded {}", quoted(&loaded.exe)));
        let errno = outcome.errno.as_deref().map(escaped);
        let difference = outcome.difference.as_deref();
        let difference = difference.map(|what| format!("another {}", escaped(what)));
        let parts: Vec<_> = [errno, difference, loaded].into_iter().flatten().collect();
        self.detail = (!parts.is_empty()).then(|| parts.join(", "));
    }

    /// Why, and what more there is; empty where the policy's mode let it run.
    pub(super) fn why(&self) -> String {
        let ground = match (&self.rule, self.reason.as_str()) {
            (Some(rule), "rule") => Some(format!("rule {rule}")),
            (Some(rule), reason) => Some(format!("rule {rule}, {reason}")),
            (None, "default") if !self.fate.is_refused() => None,
            (None, "" | "target_missing") => None,
            (None, reason) => Some(reason.to_owned()),
        };
        let parts = [ground, self.detail.clone()].into_iter().flatten();
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// A call as it could be typed, with what the file is called by where that is another name.
fn call(proc: &Proc<'_>) -> String {
    let own = proc.path.as_deref().or(proc.req_path.as_deref());
    let argv = proc.argv.as_deref().unwrap_or_default();
    let mut call = quoted(own.unwrap_or("-"));
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let paths = [proc.path.as_deref(), proc.req_path.as_deref()];
    if let Some(called) = argv.first()
        && !paths
            .into_iter()
            .flatten()
            .any(|path| name(path) == name(called))
    {
        call += &format!(" (called {})", quoted(called));
    }
    let mut is_cut = proc.argv_cut;
    for word in argv.iter().skip(1) {
        if call.len() > CALL_MAX {
            is_cut = true;
            break;
        }
        call += " ";
        call += &quoted(word);
    }
    if call.len() > CALL_MAX {
        call.truncate(call.floor_char_boundary(CALL_MAX));
        is_cut = true;
    }
    if is_cut {
        call += " ...";
    }
    call
}
