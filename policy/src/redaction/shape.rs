//! Keys that are known by how they look.

use std::ops::Range;

/// How one begins, and how many more characters it has at least.
const SHAPES: [(&[u8], usize); 27] = [
    (b"AKIA", 16),
    (b"ASIA", 16),
    (b"ghp_", 20),
    (b"gho_", 20),
    (b"ghu_", 20),
    (b"ghs_", 20),
    (b"ghr_", 20),
    (b"github_pat_", 20),
    (b"glpat-", 16),
    (b"gldt-", 16),
    (b"xoxa-", 10),
    (b"xoxb-", 10),
    (b"xoxp-", 10),
    (b"xoxr-", 10),
    (b"xoxs-", 10),
    (b"sk-", 20),
    (b"sk_live_", 16),
    (b"rk_live_", 16),
    (b"sk_test_", 16),
    (b"AIza", 30),
    (b"ya29.", 20),
    (b"eyJ", 20),
    (b"npm_", 30),
    (b"pypi-", 30),
    (b"hf_", 30),
    (b"SG.", 30),
    (b"dop_v1_", 30),
];

/// What is shorter is none of them, nor a private key.
const LEAST_BYTES: usize = 15;

/// How a private key begins, and ends.
const PRIVATE: (&[u8], &[u8]) = (b"PRIVATE KEY-----", b"-----END");

/// The secrets among the bytes of `text`: what is behind the beginnings.
pub(super) fn find(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.len() < LEAST_BYTES {
        return found;
    }
    for at in beginnings(text) {
        let tail = text.get(at..).unwrap_or_default();
        for (begins, least) in SHAPES {
            // Of nearly all of them the first byte is another.
            if tail.first() == begins.first()
                && let Some(key) = tail.strip_prefix(begins)
            {
                let len = key.iter().take_while(|byte| is_of_key(**byte)).count();
                let from = at + begins.len();
                found.extend((len >= least).then_some(from..from + len));
            }
        }
    }
    for at in places(text, PRIVATE.0) {
        let from = at + PRIVATE.0.len();
        let end = places(text, PRIVATE.1).find(|end| *end >= from);
        found.extend(runs(text, from..end.unwrap_or(text.len())));
    }
    found
}

/// Where a word begins: no key does within letters and digits.
fn beginnings(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let bytes = std::iter::once(&b' ').chain(text).zip(0..text.len());
    let before_one = bytes.filter(|(before, _)| !before.is_ascii_alphanumeric());
    before_one.map(|(_, at)| at)
}

/// The lines of base64 in a part of `text`, which may have anything between them.
fn runs(text: &[u8], within: Range<usize>) -> Vec<Range<usize>> {
    const RUN_LEAST_BYTES: usize = 16;
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let (mut runs, mut at) = (Vec::new(), within.start);
    while at < within.end {
        let tail = text.get(at..within.end).unwrap_or_default();
        let len = tail.iter().take_while(|byte| is_base64(byte)).count();
        if len >= RUN_LEAST_BYTES {
            runs.push(at..at + len);
        }
        at += len + 1;
    }
    runs
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.=+".contains(&byte)
}

/// Where `part`, which is not empty, stands in `text`. A text may have megabytes, and is gone through for every part:
/// most of its bytes are no beginning.
pub(super) fn places<'t>(text: &'t [u8], part: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let bytes = text.iter().enumerate();
    let beginnings = bytes.filter(move |(_, byte)| Some(*byte) == part.first());
    let is_there = move |at: &usize| text.get(*at..).is_some_and(|tail| tail.starts_with(part));
    beginnings.map(|(at, _)| at).filter(is_there)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_known_is_shorter_than_the_least() {
        let lengths = SHAPES.iter().map(|(begins, least)| begins.len() + least);
        let least = lengths.chain([PRIVATE.0.len()]).min();
        assert_eq!(least, Some(LEAST_BYTES));
    }

    proptest! {
        #[test]
        fn a_key_is_found_wherever_a_word_begins(
            parts in proptest::collection::vec(
                proptest::sample::select(vec!["AKIA", "sk-", "ghp_", "x", "-", " ", "=", "0123456789abcdef"]),
                0..12,
            ),
        ) {
            let text = parts.concat().into_bytes();
            let mut expected = Vec::new();
            for (begins, least) in SHAPES {
                for at in places(&text, begins) {
                    let from = at + begins.len();
                    let len = text[from..].iter().take_while(|byte| is_of_key(**byte)).count();
                    let is_within = at > 0 && text[at - 1].is_ascii_alphanumeric();
                    if len >= least && !is_within {
                        expected.push(from..from + len);
                    }
                }
            }
            let mut found = find(&text);
            found.sort_by_key(|range| range.start);
            expected.sort_by_key(|range| range.start);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_part_is_found_wherever_it_stands(text in "[ab]{0,12}", part in "[ab]{1,3}") {
            let (text, part) = (text.as_bytes(), part.as_bytes());
            let windows = text.windows(part.len()).enumerate();
            let expected: Vec<_> = windows.filter(|(_, it)| *it == part).map(|(at, _)| at).collect();
            prop_assert_eq!(places(text, part).collect::<Vec<_>>(), expected);
        }
    }
}
