//! Writes a policy file.

use std::fmt::Write as _;

use super::mode::{AskForApproval, ExecPolicy};
use crate::mode::{Ask, Security};

/// A policy file, line by line.
#[derive(Debug)]
pub(super) struct PolicyText(String);

impl PolicyText {
    /// A file of the language's version.
    pub(super) fn new() -> Self {
        Self("version = 1\n".to_owned())
    }

    /// Begins a table: `[[deny]]`, `[tools."x"]`.
    pub(super) fn table(&mut self, header: &str) -> &mut Self {
        self.line(&format!("\n{header}"))
    }

    /// A key with one string.
    pub(super) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        self.line(&format!("{key} = {}", quoted(value)))
    }

    /// A key with a list of strings.
    pub(super) fn list<T: AsRef<str>>(&mut self, key: &str, values: &[T]) -> &mut Self {
        let values: Vec<String> = values.iter().map(|value| quoted(value.as_ref())).collect();
        self.line(&format!("{key} = [{}]", values.join(", ")))
    }

    /// `[mode]`.
    pub(super) fn mode(
        &mut self,
        policy: &ExecPolicy,
        approval: Option<&AskForApproval>,
    ) -> &mut Self {
        let security = |word| Security::from(word).as_str();
        self.table("[mode]")
            .text("security", security(policy.security))
            .text("ask", Ask::from(policy.ask).as_str())
            .text("ask_fallback", security(policy.ask_fallback));
        match approval {
            Some(approval) => self.line(&format!("approval = {}", approval.written())),
            None => self,
        }
    }

    /// A whole line, as it is.
    pub(super) fn line(&mut self, line: &str) -> &mut Self {
        self.0.push_str(line);
        self.0.push('\n');
        self
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A basic string of TOML 1.0.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\t' | ' '..='~' | '\u{80}'.. => quoted.push(character),
            control => write!(quoted, "\\u{:04x}", u32::from(control)).unwrap_or(()),
        }
    }
    quoted.push('"');
    quoted
}

/// `text` in which none of `special` has a meaning of its own.
pub(super) fn escaped(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if special.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// What has a meaning in a pattern. Text in which all of it is escaped is compared as it is.
pub(super) const SPECIAL: [char; 7] = ['*', '?', '!', '\\', '$', '@', '~'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_from_its_quotes() {
        for text in ["", "a\"b\\c", "\u{0}\u{1}\n\r\u{7f}", "\tgît 'x' \u{80}"] {
            let line = format!("x = {}", quoted(text));
            let table = toml::de::DeTable::parse(&line).expect("TOML");
            let value = table.get_ref().get("x").expect("the key");
            assert_eq!(value.get_ref().as_str(), Some(text));
        }
    }
}
