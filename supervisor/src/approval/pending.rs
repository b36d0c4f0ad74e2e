//! The questions that are open: a state machine without locks, clocks or I/O.
//!
//! ```text
//! ask ──► open ──► answer       (the first one; a second finds nothing)
//!           ├────► withdraw     (its task is gone, or must not wait any longer)
//!           └────► expire       (nobody answered in time)
//! ```
//!
//! A question leaves once, by whichever comes first, and takes what it held along. Questions about the same
//! facts are a card: they look alike, and an answer to one may be meant for all of them.

use std::collections::BTreeMap;
use std::time::Instant;

use super::FactsDigest;
use crate::audit::ExecId;

/// The open questions, each with what it holds.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    questions: BTreeMap<ExecId, Question<T>>,
}

/// One open question.
#[derive(Debug)]
struct Question<T> {
    digest: FactsDigest,
    expires: Instant,
    held: T,
}

/// Why an answer answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAnswered {
    /// There is no such question, or no longer.
    #[error("no open question has this ID: it was answered, or it has ended")]
    NotOpen,
    /// The answer is about other facts than the question.
    #[error("the digest is not that of the open question")]
    OtherFacts,
    /// The answer is meant for so many questions, and others have come or gone.
    #[error("{0} processes wait with this question, and not {1}; look at them again")]
    OtherCount(usize, usize),
}

/// Which questions of a card an answer closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The one that has waited for longest, whichever was named.
    Oldest,
    /// All, which must be so many.
    These(usize),
    /// All, however many there are.
    All,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self {
            questions: BTreeMap::new(),
        }
    }
}

impl<T> Pending<T> {
    /// Opens a question. `id` is a new one: names of execs are never used twice.
    pub(crate) fn ask(&mut self, id: ExecId, digest: FactsDigest, expires: Instant, held: T) {
        let question = Question {
            digest,
            expires,
            held,
        };
        let earlier = self.questions.insert(id, question);
        debug_assert!(earlier.is_none(), "an id was used twice");
    }

    /// What the open question `id` holds, if `digest` is that of its facts.
    ///
    /// # Errors
    /// If there is none, or it is about something else. It stays open then.
    pub(crate) fn find(&self, id: ExecId, digest: &FactsDigest) -> Result<&T, NotAnswered> {
        match self.questions.get(&id) {
            None => Err(NotAnswered::NotOpen),
            Some(question) if question.digest != *digest => Err(NotAnswered::OtherFacts),
            Some(question) => Ok(&question.held),
        }
    }

    /// Closes the question `id`, or others of its card, because it was answered, if `digest` is that of
    /// its facts. Returns what they held, the oldest first, and at least one.
    ///
    /// # Errors
    /// As [`Pending::find`], and if there are more or fewer than the answer is meant for.
    pub(crate) fn answer(
        &mut self,
        id: ExecId,
        digest: &FactsDigest,
        release: Release,
    ) -> Result<Vec<T>, NotAnswered> {
        self.find(id, digest)?;
        let card = self.questions.iter();
        let card = card.filter(|(_, question)| question.digest == *digest);
        let mut card: Vec<ExecId> = card.map(|(id, _)| *id).collect();
        match release {
            Release::Oldest => card.truncate(1),
            Release::These(count) if count != card.len() => {
                return Err(NotAnswered::OtherCount(card.len(), count));
            }
            Release::These(_) | Release::All => {}
        }
        Ok(card
            .into_iter()
            .filter_map(|id| self.withdraw(id))
            .collect())
    }

    /// Closes the question `id`, whatever it was about.
    pub(crate) fn withdraw(&mut self, id: ExecId) -> Option<T> {
        self.questions.remove(&id).map(|question| question.held)
    }

    /// Closes every question that nobody answered by `now`.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<T> {
        let is_over = |question: &Question<T>| question.expires <= now;
        let over = self.questions.iter().filter(|(_, found)| is_over(found));
        let over: Vec<ExecId> = over.map(|(id, _)| *id).collect();
        over.into_iter()
            .filter_map(|id| self.withdraw(id))
            .collect()
    }

    /// When the next question expires.
    pub(crate) fn next_expiry(&self) -> Option<Instant> {
        self.questions
            .values()
            .map(|question| question.expires)
            .min()
    }

    /// Every open question, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ExecId, &T)> {
        self.questions
            .iter()
            .map(|(id, question)| (*id, &question.held))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }
}

#[cfg(test)]
mod tests;
