//! What is shipped is the log: every record, in order, over rotation, restarts and receivers that are not there.

mod receivers;

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use execward_tests::{Ground, Lines, binary, end_of, finish, of_type, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use receivers::{Collector, Datagrams, Place, metrics, place};

/// A session of many execs, in a log of several files.
const MANY: &str = "i=0; while [ $i -lt 200 ]; do /bin/true $i; i=$((i+1)); done";

fn rotating() -> Ground {
    let ground = Ground::full("").option("--audit-segment").option("64K");
    fs::write(ground.path("script.sh"), MANY).expect("a script");
    ground
}

/// The log of such a session.
fn rotated() -> (Ground, Vec<Value>) {
    let ground = rotating();
    let _ran = ground.run(&["sh", "script.sh"]);
    let records = ground.records_at_end();
    assert!(ground.log_files().len() > 2, "{:?}", ground.log_files());
    (ground, records)
}

fn ship(ground: &Ground, to: &str, options: &[&str]) -> Command {
    let mut command = Command::new(binary("execward"));
    command
        .args(["audit", "ship", "--to", to])
        .args(options)
        .arg(ground.path("audit.jsonl"))
        .stdin(Stdio::null());
    command
}

/// The same to a socket in the ground's directory.
fn to_socket(ground: &Ground, to: &str, options: &[&str]) -> Command {
    let socket = ground.path("socket").display().to_string();
    ship(
        ground,
        to,
        &[&["--socket", socket.as_str()], options].concat(),
    )
}

fn start(mut command: Command) -> (Child, Lines) {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("a process");
    let said = Lines::of(child.stderr.take().expect("a pipe"));
    (child, said)
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).expect("a pid");
    kill(Pid::from_raw(pid), signal).expect("a signal");
}

/// Ends a shipper as an operator does.
fn end(mut child: Child) {
    signal(&child, Signal::SIGTERM);
    assert_eq!(end_of(&mut child).code(), Some(0));
}

fn places(records: &[Value]) -> Vec<Place> {
    records.iter().map(place).collect()
}

/// Whether a process has `path` among its arguments.
fn has_process_with(path: &Path) -> bool {
    let path = path.display().to_string();
    let entries = fs::read_dir("/proc").expect("/proc").map_while(Result::ok);
    entries
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == path.as_bytes())
        })
}

#[test]
fn every_record_is_shipped_once_and_in_order_as_the_log_grows_and_goes_on_in_other_files() {
    let ground = rotating();
    let journald = Datagrams::at(&ground.path("socket"));
    let mut session = ground
        .command(&["sh", "script.sh"])
        .spawn()
        .expect("a session");
    until("a log", || ground.has("audit.jsonl").then_some(()));
    let (shipper, _said) = start(to_socket(&ground, "journald", &[]));
    let mut got = Vec::new();
    while got
        .last()
        .is_none_or(|last: &Value| last["type"] != "session.end")
    {
        got.push(journald.next_record());
    }
    assert!(end_of(&mut session).success());
    end(shipper);
    assert!(ground.log_files().len() > 2, "{:?}", ground.log_files());
    assert_eq!(got, ground.records());
    let (status, ..) = finish(to_socket(&ground, "journald", &["--once"]));
    assert_eq!(status.code(), Some(0));
    assert!(!journald.has_more(), "something came twice");
}

#[test]
fn a_shipper_that_is_killed_leaves_no_hole_and_its_reader_ends_with_it() {
    let (ground, records) = rotated();
    let journald = Datagrams::at(&ground.path("socket"));
    let mut got = Vec::new();
    // Behind what is read here the socket is full at some time: in the middle of a batch.
    for read in [30, 60] {
        let (mut shipper, _said) = start(to_socket(&ground, "journald", &[]));
        got.extend((0..read).map(|_| journald.next_record()));
        signal(&shipper, Signal::SIGKILL);
        assert_eq!(end_of(&mut shipper).code(), None);
    }
    until("the end of the tails", || {
        (!has_process_with(&ground.path("audit.jsonl"))).then_some(())
    });
    let (shipper, _said) = start(to_socket(&ground, "journald", &["--once"]));
    while got
        .last()
        .is_none_or(|last: &Value| last["type"] != "session.end")
    {
        got.push(journald.next_record());
    }
    drop(shipper.wait_with_output());
    let mut once = Vec::new();
    let mut twice = 0;
    for place in places(&got) {
        match once.contains(&place) {
            true => twice += 1,
            false => once.push(place),
        }
    }
    assert_eq!(once, places(&records));
    assert!(twice <= 2 * 512, "{twice}");
}

