//! The wall clock is set while a session runs: of its gate alone, by a build that meets faults on order.
//! No test sets the machine's.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::io::Write;
use std::process::Command;
use std::thread;

use execward_tests::drill::report;
use execward_tests::fault::faulty;
use execward_tests::{Asking, Ground, binary, finish, needs_answers, needs_faults, of_type};
use jiff::Timestamp;
use serde_json::Value;

/// How long a question is open, in milliseconds.
const TIMEOUT_MS: u64 = 4000;

/// A session with two questions that are open while its clock is set; one of them is answered then.
fn session(orders: &str) -> (Asking, String) {
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let mode = format!(
        "security = \"full\", ask_timeout = \"{}s\"",
        TIMEOUT_MS / 1000
    );
    let ground = Ground::new(&format!("version = 1\nmode = {{ {mode} }}\n{ask}"));
    let faulty = faulty().expect("a build with faults").display().to_string();
    let instead = format!("shift; exec {faulty} \"$@\"");
    let orders = format!("EXECWARD_FAULT={orders}");
    let words = ["env", &orders, "sh", "-c", &instead, "sh"];
    let script = "exec 2>/dev/null; /usr/bin/touch a & a=$!; /usr/bin/touch b & b=$!; read line; \
         for i in 1 2 3 4; do /bin/true $i; done; echo on; wait $a; echo $?; wait $b; echo $?";
    let mut asking = Asking::start_under(&words, ground, "socket", script);
    let open = asking.questions(2);
    let answered = open
        .iter()
        .find(|it| it.message["request"]["proc"]["argv"][1] == "b");
    let answered = answered.expect("a question").id.clone();
    asking.stdin().write_all(b"\n").expect("CMD's input");
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    (asking, answered)
}

/// By how many seconds the wall clock went otherwise than the one that nobody sets, where it did.
fn steps(records: &[Value]) -> Vec<i64> {
    let at = |record: &Value| {
        let wall: Timestamp = record["ts"].as_str()?.parse().ok()?;
        let boot = record["boot_ns"].as_i64()?;
        i64::try_from(wall.as_nanosecond() - i128::from(boot)).ok()
    };
    let offsets: Vec<i64> = records.iter().map(|it| at(it).expect("times")).collect();
    let steps = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    let seconds = steps.map(|step| (step + step.signum() * 500_000_000) / 1_000_000_000);
    seconds.filter(|step| *step != 0).collect()
}

/// What reads logs reads this one; the ID is of an exec in it.
fn is_read(asking: &Asking, id: &str) {
    let log = asking.ground().path("audit.jsonl");
    let policy = asking.ground().path("policy.toml");
    let execward = || Command::new(binary("execward"));
    let mut tail = execward();
    tail.args(["audit", "tail"]).arg(&log);
    let (status, shown, stderr) = finish(tail);
    assert!(status.success(), "{stderr}");
    assert!(shown.contains(id), "{shown}");
    let mut explain = execward();
    explain.args(["explain", id, "--log"]).arg(&log);
    explain.arg("--policy").arg(&policy);
    let (status, shown, stderr) = finish(explain);
    assert!(status.success(), "{stderr}");
    assert!(shown.contains("ask-touch"), "{shown}");
}

fn meets(orders: &str, expected: &[i64]) {
    let (mut asking, answered) = session(orders);
    asking.answer(&["allow", &answered]);
    for status in ["126", "0"] {
        assert_eq!(asking.stdout.next_line().as_deref(), Some(status));
    }
    let _ended = asking.end();
    let (records, torn) = asking.ground().chained();
    assert!(torn.is_empty() && asking.has_run("b") && !asking.has_run("a"));
    assert!(records.iter().enumerate().all(|(at, it)| it["seq"] == at));
    let boot_ns: Vec<u64> = records
        .iter()
        .filter_map(|it| it["boot_ns"].as_u64())
        .collect();
    assert!(boot_ns.len() == records.len() && boot_ns.is_sorted());
    assert_eq!(steps(&records), expected, "{orders}");
    let expired = of_type(&records, "exec.decision");
    let expired: Vec<_> = expired
        .filter(|it| it["decision"]["reason"] == "timeout")
        .collect();
    assert_eq!(expired.len(), 1);
    let waited_ms = expired[0]["approval"]["wait_ms"].as_u64().expect("a time");
    assert!(waited_ms >= TIMEOUT_MS, "ended after {waited_ms} ms");
    is_read(&asking, expired[0]["exec_id"].as_str().expect("an ID"));
    let (status, stdout, stderr) = finish(asking.ground().command(&["echo", "next"]));
    assert_eq!((status.code(), &*stdout), (Some(0), "next\n"), "{stderr}");
    let steps: Vec<String> = expected.iter().map(|step| format!("{step:+}")).collect();
    report(
        "T26",
        &format!(
            "the gate's clock set by {} s while questions are open",
            steps.join(", ")
        ),
        &format!(
            "one was answered; one ended after {waited_ms} ms of {TIMEOUT_MS}; {} records in the order of `seq` and \
             `boot_ns`, `ts` shows each step; `tail` and `explain` read them, the next session began",
            records.len()
        ),
    );
}

#[test]
fn t26_a_clock_that_is_set_ends_no_question_early_or_late() {
    needs_answers!();
    needs_faults!();
    // The first task that is traced is CMD, the next the first of its loop.
    let there_and_beyond = "after_seize:ahead:2,after_seize:back:3,after_seize:back:4";
    thread::scope(|scope| {
        scope.spawn(|| meets("after_seize:ahead:2", &[3600]));
        scope.spawn(|| meets("after_seize:back:2", &[-3600]));
        scope.spawn(|| meets(there_and_beyond, &[3600, -3600, -3600]));
    });
}
