//! The log on a disk that fills up, breaks, stalls: nothing runs unrecorded, and nothing hangs for good.

#![expect(
    clippy::indexing_slicing,
    reason = "a question without the field is a failed test"
)]

mod full;
mod synced;
mod torn;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, Command, Stdio};

use execward_tests::drill::report;
use execward_tests::{
    Asking, Ground, Lines, binary, chained, end_of, finish, needs_served_files, of_type, under,
    until,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::lifetime::{gate_of, pid};

/// What the front says of a disk that does not answer.
const STALLED: &str = "execward: the gate waits for the disk under its audit log";

/// Commands CMD, which says how each ended.
const LOOP: &str = "echo $$; while read -r line; do $line 2>/dev/null; echo $?; done";

/// `fixture-disk` around a session, and its log on that.
pub(crate) fn served(ground: Ground) -> (Ground, Vec<String>) {
    let disk = ground.path("disk");
    fs::create_dir(&disk).expect("a directory");
    let fixture = binary("fixture-disk").display().to_string();
    let (at, socket) = (disk.display().to_string(), ground.path("disk-socket"));
    let log = format!("{at}/audit.jsonl");
    let words = [
        "unshare",
        "-m",
        &fixture,
        &at,
        &socket.display().to_string(),
    ];
    let words = words.map(str::to_owned).to_vec();
    let ground = ground
        .option("--audit-unstable")
        .option("--audit")
        .option(&log);
    (ground, [words, vec!["--".to_owned()]].concat())
}

/// The disk, to be told what to be like.
pub(crate) struct Disk(BufReader<UnixStream>);

impl Disk {
    pub(crate) fn of(ground: &Ground) -> Self {
        let socket = ground.path("disk-socket");
        let stream = until("the disk", || UnixStream::connect(&socket).ok());
        Self(BufReader::new(stream))
    }

    pub(crate) fn be(&mut self, word: &str) -> String {
        writeln!(self.0.get_mut(), "{word}").expect("the disk");
        let mut answer = String::new();
        self.0.read_line(&mut answer).expect("the disk");
        answer.trim_end().to_owned()
    }

    /// The bytes that `word` gets.
    pub(crate) fn bytes(&mut self, word: &str) -> Vec<u8> {
        let len = self.be(word).parse().expect("a length");
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).expect("the disk");
        bytes
    }

    /// The log as it lies on the disk.
    fn log(&mut self) -> String {
        String::from_utf8(self.bytes("cat audit.jsonl")).expect("text")
    }

    fn records(&mut self) -> Vec<Value> {
        let text = self.log();
        chained(text.as_bytes()).0
    }

    fn awaits_stall(&mut self) {
        until("a write that waits", || {
            (self.be("waiting") != "0").then_some(())
        });
    }

    /// The log, once its last record ends the session.
    fn log_at_end(&mut self) -> String {
        until("session.end", || {
            let log = self.log();
            let is_over = log.contains("\"type\":\"session.end\"") && log.ends_with('\n');
            is_over.then_some(log)
        })
    }
}

/// A session with its log on such a disk.
struct Session {
    ground: Ground,
    fixture: Child,
    disk: Disk,
    stdin: ChildStdin,
    stdout: Lines,
    stderr: Lines,
    /// CMD.
    command: Pid,
}

