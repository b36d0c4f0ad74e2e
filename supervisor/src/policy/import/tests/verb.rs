//! The verb: what it prints, and how it ends.

use crate::exit::ExitStatus;
use crate::policy::PolicyError;

use super::super::{ImportFrom, import};
use super::loaded;
use crate::cli::ImportArgs;

/// What is printed of a file with such content, and the status.
fn of(content: Option<&[u8]>) -> (String, ExitStatus) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.json");
    if let Some(content) = content {
        std::fs::write(&file, content).unwrap();
    }
    let from = ImportFrom::Claude;
    let mut out = Vec::new();
    let status = import(&ImportArgs { from, file }, &mut out);
    let status = status.unwrap_or_else(|error: PolicyError| error.status());
    (String::from_utf8(out).unwrap(), status)
}

#[test]
fn the_status_says_what_became_of_the_configuration() {
    let whole = br#"{"permissions": {"allow": ["Bash(ls:*)"]}}"#;
    let partly = br#"{"permissions": {"allow": ["Bash(ls:*)", "Bash"]}}"#;
    for (content, status) in [
        (Some(whole.as_slice()), ExitStatus::Success),
        (Some(partly.as_slice()), ExitStatus::Finding),
        (Some(b"{".as_slice()), ExitStatus::Usage),
        (Some(b"\xff".as_slice()), ExitStatus::Usage),
        (None, ExitStatus::Io),
    ] {
        let (out, found) = of(content);
        assert_eq!(found, status);
        if matches!(status, ExitStatus::Usage | ExitStatus::Io) {
            assert_eq!(out, "");
        } else {
            let rules = loaded(&out);
            assert!(rules.rules().any(|rule| rule.id() == "claude.allow-1"));
        }
    }
}
