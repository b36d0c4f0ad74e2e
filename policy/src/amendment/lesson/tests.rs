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
        [r#"flags [0, 1] []: command = "git status"; flags = "!*""#]
    );
}

/// What nobody has seen it do with a flag, it may not do with one.
#[test]
fn calls_without_flags_teach_no_flag() {
    let rules = learned(
        &["rm a", "rm b", "sort a", "sort b"],
        &[],
        &["rm c", "rm -rf c", "sort c", "sort -o c a"],
    );
    assert_eq!(
        rules,
        [
            r#"flags [0, 1] [0]: command = "rm"; flags = "!*""#,
            r#"flags [2, 3] [2]: command = "sort"; flags = "!*""#,
        ]
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
        [r#"flags [0, 1] []: command = "git push"; flags = "!*""#]
    );
}

const HELD: [Digest; 2] = [Digest([1; 32]), Digest([2; 32])];

/// The rules of approved calls, and why there are no others.
fn learned_of(approved: &[ExecRequest], refused: &[ExecRequest]) -> (Vec<String>, Vec<NoRule>) {
    let evidence = Evidence {
        approved,
        refused,
        others: &[],
    };
    let lessons = policy(ASKING).learn(evidence, "learned", NOW);
    let rules = lessons.lessons.into_iter().map(|it| it.amendment.rule);
    let untaught = lessons.untaught.into_iter().map(|(_, why)| why);
    (rules.collect(), untaught.collect())
}

#[test]
fn what_a_session_could_change_is_learned_with_its_content_or_not_at_all() {
    let of = |path: &str, line: &str, held: Option<Digest>| {
        let mut request = call(line);
        request.program = ProgramFile::at(path);
        request.program.sha256 = held;
        request
    };
    let own = |line: &str, held| of("/w/own", line, held);
    assert_eq!(
        learned_of(&[own("/w/own a", None)], &[]),
        (Vec::new(), vec![NoRule::NoDigest])
    );
    // The twin, which no session could change, needs none.
    let (rules, untaught) = learned_of(&[call("git status")], &[]);
    assert_eq!((rules.len(), untaught), (1, Vec::new()));
    assert!(!rules[0].contains("sha256"), "{}", rules[0]);

    let [first, second] = HELD;
    let calls = [
        own("/w/own a", Some(first)),
        own("/w/own b", Some(first)),
        own("/w/own a", Some(second)),
    ];
    let (rules, untaught) = learned_of(&calls, &[]);
    assert_eq!((rules.len(), untaught), (2, Vec::new()), "{rules:?}");
    let learned = policy(&format!("{ASKING}\n{}", rules.concat()));
    let decide = |request: &ExecRequest| learned.decide(request, NOW).decision();
    for call in &calls {
        assert_eq!(decide(call), Decision::Allow, "{call:?} {rules:?}");
    }
    for call in [
        own("/w/own b", Some(second)),
        own("/w/own a", Some(Digest([3; 32]))),
        own("/w/own a", None),
    ] {
        assert_eq!(decide(&call), Decision::Ask, "{call:?} {rules:?}");
    }
    // What was refused may have held the same.
    let (rules, untaught) = learned_of(&calls[..1], &[own("/w/own a", None)]);
    assert_eq!((rules, untaught), (Vec::new(), vec![NoRule::Refused]));
}

#[test]
fn a_script_is_learned_call_by_call_with_its_content() {
    let script = |line: &str, held: Option<Digest>| {
        let mut request = call(line);
        let of_script = request.destinations.get_mut(b"/w/a.py".as_slice());
        of_script.expect("the script").sha256 = held;
        request
    };
    let held = Some(HELD[0]);
    let calls = [
        script("python3 /w/a.py x", held),
        script("python3 /w/a.py y", held),
    ];
    let (rules, untaught) = learned_of(&calls, &[]);
    assert_eq!((rules.len(), untaught), (2, Vec::new()), "{rules:?}");
    let learned = policy(&format!("{ASKING}\n{}", rules.concat()));
    let decide = |request: &ExecRequest| learned.decide(request, NOW).decision();
    assert_eq!(decide(&calls[1]), Decision::Allow, "{rules:?}");
    for call in [
        script("python3 /w/a.py z", held),
        script("python3 /w/a.py x", Some(HELD[1])),
        script("python3 /w/a.py x", None),
    ] {
        assert_eq!(decide(&call), Decision::Ask, "{call:?} {rules:?}");
    }
    assert_eq!(
        learned_of(&[script("python3 /w/a.py x", None)], &[]),
        (Vec::new(), vec![NoRule::NoDigest])
    );
}

#[test]
fn what_its_arguments_make_of_it_teaches_nothing() {
    let learned = learned(
        &["sh -c x", "python3 -c x", "env ls", "docker ps", "npx x"],
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
        ..ExecRequest::new(ProgramFile::at("/usr/bin/tool"), Vec::new())
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