#[test]
fn a_receiver_that_is_not_there_is_waited_for() {
    let (ground, records) = rotated();
    let (shipper, said) = start(to_socket(&ground, "syslog", &[]));
    let first = said.next_line().expect("a complaint");
    assert!(first.contains("takes no records"), "{first}");
    assert!(first.contains("nothing is dropped"), "{first}");
    let syslog = Datagrams::at(&ground.path("socket"));
    for record in &records {
        let message = syslog.next();
        let seq = format!(" chain=\"{}\" seq=\"{}\"", place(record).0, place(record).1);
        assert!(message.contains(&seq), "{seq} in {message}");
    }
    let again = said.next_line().expect("its end");
    assert!(again.contains("it works again"), "{again}");
    end(shipper);
    assert!(!syslog.has_more(), "something came twice");
}

#[test]
fn a_receiver_that_reads_nothing_keeps_no_exec_waiting() {
    let ground = rotating();
    let journald = Datagrams::at(&ground.path("socket"));
    let mut session = ground
        .command(&["sh", "script.sh"])
        .spawn()
        .expect("a session");
    until("a log", || ground.has("audit.jsonl").then_some(()));
    let (shipper, _said) = start(to_socket(&ground, "journald", &[]));
    // It is under way, and goes no further.
    let mut got = vec![journald.next_record()];
    signal(&shipper, Signal::SIGSTOP);
    assert!(end_of(&mut session).success());
    let records = ground.records_at_end();
    signal(&shipper, Signal::SIGCONT);
    got.extend(records.iter().skip(1).map(|_| journald.next_record()));
    assert_eq!(got, records);
    end(shipper);
}

#[test]
fn a_collector_gets_every_record_but_what_it_never_takes() {
    let ground = Ground::full("");
    let _ran = ground.sh("/bin/true one; /bin/true poison; /bin/true three");
    let records = ground.records_at_end();
    let busy = vec![(503, "Retry-After: 0\r\n"), (429, "")];
    let collector = Collector::start(busy, Some("\"poison\""));
    let endpoint = format!("http://{}", collector.address);
    let (mut shipper, said) = start(ship(&ground, "otlp", &["--endpoint", &endpoint, "--once"]));
    let mut got = Vec::new();
    let mut statuses = Vec::new();
    while got
        .last()
        .is_none_or(|last: &Value| last["type"] != "session.end")
    {
        let (records, status) = collector.next();
        statuses.push(status);
        got.extend(records.into_iter().filter(|_| status == 200));
    }
    assert_eq!(end_of(&mut shipper).code(), Some(0));
    for status in [400, 503, 429] {
        assert!(statuses.contains(&status), "{statuses:?}");
    }
    let is_poison = |record: &&Value| record["proc"]["argv"][1] == "poison";
    let poison = records.iter().filter(is_poison).count();
    assert_eq!(poison, 1);
    let others = records.iter().filter(|record| !is_poison(record));
    assert_eq!(got, others.cloned().collect::<Vec<_>>());
    let said: Vec<_> = std::iter::from_fn(|| said.next_line()).collect();
    assert!(
        said.iter()
            .any(|line| line.contains("1 records are refused for good")),
        "{said:?}"
    );
}

