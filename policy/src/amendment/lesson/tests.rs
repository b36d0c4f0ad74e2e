use super::*;
use crate::amendment::tests::{call, policy};
use crate::request::ProgramFile;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

const ASKING: &str = "version = 1\nmode.security = \"allowlist\"";

fn calls(lines: &[&str]) -> Vec<ExecRequest> {
    lines.iter().map(|line| call(line)).collect()
}

/// What is learned, one rule a line: its scope, its calls, the others that it lets run, and its keys.
fn learned(approved: &[&str], refused: &[&str], others: &[&str]) -> Vec<String> {
    let [approved, refused, others] = [approved, refused, others].map(calls);
    let evidence = Evidence {
        approved: &approved,
        refused: &refused,
        others: &others,
    };
    let lessons = policy(ASKING).learn(evidence, "learned", NOW);
    let of_lesson = |lesson: &Lesson| {
        let keys: Vec<&str> = lesson.amendment.rule.lines().skip(2).collect();
        let narrowed = if lesson.is_narrowed { " narrowed" } else { "" };
        format!(
            "{}{narrowed} {:?} {:?}: {}",
            lesson.amendment.scope,
            lesson.calls,
            lesson.others,
            keys.join("; ")
        )
    };
    let untaught = lessons.untaught.iter();
    let untaught = untaught.map(|(at, why)| format!("{at}: {why}"));
    lessons
        .lessons
        .iter()
        .map(of_lesson)
        .chain(untaught)
        .collect()
}

#[test]
fn a_call_alone_gets_a_rule_of_its_own_and_several_one_of_their_command() {
    assert_eq!(
        learned(&["git status"], &[], &["git status -s", "git push"]),
        [r#"exact [0] []: program = "/usr/bin/git"; argv = ["git", "status"]; cwd = "/w""#]
    );
    assert_eq!(
        learned(
            &["git commit -m a", "git commit -q -m b", "git push origin x"],
            &[],
            &["git commit -q -m c", "git commit --amend", "git push"],
        ),
        [
            r#"flags [0, 1] [0]: command = "git commit"; flags = ["-m", "-q"]"#,
            r#"exact [2] []: program = "/usr/bin/git"; argv = ["git", "push", "origin", "x"]; cwd = "/w""#,
        ]
    );
    assert_eq!(
        learned(&["git status", "git status src"], &[], &[]),
        [r#"prefix [0, 1] []: command = "git status""#]
    );
}

#[test]
fn nothing_lets_run_what_a_person_refused() {
    assert_eq!(
        learned(
            &["git push origin a", "git push origin b"],
            &["git push origin main"],
            &[]
        ),
        [
            r#"exact narrowed [0] []: program = "/usr/bin/git"; argv = ["git", "push", "origin", "a"]; cwd = "/w""#,
            r#"exact narrowed [1] []: program = "/usr/bin/git"; argv = ["git", "push", "origin", "b"]; cwd = "/w""#,
        ]
    );
    assert_eq!(
        learned(&["git push origin a"], &["git push origin a"], &[]),
        ["0: a person refused the same call"]
    );
    // The twin: what was refused is of another command.
    assert_eq!(
        learned(
            &["git push origin a", "git push origin b"],
            &["git pull"],
            &[]
        ),
        [r#"prefix [0, 1] []: command = "git push""#]
    );
}

#[test]
fn what_its_arguments_make_of_it_teaches_nothing() {
    let learned = learned(
        &["sh -c x", "python3 x.py", "env ls", "docker ps", "npx x"],
        &[],
        &[],
    );
    assert_eq!(learned.len(), 5, "{learned:?}");
    assert!(
        learned.iter().all(|it| it.contains("what it is")
            || it.contains("asked about")
            || it.contains("as it is")),
        "{learned:?}"
    );
}

#[test]
fn hostile_arguments_make_a_rule_for_themselves_and_nothing_else() {
    let argv = [
        b"tool".as_slice(),
        b"\"]\n[[allow]]\nprogram = \"*\"",
        b"\xe2\x80\xae\\",
        b"*",
    ];
    let request = ExecRequest {
        argv: argv.map(<[u8]>::to_vec).into(),
        ..ExecRequest::new(ProgramFile::at("/opt/tool"), Vec::new())
    };
    let approved = [request];
    let evidence = Evidence {
        approved: &approved,
        refused: &[],
        others: &[],
    };
    let lessons = policy(ASKING).learn(evidence, "learned", NOW);
    let rule = &lessons.lessons[0].amendment.rule;
    assert!(rule.is_ascii(), "{rule}");
    assert_eq!(rule.matches("[[allow]]").count(), 2, "{rule}");
    let learned = policy(&format!("{ASKING}\n{rule}"));
    let allows = learned
        .rules()
        .filter(|rule| !crate::is_builtin(rule.source()));
    assert_eq!(allows.count(), 1);
    let decide = |request: &ExecRequest| learned.decide(request, NOW).decision();
    assert_eq!(decide(&approved[0]), Decision::Allow);
    let mut other = approved[0].clone();
    other.argv[3] = b"anything".to_vec();
    assert_eq!(decide(&other), Decision::Ask);
}
