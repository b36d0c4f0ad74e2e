//! The questions that are open: those of one digest are a card.

use crate::approval::FactsDigest;
use crate::audit::ExecId;
use crate::control::Required;

/// Questions that are alike in everything that is shown.
#[derive(Clone, Debug)]
pub(super) struct Card {
    /// Oldest first, never empty.
    open: Vec<Required>,
}

/// All that is open, the oldest card first.
#[derive(Debug, Default)]
pub(super) struct Queue {
    cards: Vec<Card>,
}

impl Card {
    /// The one that has waited for longest; an answer names it.
    pub(super) fn oldest(&self) -> Option<&Required> {
        self.open.first()
    }

    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ExecId> {
        self.open.iter().map(|required| required.request_id)
    }

    fn has(&self, id: ExecId) -> bool {
        self.ids().any(|own| own == id)
    }

    fn is_of(&self, digest: &FactsDigest) -> bool {
        self.open.iter().any(|required| required.digest == *digest)
    }
}

impl Queue {
    pub(super) fn cards(&self) -> &[Card] {
        &self.cards
    }

    /// How many processes wait.
    pub(super) fn waiting(&self) -> usize {
        self.cards.iter().map(Card::count).sum()
    }

    pub(super) fn add(&mut self, required: Required) {
        if self.cards.iter().any(|card| card.has(required.request_id)) {
            return;
        }
        let of_digest = |card: &&mut Card| card.is_of(&required.digest);
        match self.cards.iter_mut().find(of_digest) {
            Some(card) => card.open.push(required),
            None => self.cards.push(Card {
                open: vec![required],
            }),
        }
    }

    /// Takes out the question that has ended.
    pub(super) fn remove(&mut self, id: ExecId) -> Option<Required> {
        let card = self.cards.iter_mut().find(|card| card.has(id))?;
        let at = card.ids().position(|own| own == id)?;
        let gone = card.open.remove(at);
        self.cards.retain(|card| card.count() > 0);
        Some(gone)
    }
}
