//! A gate that dies in an exec whose file was exchanged behind its look: what the kernel loads is denied,
//! and nobody is left to say so.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Child;

use execward_tests::{Ground, Lines, end_of, finish, needs_faults, until};
use nix::sys::signal::{Signal, kill};

use super::{hears, start};
use crate::lifetime::{gate_of, pid};

/// `link` leads to what is allowed. What is denied makes the file that is its argument.
fn ground() -> (Ground, String) {
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"DIR/evil\"\n");
    let _good = ground.copy("/bin/true", "good");
    let _evil = ground.copy("/bin/touch", "evil");
    symlink("good", ground.path("link")).expect("a link");
    let script = ground.script("script", "./link marker; echo $?");
    (ground, script)
}

/// Starts the session, whose gate stands still once it traces the task: then `link` leads to what is
/// denied. It goes on, to meet `fault`.
fn start_and_exchange(ground: &Ground, script: &str, fault: &str) -> (Child, Lines, Lines) {
    let session = start(ground, script, &format!("after_seize:stop:2,{fault}"));
    let gate = gate_of(pid(&session.0));
    until("the gate to stand still", || {
        let status = fs::read_to_string(format!("/proc/{gate}/status")).ok()?;
        status.contains("State:\tT").then_some(())
    });
    fs::remove_file(ground.path("link")).expect("the link");
    symlink("evil", ground.path("link")).expect("a link");
    kill(gate, Signal::SIGCONT).expect("a gate");
    session
}

/// A session on the same log runs and refuses, and the log is whole from end to end.
fn assert_next_is_clean(ground: &Ground) {
    let (before, _) = ground.chained();
    let script = ground.script("next", "./good; echo $?; ./link again; echo $?");
    let (status, stdout, stderr) = finish(ground.command(&["sh", &script]));
    assert_eq!((status.code(), &*stdout), (Some(0), "0\n126\n"), "{stderr}");
    assert!(!ground.has("again"));
    let _ended = ground.records_at_end();
    let (records, torn) = ground.chained();
    assert!(torn.is_empty());
    assert_eq!(records[before.len()]["type"], "session.start");
}

fn dies(phase: &str, time: u32) {
    for deed in ["panic", "kill"] {
        let fault = format!("{phase}:{deed}:{time}");
        let (ground, script) = ground();
        let (mut front, _stdout, stderr) = start_and_exchange(&ground, &script, &fault);
        hears(&stderr, "the gate is gone");
        assert_eq!(end_of(&mut front).code(), Some(125), "{fault}");
        ground.nothing_is_left();
        assert!(!ground.has("marker"), "{fault}");
        let (_, torn) = ground.chained();
        let is_torn = phase == "while_recording" && deed == "kill";
        assert_eq!(!torn.is_empty(), is_torn, "{fault}");
        assert_next_is_clean(&ground);
    }
}

#[test]
fn what_is_loaded_when_the_gate_dies_behind_its_answer_does_not_run() {
    needs_faults!();
    dies("after_continue", 2);
}

#[test]
fn what_is_loaded_when_the_gate_dies_at_the_stop_does_not_run() {
    needs_faults!();
    dies("at_stop", 2);
}

/// The session's start, and both records of CMD's own exec, come before.
#[test]
fn what_is_loaded_when_the_gate_dies_in_a_record_does_not_run() {
    needs_faults!();
    let (decision, outcome) = (4, 5);
    dies("while_recording", decision);
    dies("while_recording", outcome);
}

#[test]
fn a_gate_that_goes_on_kills_what_is_loaded_and_runs_what_is_not_exchanged() {
    needs_faults!();
    let (exchanged, script) = ground();
    let (mut front, stdout, _stderr) = start_and_exchange(&exchanged, &script, "parked:kill:1");
    assert_eq!(stdout.next_line().as_deref(), Some("137"));
    assert_eq!(end_of(&mut front).code(), Some(0));
    assert!(!exchanged.has("marker"));
    let (plain, script) = ground();
    let (mut front, stdout, _stderr) = start(&plain, &script, "parked:kill:1");
    assert_eq!(stdout.next_line().as_deref(), Some("0"));
    assert_eq!(end_of(&mut front).code(), Some(0));
}
