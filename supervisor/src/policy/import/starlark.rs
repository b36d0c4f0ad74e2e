//! The part of Starlark that Codex's `.rules` files are made of: calls with named arguments, whose
//! values are strings, numbers, booleans and lists. Nothing is evaluated.

use serde_json::Value;

use super::lines::Lines;
use super::{ImportError, syntax_error};

/// Deepest list in a list. A rule needs two.
const DEPTH_MAX: usize = 8;

/// A call at the top of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) name: String,
    /// The line where it begins, from 1.
    pub(super) line: usize,
    pub(super) arguments: Vec<(String, Value)>,
}

impl Call {
    /// The value of the argument `name`.
    pub(super) fn argument(&self, name: &str) -> Option<&Value> {
        let mut those = self.arguments.iter().filter(|(own, _)| own == name);
        those.next().map(|(_, value)| value)
    }
}

/// The calls of a file.
///
/// # Errors
/// At the first place where there is anything else.
pub(super) fn calls(text: &str) -> Result<Vec<Call>, ImportError> {
    let mut reader = Reader { text, at: 0 };
    let (mut calls, lines) = (Vec::new(), Lines::of(text));
    loop {
        reader.skip(|c| c.is_whitespace() || c == ';');
        if reader.rest().is_empty() {
            return Ok(calls);
        }
        let line = lines.number(reader.at);
        let name = reader.name("a call of a rule")?;
        let arguments = reader.arguments()?;
        calls.push(Call {
            name,
            line,
            arguments,
        });
        reader.skip(|c| matches!(c, ' ' | '\t' | '\r'));
        if !reader.rest().is_empty() && !reader.rest().starts_with(['\n', ';']) {
            return Err(reader.error("a call ends its line"));
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, message: &str) -> ImportError {
        syntax_error(self.text, self.at, message)
    }

    /// Passes over such characters and comments.
    fn skip(&mut self, is_passed: impl Fn(char) -> bool) {
        loop {
            let rest = self.rest();
            let after = rest.trim_start_matches(&is_passed);
            let after = match after.strip_prefix('#') {
                Some(comment) => comment
                    .find('\n')
                    .map_or("", |end| comment.get(end..).unwrap_or_default()),
                None => after,
            };
            if after.len() == rest.len() {
                return;
            }
            self.at += rest.len() - after.len();
        }
    }

    fn skip_blank(&mut self) {
        self.skip(char::is_whitespace);
    }

    /// Passes over `token` if it is next.
    fn takes(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn name(&mut self, wanted: &str) -> Result<String, ImportError> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error(&format!("{wanted} belongs here")));
        }
        self.at += end;
        Ok(name.to_owned())
    }

    /// What a call has in its brackets.
    fn arguments(&mut self) -> Result<Vec<(String, Value)>, ImportError> {
        self.skip(|c| matches!(c, ' ' | '\t'));
        if !self.takes("(") {
            return Err(self.error("only calls are read, with values that are written out"));
        }
        let mut arguments: Vec<(String, Value)> = Vec::new();
        loop {
            self.skip_blank();
            if self.takes(")") {
                return Ok(arguments);
            }
            let name = self.name("an argument with its name, as in `pattern = […]`,")?;
            self.skip_blank();
            if self.rest().starts_with("==") || !self.takes("=") {
                return Err(self.error("an argument is written with its name, `name = value`"));
            }
            if arguments.iter().any(|(own, _)| *own == name) {
                return Err(self.error(&format!("`{name}` is there twice")));
            }
            let value = self.value(0)?;
            arguments.push((name, value));
            self.skip_blank();
            if !self.takes(",") && !self.rest().starts_with(')') {
                return Err(self.error("`,` or `)` belongs here; values are written out"));
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, ImportError> {
        self.skip_blank();
        let rest = self.rest();
        for (open, close) in [("[", "]"), ("(", ")")] {
            if rest.starts_with(open) {
                self.at += open.len();
                return self.list(close, depth);
            }
        }
        if rest.starts_with(['"', '\'']) {
            return self.string(false).map(Value::String);
        }
        if rest.starts_with("r\"") || rest.starts_with("r'") {
            self.at += 1;
            return self.string(true).map(Value::String);
        }
        if rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return self.number();
        }
        let before = self.at;
        match self.name("a value")?.as_str() {
            "True" => Ok(Value::Bool(true)),
            "False" => Ok(Value::Bool(false)),
            "None" => Ok(Value::Null),
            _ => {
                self.at = before;
                Err(self.error("a value is written out: a string, a list, a number, a boolean"))
            }
        }
    }

    fn list(&mut self, close: &str, depth: usize) -> Result<Value, ImportError> {
        if depth >= DEPTH_MAX {
            return Err(self.error("lists are nested too deeply"));
        }
        let mut values = Vec::new();
        loop {
            self.skip_blank();
            if self.takes(close) {
                return Ok(Value::Array(values));
            }
            values.push(self.value(depth + 1)?);
            self.skip_blank();
            if !self.takes(",") && !self.rest().starts_with(close) {
                return Err(self.error(&format!(
                    "`,` or `{close}` belongs here; values are written out"
                )));
            }
        }
    }

    fn number(&mut self) -> Result<Value, ImportError> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '-')
            .unwrap_or(rest.len());
        let number: Option<i64> = rest.get(..end).and_then(|digits| digits.parse().ok());
        let number = number.ok_or_else(|| self.error("this is no number that is read"))?;
        self.at += end;
        Ok(Value::from(number))
    }

    fn string(&mut self, is_raw: bool) -> Result<String, ImportError> {
        let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter();
        let mut those = quotes.filter(|quote| self.rest().starts_with(quote));
        let quote = those.next().unwrap_or("\"");
        self.at += quote.len();
        let start = self.at;
        let mut string = String::new();
        loop {
            if self.takes(quote) {
                return Ok(string);
            }
            let next = self.rest().chars().next();
            match next {
                None => return Err(self.unclosed(start)),
                Some('\n') if quote.len() == 1 => return Err(self.unclosed(start)),
                Some('\\') if is_raw => {
                    let length = self
                        .rest()
                        .chars()
                        .take(2)
                        .map(char::len_utf8)
                        .sum::<usize>();
                    string += self.rest().get(..length).unwrap_or_default();
                    self.at += length;
                }
                Some('\\') => string.extend(self.escape()?),
                Some(other) => {
                    string.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
    }

    fn unclosed(&self, start: usize) -> ImportError {
        syntax_error(self.text, start, "the string is not closed")
    }

    /// The character that a backslash and what follows it stand for; none for a line that goes on.
    fn escape(&mut self) -> Result<Option<char>, ImportError> {
        let mut rest = self.rest().chars().skip(1);
        let escaped = rest
            .next()
            .ok_or_else(|| self.error("the string is not closed"))?;
        let digits = match escaped {
            'n' => return Ok(self.after(2, Some('\n'))),
            't' => return Ok(self.after(2, Some('\t'))),
            'r' => return Ok(self.after(2, Some('\r'))),
            '\n' => return Ok(self.after(2, None)),
            '\\' | '"' | '\'' => return Ok(self.after(2, Some(escaped))),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return Err(self.error("a backslash has no such meaning")),
        };
        let hex: String = rest.take(digits).collect();
        let is_whole = hex.len() == digits && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = is_whole
            .then(|| u32::from_str_radix(&hex, 16).ok())
            .flatten();
        match code.and_then(char::from_u32) {
            Some(character) => Ok(self.after(2 + digits, Some(character))),
            None => Err(self.error("this is the code of no character")),
        }
    }

    /// Goes on by as many bytes.
    fn after(&mut self, bytes: usize, character: Option<char>) -> Option<char> {
        self.at += bytes;
        character
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn calls_of_literals_are_read() {
        let text = "# a comment\nprefix_rule(\n  pattern = [\"git\", ['push', \"fetch\",],], # two\n\
                    decision='prompt',\n)\n\nnetwork_rule(host = r\"a\\n\", n = -3, t = True, l = ()); x()\n";
        let calls = calls(text).unwrap();
        let lines: Vec<_> = calls
            .iter()
            .map(|call| (call.name.as_str(), call.line))
            .collect();
        assert_eq!(lines, [("prefix_rule", 2), ("network_rule", 7), ("x", 7)]);
        let pattern = serde_json::json!(["git", ["push", "fetch"]]);
        assert_eq!(calls[0].argument("pattern"), Some(&pattern));
        assert_eq!(calls[1].argument("host"), Some(&Value::from("a\\n")));
        assert_eq!(calls[1].argument("l"), Some(&serde_json::json!([])));
    }

    #[test]
    fn strings_are_those_of_starlark() {
        for (text, string) in [
            (r#""a\"b\\c\n""#, "a\"b\\c\n"),
            (r#"'\x41\u00e9\U0001f600'"#, "A\u{e9}\u{1f600}"),
            ("\"\"\"a\n\"b\"\"\"", "a\n\"b"),
            ("'''x'''", "x"),
            (r#"r'\''"#, "\\'"),
        ] {
            let calls = calls(&format!("f(x = {text})")).unwrap();
            assert_eq!(calls[0].argument("x"), Some(&Value::from(string)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_where_it_stands() {
        for (text, error) in [
            ("x = 1", "1:3: only calls"),
            ("f(1)", "1:3: an argument with its name"),
            ("f(a = b)", "1:7: a value is written out"),
            ("f(a = 'x' + 'y')", "1:11: `,` or `)`"),
            ("\nf(a = 'x", "2:8: the string is not closed"),
            ("f(a = 1, a = 2)", "1:13: `a` is there twice"),
            ("f(a = [1 2])", "1:10: `,` or `]`"),
            ("f(a = '\\q')", "1:8: a backslash"),
            ("f() g()", "1:5: a call ends its line"),
            ("f(", "1:3: an argument"),
            ("def f():", "1:5: only calls"),
        ] {
            let found = calls(text).unwrap_err().to_string();
            assert!(found.starts_with(error), "{text}: {found}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(f\\(|a|=|\\[|\\]|\\(|\\)|,|'|\"|\\\\|x|#|\n|1|é| ){0,40}") {
            drop(calls(&text));
        }
    }
}
