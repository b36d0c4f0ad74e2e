//! Bytes of tasks with everything visible that is hidden or misleads.

use std::fmt::Write;

use crate::audit::is_plain;

/// From how many on blanks in a row are spelled out: they could push the rest out of sight.
const BLANKS_MAX: usize = 3;

/// `raw` as a word of a shell, in quotes unless it can be taken for nothing else. What is no printable ASCII
/// is spelled out as in Rust: a letter of another script may look like one that is, and no two terminals
/// agree on the width of all the others.
pub(crate) fn word(raw: &[u8]) -> String {
    match str::from_utf8(raw) {
        Ok(text) if is_plain(raw) => text.to_owned(),
        _ => format!("\"{}\"", spelled_out(raw)),
    }
}

/// `text` of a sentence by whoever wrote the policy or the gate, as printable ASCII.
pub(crate) fn in_ascii(text: &str) -> String {
    let is_shown = |c: char| (' '..='~').contains(&c);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_shown(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}

fn spelled_out(raw: &[u8]) -> String {
    let mut shown = String::with_capacity(raw.len() + 2);
    let mut blanks = 0;
    for chunk in raw.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == ' ' {
                blanks += 1;
                continue;
            }
            put_blanks(&mut shown, std::mem::take(&mut blanks));
            match c {
                '\'' => shown.push(c),
                other => shown.extend(other.escape_default()),
            }
        }
        if !chunk.invalid().is_empty() {
            put_blanks(&mut shown, std::mem::take(&mut blanks));
        }
        for byte in chunk.invalid() {
            // Writing to a String does not fail.
            if write!(shown, "\\x{byte:02x}").is_err() {
                shown.push('?');
            }
        }
    }
    put_blanks(&mut shown, blanks);
    shown
}

fn put_blanks(shown: &mut String, count: usize) {
    let blank = if count > BLANKS_MAX { "\\x20" } else { " " };
    shown.extend(std::iter::repeat_n(blank, count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_stays_hidden() {
        for (raw, shown) in [
            (&b"-rf"[..], "-rf"),
            (b"", "\"\""),
            (b"a b ", "\"a b \""),
            (b"a    b", r#""a\x20\x20\x20\x20b""#),
            (b"x\n  3  --force", r#""x\n  3  --force""#),
            (b"\x1b[2J\r\t\0\x7f", r#""\u{1b}[2J\r\t\u{0}\u{7f}""#),
            (
                "a\u{202e}b\u{200b}\u{feff}".as_bytes(),
                r#""a\u{202e}b\u{200b}\u{feff}""#,
            ),
            ("e\u{301} \u{430}pt".as_bytes(), r#""e\u{301} \u{430}pt""#),
            (b"\\u{202e}\"", r#""\\u{202e}\"""#),
            (b"\xff\xfea\xe2\x80", r#""\xff\xfea\xe2\x80""#),
            (b"it's", "\"it's\""),
        ] {
            assert_eq!(word(raw), shown);
        }
    }

    #[test]
    fn no_two_words_look_alike_and_none_leaves_ascii() {
        let raw = |one: u8, two: u8| [one, two];
        let mut seen = std::collections::HashSet::new();
        for one in 0..=255 {
            for two in 0..=255 {
                let shown = word(&raw(one, two));
                assert!(shown.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                assert!(seen.insert(shown));
            }
        }
    }

    #[test]
    fn a_sentence_moves_no_cursor() {
        assert_eq!(
            in_ascii("`a\\b` sends\u{1b}[2J\n"),
            "`a\\b` sends\\u{1b}[2J\\n"
        );
    }
}
