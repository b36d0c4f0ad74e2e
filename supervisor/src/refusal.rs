//! What the line on a refused task's standard error says.

use crate::notices::{bounded_line, command_in_words};
use crate::path::file_name;

/// What a refusal says.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) argv: &'a [Vec<u8>],
    /// In parentheses: on what ground.
    pub(crate) ground: String,
    pub(crate) reason: Option<&'a str>,
    pub(crate) instead: Option<&'a str>,
    pub(crate) id: String,
}

impl Refusal<'_> {
    /// The line: printable ASCII, with its newline.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut text = format!("execward: denied {} ({})", self.command(), self.ground);
        if let Some(reason) = self.reason {
            text += &format!(": {reason}");
        }
        if let Some(instead) = self.instead {
            let stop = if text.ends_with(['.', '!', '?']) {
                ""
            } else {
                "."
            };
            text += &format!("{stop} Instead: {instead}");
        }
        bounded_line(&text, &format!(" [{}]\n", self.id))
    }

    /// File name and arguments, cut.
    fn command(&self) -> String {
        command_in_words(file_name(self.path), self.argv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notices::LINE_MAX_BYTES;

    fn refusal<'a>(path: &'a [u8], argv: &'a [Vec<u8>], reason: Option<&'a str>) -> Refusal<'a> {
        let ground = "rule no-force-push".to_owned();
        Refusal {
            path,
            argv,
            ground,
            reason,
            instead: Some("push to a branch"),
            id: "3f9c".into(),
        }
    }

    #[test]
    fn the_line_says_what_why_and_what_instead() {
        let argv = [b"git".to_vec(), b"push".to_vec()];
        let line = refusal(b"/usr/bin/git", &argv, Some("history is shared")).line();
        let expected = "execward: denied git push (rule no-force-push): history is shared. \
                        Instead: push to a branch [3f9c]\n";
        assert_eq!(line, expected.as_bytes());
    }

    #[test]
    fn hostile_bytes_stay_printable_and_within_the_limit() {
        let every: Vec<u8> = (0..=255).collect();
        let argv = [b"x".to_vec(), every.repeat(50), every];
        let reason = "\u{1b}[2J\u{202e}".repeat(200);
        let line = refusal(b"/tmp/\x1b[31m\n", &argv, Some(&reason)).line();
        assert!(line.len() <= LINE_MAX_BYTES && line.ends_with(b" [3f9c]\n"));
        assert!(
            line[..line.len() - 1]
                .iter()
                .all(|byte| (b' '..=b'~').contains(byte))
        );
    }
}
