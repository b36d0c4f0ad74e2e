//! `policy learn` makes rules of what a person approved in a real session.

use std::fs;

use execward_tests::{Asking, Ground, needs_answers, said};
use serde_json::Value;

const ASKING: &str = "version = 1\n[mode]\nsecurity = \"allowlist\"\n\
    [[allow]]\nid = \"shell\"\nprogram = [\"sh\", \"dash\"]\n";

/// Runs `script` in a session of `sh`, where each exec is asked about; `answers` by what its last argument
/// is, `allow` else.
fn asked(script: &str, answers: &[(&str, &str)]) -> Asking {
    let ground = Ground::new(ASKING);
    ground.script("script", script);
    let count = script.lines().filter(|line| line.ends_with('&')).count();
    let mut asking = Asking::start(ground, "socket", ". ./script; wait");
    for question in asking.questions(count) {
        let argv = question.message.pointer("/request/proc/argv");
        let argv = argv.and_then(Value::as_array).expect("argv");
        let last = argv.last().and_then(Value::as_str).expect("an argument");
        let answer = answers.iter().find(|(word, _)| *word == last);
        asking.answer(&[answer.map_or("allow", |(_, answer)| answer), &question.id]);
    }
    let _records = asking.end();
    asking
}

/// What is learned of the session's log, in a file of its own.
fn learned(asking: &Asking) -> String {
    let words = ["policy", "learn", "--policy", "policy.toml", "audit.jsonl"];
    let output = asking.ground().execward(&words);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let learned = said(&output);
    assert!(learned.is_ascii(), "{learned}");
    fs::write(asking.ground().path("learned.toml"), &learned).expect("a policy");
    learned
}

/// The status and the text of `execward policy verb` of both policies.
fn both(asking: &Asking, verb: &str, rest: &[&str]) -> (Option<i32>, String) {
    let words = [
        "policy",
        verb,
        "--policy",
        "policy.toml",
        "--policy",
        "learned.toml",
    ];
    let output = asking.ground().execward(&[&words, rest].concat());
    (output.status.code(), said(&output))
}

#[test]
fn what_was_approved_runs_unasked_by_what_is_learned_and_nothing_else() {
    let asking = asked(
        "/usr/bin/touch a &\n/usr/bin/mkdir -p b &\n/usr/bin/mkdir c &\n/usr/bin/sort no &\n/usr/bin/ln no x &\n",
        &[("no", "deny"), ("x", "deny")],
    );
    let learned = learned(&asking);
    assert!(learned.contains("argv = [\"touch\", \"a\"]"), "{learned}");
    assert!(
        learned.contains("command = \"mkdir\"\nflags = \"-p\""),
        "{learned}"
    );
    assert!(!learned.contains("sort"), "{learned}");
    let (code, lint) = both(&asking, "lint", &[]);
    assert_eq!(code, Some(0), "{lint}");
    let (_, replayed) = both(&asking, "replay", &["audit.jsonl"]);
    assert!(
        replayed.contains("questions saved, ask -> allow: 3\n"),
        "{replayed}"
    );
    assert!(replayed.contains("3 change"), "{replayed}");
    let alone = asking
        .ground()
        .execward(&["policy", "lint", "--policy", "learned.toml"]);
    assert_eq!(alone.status.code(), Some(0), "{}", said(&alone));
}

#[test]
fn no_rule_lets_run_what_a_person_refused() {
    let asking = asked(
        "/usr/bin/touch a &\n/usr/bin/touch b &\n/usr/bin/touch kept &\n",
        &[("kept", "deny")],
    );
    let learned = learned(&asking);
    assert!(
        learned.contains("No wider: a person refused other calls"),
        "{learned}"
    );
    assert!(!learned.contains("command = \"touch\""), "{learned}");
    let (_, replayed) = both(&asking, "replay", &["audit.jsonl"]);
    assert!(
        replayed.contains("questions saved, ask -> allow: 2\n"),
        "{replayed}"
    );
}

