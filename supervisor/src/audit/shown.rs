//! Text of tasks as people read it: printable ASCII, so that nothing moves a cursor.

use serde_json::Value;

/// A word that a shell reads back as one; `"` where it needs it.
pub(crate) fn quoted(word: &str) -> String {
    if is_plain(word.as_bytes()) {
        word.to_owned()
    } else {
        format!("\"{}\"", word.escape_default())
    }
}

/// Whether a word can be taken for nothing but itself, in a shell and among other words.
pub(crate) fn is_plain(word: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(byte);
    !word.is_empty() && word.iter().all(is_plain)
}

/// What a program is called by its caller, where that is neither its path's nor the given one's name:
/// some files do what they are called.
pub(crate) fn called(proc: &Value) -> Option<String> {
    let text = |pointer| proc.pointer(pointer).and_then(Value::as_str);
    let name = |path: &'_ str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let called = text("/argv/0")?;
    let own = [text("/path"), text("/req_path")];
    let is_own = own
        .into_iter()
        .flatten()
        .any(|path| name(path) == name(called));
    (!is_own).then(|| format!("(called {})", quoted(called)))
}

/// `text` of a sentence, with all but printable ASCII escaped as in Rust.
pub(crate) fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '\'' | '"' => String::from(c),
        other => other.escape_default().to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_keeps_its_quotes_and_loses_what_moves_a_cursor() {
        assert_eq!(escaped("an agent's \"x\""), "an agent's \"x\"");
        assert_eq!(escaped("a\n\u{202e}\\"), "a\\n\\u{202e}\\\\");
        assert_eq!(quoted("it's"), "\"it\\'s\"");
    }
}
