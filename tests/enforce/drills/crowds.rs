//! Many at once: trees of processes, questions, arguments, signals.

use std::collections::HashSet;
use std::io::Write;

use execward_tests::drill::{Latencies, descriptors, memory_kib, report, scale};
use execward_tests::{Asking, Ground, binary, needs_answers, of_type};
use serde_json::Value;

use crate::lifetime::{gate_of, pid};

/// Seconds from the first record to the last.
fn seconds(records: &[Value]) -> f64 {
    let at = |record: Option<&Value>| -> Option<jiff::Timestamp> {
        record?["ts"].as_str()?.parse().ok()
    };
    let [first, last] = [at(records.first()), at(records.last())];
    let took = last.expect("a time") - first.expect("a time");
    took.total(jiff::Unit::Second).expect("seconds")
}

#[test]
fn t3_a_tree_of_256_processes_has_a_record_for_each_exec() {
    let rounds = scale(2, 60);
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n");
    let ran = ground.sh(&format!(
        "r=0; while [ $r -lt 32 ]; do (c=0; while [ $c -lt 8 ]; do (i=0; while [ $i -lt {rounds} ]; do \
         /bin/true $r.$c.$i || echo lost; i=$((i + 1)); done; /usr/bin/touch m$r.$c 2>/dev/null) & \
         c=$((c + 1)); done; wait) & r=$((r + 1)); done; wait; echo over"
    ));
    assert_eq!(ran.stdout, "over\n", "{}", ran.stderr);
    let own = ran.decisions(&["/bin/true"]);
    let marks: HashSet<&Value> = own
        .iter()
        .map(|record| &record["proc"]["argv"][1])
        .collect();
    assert_eq!((own.len(), marks.len()), (256 * rounds, 256 * rounds));
    assert_eq!(ran.results("verified"), 256 * rounds + 1);
    let denied = ran.decisions(&["/usr/bin/touch"]);
    assert_eq!(denied.len(), 256);
    assert!(
        denied
            .iter()
            .all(|record| record["decision"]["verdict"] == "deny")
    );
    assert!((0..32).all(|r| (0..8).all(|c| !ground.has(&format!("m{r}.{c}")))));
    let (count, took) = (own.len() + denied.len(), seconds(&ran.records));
    let latencies = Latencies::of(&ran.records, "/bin/true").in_words();
    report(
        "T3",
        &format!("32 × 8 processes, {rounds} execs each, and a denied one"),
        &format!(
            "{count} execs, {count} decisions, 0 lost, none of the denied ran; {:.0} a second; {latencies}",
            count as f64 / took
        ),
    );
}

#[test]
fn t6_what_needs_no_answer_goes_on_beside_many_questions() {
    needs_answers!();
    let (questions, execs) = (scale(60, 1000), scale(50, 1000));
    let once = format!(
        "i=0; while [ $i -lt {execs} ]; do $1 || echo lost; i=$((i + 1)); done; echo over; read line"
    );
    let script = format!(
        "many() {{ {once}; }}; many /bin/true; i=0; while [ $i -lt {questions} ]; do \
         /usr/bin/touch m$i 2>/dev/null & i=$((i + 1)); done; read line; many /usr/bin/true; kill -KILL 0"
    );
    let ground = Ground::full("[[ask]]\nid = \"t\"\nprogram = \"touch\"\n");
    let mut asking = Asking::start_under(&["setsid", "-w"], ground, "socket", &script);
    let over = |asking: &Asking| {
        assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    };
    over(&asking);
    // setsid(1) became the front itself, or waits for it.
    let gate = gate_of(pid(asking.front()));
    let [before, _] = memory_kib(gate);
    let open_before = descriptors(gate);
    let mut stdin = asking.stdin();
    stdin.write_all(b"\n").expect("CMD's input");
    assert_eq!(asking.questions(questions).len(), questions);
    let [after, _] = memory_kib(gate);
    let open = descriptors(gate)
        .zip(open_before)
        .map(|(now, then)| now - then);
    stdin.write_all(b"\n").expect("CMD's input");
    over(&asking);
    stdin.write_all(b"\n").expect("CMD's input");
    let records = asking.end();
    let refused = of_type(&records, "exec.decision")
        .filter(|record| record["proc"]["argv"][0] == "/usr/bin/touch");
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused.len(), questions);
    assert!(
        refused
            .iter()
            .all(|record| record["decision"]["reason"] == "withdrawn")
    );
    let alone = Latencies::of(&records, "/bin/true").in_words();
    let beside = Latencies::of(&records, "/usr/bin/true").in_words();
    let kib = after.saturating_sub(before) as f64 / questions as f64;
    let open = open.map_or(String::new(), |open| format!(", {open} descriptors in all"));
    report(
        "T6",
        &format!("{questions} questions held, {execs} execs that need none, before and beside"),
        &format!("all ran; before, {alone}; beside, {beside}; {kib:.1} KiB a question{open}"),
    );
}

