//! A gate that dies or stands still, at each phase of an exec: what is denied does not run, nobody stays
//! behind, the log is whole or says where it ends, and the next session starts as ever.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

mod exchanged;

use std::process::{Child, ExitStatus, Stdio};

use execward_tests::fault::with_faults;
use execward_tests::{
    Asking, Ground, Lines, binary, end_of, finish, is_root, needs_answers, needs_faults,
    needs_served_files, of_type, under, until,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::lifetime::{gate_of, pid};

/// What is denied, what is asked about, what is allowed.
const RULES: &str = "[[deny]]\nid = \"no\"\nprogram = \"touch\"\n\
    [[ask]]\nid = \"perhaps\"\nprogram = \"mkdir\"\n";

/// What asks a question is there where the phase is one of a question; nobody answers it.
fn ground(phase: &str) -> (Ground, String) {
    let mode = "security = \"full\", ask_timeout = \"1s\"";
    let ground = Ground::new(&format!("version = 1\nmode = {{ {mode} }}\n{RULES}"));
    let ground = ground.option("--prompt=socket");
    let asks = if phase == "parked" {
        "/usr/bin/mkdir d;"
    } else {
        ""
    };
    let script = ground.script(
        "script",
        &format!(
            "exec 2>/dev/null; /bin/true a; /usr/bin/touch m; {asks} /bin/true b; /usr/bin/touch n; \
             /bin/true c; echo over"
        ),
    );
    (ground, script)
}

fn start(ground: &Ground, script: &str, orders: &str) -> (Child, Lines, Lines) {
    let mut session = with_faults(&ground.command(&["sh", script]), orders);
    session.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut front = session.spawn().expect("a session");
    let stdout = Lines::of(front.stdout.take().expect("a pipe"));
    let stderr = Lines::of(front.stderr.take().expect("a pipe"));
    (front, stdout, stderr)
}

/// The line of the front that has `text` in it.
fn hears(stderr: &Lines, text: &str) -> String {
    loop {
        let line = stderr.next_line();
        let line = line.unwrap_or_else(|| panic!("the front did not say `{text}`"));
        if line.contains(text) {
            return line;
        }
    }
}

/// What holds after any death of a gate.
fn nothing_got_through(ground: &Ground, phase: &str, ended: ExitStatus) {
    assert_eq!(ended.code(), Some(125), "{phase}");
    ground.nothing_is_left();
    assert!(
        ["m", "n", "d"].iter().all(|name| !ground.has(name)),
        "{phase}"
    );
    let (records, torn) = ground.chained();
    assert!(of_type(&records, "session.end").next().is_none(), "{phase}");
    let mut tail = std::process::Command::new(binary("execward"));
    tail.args(["audit", "tail", "--json"])
        .arg(ground.path("audit.jsonl"));
    let (status, _, said) = finish(tail);
    assert_eq!(status.success(), torn.is_empty(), "{phase}: {said}");
    assert_eq!(said.contains("is no record"), !torn.is_empty(), "{said}");
    let (status, stdout, stderr) = finish(ground.command(&["sh", "-c", "echo next"]));
    assert_eq!(
        (status.code(), stdout.as_str()),
        (Some(0), "next\n"),
        "{phase}: {stderr}"
    );
}

/// Dies at the second time that an exec is in `phase`, or stands still and dies, or goes on.
fn meets(phase: &str, times: u32) {
    for deed in ["panic", "kill"] {
        let (ground, script) = ground(phase);
        let (mut front, _, stderr) = start(&ground, &script, &format!("{phase}:{deed}:{times}"));
        hears(&stderr, "the gate is gone");
        let ended = end_of(&mut front);
        nothing_got_through(&ground, phase, ended);
    }
    for goes_on in [true, false] {
        let (ground, script) = ground(phase);
        let (mut front, stdout, stderr) = start(&ground, &script, &format!("{phase}:stop:{times}"));
        let gate = gate_of(pid(&front));
        hears(&stderr, "the gate does not run");
        kill(
            gate,
            if goes_on {
                Signal::SIGCONT
            } else {
                Signal::SIGKILL
            },
        )
        .expect("a signal");
        let ended = end_of(&mut front);
        if !goes_on {
            nothing_got_through(&ground, phase, ended);
            continue;
        }
        assert_eq!(ended.code(), Some(0), "{phase}");
        assert_eq!(stdout.next_line().as_deref(), Some("over"));
        is_as_without_a_fault(&ground);
    }
}

/// Every exec has its records, and what is denied did not run.
fn is_as_without_a_fault(ground: &Ground) {
    let _ended = ground.records_at_end();
    let (records, torn) = ground.chained();
    assert!(torn.is_empty() && !ground.has("m") && !ground.has("n") && !ground.has("d"));
    let verdicts = of_type(&records, "exec.decision").filter_map(|it| {
        let argv = it["proc"]["argv"].as_array()?;
        let word = argv.last()?.as_str()?.to_owned();
        Some((word, it["decision"]["verdict"].as_str()?.to_owned()))
    });
    let mut verdicts: Vec<_> = verdicts
        .filter(|(word, _)| word.len() == 1 && word != "d")
        .collect();
    verdicts.sort();
    let expected = [
        ("a", "allow"),
        ("b", "allow"),
        ("c", "allow"),
        ("m", "deny"),
        ("n", "deny"),
    ];
    let expected = expected.map(|(word, verdict)| (word.to_owned(), verdict.to_owned()));
    assert_eq!(verdicts, expected);
    let allowed =
        of_type(&records, "exec.decision").filter(|it| it["decision"]["verdict"] == "allow");
    assert_eq!(allowed.count(), of_type(&records, "exec.outcome").count());
}

#[test]
fn without_a_fault_the_same_session_is_as_any() {
    needs_faults!();
    let (ground, script) = ground("");
    let (mut front, stdout, _stderr) = start(&ground, &script, "");
    assert_eq!(end_of(&mut front).code(), Some(0));
    assert_eq!(stdout.next_line().as_deref(), Some("over"));
    is_as_without_a_fault(&ground);
}

#[test]
fn a_gate_that_fails_before_it_takes_a_question() {
    needs_faults!();
    meets("before_receive", 3);
}

#[test]
fn a_gate_that_fails_while_a_person_is_asked() {
    needs_answers!();
    needs_faults!();
    meets("parked", 1);
}

#[test]
fn a_gate_that_fails_once_a_task_is_traced() {
    needs_faults!();
    meets("after_seize", 2);
}

#[test]
fn a_gate_that_fails_while_the_kernel_loads_an_image() {
    needs_faults!();
    meets("after_continue", 2);
}

#[test]
fn a_gate_that_fails_when_an_image_is_loaded() {
    needs_faults!();
    meets("at_stop", 2);
}

/// A thread's exec-stop bears the number of its process: which thread it was cannot be asked any more.
#[test]
fn an_exec_of_a_thread_that_is_killed_at_its_stop_has_its_outcome() {
    needs_faults!();
    for execs in ["loads()", "Thread(target=loads).start(); Event().wait()"] {
        let ground = Ground::full(RULES);
        let program = format!(
            "from threading import *; import os\n\
             def loads(): os.execv('/bin/sh', ['sh', '-c', ': >mark'])\n\
             print(os.getpid(), flush=True); {execs}"
        );
        let program = ground.script("program", &program);
        let script = ground.script(
            "script",
            &format!("/usr/bin/python3 {program}; /bin/true; echo over"),
        );
        let (mut front, stdout, stderr) = start(&ground, &script, "at_stop:stop:3");
        let process = stdout.next_line().and_then(|line| line.parse().ok());
        hears(&stderr, "the gate does not run");
        let process = Pid::from_raw(process.expect("a number"));
        kill(process, Signal::SIGKILL).expect("a signal");
        kill(gate_of(pid(&front)), Signal::SIGCONT).expect("a signal");
        assert_eq!(stdout.next_line().as_deref(), Some("over"));
        assert_eq!(end_of(&mut front).code(), Some(0));
        let records = ground.records_at_end();
        let of_process = |it: &&serde_json::Value| {
            it["proc"]["pid"].as_i64() == Some(i64::from(process.as_raw()))
        };
        let outcomes: Vec<_> = of_type(&records, "exec.outcome")
            .filter(of_process)
            .map(|it| it["outcome"]["result"].clone())
            .collect();
        assert_eq!(outcomes, ["verified", "vanished"], "{execs}");
        assert!(!ground.has("mark"));
    }
}

#[test]
fn a_gate_that_fails_in_the_middle_of_a_record() {
    needs_faults!();
    meets("while_recording", 6);
}

/// Whoever is killed first leaves the other too little time to do anything. Nobody is there to kill what
/// goes on, which executes nothing any more, unless it has process numbers of its own.
#[test]
fn a_front_and_its_gate_that_are_killed_at_once_let_nothing_through() {
    let of_own_numbers = is_root().then_some(("--pid-namespace", "while :"));
    for (option, while_it_can) in [("--kill-at-exit", "while /bin/true")]
        .into_iter()
        .chain(of_own_numbers)
    {
        let (ground, script) = ground("");
        let ground = ground.option(option);
        let load = format!("echo on; {while_it_can}; do . {script}; done");
        let script = ground.script("load", &load);
        let mut session = ground.command(&["sh", &script]);
        session.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut front = session.spawn().expect("a session");
        let stdout = Lines::of(front.stdout.take().expect("a pipe"));
        assert_eq!(stdout.next_line().as_deref(), Some("on"));
        let gate = gate_of(pid(&front));
        for process in [pid(&front), gate] {
            kill(process, Signal::SIGKILL).expect("a signal");
        }
        end_of(&mut front);
        while stdout.next_line().is_some() {}
        ground.nothing_is_left();
        assert!(["m", "n"].iter().all(|name| !ground.has(name)));
        let (records, _) = ground.chained();
        assert!(of_type(&records, "session.end").next().is_none());
        let (status, stdout, stderr) = finish(ground.command(&["sh", "-c", "echo next"]));
        assert!(status.success() && stdout == "next\n", "{stderr}");
    }
}

/// The child of `process` that has `word` among its arguments.
fn child_of(process: Pid, word: &str) -> Pid {
    until(word, || {
        let children = format!("/proc/{process}/task/{process}/children");
        let children = std::fs::read_to_string(children).ok()?;
        let mut children = children.split_whitespace();
        children.find_map(|child| {
            let words = std::fs::read(format!("/proc/{child}/cmdline")).ok()?;
            let mut words = words.split(|byte| *byte == 0);
            let is_it = words.any(|it| it == word.as_bytes());
            is_it.then(|| child.parse().ok().map(Pid::from_raw))?
        })
    })
}

/// The parser of shell texts lies in processes of its own. Without it texts go unread, and what they
/// start is judged when it comes.
#[test]
fn a_session_goes_on_without_its_parser() {
    let ground = Ground::full(RULES);
    let script = ground.script(
        "script",
        "echo ready; read line; sh -c '/bin/true a; /usr/bin/touch m' 2>/dev/null; echo $?",
    );
    let mut session = ground.command(&["sh", &script]);
    session.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut front = session.spawn().expect("a session");
    let stdout = Lines::of(front.stdout.take().expect("a pipe"));
    assert_eq!(stdout.next_line().as_deref(), Some("ready"));
    let gate = gate_of(pid(&front));
    let keeper = child_of(gate, "__shell");
    kill(keeper, Signal::SIGKILL).expect("a signal");
    drop(front.stdin.take());
    assert_eq!(stdout.next_line().as_deref(), Some("126"));
    assert_eq!(end_of(&mut front).code(), Some(0));
    let records = ground.records_at_end();
    assert!(!ground.has("m"));
    let mut decisions = of_type(&records, "exec.decision");
    let text = decisions
        .find(|it| it["proc"]["argv"][1] == "-c")
        .expect("a decision");
    assert!(text["proc"]["shell"]["not_analysed"].is_string(), "{text}");
    let touch = decisions.find(|it| it["proc"]["argv"][0] == "/usr/bin/touch");
    assert_eq!(touch.expect("a decision")["decision"]["verdict"], "deny");
}

/// Whoever looks into a file system whose server has read the request and does not answer cannot be
/// killed: neither can the reader in which the gate looks. It must not keep the listener open, behind
/// which others would wait for ever.
#[test]
fn a_reader_that_is_stuck_keeps_nobody_waiting_behind_a_dead_gate() {
    needs_served_files!();
    let ground = Ground::full("");
    let at = ground.path("at").display().to_string();
    std::fs::create_dir(&at).expect("a directory");
    let script = ground.script(
        "script",
        &format!("{at}/x & while [ ! -e asked ]; do :; done; echo asked; wait; /bin/true; wait"),
    );
    let fixture = binary("fixture-serves").display().to_string();
    let words = ["unshare", "-m", &fixture, "silent", &at, "--"];
    let mut session = under(&words, &ground.command(&["sh", &script]));
    session.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = session.spawn().expect("a session");
    let stdout = Lines::of(server.stdout.take().expect("a pipe"));
    let stderr = Lines::of(server.stderr.take().expect("a pipe"));
    assert_eq!(stdout.next_line().as_deref(), Some("asked"));
    // The server's only child is the front.
    let front = gate_of(pid(&server));
    kill(gate_of(front), Signal::SIGKILL).expect("a signal");
    let said = hears(&stderr, "the gate is gone");
    assert!(said.contains("not reaped by the kernel"), "{said}");
    assert_eq!(end_of(&mut server).code(), Some(125));
    ground.nothing_is_left();
}

#[test]
fn a_question_that_is_open_when_the_front_is_killed_is_refused() {
    needs_answers!();
    let ask = "[[ask]]\nid = \"t\"\nprogram = \"touch\"\n";
    let ground = Ground::full(ask).option("--kill-at-exit");
    let asking = Asking::start(ground, "socket", "/usr/bin/touch a; /usr/bin/touch b");
    let _question = asking.question();
    kill(pid(asking.front()), Signal::SIGKILL).expect("a signal");
    let records = asking.ground().records_at_end();
    asking.ground().nothing_is_left();
    let decisions = of_type(&records, "exec.decision");
    let touched = decisions.filter(|it| it["proc"]["argv"][0] == "/usr/bin/touch");
    assert!(
        touched
            .into_iter()
            .all(|it| it["decision"]["verdict"] == "deny")
    );
    assert!(!asking.has_run("a") && !asking.has_run("b"));
}