impl Session {
    fn start(rules: &str) -> Self {
        let (ground, words) = served(Ground::full(rules));
        let socket = ground.path("socket").display().to_string();
        let ground = ground.option("--control").option(&socket);
        let script = ground.script("loop.sh", LOOP);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut fixture = under(&words, &ground.command(&["sh", &script]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a session");
        let stdout = Lines::of(fixture.stdout.take().expect("stdout"));
        let command = stdout.next_line().expect("CMD's number");
        Self {
            disk: Disk::of(&ground),
            stdin: fixture.stdin.take().expect("stdin"),
            stderr: Lines::of(fixture.stderr.take().expect("stderr")),
            command: Pid::from_raw(command.parse().expect("a number")),
            ground,
            fixture,
            stdout,
        }
    }

    fn send(&mut self, command: &str) {
        writeln!(self.stdin, "{command}").expect("CMD's input");
    }

    /// Has CMD run `command`; its status.
    fn status(&mut self, command: &str) -> i32 {
        self.send(command);
        let status = self.stdout.next_line().expect("a status");
        status.parse().expect("a number")
    }

    /// What `execward status` exits with, and says.
    fn health(&self) -> (Option<i32>, String) {
        let mut command = Command::new(binary("execward"));
        command
            .args(["status", "--control"])
            .arg(self.ground.path("socket"))
            .env("HOME", self.ground.path(""));
        let (status, told, said) = finish(command);
        (status.code(), told + &said)
    }

    /// Lets CMD end; the whole log.
    fn end(mut self) -> String {
        drop(self.stdin);
        let log = self.disk.log_at_end();
        self.disk.be("end");
        assert_eq!(end_of(&mut self.fixture).code(), Some(0));
        log
    }
}

/// The records of a log that nothing is missing from.
fn records_of(log: &str) -> Vec<Value> {
    let (records, torn) = chained(log.as_bytes());
    assert!(torn.is_empty());
    records
}

#[test]
fn what_a_broken_disk_does_not_take_is_refused_and_counted() {
    needs_served_files!();
    const DENY: &str = "[[deny]]\nid = \"no-false\"\nprogram = \"false\"\n";
    for (how, fails) in [("full", 7), ("eio", 7), ("full-after 100", 7), ("torn", 1)] {
        let mut session = Session::start(DENY);
        assert_eq!(session.status("/bin/true"), 0);
        session.disk.be(how);
        for number in 0..fails {
            let denied = ["/bin/touch ran", "/bin/false"][number % 2];
            assert_eq!(session.status(denied), 126, "{how}");
        }
        assert!(!session.ground.has("ran"), "{how}");
        let (code, told) = session.health();
        assert_eq!(code, Some(1), "{told}");
        let problem = format!("the last {fails} records could not be written");
        assert!(told.contains(&problem), "{told}");
        session.disk.be("ok");
        assert_eq!(session.status("/bin/false"), 126);
        let (code, told) = session.health();
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(session.status("/bin/touch ran"), 0);
        assert!(session.ground.has("ran"));
        let copy = session.ground.path("copy.jsonl");
        let log = session.disk.log();
        fs::write(&copy, &log).expect("a copy");
        let mut tail = Command::new(binary("execward"));
        tail.args(["audit", "tail"]).arg(&copy);
        let (status, shown, said) = finish(tail);
        assert!(status.success(), "{how}: {said}");
        let gap = format!("- {fails} records are missing here: write_failed\n");
        assert!(shown.contains(&gap), "{how}: {shown}");
        let log = session.end();
        let records = records_of(&log);
        let gaps: Vec<_> = of_type(&records, "audit.gap").collect();
        assert_eq!(gaps.len(), 1, "{how}");
        assert_eq!(gaps[0]["gap"]["count"], fails, "{how}");
        assert_eq!(records[0]["log"]["unstable"], true);
        assert_eq!(records[0]["log"]["reserve"], 0);
        assert!(records.iter().enumerate().all(|(at, it)| it["seq"] == at));
        let done = format!("the log's disk is `{how}` for {fails} attempts");
        let happened = format!(
            "{fails} refused, a gap of {fails}, {} records in one chain",
            records.len()
        );
        report("T11", &done, &happened);
    }
}

#[test]
fn a_disk_that_stalls_is_said_and_what_waits_for_it_goes_on() {
    needs_served_files!();
    let mut session = Session::start("");
    session.disk.be("stall");
    session.send("/bin/touch ran");
    session.disk.awaits_stall();
    let said = session.stderr.next_line().expect("a line");
    assert_eq!(said, format!("{STALLED}; the session's execs wait"));
    assert!(!session.ground.has("ran"));
    session.disk.be("ok");
    let status = session.stdout.next_line();
    assert_eq!(status.as_deref(), Some("0"));
    assert!(session.ground.has("ran"));
    let records = records_of(&session.end());
    assert_eq!(of_type(&records, "audit.gap").count(), 0);
    let happened = "the front says so; the exec waits, and runs once the disk answers; no gap";
    report("T11", "the log's disk does not answer", happened);
}

fn is_live(process: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

fn awaits_end_of(process: Pid) {
    until("the end of a process", || (!is_live(process)).then_some(()));
}

/// Who waits for the disk, and whoever started it, ends all the same.
#[test]
fn a_session_whose_disk_stalls_can_be_ended() {
    needs_served_files!();
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut session = Session::start("");
        session.disk.be("stall");
        session.send("/bin/touch ran");
        session.disk.awaits_stall();
        let said = session.stderr.next_line().expect("a line");
        assert!(said.starts_with(STALLED), "{said}");
        let waits = gate_of(session.command);
        let front = gate_of(pid(&session.fixture));
        kill(front, signal).expect("the front");
        for process in [front, session.command, waits] {
            awaits_end_of(process);
        }
        if signal == Signal::SIGTERM {
            let said = session.stderr.next_line().expect("a line");
            let ends = "ending the session's processes, as SIGTERM asks";
            assert_eq!(said, format!("{STALLED}; {ends}"));
        }
        session.disk.be("ok");
        // The gate writes down what there is to say, and ends.
        let log = session.disk.log_at_end();
        let _records = records_of(&log);
        session.disk.be("end");
        let code = if signal == Signal::SIGTERM { 125 } else { 1 };
        assert_eq!(end_of(&mut session.fixture).code(), Some(code));
        assert!(!session.ground.has("ran"));
    }
}

/// Where not even the first record gets on the disk, Ctrl-C is enough.
#[test]
fn a_start_on_a_disk_that_stalls_is_said_and_can_be_ended() {
    needs_served_files!();
    let (ground, mut words) = served(Ground::full(""));
    let waits = ["sh", "-c", "read -r x; exec \"$@\"", "sh"];
    words.extend(waits.map(str::to_owned));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let marker = ground.path("ran").display().to_string();
    let mut fixture = under(&words, &ground.command(&["touch", &marker]))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a session");
    let mut disk = Disk::of(&ground);
    disk.be("stall");
    let mut stdin = fixture.stdin.take().expect("stdin");
    stdin.write_all(b"\n").expect("the shell's input");
    let stderr = Lines::of(fixture.stderr.take().expect("stderr"));
    let said = stderr.next_line().expect("a line");
    assert!(said.starts_with(STALLED), "{said}");
    let front = gate_of(pid(&fixture));
    kill(front, Signal::SIGINT).expect("the front");
    let said = stderr.next_line().expect("a line");
    assert!(said.ends_with("as SIGINT asks"), "{said}");
    awaits_end_of(front);
    disk.be("ok");
    disk.be("end");
    assert_eq!(end_of(&mut fixture).code(), Some(125));
    assert!(!ground.has("ran"));
}

/// The ID of the question about a call with the argument `word`, once it is open.
fn question_about(asking: &Asking, word: &str) -> String {
    until("a question", || {
        let (_, open, _) = asking.client(&["pending", "--json"]);
        let question: Value = serde_json::from_str(open.lines().next()?).ok()?;
        let is_its = question["request"]["proc"]["argv"][1] == word;
        is_its.then(|| question["requestId"].as_str().expect("an ID").to_owned())
    })
}
