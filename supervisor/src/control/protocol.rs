//! Which version of the messages two sides speak.

use std::ops::RangeInclusive;

/// The versions that this execward speaks. The newest is what it would rather speak; it goes up when
/// readers that ignore unknown fields can no longer understand.
pub(crate) const SPOKEN: RangeInclusive<u32> = 1..=1;

/// The newest of them.
pub(crate) const NEWEST: u32 = *SPOKEN.end();

/// The newest version that the gate and a client both speak, if there is one.
pub(super) fn common(gate: &RangeInclusive<u32>, client: &RangeInclusive<u32>) -> Option<u32> {
    let newest = *gate.end().min(client.end());
    let oldest = *gate.start().max(client.start());
    (oldest <= newest).then_some(newest)
}

/// `1`, `1 to 3`.
pub(super) fn in_words(spoken: &RangeInclusive<u32>) -> String {
    if spoken.start() == spoken.end() {
        spoken.end().to_string()
    } else {
        format!("{} to {}", spoken.start(), spoken.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_both_speak_is_spoken() {
        for (gate, client, spoken) in [
            (1..=1, 1..=1, Some(1)),
            (1..=3, 2..=5, Some(3)),
            (2..=5, 1..=3, Some(3)),
            (1..=2, 3..=4, None),
            (3..=4, 1..=2, None),
        ] {
            assert_eq!(common(&gate, &client), spoken, "{gate:?} {client:?}");
        }
    }

    #[test]
    fn a_range_that_is_none_is_spoken_by_nobody() {
        #[expect(clippy::reversed_empty_ranges, reason = "a gate may send anything")]
        let backwards = 3..=1;
        assert_eq!(common(&backwards, &(1..=3)), None);
    }
}
