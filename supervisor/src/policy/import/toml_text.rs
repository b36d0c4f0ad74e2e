//! Text of a configuration in the text of a policy: in quotes, in a comment, in a pattern.

use std::fmt::Write as _;

/// Longest text that is shown in a comment, in characters. What it was can be read where it stands.
const SHOWN_MAX: usize = 200;

/// What has a meaning in a pattern.
const SPECIAL: [char; 7] = ['*', '?', '!', '\\', '$', '@', '~'];

/// A basic string of TOML. What does not print is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            other if is_printed(other) => quoted.push(other),
            // Writing to a string does not fail.
            other => write!(quoted, "\\U{:08x}", u32::from(other)).unwrap_or_default(),
        }
    }
    quoted.push('"');
    quoted
}

/// Text in a comment or on a terminal: nothing ends its line or moves a cursor, and it is not long.
pub(super) fn comment(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN_MAX).map(escaped).collect();
    match text.chars().nth(SHOWN_MAX) {
        Some(_) => shown + "…",
        None => shown,
    }
}

/// A character that means itself in a pattern.
pub(super) fn literal(character: char) -> String {
    match SPECIAL.contains(&character) {
        true => format!("\\{character}"),
        false => character.to_string(),
    }
}

fn escaped(character: char) -> String {
    match character {
        '\\' | '\'' | '"' => character.to_string(),
        other => other.escape_debug().to_string(),
    }
}

fn is_printed(character: char) -> bool {
    character.escape_debug().count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_comment_stays_in_its_line_and_short() {
        assert_eq!(
            comment("a\nb\u{1b}[0m\u{202e}\\"),
            "a\\nb\\u{1b}[0m\\u{202e}\\"
        );
        assert_eq!(comment(&"x".repeat(9000)).chars().count(), SHOWN_MAX + 1);
    }

    proptest! {
        #[test]
        fn any_text_comes_back_from_its_quotes(text in any::<String>()) {
            let line = format!("x = {}", quoted(&text));
            let table = toml::de::DeTable::parse(&line).unwrap();
            let value = table.get_ref().get("x").unwrap();
            prop_assert_eq!(value.get_ref().as_str(), Some(text.as_str()));
        }
    }
}
