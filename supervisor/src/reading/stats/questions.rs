//! The questions of a log: how many, how long they waited, and what came of them.

use std::collections::HashSet;

use super::super::entry::{Decided, Entry};
use super::super::spread::Spread;

/// Most questions that are known to be open at once.
const OPEN_MAX: usize = 1 << 16;

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Allowed,
    Denied,
    /// Nobody answered in time.
    Expired,
    /// The task was gone, or a signal came for it.
    Withdrawn,
    /// There was nobody to put it to.
    Nobody,
    /// The gate refused it on its own account.
    Other,
}

impl Answer {
    /// Of a decision, if that is of a question.
    pub(super) fn of(entry: &Entry<'_>) -> Option<Self> {
        let decided = entry.decision.as_ref()?;
        let of_reason = Self::of_reason(decided);
        let is_question = entry.approval.is_some() || of_reason == Self::Nobody;
        is_question.then_some(of_reason)
    }

    fn of_reason(
        Decided {
            verdict, reason, ..
        }: &Decided<'_>,
    ) -> Self {
        match (reason.as_ref(), verdict.as_ref()) {
            ("timeout", _) => Self::Expired,
            ("withdrawn" | "signalled", _) => Self::Withdrawn,
            ("no_approver", _) => Self::Nobody,
            ("user" | "grant" | "children", "allow") => Self::Allowed,
            ("user" | "grant", "deny") => Self::Denied,
            _ => Self::Other,
        }
    }
}

/// How many questions ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Answers {
    pub(super) allowed: u64,
    pub(super) denied: u64,
    pub(super) expired: u64,
    pub(super) withdrawn: u64,
    pub(super) nobody: u64,
    pub(super) other: u64,
}

impl Answers {
    fn add(&mut self, answer: Answer) {
        match answer {
            Answer::Allowed => self.allowed += 1,
            Answer::Denied => self.denied += 1,
            Answer::Expired => self.expired += 1,
            Answer::Withdrawn => self.withdrawn += 1,
            Answer::Nobody => self.nobody += 1,
            Answer::Other => self.other += 1,
        }
    }
}

/// The questions so far.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub(super) count: u64,
    pub(super) answers: Answers,
    /// Milliseconds that those waited that were put to somebody.
    pub(super) waits: Spread,
    open: HashSet<(String, u64)>,
}

impl Questions {
    /// An exec waits for its answer.
    pub(super) fn held(&mut self, entry: &Entry<'_>) {
        if let Some(id) = entry.exec_id
            && self.open.len() < OPEN_MAX
        {
            self.open.insert((entry.session.id.to_string(), id.0));
        }
    }

    /// An exec is decided; whether there was a question.
    pub(super) fn decided(&mut self, entry: &Entry<'_>) -> bool {
        let Some(answer) = Answer::of(entry) else {
            return false;
        };
        self.count += 1;
        self.answers.add(answer);
        let waited = entry.approval.as_ref().and_then(|it| it.wait_ms);
        if let Some(waited) = waited {
            self.waits.add(waited);
        }
        if let Some(id) = entry.exec_id
            && !self.open.is_empty()
        {
            self.open.remove(&(entry.session.id.to_string(), id.0));
        }
        true
    }

    /// How many have no decision in the log.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }
}
