//! Senders who may not answer, on their way to the gate's log.
//!
//! The gate may be behind. Then they are counted, and the next record of one says how many there
//! were; at the latest the session's end makes that record.

use super::channel::{Desk, Report};
use super::peer::Peer;
use super::sender::Stranger;
use crate::audit::Approver;

/// Refused senders that the gate has not heard of.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    last: Option<(Approver, String)>,
    before_it: u64,
}

impl Refusals {
    /// Whether `sender` may use the channel over a connection of `peer`.
    ///
    /// # Errors
    /// Why not; the gate records it.
    pub(super) fn judge(
        &mut self,
        desk: &Desk,
        sender: Approver,
        peer: &Peer,
    ) -> Result<(), Stranger> {
        // The peer last: if it lives then, what was read of its number is of it.
        let judged = desk.bouncer.judge(sender);
        let judged = judged.and_then(|()| peer.vouches_for(sender));
        if let Err(stranger) = &judged {
            let why = stranger.to_string();
            tracing::warn!(?sender, why, "a control message was refused");
            self.before_it += u64::from(self.last.is_some());
            self.last = Some((sender, why));
            self.report(desk);
        }
        judged
    }

    /// Tells the gate what it has not heard of, if it listens.
    pub(super) fn report(&mut self, desk: &Desk) {
        let Some((sender, why)) = &self.last else {
            return;
        };
        let (sender, mut why) = (*sender, why.clone());
        if self.before_it > 0 {
            let before = self.before_it;
            why = format!("{why}; {before} refused before it are not recorded singly");
        }
        match desk.report(Report::Refused { sender, why }) {
            Ok(()) => *self = Self::default(),
            Err(error) => tracing::warn!(%error, "a refused sender is not recorded yet"),
        }
    }
}
