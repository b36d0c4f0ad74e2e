//! An answer to an exec that is over: for next time.

use std::io::{BufRead, BufReader, Write};
use std::process::Command;

use execward_tests::{Asking, Ground, Ran, binary, finish, is_root, needs_answers, of_type, skip};
use serde_json::{Value, json};

use super::{asking, ground, listed};
use crate::approvals::{decision, ground as basis};

/// `execward words…` about the session that was on `ground`; its exit code, and what it said.
fn say(ground: &Ground, words: &[&str]) -> (Option<i32>, String) {
    let mut command = about(ground, words);
    command.args(["--session", "over"]);
    let (status, told, said) = finish(command);
    (status.code(), told + &said)
}

/// The same in any session that is live.
fn about(ground: &Ground, words: &[&str]) -> Command {
    let mut command = Command::new(binary("execward"));
    command
        .args(words)
        .arg("--log")
        .arg(ground.path("audit.jsonl"))
        .arg("--policy")
        .arg(ground.path("policy.toml"))
        .args(ground.state())
        .env("HOME", ground.path(""))
        .env("XDG_CONFIG_HOME", ground.config())
        .env("XDG_RUNTIME_DIR", ground.runtime());
    command
}

fn id_of(ran: &Ran, name: &str) -> String {
    let id = decision(&ran.records, name)
        .get("exec_id")
        .and_then(Value::as_str);
    id.expect("an ID").to_owned()
}

const BOTH: [&str; 3] = ["sh", "-c", "/usr/bin/touch a; /usr/bin/touch b; echo over"];

