//! JSON settings.

use serde_json::{Map, Value};

use super::ImportError;

/// The object that a text is.
///
/// # Errors
/// If it is none.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, ImportError> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(ImportError::Shape("the settings are no object".to_owned())),
        Err(error) => Err(ImportError::Syntax {
            line: error.line().max(1),
            column: error.column().max(1),
            message: without_place(&error.to_string()),
        }),
    }
}

/// The elements of the list `name`; none if it is not there.
///
/// # Errors
/// If it is no list.
pub(super) fn list<'v>(name: &str, value: Option<&'v Value>) -> Result<&'v [Value], ImportError> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(ImportError::Shape(format!("`{name}` is no list"))),
    }
}

/// A text with blanks in the place of its comments, which Gemini CLI passes over.
pub(super) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = if next == '"' {
            string_length(rest)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else {
            next.len_utf8()
        };
        let (part, after) = rest.split_at(length);
        match part.starts_with("//") || part.starts_with("/*") {
            true => kept.extend(part.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
            false => kept += part,
        }
        rest = after;
    }
    kept
}

/// How long the string is that a text begins with.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The message of a JSON error, which ends in its place.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_passed_over_and_strings_are_not() {
        let text = "{ // a \"b\n \"x\": \"// no \\\" /* no */\" /* é\n */ }";
        let settings = object(&without_comments(text)).unwrap();
        assert_eq!(settings["x"], "// no \" /* no */");
        for odd in ["\"", "/*", "//", "\"\\", "/"] {
            assert!(object(&without_comments(odd)).is_err(), "{odd}");
        }
    }
}
