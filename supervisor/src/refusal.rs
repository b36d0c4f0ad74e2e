//! What the line on a refused task's standard error says.

use execward_policy::Masked;

use crate::notices::{LINE_MAX_BYTES, bounded_line, command_in_words, is_printable, printable_len};
use crate::path::file_name;
use crate::remedy::Remedy;

/// What a refusal says.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) argv: &'a [Masked<'a>],
    /// In parentheses: on what ground.
    pub(crate) ground: String,
    pub(crate) reason: Option<&'a str>,
    pub(crate) instead: Option<&'a str>,
    /// What to do, if there was nobody to ask.
    pub(crate) remedy: Option<&'a Remedy>,
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
            text += &format!("{} Instead: {instead}", stop_behind(&text));
        }
        let end = format!(" [{}]\n", self.id);
        let Some(remedy) = self.remedy else {
            return bounded_line(&text, &end);
        };
        let stop = stop_behind(&text);
        let [whole, short] = remedy
            .in_words(&self.id)
            .map(|it| format!("{stop} {it}{end}"));
        if whole.trim_end_matches('\n').chars().all(is_printable)
            && printable_len(&text) + whole.len() <= LINE_MAX_BYTES
        {
            bounded_line(&text, &whole)
        } else {
            bounded_line(&text, &short)
        }
    }

    /// File name and arguments, cut.
    fn command(&self) -> String {
        command_in_words(file_name(self.path), self.argv)
    }
}

/// The full stop that a sentence lacks.
fn stop_behind(text: &str) -> &'static str {
    if text.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(argv: &[Vec<u8>]) -> Vec<Masked<'_>> {
        execward_policy::Redaction::default().argv(argv)
    }

    fn refusal<'a>(path: &'a [u8], argv: &'a [Masked<'a>], reason: Option<&'a str>) -> Refusal<'a> {
        let ground = "rule no-force-push".to_owned();
        Refusal {
            path,
            argv,
            ground,
            reason,
            instead: Some("push to a branch"),
            remedy: None,
            id: "3f9c".into(),
        }
    }

    #[test]
    fn the_line_says_what_why_and_what_instead() {
        let argv = [b"git".to_vec(), b"push".to_vec()];
        let line = refusal(b"/usr/bin/git", &masked(&argv), Some("history is shared")).line();
        let expected = "execward: denied git push (rule no-force-push): history is shared. \
                        Instead: push to a branch [3f9c]\n";
        assert_eq!(line, expected.as_bytes());
    }

    #[test]
    fn hostile_bytes_stay_printable_and_within_the_limit() {
        let every: Vec<u8> = (0..=255).collect();
        let argv = [b"x".to_vec(), every.repeat(50), every];
        let reason = "\u{1b}[2J\u{202e}".repeat(200);
        let line = refusal(b"/tmp/\x1b[31m\n", &masked(&argv), Some(&reason)).line();
        assert!(line.len() <= LINE_MAX_BYTES && line.ends_with(b" [3f9c]\n"));
        assert!(
            line[..line.len() - 1]
                .iter()
                .all(|byte| (b' '..=b'~').contains(byte))
        );
    }
    #[test]
    fn a_rule_that_fits_is_in_the_line_and_another_is_named() {
        let argv = [b"git".to_vec(), b"push".to_vec()];
        let line = |rule: Option<String>| {
            let remedy = Remedy::of_rule(rule);
            let argv = masked(&argv);
            let refusal = Refusal {
                instead: None,
                remedy: Some(&remedy),
                ..refusal(b"/usr/bin/git", &argv, None)
            };
            String::from_utf8(refusal.line()).unwrap()
        };
        let rule = |value: &str| {
            let rule = format!("[[allow]]\nid = \"g1-prefix\"\ncommand = {value}\n");
            line(Some(rule))
        };
        assert!(rule("\"git push\"").ends_with("). To allow: command = \"git push\" [3f9c]\n"));
        let shown = "). execward explain 3f9c --rule prints a rule [3f9c]\n";
        for hidden in [
            &format!("'{}'", "x".repeat(480)),
            "'caf\u{e9}'",
            "'a'\ncwd = '/'",
        ] {
            let line = rule(hidden);
            assert!(
                line.ends_with(shown) && line.len() <= LINE_MAX_BYTES,
                "{line}"
            );
        }
        assert!(line(None).ends_with("). execward explain 3f9c says why [3f9c]\n"));
    }
}
