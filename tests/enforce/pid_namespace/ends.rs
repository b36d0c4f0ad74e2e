//! How such a session ends, and what ends it.

use std::fs;
use std::process::Stdio;

use execward_tests::{
    Ground, Lines, Terminal, end_of, finish, is_root, of_type, rest_of_stderr, skip, typed, under,
    until,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::{BESIDE, REASON, inside, number_of};
use crate::lifetime::{gate_of, pid};

fn is_running(number: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

/// The first process of the session's namespace: the gate's other child beside CMD and the keeper.
fn first_of(gate: Pid) -> Pid {
    let children = fs::read_to_string(format!("/proc/{gate}/task/{gate}/children")).expect("proc");
    let is_first = |child: &&str| {
        let words = fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
        words.contains("__init")
    };
    let first = children.split_whitespace().find(is_first);
    Pid::from_raw(first.expect("a first process").parse().expect("a pid"))
}

#[test]
fn exit_codes_and_signals_are_the_commands() {
    if !is_root() {
        return skip(REASON);
    }
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside);
        assert_eq!(ground.sh("exit 7").code(), Some(7), "{beside:?}");
        assert_eq!(ground.sh("kill -TERM $$").code(), Some(128 + 15));
        assert_eq!(ground.sh("kill -KILL $$").code(), Some(128 + 9));
        assert_eq!(ground.run(&["/no/such/program"]).code(), Some(127));
    }
    let ground = inside(Ground::full(""), &[]);
    let mut front = ground
        .command(&[
            "sh",
            "-c",
            "trap 'exit 9' TERM; echo ready; while :; do :; done",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a session");
    let lines = Lines::of(front.stdout.take().expect("stdout"));
    assert_eq!(lines.next_line().as_deref(), Some("ready"));
    kill(pid(&front), Signal::SIGTERM).expect("the front");
    assert_eq!(end_of(&mut front).code(), Some(9));
}

#[test]
fn what_outlives_the_command_stays_gated_and_holds_no_pipe() {
    if !is_root() {
        return skip(REASON);
    }
    let deny = "[[deny]]\nid = \"evil\"\nprogram = \"touch\"\n";
    let ground = inside(Ground::full(deny), &[]);
    let fifo = ground.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    let script = ground.script(
        "script.sh",
        "exec 7>&-; (read x <fifo; touch marker; /bin/echo late >out) >/dev/null 2>&1 & echo started",
    );
    // The shell goes on when nobody holds its pipes any more, by number 2 or by another.
    let outer = "x=$(exec 7>&1; \"$@\" 2>&1); echo \"[$x]\"";
    let gated = ground.command(&["sh", &script]);
    let (_, stdout, stderr) = finish(under(&["bash", "-c", outer, "x"], &gated));
    assert_eq!(stdout, "[started]\n", "{stderr}");
    assert_eq!(of_type(&ground.records(), "session.end").count(), 0);
    fs::write(&fifo, "go\n").expect("the fifo");
    let records = ground.records_at_end();
    assert!(!ground.has("marker"));
    assert_eq!(
        fs::read_to_string(ground.path("out")).expect("out"),
        "late\n"
    );
    let gone = |record: &&Value| record["proc"]["argv"][1] == "late";
    assert_eq!(of_type(&records, "exec.decision").filter(gone).count(), 1);
}

#[test]
fn kill_at_exit_leaves_nothing_inside() {
    if !is_root() {
        return skip(REASON);
    }
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside).option("--kill-at-exit");
        let ran = ground.sh(
            "setsid sleep 1000 & until [ -e out ]; do read x </proc/$!/comm; \
             [ $x = sleep ] && touch out; done; exit 4",
        );
        assert_eq!(ran.code(), Some(4), "{beside:?}: {}", ran.stderr);
        let records = ground.records_at_end();
        let left = number_of(&records, &["setsid", "sleep"]);
        until("the end of what was left", || {
            (!is_running(left)).then_some(())
        });
    }
}

