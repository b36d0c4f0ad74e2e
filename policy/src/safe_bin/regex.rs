//! How far a regular expression between delimiters goes.
//!
//! Programs disagree on it where a bracket expression holds the delimiter, so that one reads as a
//! command what another reads as an expression. What they may disagree on is not read here.

/// The length of the expression that `text` begins with, up to its delimiter. None if there is no
/// end that all agree on.
pub(super) fn length(text: &[u8], delimiter: u8) -> Option<usize> {
    length_by(text, delimiter, |at| after_bracket(text, at, delimiter))
}

/// The length of text that has no brackets, such as a replacement, up to its delimiter.
pub(super) fn plain_length(text: &[u8], delimiter: u8) -> Option<usize> {
    length_by(text, delimiter, |at| Some(at + 1))
}

/// The length of a text, where `after` says what comes after the `[` at a place.
fn length_by(text: &[u8], delimiter: u8, after: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let mut at = 0;
    loop {
        match *text.get(at)? {
            byte if byte == delimiter => return Some(at),
            b'\n' => return None,
            b'\\' => at += 2,
            b'[' => at = after(at)?,
            _ => at += 1,
        }
    }
}

/// Where the bracket expression that begins at `at` has ended.
fn after_bracket(text: &[u8], at: usize, delimiter: u8) -> Option<usize> {
    let mut at = at + 1;
    if text.get(at) == Some(&b'^') {
        at += 1;
    }
    // There a bracket is a member for some and the end for others.
    if text.get(at) == Some(&b']') {
        return None;
    }
    loop {
        match *text.get(at)? {
            byte if byte == delimiter => return None,
            b'\n' => return None,
            b']' => return Some(at + 1),
            b'[' => at = after_class(text, at)?,
            b'\\' => match text.get(at + 1)? {
                b']' | b'\n' => return None,
                _ => at += 2,
            },
            _ => at += 1,
        }
    }
}

/// Where the `[:name:]` that begins at `at` has ended.
fn after_class(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?.strip_prefix(b"[:")?;
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let letters = letters.count();
    let is_closed = rest.get(letters..)?.starts_with(b":]");
    is_closed.then_some(at + letters + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_ends_where_all_agree() {
        for (text, end) in [
            ("a|b/x", Some(3)),
            (r"a\/b/x", Some(4)),
            ("[[:space:]]*/", Some(12)),
            ("[^a-z]/", Some(6)),
            (r"[\/]/", Some(4)),
            (r"\[/]/", Some(2)),
            ("[/]/", None),
            ("[]/]/", None),
            (r"[\]/]/", None),
            ("[[./.]]/", None),
            ("a\n/", None),
            ("a", None),
            (r"a\", None),
        ] {
            assert_eq!(length(text.as_bytes(), b'/'), end, "{text}");
        }
    }
}
