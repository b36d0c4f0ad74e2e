//! What is denied beforehand in a shell's text.

use super::*;
use crate::request::{Destination, FileKind};
use crate::shell_command::ShellCommand;

const RULES: &str = r#"
    [[deny]]
    id = "no-push"
    command = "git push"
    [[deny]]
    id = "secret"
    path = "/ws/secret"
    [[deny]]
    id = "no-kill"
    command = "kill"
    [[deny]]
    id = "below-bash"
    program = "make"
    via = "/bin/bash"
    [[deny]]
    id = "env"
    command = "cc"
    env = "X=1"
    [[deny]]
    id = "here"
    program = "tar"
    cwd = "/ws/"
"#;

fn rules() -> Ruleset {
    let text = format!("version = 1\nmode.security = \"full\"\n{RULES}");
    load(&[(&text, Layer::User)])
}

fn denied_by(line: &str, cwd: Option<&str>) -> Option<String> {
    let rules = rules();
    let words = |line: &str| -> Vec<Vec<u8>> { line.split(' ').map(Into::into).collect() };
    let (env, line) = match line.split_once("; ") {
        Some((env, line)) => (words(env), line),
        None => (Vec::new(), line),
    };
    let command = ShellCommand {
        argv: words(line),
        env,
        cwd: cwd.map(Into::into),
        is_builtin: ["echo", "kill"].contains(&line.split(' ').next().unwrap()),
    };
    let mut shell = ExecRequest::new(ProgramFile::at("/bin/bash"), words("bash -c x"));
    shell.env = Some(Arc::new([]));
    for path in rules.named_paths(&command.request(&shell)?) {
        let destination = Destination::as_written(&path);
        shell.destinations.insert(path, destination);
    }
    let verdict = rules.denied_in_text(&command, &shell, Timestamp::UNIX_EPOCH);
    verdict.map(|verdict| verdict.rule().unwrap().id().to_owned())
}

#[test]
fn what_surely_will_be_denied_is() {
    for (line, rule) in [
        ("git -C x push", "no-push"),
        ("timeout 5 env git push", "no-push"),
        ("cat secret", "secret"),
        ("cat ../ws/./secret", "secret"),
        ("kill 1", "no-kill"),
        ("/usr/bin/make", "below-bash"),
        ("X=1; cc", "env"),
        ("tar x", "here"),
    ] {
        assert_eq!(
            denied_by(line, Some("/ws")).as_deref(),
            Some(rule),
            "{line}"
        );
    }
}

#[test]
fn what_may_be_let_is_not() {
    for line in [
        "git pull",
        "cat x",
        "echo /ws/secret",
        "X=2; cc",
        "timeout 5 ls",
    ] {
        assert_eq!(denied_by(line, Some("/ws")), None, "{line}");
    }
    // Where it works nobody can tell.
    for line in ["cat secret", "tar x", "./git push"] {
        assert_eq!(denied_by(line, None), None, "{line}");
    }
    assert_eq!(denied_by("git push", None).as_deref(), Some("no-push"));
}

#[test]
fn a_path_that_leads_to_a_program_is_its_name() {
    let command = ShellCommand {
        argv: vec![b"/ws/x".to_vec(), b"push".to_vec()],
        env: Vec::new(),
        cwd: Some(b"/ws".to_vec()),
        is_builtin: false,
    };
    let rules = rules();
    let mut shell = ExecRequest::new(ProgramFile::at("/bin/sh"), vec![b"sh".to_vec()]);
    let push = Destination::as_written(b"/ws/push");
    shell.destinations.insert(b"/ws/push".to_vec(), push);
    let mut denied = |path: &str, kind| {
        let destination = Destination {
            kind,
            ..Destination::as_written(path.as_bytes())
        };
        shell.destinations.insert(b"/ws/x".to_vec(), destination);
        let verdict = rules.denied_in_text(&command, &shell, Timestamp::UNIX_EPOCH);
        verdict.map(|verdict| verdict.rule().unwrap().id().to_owned())
    };
    assert_eq!(
        denied("/usr/bin/git", FileKind::Regular).as_deref(),
        Some("no-push")
    );
    assert_eq!(denied("/usr/bin/got", FileKind::Regular), None);
    assert_eq!(denied("/usr/bin/git", FileKind::Missing), None);
}
