//! The command line, and CMD.

use super::{Start, fails_by};

fn is_misused(name: &str, words: &[&str]) {
    fails_by(name, |start| {
        start.has_details = true;
        start.without("--session");
        start.cmd(words);
    });
}

#[test]
fn what_run_does_not_understand_is_named() {
    is_misused("usage-no-command", &[]);
    is_misused("usage-no-command-behind-dashes", &["--"]);
    is_misused("usage-unknown-flag", &["--nonsense", "--", "true"]);
    is_misused("usage-unknown-flag-without-dashes", &["-n", "true"]);
    is_misused("usage-session-name", &["--session=a/b", "--", "true"]);
    is_misused("usage-prompt", &["--prompt=everyone", "--", "true"]);
    is_misused("usage-no-value", &["--workspace"]);
    is_misused("usage-value-of-a-switch", &["--linger=1", "--", "true"]);
}

#[test]
fn a_message_that_cannot_be_written_changes_no_exit_status() {
    let Some(mut start) = Start::new() else {
        return;
    };
    start.inside(&["sh", "-c", "exec 2>/dev/full \"$@\"", "sh"]);
    start.runs();
    start.option("--prompt", "everyone");
    let (status, _, _) = execward_tests::finish(start.command());
    assert_eq!(status.code(), Some(125));
}

/// No failures to start, and told from them by their statuses.
#[test]
fn a_command_that_cannot_be_executed_is_named() {
    let Some(mut start) = Start::new() else {
        return;
    };
    for (name, word, code) in [
        ("command-not-found", "no-such-program", 127),
        ("command-not-there", "./no-such-program", 127),
        ("command-a-directory", "/etc", 126),
        ("command-not-executable", "./policy.toml", 126),
    ] {
        start.cmd(&["--", word]);
        start.ends(name, code);
    }
    start.write(
        "policy.toml",
        "version = 1\n[mode]\nsecurity = \"full\"\n[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n",
    );
    start.cmd = None;
    start.has_details = true;
    start.ends("command-denied", 126);
}

#[test]
fn a_command_that_begins_with_a_dash_stands_behind_dashes() {
    let Some(mut start) = Start::new() else {
        return;
    };
    start.cmd(&["--", "-x", "--", "y"]);
    start.ends("command-with-a-dash", 127);
}
