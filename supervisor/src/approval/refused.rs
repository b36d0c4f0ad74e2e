//! What was refused a moment ago: a call that comes again is not asked about again, and whoever is refused
//! again and again is told to stop. Time is an argument.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use super::CallDigest;

/// How long a person's no holds for the same call.
pub(crate) const REMEMBERED: Duration = Duration::from_secs(60);

/// So many refusals within [`REMEMBERED`] are no mistake any more.
pub(crate) const TOO_MANY: usize = 10;

/// Most that is kept of either.
const KEPT_MAX: usize = 1024;

/// The refusals of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    said: HashMap<CallDigest, Instant>,
    recent: VecDeque<Instant>,
}

impl Refused {
    /// A person said no to exactly this.
    pub(crate) fn say_no(&mut self, digest: CallDigest, now: Instant) {
        self.said.retain(|_, at| is_recent(*at, now));
        // Too many to be a person's: what is forgotten is asked about.
        if self.said.len() < KEPT_MAX {
            self.said.insert(digest, now);
        }
    }

    /// How long ago a person said no to exactly this, if that still holds.
    pub(crate) fn said_no(&self, digest: &CallDigest, now: Instant) -> Option<Duration> {
        let at = self.said.get(digest).filter(|at| is_recent(**at, now))?;
        Some(now.saturating_duration_since(*at))
    }

    /// Whether nobody said no to anything lately.
    pub(crate) fn is_silent(&self) -> bool {
        self.said.is_empty()
    }

    /// Counts a refusal of any kind: how many there were lately, if that is too many.
    pub(crate) fn count(&mut self, now: Instant) -> Option<usize> {
        self.recent.push_back(now);
        while self.recent.len() > KEPT_MAX
            || self.recent.front().is_some_and(|at| !is_recent(*at, now))
        {
            self.recent.pop_front();
        }
        Some(self.recent.len()).filter(|count| *count >= TOO_MANY)
    }
}

fn is_recent(at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(at) < REMEMBERED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_holds_for_the_same_call_and_for_a_while() {
        let mut refused = Refused::default();
        let digest = |n: u8| CallDigest::of_pieces([[n]]);
        let now = Instant::now();
        assert!(refused.is_silent());
        refused.say_no(digest(1), now);
        let later = now + REMEMBERED / 2;
        assert_eq!(refused.said_no(&digest(1), later), Some(REMEMBERED / 2));
        assert_eq!(refused.said_no(&digest(2), later), None);
        assert_eq!(refused.said_no(&digest(1), now + REMEMBERED), None);
    }

    #[test]
    fn refusals_are_too_many_within_a_while_and_not_over_a_day() {
        let mut refused = Refused::default();
        let now = Instant::now();
        let each_minute = (0..100).map(|n| refused.count(now + REMEMBERED * n));
        assert!(each_minute.into_iter().all(|count| count.is_none()));
        let start = now + REMEMBERED * 200;
        let counts: Vec<_> = (1..=TOO_MANY + 1).map(|_| refused.count(start)).collect();
        assert_eq!(counts.last(), Some(&Some(TOO_MANY + 1)));
        assert_eq!(counts.iter().flatten().count(), 2);
    }
}
