//! Signals between the caller, the front and CMD.

use std::process::{Command, Stdio};

use execward_tests::{Ground, Lines, end_of, finish, is_root, of_type, under};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use crate::lifetime::{gate_of, pid};

/// Says `ready`, and `got it` when it is told to end.
const WAITS: &str = "trap 'echo got it; exit 9' TERM; echo ready; while :; do :; done";

#[test]
fn a_signal_to_the_front_reaches_the_command() {
    let ground = Ground::full("");
    let mut front = ground
        .command(&["sh", "-c", WAITS])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = Lines::of(front.stdout.take().unwrap());
    assert_eq!(lines.next_line().unwrap(), "ready");
    kill(pid(&front), Signal::SIGTERM).unwrap();
    assert_eq!(lines.next_line().unwrap(), "got it");
    assert_eq!(end_of(&mut front).code(), Some(9));
}

#[test]
fn the_front_stops_when_the_command_stops_and_continues_it() {
    let ground = Ground::full("");
    let mut front = ground
        .command(&["sh", "-c", "kill -STOP $$; exit 5"])
        .spawn()
        .unwrap();
    let stopped = waitpid(pid(&front), Some(WaitPidFlag::WUNTRACED)).unwrap();
    assert!(
        matches!(stopped, WaitStatus::Stopped(_, Signal::SIGSTOP)),
        "{stopped:?}"
    );
    kill(pid(&front), Signal::SIGCONT).unwrap();
    assert_eq!(end_of(&mut front).code(), Some(5));
}

/// The front, stopped while the session starts, finds the signal and the news of CMD at once.
#[test]
fn a_signal_before_the_front_knows_the_command_is_not_lost() {
    for _ in 0..10 {
        let ground = Ground::full("");
        let mut front = ground
            .command(&["sh", "-c", WAITS])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let gate = gate_of(pid(&front));
        // Before it blocks TERM the front dies of it, and CMD with the front; before it sleeps, the
        // gate waits for its word.
        execward_tests::until("the front to block TERM and to sleep", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", front.id())).ok()?;
            let blocked = status
                .lines()
                .find_map(|line| line.strip_prefix("SigBlk:\t"))?;
            let blocked = u64::from_str_radix(blocked, 16).ok()?;
            // While it spawns the gate, every signal is blocked for a moment: CHLD too.
            let takes_signals = blocked >> 14 & 1 == 1 && blocked >> 16 & 1 == 0;
            (takes_signals && status.contains("State:\tS")).then_some(())
        });
        kill(pid(&front), Signal::SIGSTOP).unwrap();
        let lines = Lines::of(front.stdout.take().unwrap());
        assert_eq!(lines.next_line().unwrap(), "ready");
        kill(pid(&front), Signal::SIGTERM).unwrap();
        kill(pid(&front), Signal::SIGCONT).unwrap();
        let said = lines.next_line_within(std::time::Duration::from_secs(5));
        if said.is_none() {
            kill(gate, Signal::SIGTERM).ok();
            front.kill().unwrap();
            end_of(&mut front);
        }
        assert_eq!(said.as_deref(), Some("got it"), "the signal was lost");
        assert_eq!(end_of(&mut front).code(), Some(9));
    }
}

/// The front's own line is over the limit of its caller's files: that is no reason to die of it.
#[test]
fn a_line_that_finds_no_room_is_lost_and_the_status_is_not() {
    let ground = Ground::full("");
    let words = ["sh", "-c", "ulimit -f 0; exec \"$@\" 2>err", "x"];
    let limited = execward_tests::under(&words, &ground.command(&["true"]));
    let (status, _, _) = execward_tests::finish(limited);
    assert_eq!(status.code(), Some(125));
}

/// A process that ignores SIGCHLD has its children do so. CMD is to find that as without the gate, and the
/// gate is told of its tracees all the same.
#[test]
fn a_caller_that_ignores_the_end_of_children_changes_nothing() {
    let script = "grep SigIgn /proc/self/status; /bin/true; (exit 3) | cat; bash -c ':; :'; exit 7";
    let status = |trap: &str, options: &[&str]| {
        let mut ground = Ground::full("");
        for option in options {
            ground = ground.option(option);
        }
        let trap = format!("trap {trap} CHLD; exec \"$@\"");
        let ran = ground.end(under(
            &["bash", "-c", &trap, "bash"],
            &ground.command(&["bash", "-c", script]),
        ));
        assert_eq!(ran.status.code(), Some(7), "{}", ran.stderr);
        let allowed = of_type(&ran.records, "exec.decision").count();
        assert_eq!(allowed, of_type(&ran.records, "exec.outcome").count());
        ran.stdout
    };
    let mut without = Command::new("bash");
    without.args(["-c", "trap '' CHLD; exec grep SigIgn /proc/self/status"]);
    let (_, ignored, _) = finish(without);
    assert_eq!(status("''", &[]), ignored);
    assert_ne!(status("-", &[]), ignored);
    if is_root() {
        assert_eq!(status("''", &["--pid-namespace"]), ignored);
    }
}

/// A soft limit is CMD's; a session's end by it would be its gate's.
#[test]
fn limits_of_the_caller_are_the_commands_and_not_the_gates() {
    let ground = Ground::full("");
    let gated = ground.command(&["sh", "-c", "ulimit -S -t; ulimit -S -f; read x"]);
    let limits = "ulimit -S -t 3600; ulimit -S -f 7777; exec \"$@\"";
    let mut front = under(&["sh", "-c", limits, "sh"], &gated)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = Lines::of(front.stdout.take().unwrap());
    let own = [lines.next_line().unwrap(), lines.next_line().unwrap()];
    assert_eq!(own, ["3600", "7777"]);
    for process in [pid(&front), gate_of(pid(&front))] {
        let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).unwrap();
        for name in ["Max cpu time", "Max file size"] {
            let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
            let values: Vec<_> = line[name.len()..].split_whitespace().take(2).collect();
            assert_eq!(values[0], values[1], "{line}");
        }
    }
    drop(front.stdin.take());
    assert_eq!(end_of(&mut front).code(), Some(1));
}