#[test]
fn t14_arguments_of_any_number_and_bytes_are_told_as_they_are() {
    let count = scale(10_000, 100_000);
    let ground = Ground::full("[[deny]]\nid = \"no\"\ncommand = \"true last\"\n");
    let escapes = r"\033[2J\033]0;x\007 \342\200\256 \302\233 \r\n \001 \177 \377\376";
    let script = format!(
        "/usr/bin/true ''; /usr/bin/true \"$(printf '{escapes}')\"; \
         printf '%s\\0' $(seq {count}) | xargs -0 -s 2000000 -n {count} /usr/bin/true; \
         /usr/bin/true $(seq {count}) last; echo $?; \
         /usr/bin/true \"$(head -c 131000 /dev/zero | tr '\\0' x)\"; echo $?"
    );
    let ran = ground.sh(&script);
    assert!(
        ran.stdout == "0\n0\n" || ran.stdout == "126\n0\n",
        "{}",
        ran.stdout
    );
    let own = ran.decisions(&["/usr/bin/true"]);
    let argc: Vec<_> = own
        .iter()
        .map(|record| record["proc"]["argc"].as_u64())
        .collect();
    let count = u64::try_from(count).unwrap();
    assert_eq!(argc, [2, 2, count + 1, count + 2, 2].map(Some));
    assert_eq!(own[0]["proc"]["argv"][1], "");
    let log = std::fs::read(ground.path("audit.jsonl")).unwrap();
    let longest = log.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert!(
        longest.is_some_and(|longest| longest <= 64 << 10),
        "{longest:?}"
    );
    assert!(log.iter().all(|byte| matches!(byte, b'\n' | b' '..=b'~')));
    report(
        "T14",
        &format!("no bytes, escapes, {count} arguments, one of 131,000 bytes"),
        &format!(
            "each argc right, the longest record {} bytes, all of printable ASCII",
            longest.unwrap_or_default()
        ),
    );
}

/// A signal that arrives before the gate has taken a call makes it come again (Linux, any).
#[test]
fn t19_pipelines_complete_in_a_storm_of_signals() {
    let count = scale(50, 1000);
    let ground = Ground::full("");
    let ran = ground.sh(&format!(
        "trap : USR1; me=$$; (while kill -USR1 $me 2>/dev/null; do /bin/true; done) & storm=$!; \
         (while :; do /bin/true & wait; done) 2>/dev/null & more=$!; i=0; while [ $i -lt {count} ]; do \
         /bin/echo $i | /bin/cat | /bin/cat; i=$((i + 1)); done; kill $storm $more"
    ));
    let expected: String = (0..count).map(|number| format!("{number}\n")).collect();
    assert!(ran.stdout == expected, "{}", ran.stderr);
    report(
        "T19",
        &format!("{count} pipelines of dash under a storm of SIGUSR1 and SIGCHLD"),
        &format!("{count} complete"),
    );
}

#[test]
fn t19_a_storm_of_execs_that_fail_is_answered_as_without_a_gate() {
    let count = scale(200, 5000);
    let ground = Ground::full("");
    let fails = ground.path("text").display().to_string();
    std::fs::write(&fails, "no program").unwrap();
    let storms = binary("fixture-storms").display().to_string();
    let ran = ground.run(&[&storms, &count.to_string(), &fails]);
    assert_eq!(ran.stdout, "errno=13\n".repeat(count), "{}", ran.stderr);
    assert_eq!(ran.results("verified"), 1, "the fixture alone");
    report(
        "T19",
        &format!("{count} execs of a file that nobody may execute, under signals"),
        &format!("{count} times EACCES"),
    );
}