#[test]
fn figures_are_those_of_the_log_also_after_the_shipper_was_killed() {
    let ground = Ground::full("[[deny]]\nid = \"no-true\"\ncommand = [\"true\"]\n");
    let _ran = ground.sh("/bin/true; /bin/true; /bin/echo; nonexistent_program");
    let records = ground.records_at_end();
    let decisions = of_type(&records, "exec.decision");
    let refused = decisions
        .filter(|it| it["effect"]["sent"] == "errno")
        .count();
    let expected = [
        format!("execward_decisions_total{{verdict=\"deny\",reason=\"rule\"}} {refused}"),
        "execward_outcomes_total{result=\"verified\"} 2".to_owned(),
        "execward_sessions_ended_total 1".to_owned(),
        format!("execward_last_seq {}", records.len() - 1),
    ];
    for _ in 0..2 {
        let options = ["--listen", "127.0.0.1:0"];
        let (mut shipper, said) = start(ship(&ground, "prometheus", &options));
        let line = said.next_line().expect("an address");
        let address = line.split("http://").nth(1).expect("an address");
        let address = address.trim_end_matches("/metrics");
        let seen = until("figures", || {
            let text = metrics(address)?;
            text.contains("execward_sessions_ended_total 1")
                .then_some(text)
        });
        for line in &expected {
            assert!(seen.lines().any(|it| it == line), "{line} in\n{seen}");
        }
        signal(&shipper, Signal::SIGKILL);
        assert_eq!(end_of(&mut shipper).code(), None);
    }
    let file = ground.path("execward.prom").display().to_string();
    let state = ground.path("other").display().to_string();
    let options = ["--textfile", &file, "--state", &state, "--once"];
    assert_eq!(
        finish(ship(&ground, "prometheus", &options)).0.code(),
        Some(0)
    );
    let text = fs::read_to_string(file).expect("a file");
    assert!(text.contains(&expected[0]), "{text}");
}

#[test]
fn what_is_missing_is_said_and_what_is_damaged_ends_with_its_status() {
    let ground = Ground::full("");
    let _ran = ground.sh("/bin/true");
    let mut expected = ground.records_at_end();
    let log = ground.path("audit.jsonl");
    let text = fs::read_to_string(&log).expect("a log");
    let mut lines: Vec<_> = text.lines().collect();
    lines.splice(1..3, ["{\"type\":\"\u{1b}"]);
    // The gate may still be giving back what it has kept behind the log's end: that is another file then.
    let edited = ground.path("edited");
    fs::write(&edited, lines.join("\n") + "\n").expect("a log");
    fs::rename(&edited, &log).expect("its name");
    let journald = Datagrams::at(&ground.path("socket"));
    let (shipper, _said) = start(to_socket(&ground, "journald", &["--once"]));
    let mut got = Vec::new();
    while got
        .last()
        .is_none_or(|last: &Value| last["type"] != "session.end")
    {
        got.push(journald.next_record());
    }
    let ended = shipper.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(4));
    let hole = got.remove(1);
    assert_eq!(hole["type"], "ship.gap");
    assert_eq!(
        (&hole["gap"]["first"], &hole["gap"]["count"]),
        (&1.into(), &2.into())
    );
    expected.drain(1..3);
    assert_eq!(got, expected);
}

#[test]
fn a_log_can_be_shipped_from_its_end_over_a_stream() {
    let ground = Ground::full("");
    let _before = ground.sh("/bin/true");
    let before = ground.records_at_end().len();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("tcp://{}", listener.local_addr().expect("an address"));
    let options = ["--address", &address, "--once", "--from-now"];
    assert_eq!(finish(ship(&ground, "syslog", &options)).0.code(), Some(0));
    // Another session, behind what is passed over.
    let (status, ..) = finish(ground.command(&["/bin/echo", "a\nb"]));
    assert!(status.success());
    until("its end", || {
        let ends = ground.records();
        (of_type(&ends, "session.end").count() == 2).then_some(())
    });
    assert_eq!(finish(ship(&ground, "syslog", &options)).0.code(), Some(0));
    let (mut stream, _) = listener.accept().expect("a connection");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text");
    for record in ground.records().iter().skip(before) {
        let (length, rest) = text.split_once(' ').expect("a length");
        let (message, rest) = rest.split_at(length.parse().expect("a number"));
        assert!(
            message.contains(&format!(" seq=\"{}\"", record["seq"])),
            "{message}"
        );
        assert!(!message.contains('\n'), "{message}");
        text = rest.to_owned();
    }
    assert_eq!(text, "");
}

#[test]
fn without_the_program_that_ships_it_is_said_what_is_missing() {
    let ground = Ground::full("");
    let alone = ground.path("execward");
    // Written by another process: a fork of this one's would hold it open, and nobody could execute it.
    let mut copy = Command::new("cp");
    copy.arg(binary("execward")).arg(&alone);
    assert!(finish(copy).0.success());
    let mut command = Command::new(alone);
    command.args(["audit", "ship", "--to", "journald"]);
    let (status, _, stderr) = finish(command);
    assert_eq!(status.code(), Some(7));
    assert!(stderr.contains("execward-ship"), "{stderr}");
    assert!(stderr.contains("scripts/install"), "{stderr}");
}
