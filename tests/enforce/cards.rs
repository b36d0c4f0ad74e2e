//! Questions that are alike, that come again, and that other rules settle.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use execward_tests::{Asking, Ground, needs_answers, of_type};
use serde_json::Value;

use crate::approvals::ground as basis;

/// Three that wait with one question, and one with another.
const ALIKE: &str =
    "for i in 1 2 3; do /usr/bin/touch a && echo ran & done; /usr/bin/touch b; wait; echo over";

fn asking(script: &str) -> Asking {
    Asking::start(crate::grants::ground(), "socket", script)
}

/// The verdicts on `touch name`.
fn verdicts(records: &[Value], name: &str) -> Vec<String> {
    let is_it = |record: &&Value| {
        record["proc"]["path"] == "/usr/bin/touch" && record["proc"]["argv"][1] == name
    };
    let decisions = of_type(records, "exec.decision").filter(is_it);
    let mut verdicts: Vec<_> = decisions
        .map(|it| it["decision"]["verdict"].to_string())
        .collect();
    verdicts.sort();
    verdicts
}

#[test]
fn a_yes_lets_the_oldest_of_a_card_go_and_no_other() {
    needs_answers!();
    let mut asking = asking(ALIKE);
    let questions = asking.questions(4);
    let of_a: Vec<_> = questions
        .iter()
        .filter(|it| it.message["request"]["proc"]["argv"][1] == "a")
        .collect();
    assert_eq!(of_a.len(), 3);
    // The last is named, and the first goes.
    asking.answer(&["allow", &of_a[2].id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("ran"));
    let left: Vec<_> = asking.questions(3).into_iter().map(|it| it.id).collect();
    assert!(!left.contains(&of_a[0].id) && left.contains(&of_a[2].id));
    // So many as are meant, or none.
    let (code, _, said) = asking.client(&["allow", &of_a[2].id, "--these", "3"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("2 processes wait"), "{said}");
    asking.answer(&["allow", &of_a[2].id, "--these", "2"]);
    asking.answer(&["deny", &asking.question().id]);
    for expected in ["ran", "ran", "over"] {
        assert_eq!(asking.stdout.next_line().as_deref(), Some(expected));
    }
    let records = asking.end();
    assert_eq!(verdicts(&records, "a"), ["\"allow\""; 3]);
    assert!(!asking.has_run("b"));
}

#[test]
fn a_no_refuses_the_whole_card_and_the_same_call_for_a_while() {
    needs_answers!();
    let again = "/usr/bin/touch a; echo again $?; /usr/bin/touch -c a; echo other $?";
    let mut asking = asking(&format!("{ALIKE}; {again}"));
    let questions = asking.questions(4);
    for name in ["b", "a"] {
        let is_it =
            |it: &&execward_tests::Question| it.message["request"]["proc"]["argv"][1] == name;
        let question = questions.iter().find(is_it).expect("a question");
        asking.answer(&["deny", &question.id]);
    }
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    // Nobody is asked about the same; another is another question.
    assert_eq!(asking.stdout.next_line().as_deref(), Some("again 126"));
    asking.answer(&["deny", &asking.question().id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("other 126"));
    let records = asking.end();
    assert_eq!(verdicts(&records, "a"), ["\"deny\""; 4]);
    assert_eq!(of_type(&records, "exec.held").count(), 5);
    assert!(!asking.has_run("a") && !asking.has_run("b"));
}

/// A shell that is told no goes on to the next directory of its PATH, which may be the same one.
#[test]
fn a_no_holds_for_the_same_call_by_another_path_and_with_another_environment() {
    needs_answers!();
    let again = "PATH=/usr/bin:/bin; touch a; echo $?; X=1 touch a; echo $?";
    let mut asking = asking(&format!("{again}; cd /; touch a; echo $?"));
    asking.answer(&["deny", &asking.question().id]);
    for _ in 0..2 {
        assert_eq!(asking.stdout.next_line().as_deref(), Some("126"));
    }
    // Elsewhere it is another file.
    asking.answer(&["deny", &asking.question().id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("126"));
    let records = asking.end();
    assert_eq!(of_type(&records, "exec.held").count(), 2);
    assert!(!asking.has_run("a"));
}

#[test]
fn a_lasting_yes_settles_the_others_of_its_card() {
    needs_answers!();
    let mut asking = asking(ALIKE);
    let questions = asking.questions(4);
    let of_a = questions
        .iter()
        .find(|it| it.message["request"]["proc"]["argv"][1] == "a");
    asking.answer(&["allow", &of_a.expect("one").id, "--for", "session"]);
    for _ in 0..3 {
        assert_eq!(asking.stdout.next_line().as_deref(), Some("ran"));
    }
    asking.answer(&["deny", &asking.question().id]);
    let records = asking.end();
    assert_eq!(verdicts(&records, "a"), ["\"allow\""; 3]);
    assert_eq!(of_type(&records, "grant.added").count(), 1);
}

#[test]
fn a_policy_that_denies_or_allows_meanwhile_settles_what_is_open() {
    needs_answers!();
    let script = "/usr/bin/touch a & /usr/bin/mkdir m & /usr/bin/chmod 700 . & wait; echo over";
    let mut asking = asking(script);
    let _open = asking.questions(3);
    let policy = "version = 1\nmode = { security = \"allowlist\", ask = \"on-miss\" }\n\
        [[deny]]\nid = \"no\"\nprogram = \"touch\"\n[[allow]]\nid = \"yes\"\nprogram = \"/usr/bin/mkdir\"\n";
    std::fs::write(asking.ground().path("narrow.toml"), policy).unwrap();
    let file = asking.ground().path("narrow.toml").display().to_string();
    asking.answer(&["policy", "load", &file]);
    // The third is asked about as before, by the same question.
    let left = asking.question();
    assert_eq!(left.message["request"]["proc"]["path"], "/usr/bin/chmod");
    asking.answer(&["allow", &left.id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    let records = asking.end();
    assert_eq!(basis(&records, "a"), ("deny", "rule"));
    assert_eq!(basis(&records, "m"), ("allow", "rule"));
    assert_eq!(of_type(&records, "exec.held").count(), 3);
    assert!(!asking.has_run("a") && asking.has_run("m"));
}

#[test]
fn whoever_is_refused_again_and_again_is_told_to_stop() {
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n");
    let ran = ground.run(&[
        "sh",
        "-c",
        "for i in 1 2 3 4 5 6 7 8 9 10 11; do /usr/bin/touch m$i; done; echo over",
    ]);
    assert_eq!(ran.stdout, "over\n");
    let lines: Vec<_> = ran
        .stderr
        .lines()
        .filter(|line| line.starts_with("execward: "))
        .collect();
    assert_eq!(lines.len(), 11, "{}", ran.stderr);
    let is_told = |line: &&&str| line.contains("stop, and ask what to do");
    assert_eq!(lines.iter().filter(is_told).count(), 2, "{}", ran.stderr);
    assert!(
        lines[10].contains("11 calls were refused within a minute"),
        "{}",
        lines[10]
    );
    let decisions = of_type(&ran.records, "exec.decision");
    let counted = decisions.filter_map(|it| it["decision"]["refused_lately"].as_u64());
    assert_eq!(counted.collect::<Vec<_>>(), [10, 11]);
}
