//! From a word of the text to what the program gets.

use tree_sitter::Node;

/// What keeps a word from being known.
pub(super) type Dynamic = &'static str;

/// What stands for bytes that are no UTF-8.
pub(super) const UNREADABLE: char = '\u{fffd}';

/// The word as the program gets it.
///
/// # Errors
/// What it is that only the running shell can tell.
pub(super) fn literal(node: Node<'_>, text: &str) -> Result<String, Dynamic> {
    let raw = text.get(node.byte_range()).unwrap_or_default();
    if raw.contains([UNREADABLE, '\0']) {
        return Err("word");
    }
    match node.kind() {
        "word" | "number" | "command_name" if node.named_child_count() > 0 => {
            joined(node.named_children(&mut node.walk()), text)
        }
        "word" | "number" | "variable_name" => plain(raw),
        "raw_string" => Ok(within(raw, "'", "'").to_owned()),
        "string" => double_quoted(node, raw),
        "ansi_c_string" => ansi(within(raw, "$'", "'")),
        "concatenation" => joined(node.children(&mut node.walk()), text),
        "simple_expansion" | "expansion" => Err("variable"),
        "command_substitution" if raw.starts_with('`') => Err("backticks"),
        "command_substitution" => Err("command substitution"),
        "process_substitution" => Err("process substitution"),
        "arithmetic_expansion" => Err("arithmetic"),
        "brace_expression" => Err("braces"),
        _ => Err("word"),
    }
}

fn joined<'t>(mut parts: impl Iterator<Item = Node<'t>>, text: &str) -> Result<String, Dynamic> {
    parts.try_fold(String::new(), |whole, part| {
        Ok(whole + &literal(part, text)?)
    })
}

fn within<'t>(raw: &'t str, open: &str, close: &str) -> &'t str {
    let inner = raw.strip_prefix(open).unwrap_or(raw);
    inner.strip_suffix(close).unwrap_or(inner)
}

/// A word without quotes: a backslash takes the next character as it is.
fn plain(raw: &str) -> Result<String, Dynamic> {
    let mut word = String::new();
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match character {
            // In what looks like an assignment or a list of directories too.
            '~' if word.is_empty() || word.ends_with(['=', ':']) => return Err("tilde"),
            '\\' => match characters.next() {
                // A line that goes on.
                Some('\n') => {}
                Some(escaped) => word.push(escaped),
                None => return Err("word"),
            },
            '*' | '?' | '[' => return Err("wildcard"),
            '{' | '}' => return Err("braces"),
            '$' | '`' => return Err("variable"),
            // The grammar has taken something else for a word.
            ' ' | '\t' | '\n' | '\'' | '"' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => {
                return Err("word");
            }
            other => word.push(other),
        }
    }
    Ok(word)
}

/// Text in double quotes: there a backslash means something before few characters.
fn double_quoted(node: Node<'_>, raw: &str) -> Result<String, Dynamic> {
    let mut cursor = node.walk();
    let is_content = |part: &Node<'_>| part.kind() == "string_content";
    if let Some(part) = node
        .named_children(&mut cursor)
        .find(|part| !is_content(part))
    {
        return match part.kind() {
            "command_substitution" => Err("command substitution"),
            "arithmetic_expansion" => Err("arithmetic"),
            _ => Err("variable"),
        };
    }
    let mut text = String::new();
    let mut characters = within(raw, "\"", "\"").chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(escaped @ ('$' | '`' | '"' | '\\')) => text.push(escaped),
                Some(other) => text.extend(['\\', other]),
            },
            '$' | '`' => return Err("variable"),
            other => text.push(other),
        }
    }
    Ok(text)
}

/// Text in `$'…'`, as far as its escapes are the common ones: bash(1), QUOTING.
fn ansi(inner: &str) -> Result<String, Dynamic> {
    const UNKNOWN: Dynamic = "escape";
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes().iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escape = rest.next().ok_or(UNKNOWN)?;
        let (radix, most) = match escape {
            b'x' => (16, 2),
            b'0'..=b'7' => (8, 3),
            _ => (0, 0),
        };
        if radix == 0 {
            bytes.push(match escape {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'a' => 7,
                b'b' => 8,
                b'e' | b'E' => 27,
                b'f' => 12,
                b'v' => 11,
                b'\\' | b'\'' | b'"' | b'?' => escape,
                _ => return Err(UNKNOWN),
            });
            continue;
        }
        let mut digits = if radix == 8 { vec![escape] } else { Vec::new() };
        while digits.len() < most
            && let Some(digit) = rest.next_if(|digit| char::from(*digit).is_digit(radix))
        {
            digits.push(digit);
        }
        let digits = str::from_utf8(&digits).map_err(|_| UNKNOWN)?;
        let value = u32::from_str_radix(digits, radix).map_err(|_| UNKNOWN)?;
        // Bash ends the word there.
        let value = u8::try_from(value & 0xff).map_err(|_| UNKNOWN)?;
        if value == 0 {
            return Err(UNKNOWN);
        }
        bytes.push(value);
    }
    String::from_utf8(bytes).map_err(|_| UNKNOWN)
}

/// Whether a backslash at the end of a line is in the middle of a word, which the grammar takes for
/// two.
pub(super) fn joins_lines(text: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace());
    let mut ends = text
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| *pair == b"\\\n");
    ends.any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        !is_blank(before) && !is_blank(text.get(at + 2))
    })
}

/// Whether the text parts two words of one command, and is nothing else. The grammar cuts words
/// where there is none.
pub(super) fn is_gap(text: &str, is_first: bool) -> bool {
    let text = text.replace("\\\n", "");
    (is_first || !text.is_empty()) && text.chars().all(|c| matches!(c, ' ' | '\t'))
}
