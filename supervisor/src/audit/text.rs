//! Bytes of tasks as text, losing nothing.
//!
//! A value that is UTF-8 is written as it is; of any other the text carries U+FFFD where it must,
//! and the exact bytes stand in the record's `bytes`, base64 by JSON pointer. Output is printable
//! ASCII: whatever else is written as a `\u` escape, so no file name moves an operator's cursor.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::ser::{CharEscape, Formatter};

/// The exact bytes of the values that are not UTF-8.
pub(crate) type ExactBytes = BTreeMap<String, String>;

/// The same, decoded.
pub(crate) type RawBytes = BTreeMap<String, Vec<u8>>;

/// What `exact` stands for; `None` if one of its values is no base64.
pub(crate) fn decoded(exact: &ExactBytes) -> Option<RawBytes> {
    let decoded = exact.iter().map(|(pointer, encoded)| {
        let raw = STANDARD.decode(encoded).ok()?;
        Some((pointer.clone(), raw))
    });
    decoded.collect()
}

/// `raw` as text; if that loses anything, its bytes go to `exact` under `pointer`.
pub(crate) fn text(raw: &[u8], pointer: impl FnOnce() -> String, exact: &mut ExactBytes) -> String {
    match str::from_utf8(raw) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            exact.insert(pointer(), STANDARD.encode(raw));
            displayed(raw)
        }
    }
}

/// A value of a record as text, of which the exact bytes may stand elsewhere in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Text<'static> {
    /// `raw`; if that loses anything, its bytes go to `exact` under `pointer`.
    pub(super) fn of(raw: &[u8], pointer: impl FnOnce() -> String, exact: &mut ExactBytes) -> Self {
        Self(text(raw, pointer, exact).into())
    }
}

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// What the value under `pointer` was, byte for byte.
    pub(crate) fn bytes(&self, pointer: impl FnOnce() -> String, raw: &RawBytes) -> Vec<u8> {
        let exact = (!raw.is_empty()).then(|| raw.get(&pointer())).flatten();
        exact.map_or_else(|| self.0.as_bytes().to_vec(), Clone::clone)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

/// `raw` as text for people, with U+FFFD for what is not UTF-8.
pub(crate) fn displayed(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// Compact JSON in printable ASCII.
#[derive(Debug, Default)]
pub(super) struct Ascii;

impl Formatter for Ascii {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| !(' '..='~').contains(&c)) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut characters = from.chars();
            if let Some(character) = characters.next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W>(&mut self, writer: &mut W, escape: CharEscape) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        match escape {
            CharEscape::Quote => writer.write_all(b"\\\""),
            CharEscape::ReverseSolidus => writer.write_all(b"\\\\"),
            CharEscape::Solidus => writer.write_all(b"/"),
            CharEscape::Backspace => writer.write_all(b"\\b"),
            CharEscape::FormFeed => writer.write_all(b"\\f"),
            CharEscape::LineFeed => writer.write_all(b"\\n"),
            CharEscape::CarriageReturn => writer.write_all(b"\\r"),
            CharEscape::Tab => writer.write_all(b"\\t"),
            CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04x}"),
        }
    }
}

/// `value` as one line of such JSON, without its newline.
///
/// # Errors
/// If it has no JSON form.
pub(crate) fn ascii_json(value: &impl serde::Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut line, Ascii,
    ))?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let mut out = Vec::new();
        text.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Ascii))
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_comes_back_and_none_is_sent_raw() {
        let every: String = (0..0x3000)
            .chain(0x1f600..0x1f610)
            .filter_map(char::from_u32)
            .collect();
        let written = json(&every);
        assert!(written.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), every);
        assert_eq!(
            json("\u{7f}\u{202e}\u{1f600}"),
            "\"\\u007f\\u202e\\ud83d\\ude00\""
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_kept_beside_it() {
        let mut exact = ExactBytes::new();
        assert_eq!(text(b"plain", || "/a".into(), &mut exact), "plain");
        assert!(exact.is_empty());
        assert_eq!(
            text(b"a\xff\xfeb", || "/b".into(), &mut exact),
            "a\u{fffd}\u{fffd}b"
        );
        assert_eq!(STANDARD.decode(&exact["/b"]).unwrap(), b"a\xff\xfeb");
    }
}