#[test]
fn what_an_agent_names_its_arguments_stays_within_their_rule() {
    // A twin in words alone stands beside arguments that would end a string, a comment, a table.
    let script = "/usr/bin/touch plain &\n\
        /usr/bin/mkdir -p \"$(printf 'x\\n[[allow]]\\nid = \"evil\"\\nprogram = \"/**\"')\" &\n\
        /usr/bin/rmdir \"$(printf '\\342\\200\\256\\033[2J\\\\\"')\" &\n\
        /usr/bin/mkfifo \"$(printf 'a\\377')\" &\n";
    let asking = asked(script, &[]);
    let learned = learned(&asking);
    assert!(!learned.contains("\nid = \"evil\""), "{learned}");
    assert!(!learned.contains('\u{1b}'), "{learned}");
    let (code, shown) = both(&asking, "show", &[]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(
        shown.matches("allow learned-").count(),
        4,
        "{shown}{learned}"
    );
    assert!(!shown.contains("evil"), "{shown}");
    let (_, replayed) = both(&asking, "replay", &["audit.jsonl"]);
    assert!(
        replayed.contains("questions saved, ask -> allow: 4\n"),
        "{replayed}"
    );
}

/// What is asked about is asked about with what it holds.
#[test]
fn what_the_session_can_change_is_learned_with_its_content() {
    needs_answers!();
    let ground = Ground::new(ASKING);
    let _tool = ground.copy("/usr/bin/echo", "tool");
    let _other = ground.copy("/usr/bin/true", "other");
    let script = "./tool kept; ./tool kept; ./tool once; /usr/bin/cp other tool; ./tool once";
    let mut asking = Asking::start(ground, "socket", script);
    asking.answer(&["allow", &asking.question().id, "--for", "session"]);
    asking.answer(&["allow", &asking.question().id]);
    asking.answer(&["allow", &asking.question().id]);
    asking.answer(&["allow", &asking.question().id]);
    let _records = asking.end();
    let learned = learned(&asking);
    // Two of the tool, and one of cp.
    assert_eq!(learned.matches("[[allow]]").count(), 3, "{learned}");
    assert_eq!(learned.matches("\nsha256 = \"").count(), 2, "{learned}");
    assert!(learned.contains("Approved 3 times"), "{learned}");
    let (code, lint) = both(&asking, "lint", &[]);
    assert_eq!(code, Some(0), "{lint}");
    let (_, replayed) = both(&asking, "replay", &["audit.jsonl"]);
    assert!(
        replayed.contains("questions saved, ask -> allow: 5\n"),
        "{replayed}"
    );
}

#[test]
fn what_ran_below_an_allowed_process_was_a_question_that_nobody_answered() {
    needs_answers!();
    let script = "/usr/bin/bash -c '/usr/bin/touch a; :'; /usr/bin/bash -c '/usr/bin/touch b; :'";
    let mut asking = Asking::start(Ground::new(ASKING), "socket", script);
    asking.answer(&["allow", &asking.question().id, "--for", "subtree"]);
    asking.answer(&["deny", &asking.question().id]);
    let _records = asking.end();
    assert!(asking.has_run("a") && !asking.has_run("b"));
    let learned = learned(&asking);
    assert!(!learned.contains("[[allow]]"), "{learned}");
    let (code, replayed) = both(&asking, "replay", &["audit.jsonl"]);
    assert_eq!(code, Some(0), "{replayed}");
    let words = [
        "policy",
        "learn",
        "--asked",
        "--policy",
        "policy.toml",
        "audit.jsonl",
    ];
    let with_asked = said(&asking.ground().execward(&words));
    assert_eq!(with_asked.matches("[[allow]]").count(), 1, "{with_asked}");
    fs::write(asking.ground().path("learned.toml"), &with_asked).expect("a policy");
    let (_, replayed) = both(&asking, "replay", &["audit.jsonl"]);
    assert!(
        replayed.contains("questions saved, ask -> allow: 1\n"),
        "{replayed}"
    );
}

#[test]
fn what_nobody_answered_is_learned_only_where_that_is_said() {
    let ground = Ground::new(ASKING).option("--prompt=none");
    let _env = ground.copy("/bin/true", "env");
    let _own = ground.copy("/bin/true", "own");
    let ran = ground.sh("/usr/bin/touch a\n./env all\n./own all\n");
    let _records = ground.records_at_end();
    let learn = ["policy", "learn", "--policy", "policy.toml", "audit.jsonl"];
    let plain = said(&ground.execward(&learn));
    assert!(!plain.contains("[[allow]]"), "{plain}{}", ran.stderr);
    let asked = said(&ground.execward(&[&learn[..], &["--asked"]].concat()));
    assert_eq!(asked.matches("[[allow]]").count(), 1, "{asked}");
    // A wrapper is what it is given; and whatever the session puts in its directory would run.
    for reason in [
        "/env all\n",
        "what it is: a shell",
        "/own all\n",
        "no digest of that is known\n",
    ] {
        assert!(asked.contains(reason), "{reason} {asked}");
    }
}

#[test]
fn a_rule_names_what_else_it_would_have_let_run_and_overwrites_nothing() {
    let ground = Ground::new(ASKING).option("--prompt=none");
    let _ran = ground.sh("/usr/bin/touch -c a\n/usr/bin/touch -m b\n/usr/bin/touch -cm other\n");
    let _records = ground.records_at_end();
    // Two of them were approved, as a log would have it.
    let log = fs::read_to_string(ground.path("audit.jsonl")).unwrap();
    let approve = |line: &str| match line.contains("\"-cm\"") {
        true => line.to_owned(),
        false => line.replace(
            "\"verdict\":\"deny\",\"reason\":\"no_approver\"",
            "\"verdict\":\"allow\",\"reason\":\"user\"",
        ),
    };
    let lines: Vec<String> = log.lines().map(approve).collect();
    fs::write(ground.path("edited.jsonl"), lines.join("\n")).unwrap();
    let words = [
        "policy",
        "learn",
        "--policy",
        "policy.toml",
        "edited.jsonl",
        "-o",
        "new.toml",
    ];
    let first = ground.execward(&words);
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    let learned = fs::read_to_string(ground.path("new.toml")).unwrap();
    assert!(
        learned.contains("also have allowed 1 other execs of the log:"),
        "{learned}"
    );
    assert!(
        learned.contains("#   /usr/bin/touch -cm other, once: ["),
        "{learned}"
    );
    let second = ground.execward(&words);
    assert_eq!(second.status.code(), Some(1), "{}", said(&second));
}
