//! The line on the standard error of a program that waits for an answer.

use std::time::Duration;

use execward_policy::Masked;

use super::prompt::in_words;
use crate::notices::{bounded_line, command_in_words};

/// What it says.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    /// The file's own path, or what was passed where it has none.
    pub(crate) path: &'a [u8],
    pub(crate) argv: &'a [Masked<'a>],
    pub(crate) id: String,
    /// How long, and in words what becomes of it then.
    pub(crate) timeout: Duration,
    pub(crate) end: &'static str,
}

impl Waiting<'_> {
    /// The line: printable ASCII, with its newline.
    pub(crate) fn line(&self) -> Vec<u8> {
        let command = command_in_words(self.path, self.argv);
        let timeout = in_words(self.timeout);
        let tail = format!(
            ": run 'execward allow {}' in another terminal ({} in {timeout})\n",
            self.id, self.end
        );
        bounded_line(
            &format!("execward: waiting for approval of {command}"),
            &tail,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_waits_and_how_to_answer() {
        let argv = [b"curl".to_vec(), b"-s\x1b".to_vec()];
        let waiting = Waiting {
            path: b"/usr/bin/curl",
            argv: &execward_policy::Redaction::default().argv(&argv),
            id: "3f9c".into(),
            timeout: Duration::from_secs(300),
            end: "denied",
        };
        let expected = "execward: waiting for approval of /usr/bin/curl \"-s\\x1b\": run 'execward \
                        allow 3f9c' in another terminal (denied in 5m)\n";
        assert_eq!(waiting.line(), expected.as_bytes());
    }
}
