//! Numbers by chance, the same again for the same seed.

/// A linear congruential generator (Knuth's MMIX).
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The series of `seed`.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below `limit`; 0 below 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).checked_rem(limit).unwrap_or(0)
    }

    /// A number from `least` to `most`, both included.
    ///
    /// # Panics
    /// If a size of this machine has no room for it.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        let steps = most.saturating_sub(least) as u64 + 1;
        least + usize::try_from(self.below(steps)).expect("a size")
    }
}
