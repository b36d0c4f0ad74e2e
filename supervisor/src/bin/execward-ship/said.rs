//! What the shipper says on standard error, and text of others in it: printable ASCII, so that nothing moves a cursor.

use std::io::Write;

/// Says a line.
pub(crate) fn say(line: &str) {
    // Without a standard error there is nobody to tell.
    writeln!(std::io::stderr().lock(), "execward-ship: {line}").ok();
}

/// Bytes as text, with all but printable ASCII escaped as in Rust.
pub(crate) fn printable(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\\"", "\"")
}

/// A word that a shell reads back as one; `"` where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("\"{}\"", word.escape_default())
    }
}

/// `text` with all but printable ASCII escaped as in Rust.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '\'' | '"' => String::from(c),
        other => other.escape_default().to_string(),
    };
    text.chars().map(escape).collect()
}

/// Cuts printable ASCII down to so many bytes, the mark ` ...` for what is missing included; whether it did.
pub(crate) fn cut(text: &mut String, bytes: usize) -> bool {
    const MARK: &str = " ...";
    if text.len() <= bytes {
        return false;
    }
    text.truncate(text.floor_char_boundary(bytes.saturating_sub(MARK.len())));
    text.push_str(MARK);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_cursor_is_escaped() {
        assert_eq!(escaped("an agent's \"x\""), "an agent's \"x\"");
        assert_eq!(escaped("a\n\0\u{202e}\\"), "a\\n\\u{0}\\u{202e}\\\\");
        assert_eq!(quoted("a\nb"), "\"a\\nb\"");
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(printable(b"it\x1b \xff"), "it\\x1b \\xff");
    }

    #[test]
    fn what_is_cut_says_so_and_is_no_longer_than_it_may() {
        let mut text = "abcdefghij".to_owned();
        assert!(!cut(&mut text, 10));
        assert!(cut(&mut text, 8));
        assert_eq!(text, "abcd ...");
    }
}
