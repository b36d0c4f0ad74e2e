//! A log that is long.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use execward_tests::drill::{report, scale};
use execward_tests::{Ground, Lines, binary, end_of, finish};
use serde_json::Value;

/// One who follows the log from its beginning.
fn follow(ground: &Ground) -> (Child, Lines) {
    let mut command = Command::new(binary("execward"));
    command.args(["audit", "tail", "--follow", "--json"]);
    command.arg(ground.path("audit.jsonl"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a reader");
    let lines = Lines::of(child.stdout.take().expect("its output"));
    (child, lines)
}

/// How many records it meets up to the session's end, each once and in order.
fn count(lines: &Lines) -> u64 {
    let mut due = 0;
    while let Some(line) = lines.next_line() {
        let record: Value = serde_json::from_str(&line).expect("a record");
        assert_eq!(record.get("seq").and_then(Value::as_u64), Some(due));
        due += 1;
        if record.get("type").and_then(Value::as_str) == Some("session.end") {
            return due;
        }
    }
    panic!("the log ends without its session after {due} records");
}

#[test]
fn t21_two_follow_a_log_through_all_its_files() {
    let loops = 4;
    let execs = scale(50, 125_000);
    let size = ["64K", "8M"][usize::from(std::env::var_os("EXECWARD_DRILL").is_some())];
    let ground = Ground::full("").option("--audit-segment").option(size);
    let script = ground.script(
        "load",
        &format!(
            "read go; many() {{ i=0; while [ $i -lt {execs} ]; do /bin/true $1 $i; i=$((i + 1)); done; }}; \
             many a & many b & many c & many d & wait"
        ),
    );
    let mut session = ground.command(&["sh", &script]);
    session.stdin(Stdio::piped()).stdout(Stdio::null());
    let start = Instant::now();
    let mut front = session.spawn().expect("a session");
    execward_tests::until("a log", || {
        std::fs::metadata(ground.path("audit.jsonl")).ok()
    });
    let mut readers = [follow(&ground), follow(&ground)];
    drop(front.stdin.take());
    let counts = readers.each_ref().map(|(_, lines)| count(lines));
    let took = start.elapsed().as_secs_f64();
    assert_eq!(end_of(&mut front).code(), Some(0));
    for (child, _) in &mut readers {
        child.kill().expect("a signal");
        child.wait().expect("its end");
    }
    let files = ground.log_files();
    let bytes: u64 = files
        .iter()
        .map(|file| file.metadata().map_or(0, |seen| seen.len()))
        .sum();
    let records = counts[0];
    assert_eq!(counts, [records; 2]);
    assert!(records >= 2 * (loops * execs) as u64);
    let start = Instant::now();
    let mut verify = Command::new(binary("execward"));
    verify
        .args(["audit", "verify"])
        .arg(ground.path("audit.jsonl"));
    let (status, said, _) = finish(verify);
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.starts_with("intact: 1 session in "), "{said}");
    report(
        "T21",
        &format!("{} execs by four loops, two follow the log", loops * execs),
        &format!(
            "{records} records in {} files, each met once and in order by both; {:.0} a second, {} bytes each; \
             verified in {:.1} s",
            files.len(),
            records as f64 / took,
            bytes / records,
            start.elapsed().as_secs_f64()
        ),
    );
}
