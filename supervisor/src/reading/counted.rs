//! Things counted by their names, of which a log may have any number.

use std::collections::HashMap;

/// Most names that are told apart. What has others is counted together.
const NAMES_MAX: usize = 1 << 16;

/// What is known of each name.
#[derive(Debug)]
pub(super) struct Counted<V> {
    names: HashMap<String, V>,
    max: usize,
    others: u64,
}

impl<V> Default for Counted<V> {
    fn default() -> Self {
        Self::up_to(NAMES_MAX)
    }
}

impl<V> Counted<V> {
    /// One that tells so many names apart.
    pub(super) fn up_to(max: usize) -> Self {
        Self {
            names: HashMap::new(),
            max,
            others: 0,
        }
    }

    /// How often there was a name that is not told apart.
    pub(super) fn others(&self) -> u64 {
        self.others
    }

    /// How many names are told apart.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// All of them, those first that `rank` has first; of the same rank by their names.
    pub(super) fn ranked<R: Ord>(&self, rank: impl Fn(&V) -> R) -> Vec<(&str, &V)> {
        let names = self.names.iter();
        let mut ranked: Vec<_> = names.map(|(name, value)| (name.as_str(), value)).collect();
        ranked.sort_by_cached_key(|(name, value)| (rank(value), *name));
        ranked
    }
}

impl<V: Default> Counted<V> {
    /// What is known of `name`; `None` where it is one of the others, which is counted.
    pub(super) fn of(&mut self, name: &str) -> Option<&mut V> {
        if !self.names.contains_key(name) {
            if self.names.len() >= self.max {
                self.others += 1;
                return None;
            }
            self.names.insert(name.to_owned(), V::default());
        }
        self.names.get_mut(name)
    }
}

impl Counted<u64> {
    /// Counts one more of `name`.
    pub(super) fn add(&mut self, name: &str) {
        if let Some(count) = self.of(name) {
            *count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ranked_and_have_an_end() {
        let mut counted = Counted::up_to(2);
        for name in ["b", "a", "b", "c", "c", "a", "b"] {
            counted.add(name);
        }
        assert_eq!(counted.others(), 2);
        let ranked = counted.ranked(|count| std::cmp::Reverse(*count));
        assert_eq!(ranked, [("b", &3), ("a", &2)]);
    }
}
