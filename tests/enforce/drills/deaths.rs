//! Gates that are killed at any time, or stand still for long.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::collections::HashSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use execward_tests::drill::{report, scale};
use execward_tests::random::Random;
use execward_tests::{Ground, Lines, end_of, finish, of_type};
use nix::sys::signal::{Signal, kill};
use serde_json::Value;

use crate::lifetime::{gate_of, pid};

/// Four at once, each of which marks what it ran and tries what is denied.
const LOAD: &str = "many() { i=0; while :; do /usr/bin/printf \"$1.$i\\n\" >>ran; /usr/bin/touch m$1.$i; \
    i=$((i + 1)); done; }; many a & many b & many c & echo on; many d";

#[test]
fn t8_a_gate_is_killed_at_any_time() {
    let kills = scale(10, 1000);
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n").option("--no-notice");
    // Some die while the log goes on in its next file.
    let ground = ground.option("--audit-segment").option("64K");
    let load = ground.script("load", &format!("exec 2>/dev/null; {LOAD}"));
    let seed = std::process::id().into();
    println!("seed {seed}");
    let mut random = Random::of(seed);
    let [mut ended_ms, mut begun_ms] = [Vec::new(), Vec::new()];
    let (mut ran, mut torn_tails, mut files) = (0, 0, 0);
    for _ in 0..kills {
        let left = ground.log_files().into_iter().chain([ground.path("ran")]);
        left.for_each(|file| drop(std::fs::remove_file(file)));
        let start = Instant::now();
        let mut session = ground.command(&["sh", &load]);
        session.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut front = session.spawn().expect("a session");
        let stdout = Lines::of(front.stdout.take().expect("a pipe"));
        assert_eq!(stdout.next_line().as_deref(), Some("on"));
        begun_ms.push(start.elapsed().as_millis());
        let gate = gate_of(pid(&front));
        // Any time is meant: it writes no other line.
        let any = Duration::from_micros(random.below(60_000));
        assert_eq!(stdout.next_line_within(any), None);
        let start = Instant::now();
        kill(gate, Signal::SIGKILL).expect("a signal");
        assert_eq!(end_of(&mut front).code(), Some(125));
        ground.nothing_is_left();
        ended_ms.push(start.elapsed().as_millis());
        let (records, torn) = ground.chained();
        torn_tails += usize::from(!torn.is_empty());
        files += ground.log_files().len();
        ran += recorded_marks(&ground, &records);
        let left = std::fs::read_dir(ground.path(""))
            .expect("a directory")
            .flatten();
        let denied = left.filter(|file| file.file_name().to_string_lossy().starts_with('m'));
        assert_eq!(denied.count(), 0);
    }
    let (status, stdout, stderr) = finish(ground.command(&["echo", "next"]));
    assert_eq!(
        (status.code(), stdout.as_str()),
        (Some(0), "next\n"),
        "{stderr}"
    );
    let worst = |times: &[u128]| times.iter().max().copied().unwrap_or_default();
    report(
        "T8",
        &format!("{kills} gates killed at random under four loops of execs"),
        &format!(
            "{ran} execs had run, each with its record; 0 denied ones; {files} files of logs, {torn_tails} torn tails; no task left after \
             {} ms at most; the next session ran its command after {} ms at most",
            worst(&ended_ms),
            worst(&begun_ms)
        ),
    );
}

/// How many execs have left their mark, each of which has its record.
fn recorded_marks(ground: &Ground, records: &[Value]) -> usize {
    let allowed = of_type(records, "exec.decision")
        .filter(|it| it["decision"]["verdict"] == "allow")
        .filter_map(|it| it["proc"]["argv"][1].as_str());
    let allowed: HashSet<&str> = allowed.collect();
    let marks = std::fs::read_to_string(ground.path("ran")).unwrap_or_default();
    let without = |mark: &&str| !allowed.contains(format!("{mark}\\n").as_str());
    assert_eq!(marks.lines().find(without), None, "ran without a record");
    marks.lines().count()
}

#[test]
fn t9_a_gate_stands_still_and_goes_on() {
    let seconds = scale(4, 30);
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n");
    let script = ground.script(
        "script",
        "echo on; i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done; \
         /usr/bin/touch m 2>/dev/null; echo over",
    );
    let mut session = ground.command(&["sh", &script]);
    session.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut front = session.spawn().expect("a session");
    let stdout = Lines::of(front.stdout.take().expect("a pipe"));
    let stderr = Lines::of(front.stderr.take().expect("a pipe"));
    assert_eq!(stdout.next_line().as_deref(), Some("on"));
    let gate = gate_of(pid(&front));
    let start = Instant::now();
    kill(gate, Signal::SIGSTOP).expect("a signal");
    let said = stderr.next_line().expect("the front's word");
    assert!(said.contains("the gate does not run"), "{said}");
    let said_ms = start.elapsed().as_millis();
    // Once is enough: nothing more is said of it.
    let left = Duration::from_secs(seconds as u64).saturating_sub(start.elapsed());
    assert_eq!(stderr.next_line_within(left), None);
    kill(gate, Signal::SIGCONT).expect("a signal");
    assert_eq!(stdout.next_line().as_deref(), Some("over"));
    assert_eq!(end_of(&mut front).code(), Some(0));
    let records = ground.records_at_end();
    assert!(!ground.has("m"));
    let decisions = of_type(&records, "exec.decision").count();
    assert_eq!(decisions, 202);
    assert_eq!(of_type(&records, "exec.outcome").count(), 201);
    report(
        "T9",
        &format!("the gate stopped for {seconds} s"),
        &format!(
            "said after {said_ms} ms; then {decisions} decisions, each exec once, the denied one refused"
        ),
    );
}
