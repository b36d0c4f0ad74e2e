//! What never answers: others of the session go on.

use std::fs;
use std::process::Stdio;

use execward_tests::drill::{Latencies, report, scale};
use execward_tests::{Ground, Lines, binary, end_of, needs_served_files, of_type, skip, under};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;

use crate::lifetime::pid;

/// Execs of others, while `stall` goes on in the background, and with the mark of how they are told.
fn beside(stall: &str, execs: usize) -> String {
    format!(
        "once() {{ i=0; while [ $i -lt {execs} ]; do $1 || echo lost; i=$((i + 1)); done; }}; \
         once /bin/true; {stall} & once /usr/bin/true; wait $!; echo $?"
    )
}

fn in_words(ground: &Ground) -> String {
    let records = ground.records();
    let [before, beside] =
        ["/bin/true", "/usr/bin/true"].map(|program| Latencies::of(&records, program).in_words());
    format!("of others before: {before}; beside it: {beside}")
}

#[test]
fn t17_a_file_system_that_never_answers_holds_nobody_else_up() {
    needs_served_files!();
    let execs = scale(50, 2000);
    let ground = Ground::full("");
    let stalls = ground.path("stalls").display().to_string();
    fs::create_dir(&stalls).expect("a directory");
    let path = ground.script("script", &beside(&format!("{stalls}/x"), execs));
    let fixture = binary("fixture-stalls").display().to_string();
    let session = ground.command(&["sh", &path]);
    let ran = ground.end(under(&["unshare", "-m", &fixture, &stalls, "--"], &session));
    assert_eq!(ran.stdout, "126\n", "{}", ran.stderr);
    let late = of_type(&ran.records, "exec.decision");
    let late: Vec<_> = late
        .filter(|it| it["decision"]["reason"] == "read_deadline")
        .collect();
    assert_eq!(late.len(), 1);
    let waited = late[0]["lat"]["total"].as_u64().unwrap_or_default();
    report(
        "T17",
        "an exec on a FUSE file system that never answers",
        &format!("refused after {} ms; {}", waited / 1000, in_words(&ground)),
    );
}

/// A file that is longer than can be read in time, where a rule wants its digest.
#[test]
fn t17_a_sparse_file_of_200_gigabytes_is_refused_in_time() {
    let execs = scale(50, 2000);
    let of_nothing = "0".repeat(64);
    let ground = Ground::full(&format!(
        "[[deny]]\nid = \"pinned\"\nprogram = \"DIR/*\"\nsha256 = \"{of_nothing}\"\n\
         [[deny]]\nid = \"unknown\"\nprogram = \"DIR/huge\"\n"
    ));
    let huge = ground.copy("/bin/true", "huge");
    let file = fs::File::options().write(true).open(&huge).expect("a file");
    if let Err(error) = file.set_len(200 << 30) {
        return skip(&format!("no file of 200 gigabytes here: {error}"));
    }
    drop(file);
    let ran = ground.sh(&beside(&huge, execs));
    assert_eq!(ran.stdout, "126\n", "{}", ran.stderr);
    let decision = ran.decisions(&[&huge])[0];
    assert_eq!(decision["decision"]["verdict"], "deny", "{decision}");
    let waited = decision["lat"]["total"].as_u64().unwrap_or_default();
    report(
        "T17",
        "an exec of a sparse file of 200 GB whose digest a rule wants",
        &format!("denied after {} ms; {}", waited / 1000, in_words(&ground)),
    );
}

#[test]
fn t17_a_fifo_is_refused_as_without_a_gate() {
    let ground = Ground::full("");
    let fifo = ground.path("fifo");
    nix::unistd::mkfifo(&fifo, Mode::from_bits_truncate(0o755)).expect("a FIFO");
    let fifo = fifo.display().to_string();
    let ran = ground.sh(&beside(&fifo, 20));
    assert_eq!(ran.stdout, "126\n", "{}", ran.stderr);
    report(
        "T17",
        "an exec of a FIFO",
        &format!("EACCES; {}", in_words(&ground)),
    );
}

/// Nobody reads what CMD writes, who follows the log stands still: neither is the gate's concern.
#[test]
fn t12_a_reader_that_stands_still_delays_no_decision() {
    let execs = scale(50, 2000);
    let ground = Ground::full("").option("--kill-at-exit");
    let script = format!(
        "once() {{ i=0; while [ $i -lt {execs} ]; do $1; i=$((i + 1)); done; }}; once /bin/true; \
         echo half; read line; once /usr/bin/true 2>/dev/null; echo over; exec >&-; \
         /usr/bin/yes >&2"
    );
    let mut session = ground.command(&["sh", &ground.script("script", &script)]);
    session.stdin(Stdio::piped()).stdout(Stdio::piped());
    // Full as soon as `yes` writes: nobody reads it.
    session.stderr(Stdio::piped());
    let mut front = session.spawn().expect("a session");
    let stdout = Lines::of(front.stdout.take().expect("a pipe"));
    assert_eq!(stdout.next_line().as_deref(), Some("half"));
    let mut tail = std::process::Command::new(binary("execward"));
    tail.args(["audit", "tail", "--follow", "--log"])
        .arg(ground.path("audit.jsonl"))
        .stdout(Stdio::piped());
    let mut tail = tail.spawn().expect("a reader");
    kill(pid(&tail), Signal::SIGSTOP).expect("a signal");
    drop(front.stdin.take());
    assert_eq!(stdout.next_line().as_deref(), Some("over"));
    kill(pid(&front), Signal::SIGTERM).expect("a signal");
    assert!(!end_of(&mut front).success());
    tail.kill().expect("a signal");
    tail.wait().expect("an end");
    let _records = ground.records_at_end();
    report(
        "T12",
        "`audit tail --follow` stopped, standard error a full pipe",
        &in_words(&ground),
    );
}
