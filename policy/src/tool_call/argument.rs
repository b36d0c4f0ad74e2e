//! What stands in the arguments of a tool: texts, and JSON with texts in it.

use std::borrow::Cow;

use serde_json::Value;

/// How deep JSON within the strings of JSON is read.
const NESTED_MAX: usize = 4;

/// Arguments of the known tools that may name what the call works on, though the host should have
/// told it as a path or a URL.
const NAMING: [&str; 16] = [
    "cwd",
    "dest",
    "destination",
    "dir",
    "directory",
    "dst",
    "file",
    "file_path",
    "filename",
    "path",
    "paths",
    "source",
    "src",
    "target",
    "uri",
    "url",
];

/// Whether the text is a URL with its scheme.
pub(super) fn is_url(text: &[u8]) -> bool {
    text.windows(3).any(|window| window == b"://") || crate::operand::text::is_file_url(text)
}

/// The texts in the arguments that may name something: each value, key and string of JSON, whole and
/// word by word. Of the tools that are known, those arguments alone that say by their name that they
/// do.
pub(super) fn texts(arguments: &[Vec<u8>], is_known: bool) -> Vec<Cow<'_, [u8]>> {
    let mut texts = Vec::new();
    for argument in arguments {
        let at = argument.iter().position(|byte| *byte == b'=');
        let (key, value) = argument.split_at(at.unwrap_or(0));
        let value = value.get(usize::from(at.is_some())..).unwrap_or_default();
        if is_known
            && !NAMING
                .iter()
                .any(|name| key.eq_ignore_ascii_case(name.as_bytes()))
        {
            continue;
        }
        if !is_known {
            texts.push(Cow::Borrowed(key));
        }
        add_value(value, &mut texts);
    }
    texts
}

fn add_value<'c>(value: &'c [u8], texts: &mut Vec<Cow<'c, [u8]>>) {
    let mut strings = Vec::new();
    if let Some(json) = json_of(value) {
        add_strings(&json, NESTED_MAX, &mut strings);
    }
    for string in strings {
        let words = words(string.as_bytes()).map(|word| word.to_vec().into());
        texts.extend(words);
    }
    texts.extend(words(value).map(Cow::Borrowed));
}

/// The text as JSON that holds other texts.
fn json_of(text: &[u8]) -> Option<Value> {
    let first = text.trim_ascii_start().first()?;
    let may_be = b"[{\"".contains(first);
    may_be.then(|| serde_json::from_slice(text).ok()).flatten()
}

/// The strings and keys of JSON, and of the JSON in them.
fn add_strings(json: &Value, nested: usize, strings: &mut Vec<String>) {
    let mut add = |text: &str| {
        if let Some(inner) = json_of(text.as_bytes()).filter(|_| nested > 0) {
            add_strings(&inner, nested - 1, strings);
        }
        strings.push(text.to_owned());
    };
    match json {
        Value::String(text) => add(text),
        Value::Array(list) => list
            .iter()
            .for_each(|json| add_strings(json, nested, strings)),
        Value::Object(fields) => {
            for (key, json) in fields {
                strings.push(key.clone());
                add_strings(json, nested, strings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The whole text, its words, and what stands behind a letter or a separator in each.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"'\"`;,(){}[]<>|&".contains(byte);
    let words = text.split(is_end).filter(|word| !word.is_empty());
    let parts = words.flat_map(|word| {
        let is_whole_url = |word: &&[u8]| !is_url(word);
        let word_itself = std::iter::once(word);
        let behind = crate::operand::text::parts(word);
        let behind = behind.filter(move |_| is_whole_url(&word));
        // `-C/etc`, and `u=https://x` from its scheme on.
        let attached = word.strip_prefix(b"-").and_then(|rest| rest.get(1..));
        let behind_equals = word.iter().position(|byte| *byte == b'=');
        let behind_equals = behind_equals.and_then(|at| word.get(at + 1..));
        word_itself
            .chain(behind)
            .chain(attached)
            .chain(behind_equals)
    });
    // A URL among others is found by itself.
    let is_one = |text: &&[u8]| !is_url(text) || !text.iter().any(is_end);
    Some(text).filter(is_one).into_iter().chain(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(argument: &str, is_known: bool) -> Vec<String> {
        let arguments = [argument.as_bytes().to_vec()];
        let texts = texts(&arguments, is_known).into_iter();
        texts
            .map(|text| String::from_utf8(text.into_owned()).unwrap())
            .collect()
    }

    #[test]
    fn a_path_is_found_however_it_is_wrapped() {
        for argument in [
            "f=/etc/x",
            r#"f=["/etc/x"]"#,
            r#"f={"a":{"b":["/etc/x"]}}"#,
            r#"f={"/etc/x":1}"#,
            r#"f=["\/etc\/x"]"#,
            r#"f=["\u002fetc/x"]"#,
            r#"f="{\"p\":\"/etc/x\"}""#,
            "f= /etc/x",
            "f=-C/etc/x",
            "f='/etc/x'",
            "f=cat /etc/x",
            "f=host:/etc/x",
            "f=@/etc/x",
            "f=a;/etc/x",
            "f=--file=/etc/x",
            "/etc/x=1",
        ] {
            let found = found(argument, false);
            assert!(
                found.iter().any(|text| text == "/etc/x"),
                "{argument}: {found:?}"
            );
        }
    }

    #[test]
    fn a_url_is_found_whole() {
        for argument in [
            "u=http://x/y",
            "q=u=http://x/y",
            "q=a,http://x/y",
            r#"q=["http://x/y"]"#,
        ] {
            let found = found(argument, false);
            assert!(
                found.iter().any(|text| text == "http://x/y"),
                "{argument}: {found:?}"
            );
            assert!(
                !found.iter().any(|text| text == "//x/y"),
                "{argument}: {found:?}"
            );
        }
    }

    #[test]
    fn of_known_tools_the_arguments_that_name_something_count() {
        assert!(found("content=/etc/x", true).is_empty());
        assert!(found("Path=/etc/x", true).contains(&"/etc/x".to_owned()));
    }
}
