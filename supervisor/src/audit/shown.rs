//! Text of tasks as people read it: printable ASCII, so that nothing moves a cursor.

/// A word that a shell reads back as one; `"` where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    let text = escaped(word);
    if is_plain(word.as_bytes()) {
        text
    } else {
        format!("\"{text}\"")
    }
}

/// Whether a word can be taken for nothing but itself, in a shell and among other words.
pub(crate) fn is_plain(word: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(byte);
    !word.is_empty() && word.iter().all(is_plain)
}

/// `text` with everything else escaped as in Rust.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().flat_map(char::escape_default).collect()
}
