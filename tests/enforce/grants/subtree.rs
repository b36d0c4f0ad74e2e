//! A process that is allowed with all that it starts: one question for what an agent's command does.

use execward_tests::{Asking, needs_answers, of_type};
use serde_json::Value;

use super::{asking, listed};

/// What was decided about `program`, in order: verdict and ground.
fn decided<'r>(records: &'r [Value], program: &str) -> Vec<(&'r str, &'r str)> {
    let word = |record: &'r Value, key: &str| record["decision"][key].as_str().expect("a word");
    let is_it = |record: &&Value| record["proc"]["path"].as_str() == Some(program);
    let decisions = of_type(records, "exec.decision").filter(is_it);
    let both = decisions.map(|record| (word(record, "verdict"), word(record, "reason")));
    both.collect()
}

/// The only question is about `program`.
fn refuse(asking: &Asking, program: &str) -> Value {
    let question = asking.question();
    assert_eq!(question.message["request"]["proc"]["path"], program);
    asking.answer(&["deny", &question.id]);
    question.message
}

#[test]
fn what_a_command_starts_is_asked_about_once_and_its_dangers_by_themselves() {
    needs_answers!();
    let inside = "p=/usr/bin/; ${p}touch a; (${p}mkdir m); ${p}touch b; \
        /usr/bin/perl -e 'open F, q(>c)'; p=/usr/bin/; ${p}chmod 700 m; read x; echo ended";
    let script = format!(
        "/usr/bin/bash -c '{}'; /usr/bin/touch d; echo $?",
        inside.replace('\'', "'\\''")
    );
    let mut asking = asking(&script);
    asking.answer(&["allow", &asking.question().id, "--for", "subtree"]);
    let asked = refuse(&asking, "/usr/bin/perl").to_string();
    let above = &serde_json::from_str::<Value>(&asked).expect("JSON")["request"]["ancestry"];
    assert_eq!(above[0]["path"], "/usr/bin/bash");
    let grants = listed(&asking);
    assert_eq!(grants[0]["duration"], "subtree");
    std::io::Write::write_all(&mut asking.stdin(), b"go\n").unwrap();
    assert_eq!(asking.stdout.next_line().unwrap(), "ended");
    // Behind its end the next is asked about.
    refuse(&asking, "/usr/bin/touch");
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let records = asking.end();
    assert!(asking.has_run("a") && asking.has_run("b") && asking.has_run("m"));
    assert!(!asking.has_run("c") && !asking.has_run("d"));
    let children = ("allow", "children");
    assert_eq!(
        decided(&records, "/usr/bin/touch"),
        [children, children, ("deny", "user")]
    );
    assert_eq!(decided(&records, "/usr/bin/mkdir"), [children]);
    assert_eq!(decided(&records, "/usr/bin/chmod"), [children]);
    let removed = of_type(&records, "grant.removed").next().expect("its end");
    assert_eq!(removed["detail"], "its process has ended");
}

/// Nobody proves any more what they are below.
#[test]
fn what_outlives_the_command_is_not_below_it() {
    needs_answers!();
    let script = "/usr/bin/bash -c '(read go <pipe; /usr/bin/touch a; echo $? >done) & :'; echo over; \
        echo go >pipe; read code <done; echo $code";
    let mut asking = asking(&format!("p=/usr/bin/; ${{p}}mkfifo pipe done; {script}"));
    asking.answer(&["allow", &asking.question().id]);
    asking.answer(&["allow", &asking.question().id, "--for", "subtree"]);
    assert_eq!(asking.stdout.next_line().unwrap(), "over");
    refuse(&asking, "/usr/bin/touch");
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let _records = asking.end();
    assert!(!asking.has_run("a"));
}

#[test]
fn a_subtree_that_is_taken_back_asks_again() {
    needs_answers!();
    let inside = "/usr/bin/touch a; echo on; read x; /usr/bin/touch b; echo $?";
    let mut asking = asking(&format!("/usr/bin/bash -c '{inside}'"));
    let id = asking.question().id;
    asking.answer(&[
        "allow",
        &id,
        "--for",
        "subtree",
        "--reason",
        "its \"build\"",
    ]);
    assert_eq!(asking.stdout.next_line().unwrap(), "on");
    asking.answer(&["grants", "revoke", "g"]);
    std::io::Write::write_all(&mut asking.stdin(), b"go\n").unwrap();
    refuse(&asking, "/usr/bin/touch");
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let _records = asking.end();
    assert!(asking.has_run("a") && !asking.has_run("b"));
}

#[test]
fn nothing_is_below_what_is_refused() {
    needs_answers!();
    let mut asking = asking("/usr/bin/touch a; echo $?");
    let question = asking.question();
    for words in [
        &["deny", &question.id, "--for", "subtree"][..],
        &[
            "allow",
            &question.id,
            "--for",
            "subtree",
            "--scope",
            "program",
        ],
    ] {
        assert_eq!(asking.client(words).0, Some(1), "{words:?}");
    }
    asking.answer(&["deny", &question.id]);
    assert!(of_type(&asking.end(), "grant.added").next().is_none());
}
