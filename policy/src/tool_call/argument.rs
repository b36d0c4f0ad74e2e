//! What stands in the arguments of a tool: texts, and JSON with texts in it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::operand::text;

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

/// Whether somebody may read the text as a URL.
pub(super) fn is_url(text: &[u8]) -> bool {
    const SCHEMES: [&[u8]; 5] = [b"http:", b"https:", b"ws:", b"wss:", b"ftp:"];
    let starts = |scheme: &&[u8]| {
        let start = text.trim_ascii_start().get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    text.windows(3).any(|window| window == b"://")
        || SCHEMES.iter().any(starts)
        || text.starts_with(b"//")
        || text::is_file_url(text)
}

/// The texts in the arguments that may name something: each value, key and string of JSON, whole and
/// word by word; `None` for JSON that cannot be read. Of the tools that are known, those arguments
/// alone that say by their name that they do.
pub(super) fn texts(arguments: &[Vec<u8>], is_known: bool) -> Vec<Option<Cow<'_, [u8]>>> {
    let mut texts = Vec::new();
    for argument in arguments {
        let at = argument.iter().position(|byte| *byte == b'=');
        let (key, value) = argument.split_at(at.unwrap_or(0));
        let value = value.get(usize::from(at.is_some())..).unwrap_or_default();
        let is_naming = |name: &&str| key.eq_ignore_ascii_case(name.as_bytes());
        if is_known && !NAMING.iter().any(is_naming) {
            continue;
        }
        if !is_known {
            texts.push(Some(Cow::Borrowed(key)));
        }
        add_value(value, &mut texts);
    }
    texts
}

fn add_value<'c>(value: &'c [u8], texts: &mut Vec<Option<Cow<'c, [u8]>>>) {
    let mut strings = Vec::new();
    if may_be_json(value) && add_strings(value, NESTED_MAX, &mut strings).is_none() {
        // Whoever reads more of it than this may find anything.
        texts.push(None);
    }
    for string in strings {
        let words = words(string.as_bytes()).map(|word| Some(word.to_vec().into()));
        texts.extend(words);
    }
    texts.extend(words(value).map(|word| Some(Cow::Borrowed(word))));
}

fn may_be_json(text: &[u8]) -> bool {
    let first = text.trim_ascii_start().first();
    first.is_some_and(|first| b"[{\"".contains(first))
}

/// The strings and keys of JSON, and of the JSON in them; nothing if it is none.
fn add_strings(text: &[u8], nested: usize, strings: &mut Vec<String>) -> Option<()> {
    let Strings(found) = serde_json::from_slice(text).ok()?;
    for string in found {
        if may_be_json(string.as_bytes()) && nested > 0 {
            // A string that only looks like it is a string.
            let _is_json = add_strings(string.as_bytes(), nested - 1, strings);
        }
        strings.push(string);
    }
    Some(())
}

/// Every string and key of a piece of JSON, those of keys that are there twice too.
#[derive(Default)]
struct Strings(Vec<String>);

impl<'de> Deserialize<'de> for Strings {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Self::default())
    }
}

impl<'de> Visitor<'de> for Strings {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(mut self, text: &str) -> Result<Self, E> {
        self.0.push(text.to_owned());
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Self, A::Error> {
        while let Some(Self(found)) = list.next_element()? {
            self.0.extend(found);
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<Self, A::Error> {
        while let Some((key, Self(found))) = object.next_entry::<String, Self>()? {
            self.0.push(key);
            self.0.extend(found);
        }
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }
}

/// The whole text, its words, and what stands behind a letter or a separator in each.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"'\"`;,(){}[]<>|&".contains(byte);
    let words = text.split(is_end).filter(|word| !word.is_empty());
    let parts = words.flat_map(|word| {
        let word_itself = std::iter::once(word);
        // The parts of a URL are none by themselves.
        let is_url = is_url(word);
        let behind = text::parts(word).filter(move |_| !is_url);
        // `-C/etc`, and `u=https://x` from its scheme on.
        let attached = word.strip_prefix(b"-").and_then(|rest| rest.get(1..));
        let behind_equals = word.iter().position(|byte| *byte == b'=');
        let behind_equals = behind_equals.and_then(|at| word.get(at + 1..));
        word_itself
            .chain(behind)
            .chain(attached)
            .chain(behind_equals)
    });
    // A URL may have brackets, and blanks that fetchers pass over.
    let is_quote = |byte: &u8| *byte == b' ' || b"'\"`".contains(byte);
    let urls = text.split(is_quote).filter(|piece| is_url(piece));
    std::iter::once(text).chain(urls).chain(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(argument: &str, is_known: bool) -> Vec<String> {
        let arguments = [argument.as_bytes().to_vec()];
        let texts = texts(&arguments, is_known).into_iter().flatten();
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
            r#"f={"a":"\/etc\/x","a":1}"#,
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

    #[test]
    fn json_that_cannot_be_read_may_name_anything() {
        for (argument, is_told) in [
            (r#"f={"a":1e999}"#, false),
            (r#"f={"a":NaN,"b":"x"}"#, false),
            (r#"f={"a":"\ud800"}"#, false),
            (r#"f=["a"] // x"#, false),
            (r#"f=["a"]["b"]"#, false),
            (r#"f=["a",1,null,true,-1,1.5,{"b":[]}]"#, true),
            ("f=text", true),
        ] {
            let arguments = [argument.as_bytes().to_vec()];
            let is_untold = texts(&arguments, false).contains(&None);
            assert_eq!(!is_untold, is_told, "{argument}");
        }
    }
}
