//! Who takes records.

use std::time::Duration;

use crate::counters::Counters;
use crate::record::Record;

/// What takes records, in their order.
pub(crate) trait Receiver: std::fmt::Debug {
    /// Hands records over, as many of the first ones as it takes now.
    fn deliver(&mut self, records: &[Record]) -> Delivery;

    /// What it has counted of all that it took, to be kept with the position.
    fn counters(&self) -> Option<&Counters> {
        None
    }

    /// The position is on the disk: what was counted may be shown.
    ///
    /// # Errors
    /// If it cannot be. It is called again then.
    fn publish(&mut self) -> Result<(), Refusal> {
        Ok(())
    }
}

/// What came of an attempt.
#[derive(Debug)]
#[must_use]
pub(crate) struct Delivery {
    /// How many of the first records were taken, or refused for good.
    pub(crate) taken: usize,
    /// Of these, how many it refused for good, with what it said: they would be refused again.
    pub(crate) rejected: Option<(u64, String)>,
    /// Why not all were.
    pub(crate) refusal: Option<Refusal>,
}

/// Why a receiver does not take records now.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// For people; printable.
    pub(crate) why: String,
    /// When it wants to be asked again, if it says so.
    pub(crate) after: Option<Duration>,
}

impl Delivery {
    /// All of them were taken.
    pub(crate) fn all(records: &[Record]) -> Self {
        Self {
            taken: records.len(),
            rejected: None,
            refusal: None,
        }
    }

    /// The first `taken` were, and no more.
    pub(crate) fn only(taken: usize, refusal: Refusal) -> Self {
        Self {
            taken,
            rejected: None,
            refusal: Some(refusal),
        }
    }
}

impl Refusal {
    /// It fails for that reason.
    pub(crate) fn of(why: String) -> Self {
        Self { why, after: None }
    }
}
