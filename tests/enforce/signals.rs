//! Signals between the caller, the front and CMD.

use std::process::Stdio;

use execward_tests::{Ground, Lines, end_of};
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
            // While it spawns the gate, every signal is blocked for a moment: SEGV too.
            let takes_signals = blocked >> 14 & 1 == 1 && blocked >> 10 & 1 == 0;
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
