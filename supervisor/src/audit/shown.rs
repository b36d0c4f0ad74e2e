//! Text of tasks as people read it: printable ASCII, so that nothing moves a cursor.

/// A word that a shell reads back as one; `"` where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let text = escaped(word);
    if !word.is_empty() && word.chars().all(is_plain) {
        text
    } else {
        format!("\"{text}\"")
    }
}

/// `text` with everything else escaped as in Rust.
pub(crate) fn escaped(text: &str) -> String {
    text.chars().flat_map(char::escape_default).collect()
}
