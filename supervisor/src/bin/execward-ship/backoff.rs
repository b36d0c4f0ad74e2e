//! How long is waited before something is tried again, and how often that is said.

use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::said::say;

/// The first wait.
const FIRST: Duration = Duration::from_millis(200);
/// The longest.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest that a receiver is left alone where it asks for that.
const ASKED_MAX: Duration = Duration::from_secs(5 * 60);
/// How often at most it is said that something still fails.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// The waits between attempts, each twice as long as the one before.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    /// The next wait: between half of its length and all of it, by chance, so that many that failed together do not
    /// come again together.
    pub(crate) fn wait(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(LONGEST);
        (wait / 2 + wait / 2 * u32::from(by_chance()) / 255).max(FIRST)
    }
}

/// What a receiver said of when it wants to be asked again, within what is reasonable.
pub(crate) fn bounded(asked: Duration) -> Duration {
    asked.clamp(FIRST, ASKED_MAX)
}

fn by_chance() -> u8 {
    let mut byte = [0];
    // Without any, the wait is the longest: as good as another.
    match getrandom(&mut byte, GetRandomFlags::empty()) {
        Ok(_) => byte.into_iter().next().unwrap_or(u8::MAX),
        Err(_) => u8::MAX,
    }
}

/// What fails again and again, said at once and then at most every minute.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    /// How often it failed since it last did not.
    failures: u64,
    said: Option<Instant>,
}

impl Complaint {
    /// It failed.
    pub(crate) fn failed(&mut self, what: &str) {
        self.failures += 1;
        let is_due = self.said.is_none_or(|said| said.elapsed() >= SAY_EVERY);
        if !is_due {
            return;
        }
        self.said = Some(Instant::now());
        match self.failures {
            1 => say(&format!(
                "{what}; it is tried again, and nothing is dropped"
            )),
            count => say(&format!("{what} ({count} times in a row)")),
        }
    }

    /// It did not.
    pub(crate) fn is_over(&mut self) {
        if self.failures > 0 {
            say(&format!("it works again, after {} failures", self.failures));
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_half_a_minute_and_no_further() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..20).map(|_| backoff.wait()).collect();
        assert!(waits.iter().all(|wait| (FIRST..=LONGEST).contains(wait)));
        assert!(waits[0] <= FIRST);
        assert!(waits[19] >= LONGEST / 2);
    }
}
