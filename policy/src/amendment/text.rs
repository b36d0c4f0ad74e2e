//! Rules as the text of a policy.

use std::fmt::Write as _;

use super::Scope;
use crate::image::Image;
use crate::operand::Part;
use crate::path::file_name;
use crate::request::ExecRequest;
use crate::rule::Action;
use crate::trust::Trust;

/// A rule called `id` that allows exactly this call by the file's given path, ready to be pasted into a
/// policy.
#[must_use]
pub fn exact_rule(id: &str, request: &ExecRequest) -> String {
    let head = format!("[[allow]]\nid = \"{id}\"\n");
    exact(head, &request.program.given, request)
}

/// How the rule of an amendment begins.
pub(super) fn head(action: Action, id: &str, scope: Scope) -> String {
    format!("[[{action}]]\nid = \"{id}-{scope}\"\n")
}

/// The rule that begins with `head`, of exactly this call of the file at `path`.
pub(super) fn exact(head: String, path: &[u8], request: &ExecRequest) -> String {
    let mut rule = head;
    let (name, rest) = (file_name(path), request.argv.get(1..).unwrap_or_default());
    // The first element names a program, where special characters have a meaning.
    let rest = rest.iter().map(|argument| literal(argument));
    let argv: Vec<String> = std::iter::once(path_pattern(name)).chain(rest).collect();
    rule += &program(path);
    rule += &format!("argv = [{}]\n", argv.join(", "));
    let directories: Vec<String> = directories(request)
        .iter()
        .map(|it| path_pattern(it))
        .collect();
    match directories.as_slice() {
        [] => rule,
        [directory] => rule + &format!("cwd = {directory}\n"),
        directories => rule + &format!("cwd = [{}]\n", directories.join(", ")),
    }
}

/// Where the call works: its directory, and those that options put in its place.
fn directories(request: &ExecRequest) -> Vec<Vec<u8>> {
    let trust = Trust::default();
    let image = Image::of_program(request, &trust);
    let places = image.files().iter().filter(|file| file.part == Part::Place);
    let places = places.map(|place| match &place.destination {
        Some(destination) => destination.path.clone(),
        None => place.written.clone(),
    });
    let mut directories: Vec<_> = request.cwd.iter().cloned().chain(places).collect();
    directories.dedup();
    directories
}

/// The key `program` that means the file at `path`.
pub(super) fn program(named: &[u8]) -> String {
    path("program", named)
}

/// The key that means the file at `path`.
pub(super) fn path(key: &str, path: &[u8]) -> String {
    format!("{key} = {}\n", path_pattern(path))
}

/// The key with these entries, which have nothing to be escaped; nothing for none.
pub(super) fn list(key: &str, entries: &[String]) -> String {
    let entries: Vec<String> = entries.iter().map(|entry| format!("\"{entry}\"")).collect();
    match entries.as_slice() {
        [] => String::new(),
        [entry] => format!("{key} = {entry}\n"),
        entries => format!("{key} = [{}]\n", entries.join(", ")),
    }
}

/// A TOML string that the language reads as exactly these bytes, in an element of `argv`.
fn literal(bytes: &[u8]) -> String {
    toml_string(bytes, b"\\")
}

/// The same where wildcards and places have a meaning.
fn path_pattern(bytes: &[u8]) -> String {
    toml_string(bytes, b"\\*?!$@~")
}

fn toml_string(bytes: &[u8], special: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            // The language's backslash, in TOML's double quotes.
            _ if special.contains(byte) => {
                text += &format!("\\\\{}", char::from(*byte).escape_default())
            }
            b'"' => text += "\\\"",
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => {
                // Writing to a string does not fail.
                write!(text, "\\\\x{byte:02x}").unwrap_or_default();
            }
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Places;
    use crate::request::ProgramFile;
    use crate::ruleset::Ruleset;
    use crate::source::{Layer, NoIncludes, Source};
    use crate::verdict::Decision;
    use jiff::Timestamp;

    #[test]
    fn the_rule_allows_exactly_the_call() {
        let argv = [
            b"x".as_slice(),
            b"a b",
            b"*",
            b"\\",
            b"\"",
            b"$HOME",
            b"\xff\n",
            b"!~",
        ];
        let argv: Vec<Vec<u8>> = argv.map(<[u8]>::to_vec).into();
        let (path, cwd) = (b"/opt/odd *?/@A=b $*", b"/w/[1]");
        let mut request = ExecRequest {
            cwd: Some(cwd.to_vec()),
            ..ExecRequest::new(ProgramFile::at(*path), argv)
        };
        let rule = exact_rule("3f9c", &request);
        let text = format!("version = 1\nmode.security = \"allowlist\"\n{rule}");
        let source = Source {
            name: "p",
            text: text.as_bytes(),
            layer: Layer::User,
        };
        let rules = Ruleset::load(&[source], &Places::of_tests(), &NoIncludes).unwrap();
        let decide =
            |request: &ExecRequest| rules.decide(request, Timestamp::UNIX_EPOCH).decision();
        assert_eq!(decide(&request), Decision::Allow, "{text}");
        request.argv.push(b"more".to_vec());
        assert_eq!(decide(&request), Decision::Ask);
    }
}