/// An unattended run is refused at once; whoever reads its log says what the next one may do.
#[test]
fn what_was_refused_with_nobody_there_runs_the_next_time_and_nothing_else() {
    needs_answers!();
    let ground = ground().option("--prompt=none");
    let first = ground.run(&BOTH);
    assert_eq!(basis(&first.records, "a"), ("deny", "no_approver"));
    let id = id_of(&first, "a");
    let (code, said) = say(&ground, &["allow", &id]);
    assert_eq!(code, Some(6), "{said}");
    let (code, said) = say(&ground, &["allow", &id, "--for=session"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("its session is not live any more"), "{said}");
    let (code, said) = say(&ground, &["allow", "ffff", "--for=always"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = say(&ground, &["allow", &id, "--for=always", "--reason=fine"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("from now on, allow `touch a` in "),
        "{said}"
    );
    let second = ground.run(&BOTH);
    assert_eq!(basis(&second.records, "a"), ("allow", "grant"));
    assert_eq!(basis(&second.records, "b"), ("deny", "no_approver"));
    assert!(ground.has("a") && !ground.has("b"));
}

/// Two sessions hardly have an ID in common. Where they do, what one person saw refused must not be another's.
#[test]
fn what_could_be_of_another_session_is_not_answered_for_next_time() {
    needs_answers!();
    let ground = ground().option("--prompt=none");
    let first = ground.run(&BOTH);
    let _records = ground.records_at_end();
    let log = std::fs::read_to_string(ground.path("audit.jsonl")).expect("a log");
    let id = id_of(&first, "a");
    let second = ground.run(&["sh", "-c", "/usr/bin/touch other"]);
    let other = id_of(&second, "other");
    assert_ne!(other, id);
    let _records = ground.records_at_end();
    let of_second = std::fs::read_to_string(ground.path("audit.jsonl")).expect("a log");
    // One log of both, in another file: behind its last record a session gives back what it had set aside
    // in its own.
    std::fs::remove_file(ground.path("audit.jsonl")).expect("a log");
    let both = log + &of_second.replace(&format!("\"{other}\""), &format!("\"{id}\""));
    std::fs::write(ground.path("audit.jsonl"), both).expect("a log");
    let (code, said) = say(&ground, &["allow", &id, "--for=always"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("any of several execs that are over"),
        "{said}"
    );
    // Nor the start of an ID, which is that of others too.
    let (code, said) = say(&ground, &["allow", &id[..5], "--for=always"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(!ground.has("a") && !ground.has("other"));
}

#[test]
fn what_it_held_is_not_known_any_more_so_nothing_is_allowed_of_it() {
    needs_answers!();
    let ground = ground().option("--prompt=none");
    // Trusted is neither: the session may write it.
    let own = ground.copy("/usr/bin/touch", "own");
    let ran = ground.run(&["sh", "-c", &format!("{own} a; echo over")]);
    let of_own = of_type(&ran.records, "exec.decision");
    let of_own = of_own.filter(|it| it.pointer("/proc/argv/1") == Some(&json!("a")));
    let ids: Vec<_> = of_own
        .filter_map(|it| it.get("exec_id")?.as_str())
        .collect();
    let [id] = ids.as_slice() else {
        panic!("{ids:?}");
    };
    let (code, said) = say(&ground, &["allow", id, "--for=always"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("answer while it waits"), "{said}");
    assert!(!ground.has("config/execward/grants.toml"));
    // A no needs to know nothing of it.
    let (code, said) = say(&ground, &["deny", id, "--for=always"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(ground.has("config/execward/grants.toml"));
}

/// What is for the session that it was in reaches no other that happens to be live.
#[test]
fn what_is_for_a_session_that_is_over_counts_in_no_other() {
    needs_answers!();
    if is_root() {
        return skip("root's sessions are all in one place");
    }
    let ground = ground().option("--prompt=none");
    let other = super::ground().of_user(&ground);
    let over = ground.run(&BOTH);
    let id = id_of(&over, "a");
    let mut other = Asking::start(other, "socket", "echo on; read x");
    assert_eq!(other.stdout.next_line().as_deref(), Some("on"));
    let answer = |span: &str| {
        let command = about(&ground, &["allow", &id, span]);
        let (status, told, said) = finish(command);
        (status.code(), told + &said)
    };
    let (code, said) = answer("--for=session");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("its session is not live any more"), "{said}");
    assert_eq!(listed(&other), Vec::<Value>::new());
    let (code, said) = answer("--for=always");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(listed(&other).len(), 1);
    let _records = other.end();
}

#[test]
fn a_live_session_hears_it_at_once_and_records_it() {
    needs_answers!();
    let mut asking = asking("/usr/bin/touch a; echo $?; read x; /usr/bin/touch a; echo $?; read x");
    let mut stdin = asking.stdin();
    let id = asking.question().id;
    asking.answer(&["deny", &id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("126"));
    let (code, _, said) = asking.client(&["allow", &id]);
    assert_eq!(code, Some(1), "{said}");
    let log = asking.ground().path("audit.jsonl").display().to_string();
    let policy = asking.ground().path("policy.toml").display().to_string();
    let more = ["--log", &log, "--policy", &policy];
    let words = [
        "allow",
        &id,
        "--for=session",
        more[0],
        more[1],
        more[2],
        more[3],
    ];
    asking.answer(&words);
    assert_eq!(listed(&asking).len(), 1);
    writeln!(stdin, "go").expect("a line");
    assert_eq!(asking.stdout.next_line().as_deref(), Some("0"));
    drop(stdin);
    let records = asking.end();
    let added = of_type(&records, "grant.added").next().expect("a record");
    assert_eq!(added.pointer("/grant/exec_id"), Some(&json!(id)));
    let sender = added.pointer("/sender/uid").and_then(Value::as_u64);
    assert_eq!(sender, Some(nix::unistd::geteuid().as_raw().into()));
}

/// A client makes one grant at a time, and not one that cannot be taken back by its ID.
#[test]
fn what_is_not_one_rule_of_its_name_and_time_is_no_grant() {
    needs_answers!();
    let mut asking = asking("read x");
    let rule = |id: &str| format!("[[allow]]\nid = \"{id}\"\nprogram = \"/usr/bin/touch\"\n");
    let grant = |action: &str, rule: &str, duration: &str| {
        json!({ "type": "grant", "id": "g1", "action": action, "rule": rule, "duration": duration,
            "scope": "program", "covers": "touch", "by": "uid 7", "session": "s", "exec": "1003",
            "at": "2026-11-29T00:00:00Z" })
    };
    let stream = asking.connect();
    let mut lines = BufReader::new(&stream).lines();
    let mut heard = move || lines.next().expect("a line").expect("a line");
    let send = |message: &Value| writeln!(&stream, "{message}").expect("a socket");
    let _hello = heard();
    send(&json!({ "type": "hello", "protocol": 1 }));
    for (message, why) in [
        (grant("allow", &rule("g2"), "session"), "no note"),
        (
            grant("allow", &(rule("g1") + &rule("g2")), "session"),
            "no note",
        ),
        (grant("deny", &rule("g1"), "session"), "of no rule"),
        (
            grant("ask", &rule("g1"), "session"),
            "neither allows nor denies",
        ),
        (
            grant("allow", &rule("g1"), "2999-01-01"),
            "the rule has another",
        ),
        (grant("allow", &rule("g1"), "once"), "one process alone"),
        (grant("allow", &rule("g1"), "subtree"), "one process alone"),
        (grant("allow", "version = 1", "session"), "of no rule"),
        (
            grant(
                "allow",
                &(rule("g1") + "[mode]\nsecurity = \"full\"\n"),
                "session",
            ),
            "faults",
        ),
        (
            grant("allow", &(rule("g1") + "nonsense = 1\n"), "session"),
            "faults",
        ),
    ] {
        send(&message);
        let said = heard();
        assert!(
            said.contains("\"error\"") && said.contains(why),
            "{message}: {said}"
        );
    }
    assert_eq!(listed(&asking), Vec::<Value>::new());
    send(&grant("allow", &rule("g1"), "session"));
    assert_eq!(heard(), r#"{"type":"granted","id":"g1"}"#);
    let shown = listed(&asking);
    let by = shown.first().and_then(|it| it.get("by")?.as_str());
    assert!(by.is_some_and(|by| by != "uid 7"), "{shown:?}");
    let records = asking.end();
    assert_eq!(of_type(&records, "grant.added").count(), 1);
}
