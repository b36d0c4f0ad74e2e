//! A policy file whose content was not accepted, and the sessions that can have changed it.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use similar::TextDiff;

use super::accepted::Known;
use super::span::Span;
use crate::audit::escaped;
use crate::policy::PolicyFile;

/// Most sessions that a refusal names.
const NAMED_MAX: usize = 3;

/// What differs in a file from what was accepted of it.
#[derive(Debug)]
pub(crate) struct Difference {
    path: PathBuf,
    before: String,
    after: String,
}

/// One that came to be while a session was alive.
#[derive(Debug)]
pub(crate) struct Change {
    difference: Difference,
    /// The sessions, the newest first, each with its ID.
    during: Vec<String>,
}

/// Why a session does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Refused {
    pub(super) changes: Vec<Change>,
    /// How it would be accepted.
    pub(super) command: String,
}

impl Difference {
    pub(super) fn find(file: &PolicyFile, known: Option<&Known>) -> Option<Self> {
        let before = known.map_or(&[][..], |known| &known.text);
        (before != file.text).then(|| Self {
            path: file.path.clone(),
            before: shown(before),
            after: shown(&file.text),
        })
    }
}

impl Change {
    /// A change of `file` that was not accepted and may be the doing of one of `spans`, the newest
    /// first.
    pub(super) fn find(file: &PolicyFile, known: Option<&Known>, spans: &[Span]) -> Option<Self> {
        let difference = Difference::find(file, known)?;
        let at = file.changed;
        // What was changed before the other content was last seen in its place was put there since, by a
        // link or a rename above it: at a time that is unknown.
        let seen = known.map(|known| known.seen).filter(|seen| at <= *seen);
        let can_have = |span: &&Span| {
            span.meets(at, at) || seen.is_some_and(|seen| span.meets(seen, Timestamp::MAX))
        };
        let during = spans.iter().filter(can_have);
        let during: Vec<_> = during
            .map(|span| format!("{} ({})", span.name, span.id))
            .collect();
        (!during.is_empty()).then_some(Self { difference, during })
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = escaped(&self.command);
        for (at, change) in self.changes.iter().enumerate() {
            let path = escaped(&change.difference.path.display().to_string());
            let shown = change.during.iter().take(NAMED_MAX);
            let shown: Vec<&str> = shown.map(String::as_str).collect();
            let more = match change.during.len().saturating_sub(NAMED_MAX) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let break_before = if at == 0 { "" } else { "\n" };
            write!(
                f,
                "{break_before}the policy `{path}` may have been changed by session {}{more}: it was \
                 changed while that was alive. Nothing runs under it until `{command}`, outside every \
                 session, has shown and accepted this:\n{}",
                shown.join(", "),
                change.difference.to_string().trim_end()
            )?;
        }
        Ok(())
    }
}

/// A unified diff.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = escaped(&self.path.display().to_string());
        let diff = TextDiff::from_lines(&self.before, &self.after);
        let accepted = format!("{path} (accepted)");
        write!(f, "{}", diff.unified_diff().header(&accepted, &path))
    }
}

/// Its lines in printable ASCII: those that differ, differ still.
fn shown(text: &[u8]) -> String {
    let line = |line: &[u8]| {
        let (line, end) = match line.strip_suffix(b"\n") {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let text = str::from_utf8(line).map(escaped);
        text.unwrap_or_else(|_| line.escape_ascii().to_string()) + end
    };
    text.split_inclusive(|byte| *byte == b'\n')
        .map(line)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_whatever_it_consists_of() {
        let file = PolicyFile {
            path: "/p\u{1b}".into(),
            text: b"a\n\xff\n\xe2\x80\xae".to_vec(),
            changed: Timestamp::MIN,
        };
        let known = Known {
            text: b"a\n\\xff\n".to_vec(),
            seen: Timestamp::MIN,
        };
        let shown = Difference::find(&file, Some(&known)).unwrap().to_string();
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(
            lines,
            [
                "--- /p\\u{1b} (accepted)",
                "+++ /p\\u{1b}",
                "@@ -1,2 +1,3 @@",
                " a",
                "-\\\\xff",
                "+\\xff",
                "+\\u{202e}",
                "\\ No newline at end of file"
            ]
        );
    }
}
