//! Senders who may not answer, on their way to the gate's log.
//!
//! Whoever is refused may try as often as it likes, and the gate may be behind. Then they are counted, and
//! the next record of one says how many there were; at the latest the session's end makes that record.

use std::time::{Duration, Instant};

use super::channel::{Desk, Report};
use super::peer::Peer;
use super::sender::Stranger;
use crate::audit::Approver;

/// How many are recorded singly at once; one more comes to that each [`ANOTHER_AFTER`].
const SINGLY_MAX: u32 = 64;
const ANOTHER_AFTER: Duration = Duration::from_secs(1);

/// Refused senders that the gate has not heard of.
#[derive(Debug)]
pub(super) struct Refusals {
    last: Option<(Approver, String)>,
    before_it: u64,
    /// How many may be recorded singly, as of `since`.
    singly: u32,
    since: Instant,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            last: None,
            before_it: 0,
            singly: SINGLY_MAX,
            since: Instant::now(),
        }
    }
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
            self.before_it += u64::from(self.last.is_some());
            self.last = Some((sender, stranger.to_string()));
            if self.may_be_recorded(Instant::now()) {
                self.report(desk);
            }
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
        tracing::warn!(?sender, why, "a control message was refused");
        match desk.report(Report::Refused { sender, why }) {
            Ok(()) => {
                self.last = None;
                self.before_it = 0;
                self.singly = self.singly.saturating_sub(1);
            }
            Err(error) => tracing::warn!(%error, "a refused sender is not recorded yet"),
        }
    }

    fn may_be_recorded(&mut self, now: Instant) -> bool {
        while self.singly < SINGLY_MAX && now.duration_since(self.since) >= ANOTHER_AFTER {
            self.singly += 1;
            self.since += ANOTHER_AFTER;
        }
        if self.singly == SINGLY_MAX {
            self.since = now;
        }
        self.singly > 0
    }
}
