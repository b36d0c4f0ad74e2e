//! How an operator sees a session, and ends it.

use std::io::Write;

use execward_tests::{Asking, Ground, binary, needs_answers, of_type};
use serde_json::Value;

use super::approvals::ground;

fn status(asking: &Asking) -> Value {
    let (code, told, said) = asking.client(&["status", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    serde_json::from_str(&told).expect("one line of JSON")
}

#[test]
fn a_status_tells_what_waits_and_what_was_counted() {
    needs_answers!();
    // What the text itself says would be refused with it.
    let script = "it=false; /usr/bin/$it; echo on; /usr/bin/touch a; echo $?; read x";
    let mut asking = Asking::sh(
        "[[deny]]\nid = \"no-false\"\nprogram = \"/usr/bin/false\"\n",
        script,
    );
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    let question = asking.question();
    let told = status(&asking);
    assert_eq!(told["questions"]["open"], 1);
    assert_eq!(told["questions"]["approvers"], "socket");
    assert_eq!(told["health"]["problems"], serde_json::json!([]));
    assert_eq!(told["counters"]["refused"], 1);
    assert_eq!(told["counters"]["asked"], 1);
    // Its own files' rules, and neither those that execward brings nor grants.
    let records = asking.ground().records();
    let start = of_type(&records, "session.start").next().expect("a start");
    assert_eq!(told["policy"]["files"], start["policy"]);
    assert_eq!(told["gate"], start["sup"]["pid"]);
    assert_eq!(told["log"]["records"], records.len());
    let (code, shown, _) = asking.client(&["status"]);
    assert_eq!(code, Some(0));
    assert!(shown.contains(": healthy\n"), "{shown}");
    assert!(shown.contains("1 open, the oldest for "), "{shown}");
    asking.answer(&["deny", &question.id, "--for", "session"]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("126"));
    let after = status(&asking);
    assert_eq!(after["questions"]["open"], 0);
    assert!(after["questions"]["oldestSeconds"].is_null());
    assert_eq!(after["policy"]["grants"], 1);
    assert_eq!(after["policy"]["rules"], told["policy"]["rules"]);
    let _records = asking.end();
}

/// What waits, what sleeps, what stands still, and what CMD left behind.
const CROWD: &str = "/usr/bin/touch a & (sleep 1000 & kill -STOP $!) ; sh -c 'sleep 1000; echo woken' & echo on; wait";

#[test]
fn a_session_that_is_told_to_end_leaves_nobody_and_says_who_did_it() {
    needs_answers!();
    for kill in [false, true] {
        let mut asking = Asking::sh("", CROWD);
        assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
        let _question = asking.question();
        let words: &[&str] = if kill { &["stop", "--kill"] } else { &["stop"] };
        let (code, told, said) = asking.client(words);
        assert_eq!(code, Some(0), "{said}");
        assert!(told.ends_with(" has ended\n"), "{told}");
        let (code, _, said) = asking.client(&["status"]);
        assert_eq!(code, Some(6), "{said}");
        let records = asking.end();
        assert!(!asking.has_run("a"));
        let stop = of_type(&records, "session.stop").next().expect("a record");
        assert_eq!(stop["kill"], kill);
        assert_eq!(stop["sender"]["uid"], nix::unistd::geteuid().as_raw());
        let end = of_type(&records, "session.end").next().expect("an end");
        assert_eq!(end["signal"], if kill { 9 } else { 15 });
        let (verdict, _) = ground(&records, "a");
        assert_eq!(verdict, "deny");
    }
}

/// What was let go on has an outcome also where the end comes in the middle of it.
#[test]
fn a_session_that_is_killed_among_execs_has_an_outcome_of_each() {
    needs_answers!();
    let many = "for n in 1 2 3 4 5 6; do while :; do /bin/true; done & done; echo on; wait";
    for _ in 0..10 {
        let mut asking = Asking::sh("", many);
        assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
        let (code, _, said) = asking.client(&["stop", "--kill"]);
        assert_eq!(code, Some(0), "{said}");
        let records = asking.end();
        let goes_on = |record: &&Value| record["effect"]["sent"] == "continue";
        let let_go = of_type(&records, "exec.decision").filter(goes_on);
        let let_go: Vec<_> = let_go.map(|record| &record["exec_id"]).collect();
        let ended = of_type(&records, "exec.outcome").map(|record| &record["exec_id"]);
        let ended: Vec<_> = ended.collect();
        let open = let_go.into_iter().filter(|id| !ended.contains(id));
        assert_eq!(open.collect::<Vec<_>>(), Vec::<&Value>::new());
    }
}

#[test]
fn a_session_that_does_not_heed_goes_on_and_that_is_said() {
    needs_answers!();
    let script = "trap 'echo heard' TERM; echo on; while ! read x; do :; done; echo $x";
    let mut asking = Asking::sh("", script);
    let mut stdin = asking.stdin();
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    let (code, _, said) = asking.client(&["stop"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`execward stop --kill` kills them"), "{said}");
    assert_eq!(asking.stdout.next_line().as_deref(), Some("heard"));
    writeln!(stdin, "still").expect("a line");
    assert_eq!(asking.stdout.next_line().as_deref(), Some("still"));
    drop(stdin);
    let _records = asking.end();
}

#[test]
fn no_member_of_the_session_sees_or_ends_it() {
    needs_answers!();
    let execward = binary("execward").display().to_string();
    let ground = Ground::full("").option("--session=own");
    let runtime = ground.runtime().display().to_string();
    let script = format!(
        "export XDG_RUNTIME_DIR='{runtime}'
        for verb in status stop 'stop --kill'; do {execward} $verb --session own; echo $?; done"
    );
    let ran = ground.sh(&script);
    assert_eq!(ran.code(), Some(0), "{}", ran.stderr);
    assert_eq!(ran.stdout, "6\n6\n6\n", "{}", ran.stderr);
    assert_eq!(of_type(&ran.records, "session.stop").count(), 0);
    assert!(of_type(&ran.records, "approval.refused").count() >= 1);
}