/// The front, which would end them as well, stands still.
#[test]
fn a_killed_gate_ends_everything_inside_at_once() {
    if !is_root() {
        return skip(REASON);
    }
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside).option("--no-notice");
        let mut front = ground
            .command(&["sh", "-c", "setsid sleep 1000 & wait"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("a session");
        until("the second program", || {
            let verified = ground.records();
            (of_type(&verified, "exec.outcome").count() == 3).then_some(())
        });
        let records = ground.records();
        let members = ["sh", "setsid", "sleep"].map(|name| number_of(&records, &[name]));
        kill(pid(&front), Signal::SIGSTOP).expect("the front");
        let gate = gate_of(pid(&front));
        let first = first_of(gate).as_raw();
        kill(gate, Signal::SIGKILL).expect("the gate");
        for member in members {
            until("the end of a member", || {
                (!is_running(member)).then_some(())
            });
        }
        kill(pid(&front), Signal::SIGCONT).expect("the front");
        assert_eq!(end_of(&mut front).code(), Some(125), "{beside:?}");
        let said = rest_of_stderr(&mut front);
        assert!(said.contains("the gate is gone (signal: 9"), "{said}");
        until("the end of the first process", || {
            (!is_running(first)).then_some(())
        });
    }
}

/// As where the kernel runs out of memory: whoever started the session learns why it ended.
#[test]
fn an_end_of_the_first_process_ends_the_session_in_order() {
    if !is_root() {
        return skip(REASON);
    }
    let ground = inside(Ground::full(""), &[]);
    let mut front = ground
        .command(&["sh", "-c", "echo ready; sleep 1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a session");
    let lines = Lines::of(front.stdout.take().expect("stdout"));
    assert_eq!(lines.next_line().as_deref(), Some("ready"));
    let first = first_of(gate_of(pid(&front)));
    kill(first, Signal::SIGKILL).expect("the first process");
    assert_eq!(end_of(&mut front).code(), Some(128 + 9));
    let said = rest_of_stderr(&mut front);
    assert!(
        said.starts_with("execward: the first process of the session's"),
        "{said}"
    );
    let records = ground.records_at_end();
    assert_eq!(records.last().expect("a record")["signal"], 9);
    // One that was about to execute something is gone before it is told to go on.
    let went_on =
        of_type(&records, "exec.decision").filter(|it| it["effect"]["sent"] == "continue");
    let went_on = went_on.count();
    assert_eq!(
        went_on,
        of_type(&records, "exec.outcome").count(),
        "{records:?}"
    );
}

/// A session in a shell at a terminal, which says `ready` and what it then reads.
fn at_terminal(ground: &Ground) -> Terminal {
    let mut terminal = Terminal::open(ground);
    let script = ground.script(
        "script.sh",
        "echo re'ad'y; read line; echo got $line; exit 6",
    );
    let command = ground.command(&["sh", &script]);
    terminal.press(&format!("{}; echo status=$?\n", typed(&command)));
    terminal.wait_for("ready\r\n");
    terminal
}

#[test]
fn the_keys_of_a_terminal_act_as_ever() {
    if !is_root() {
        return skip(REASON);
    }
    let ground = inside(Ground::full(""), &[]);
    let mut terminal = at_terminal(&ground);
    terminal.press("\x03");
    terminal.wait_for("status=130");
    terminal.close();
    let mut terminal = at_terminal(&ground);
    terminal.press("\x1a");
    terminal.wait_for("Stopped");
    terminal.wait_for("ready> ");
    terminal.press("fg\n");
    terminal.wait_for("script.sh");
    terminal.press("hello\n");
    terminal.wait_for("got hello");
    // What is typed before its end is the session's.
    terminal.wait_for("ready> ");
    terminal.press("echo still'-'there\n");
    terminal.wait_for("still-there");
    terminal.close();
    let _records = ground.records_at_end();
}
