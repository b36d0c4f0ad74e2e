//! How many words name a command: `git push`, but `npm run test`.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Rows of command prefix and arity, from the prefix tables of other policy engines.
const TABLE: &str = include_str!("../data/arity.tsv");

/// Most words of a prefix in the table.
const PREFIX_MAX_WORDS: usize = 3;

static ARITIES: LazyLock<HashMap<&'static [u8], usize>> = LazyLock::new(|| {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.filter_map(|row| row.split_once('\t'));
    rows.filter_map(|(prefix, arity)| Some((prefix.as_bytes(), arity.parse().ok()?)))
        .collect()
});

/// How many words, `name` included, name the command that `name` and its operands `words`
/// lead to. The longest listed prefix decides; a command that is not listed is its name.
pub(crate) fn of<'a>(name: &'a [u8], words: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut arity = 1;
    let mut prefix = Vec::new();
    for word in std::iter::once(name).chain(words).take(PREFIX_MAX_WORDS) {
        if !prefix.is_empty() {
            prefix.push(b' ');
        }
        prefix.extend_from_slice(word);
        if let Some(listed) = ARITIES.get(prefix.as_slice()) {
            arity = *listed;
        }
    }
    arity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read() {
        let rows = TABLE
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty());
        assert_eq!(ARITIES.len(), rows.count());
        for (prefix, arity) in ARITIES.iter() {
            let words = prefix.split(|byte| *byte == b' ').count();
            assert!(words <= PREFIX_MAX_WORDS, "{}", prefix.escape_ascii());
            assert!((1..=4).contains(arity), "{}", prefix.escape_ascii());
        }
    }

    #[test]
    fn the_longest_listed_prefix_decides() {
        for (command, arity) in [
            ("git push origin", 2),
            ("git stash drop", 3),
            ("npm run test", 3),
            ("ls x", 1),
            ("no-such-thing a b", 1),
        ] {
            let mut words = command.split(' ').map(str::as_bytes);
            assert_eq!(of(words.next().unwrap(), words), arity, "{command}");
        }
    }
}
