//! What must stay true of one exec, one question, one session beside another, many times over.

use std::time::SystemTime;

use execward_tests::drill::{Latencies, report, scale};
use execward_tests::{Asking, Ground, binary, finish, needs_answers, of_type};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::selectors::sha256;

#[test]
fn t2_a_program_of_two_megabytes_is_read_whole_each_time() {
    let execs = scale(20, 500);
    let files = Ground::full("");
    let program = files.copy("/bin/true", "program");
    let file = std::fs::File::options().write(true).open(&program);
    file.and_then(|file| file.set_len(2 << 20)).expect("a size");
    let ground = Ground::allowlist(&format!(
        "[[allow]]\nid = \"p\"\nprogram = \"{program}\"\nsha256 = \"{}\"\n[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n",
        sha256(&program)
    ));
    let ran = ground.sh(&format!(
        "i=0; while [ $i -lt {execs} ]; do {program} || echo lost; i=$((i + 1)); done"
    ));
    assert_eq!(ran.stdout, "", "{}", ran.stderr);
    assert_eq!(ran.decisions(&[&program]).len(), execs);
    report(
        "T2",
        &format!("{execs} execs of a program of 2 MB, allowed by its digest"),
        &Latencies::of(&ran.records, &program).in_words(),
    );
}

#[test]
fn t7_a_question_ends_when_its_process_is_killed() {
    needs_answers!();
    let count = scale(5, 200);
    let script = format!(
        "i=0; while [ $i -lt {count} ]; do (exec /usr/bin/touch m$i 2>/dev/null); i=$((i + 1)); done"
    );
    let mut asking = Asking::sh("", &script);
    let mut late_ms = Vec::new();
    for ended in 1..=count {
        let question = asking.question();
        let killed = SystemTime::now();
        kill(Pid::from_raw(question.pid), Signal::SIGKILL).expect("a signal");
        let record = execward_tests::until("the end of a question", || {
            let records = asking.ground().records();
            let is_own = |record: &&Value| record["decision"]["reason"] == "withdrawn";
            of_type(&records, "exec.decision")
                .filter(is_own)
                .nth(ended - 1)
                .cloned()
        });
        let at: jiff::Timestamp = record["ts"]
            .as_str()
            .expect("a time")
            .parse()
            .expect("a time");
        let at = SystemTime::from(at)
            .duration_since(killed)
            .unwrap_or_default();
        late_ms.push(at.as_millis());
    }
    late_ms.sort_unstable();
    let records = asking.end();
    assert!((0..count).all(|number| !asking.has_run(&format!("m{number}"))));
    assert_eq!(of_type(&records, "exec.held").count(), count);
    report(
        "T7",
        &format!("{count} processes killed while a question about them was open"),
        &format!(
            "each left with its record, after {} ms in the median, {} at most",
            late_ms[count / 2],
            late_ms[count - 1]
        ),
    );
}

#[test]
fn t20_sessions_stand_beside_each_other_and_not_within() {
    let execs = scale(50, 2000);
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n");
    let other = Ground::full("[[deny]]\nid = \"other\"\nprogram = \"mkdir\"\n");
    let many =
        format!("i=0; while [ $i -lt {execs} ]; do /bin/true || echo lost; i=$((i + 1)); done");
    let beside = other.command(&[
        "sh",
        &other.script("script", &format!("{many}; mkdir m; touch t")),
    ]);
    let beside = std::thread::spawn(|| finish(beside));
    let execward = binary("execward").display().to_string();
    let ran = ground.sh(&format!(
        "{many}; {execward} run --policy policy.toml --audit inner -- true; echo $?; \
         unshare -Ur sh -c '/bin/true; /usr/bin/touch n'; echo $?"
    ));
    let (_, stdout, stderr) = beside.join().expect("a session");
    assert_eq!(
        (stdout.as_str(), ran.stdout.as_str()),
        ("", "125\n126\n"),
        "{stderr}{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("another"), "{}", ran.stderr);
    assert!(other.has("t") && !other.has("m") && !ground.has("n"));
    report(
        "T20",
        &format!(
            "a session in a session, a user namespace in it, another beside it, {execs} execs each"
        ),
        &format!(
            "the inner is refused and says why, what it denies is denied in the namespace too; {}; the other: {}",
            Latencies::of(&ran.records, "/bin/true").in_words(),
            Latencies::of(&other.records(), "/bin/true").in_words()
        ),
    );
}
