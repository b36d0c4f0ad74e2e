//! How numbers are spread: percentiles, and how many are above a bound.

use serde::Serialize;

/// Numbers, each of which is kept: four bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread(Vec<u32>);

/// What is told of them. A percentile is one of the numbers: of those that so many are not above, the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Percentiles {
    pub(super) count: usize,
    pub(super) p50: u32,
    pub(super) p95: u32,
    pub(super) p99: u32,
    pub(super) p99_9: u32,
    pub(super) max: u32,
}

/// Numbers in their order.
#[derive(Debug)]
pub(super) struct Sorted(Vec<u32>);

impl Spread {
    /// Takes another; one beyond 32 bits counts as the largest.
    pub(super) fn add(&mut self, number: u64) {
        self.0.push(u32::try_from(number).unwrap_or(u32::MAX));
    }

    pub(super) fn sorted(mut self) -> Sorted {
        self.0.sort_unstable();
        Sorted(self.0)
    }
}

impl Sorted {
    /// All zeros where there is no number.
    pub(super) fn percentiles(&self) -> Percentiles {
        Percentiles {
            count: self.0.len(),
            p50: self.per_mille(500),
            p95: self.per_mille(950),
            p99: self.per_mille(990),
            p99_9: self.per_mille(999),
            max: self.per_mille(1000),
        }
    }

    fn per_mille(&self, rank: usize) -> u32 {
        let at = (self.0.len() * rank).div_ceil(1000);
        self.0.get(at.saturating_sub(1)).copied().unwrap_or(0)
    }

    /// How many are above `bound`.
    pub(super) fn above(&self, bound: u32) -> usize {
        self.0.len() - self.0.partition_point(|number| *number <= bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_least_that_so_many_are_not_above() {
        let mut spread = Spread::default();
        (1..=1000).rev().for_each(|number| spread.add(number));
        spread.add(u64::MAX);
        let sorted = spread.sorted();
        let told = sorted.percentiles();
        assert_eq!(
            [told.p50, told.p95, told.p99, told.p99_9],
            [501, 951, 991, 1000]
        );
        assert_eq!((told.count, told.max), (1001, u32::MAX));
        assert_eq!(sorted.above(1000), 1);
        assert_eq!(sorted.above(0), 1001);
    }

    #[test]
    fn one_number_is_every_percentile_and_none_is_zero() {
        let mut one = Spread::default();
        one.add(7);
        let told = one.sorted().percentiles();
        assert_eq!([told.p50, told.p95, told.p99, told.p99_9, told.max], [7; 5]);
        assert_eq!(
            Spread::default().sorted().percentiles(),
            Percentiles::default()
        );
    }
}
