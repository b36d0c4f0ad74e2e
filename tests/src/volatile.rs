//! A file on a disk with a cache that forgets: what was synced stays, and of what was written since, a
//! power cut leaves what it likes.

use crate::random::Random;

/// What a disk writes whole or not at all, in bytes.
const SECTOR_BYTES: usize = 512;

/// Its content, and what of that is certain.
#[derive(Clone, Debug, Default)]
pub struct Volatile {
    /// As whoever reads the file sees it.
    pub content: Vec<u8>,
    /// As it was when it was synced last.
    pub synced: Vec<u8>,
}

/// Which sectors reach the disk that were written since the last sync.
#[derive(Clone, Copy, Debug)]
enum Arrived {
    /// Those of the length that the file has then: ext4's `data=ordered`.
    All,
    /// None: the length alone is there, and the rest reads as zeros.
    None,
    /// Those before this one.
    Before(usize),
    /// Each as it happens.
    Some,
}

impl Volatile {
    /// Writes `bytes` at `from`; what was behind is gone.
    pub fn write(&mut self, from: usize, bytes: &[u8]) {
        self.content.truncate(from);
        self.content.extend(bytes);
    }

    /// What was written is on the disk.
    pub fn sync(&mut self) {
        self.synced.clone_from(&self.content);
    }

    /// What a power cut leaves. The length is metadata, and reaches the disk before, after or with what
    /// it is the length of.
    #[must_use]
    pub fn after_cut(&self, random: &mut Random) -> Vec<u8> {
        let (before, now) = (self.synced.len(), self.content.len());
        let len = match random.below(4) {
            0 => before,
            1 => now,
            _ if now < before => now,
            _ => random.between(before, now),
        };
        let arrived = match random.below(4) {
            0 => Arrived::All,
            1 => Arrived::None,
            2 => Arrived::Before(random.between(before, now) / SECTOR_BYTES),
            _ => Arrived::Some,
        };
        let mut left = self.synced.clone();
        left.resize(len, 0);
        let sectors = self.content.chunks(SECTOR_BYTES);
        for (at, (to, from)) in left.chunks_mut(SECTOR_BYTES).zip(sectors).enumerate() {
            let is_there = match arrived {
                Arrived::All => true,
                Arrived::None => false,
                Arrived::Before(limit) => at < limit,
                Arrived::Some => random.below(2) == 0,
            };
            if is_there {
                let len = to.len().min(from.len());
                to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                to.iter_mut().skip(len).for_each(|byte| *byte = 0);
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_synced_stays_and_the_rest_is_whole_sectors_or_zeros() {
        let mut file = Volatile::default();
        file.write(0, &[1; 700]);
        file.sync();
        file.write(700, &[2; 5000]);
        let mut seen = [false; 4];
        for seed in 0..200 {
            let left = file.after_cut(&mut Random::of(seed));
            assert!((700..=5700).contains(&left.len()));
            assert!(left[..700] == file.synced);
            for sector in left[700..].rchunks(SECTOR_BYTES) {
                assert!(sector.iter().all(|byte| matches!(byte, 0 | 2)));
            }
            let has_hole = left.contains(&0);
            let ends_in_data = left.last() == Some(&2);
            seen[usize::from(has_hole) + 2 * usize::from(ends_in_data)] = true;
        }
        assert_eq!(seen, [true; 4], "no case but each");
    }
}
