//! Syntax errors of TOML in words for the author of a policy.

use std::ops::Range;

use toml::de::Error;

use crate::kind::Complaint;

/// Where a syntax error is. One without a place is blamed on the beginning of the file.
pub(crate) fn span(error: &Error) -> Range<usize> {
    error.span().unwrap_or(0..0)
}

/// The errors that are worth telling, of those in the order of the text: the first of each line.
///
/// The parser goes on after an error, and what it then finds on the same line is mostly a
/// consequence.
pub(crate) fn first_of_lines<'e>(errors: &'e [Error], text: &str) -> Vec<&'e Error> {
    let mut last = None;
    let is_first = |error: &&Error| {
        let start = span(error).start;
        let since = last.replace(start).and_then(|last| text.get(last..start));
        since.is_none_or(|since| since.contains('\n'))
    };
    errors.iter().filter(is_first).collect()
}

/// What the parser made up, to go on after an error: values in the place of those it could
/// not read.
pub(crate) struct MadeUp {
    /// Where each error begins, and how far those up to it reach, in the order of the text.
    reaches: Vec<(usize, usize)>,
}

impl MadeUp {
    /// Of errors in the order of the text.
    pub(crate) fn of(errors: &[Error]) -> Self {
        let reaches = errors.iter().map(span).scan(0, |reach, span| {
            *reach = span.end.max(*reach);
            Some((span.start, *reach))
        });
        Self {
            reaches: reaches.collect(),
        }
    }

    /// Whether what begins at byte `at` is made up.
    pub(crate) fn contains(&self, at: usize) -> bool {
        let before = self.reaches.partition_point(|(start, _)| *start <= at);
        let last = before
            .checked_sub(1)
            .and_then(|last| self.reaches.get(last));
        last.is_some_and(|(_, reach)| at <= *reach)
    }
}

/// What is wrong, and what the author could write instead.
pub(crate) fn explain(error: &Error, text: &str) -> Complaint {
    let found = text.get(span(error)).unwrap_or_default();
    let shown = found.escape_debug();
    let bare = found.trim_matches(['“', '”', '‘', '’', '"', '\'']);
    let shown_bare = bare.escape_debug();
    // The parser has a message for each error, and no other way to tell them apart.
    let message = error.message().replace('\n', ", ");
    if message.starts_with("duplicate key") {
        let help = "a key or a `[table]` is written once; only `[[allow]]`, `[[ask]]` and \
                    `[[deny]]` repeat";
        return (format!("`{shown}` is written twice"), Some(help.to_owned()));
    }
    if message.starts_with("string values must be quoted") {
        return match found.is_empty() {
            true => ("a value belongs here".to_owned(), None),
            false => (
                format!("`{shown}` is no value"),
                Some(format!("a string is quoted: `\"{}\"`", shown_bare)),
            ),
        };
    }
    if message.starts_with("missing escaped value") {
        let help = "write `\\\\` for a backslash, or the string in single quotes: `'…'`";
        let message =
            "a backslash in double quotes stands before a character that it does not escape";
        return (message.to_owned(), Some(help.to_owned()));
    }
    if message.starts_with("invalid basic string") {
        let help = "close the string with `\"` on its own line";
        return ("the string is not closed".to_owned(), Some(help.to_owned()));
    }
    (message, None)
}
