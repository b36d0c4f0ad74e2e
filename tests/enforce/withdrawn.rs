//! Questions that end without an answer.

use execward_tests::{Asking, binary, needs_answers, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::approvals::{decision, ground};
use crate::lifetime::{gate_of, pid};

#[test]
fn a_question_ends_with_its_process() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    kill(Pid::from_raw(question.pid), Signal::SIGKILL).unwrap();
    assert_eq!(asking.stdout.next_line().unwrap(), "137");
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("deny", "withdrawn"));
    assert_eq!(decision(&records, "a")["effect"]["sent"], "none");
    assert!(!asking.has_run("a"));
}

/// Sends `signals`, one after the other, to a child whose parent handles INT and WINCH, so that
/// they wait in it; how it ended.
fn ended_by(signals: &[Signal]) -> (String, Asking) {
    let parks = binary("fixture-parks").display().to_string();
    let asking = Asking::sh("", &format!("{parks} catches /usr/bin/touch"));
    let question = asking.question();
    for signal in signals {
        kill(Pid::from_raw(question.pid), *signal).expect("a process that waits");
    }
    // A stop that was waiting acts once the call is over.
    let how = until("the end of the child", || {
        if signals.contains(&Signal::SIGTSTP) {
            kill(Pid::from_raw(question.pid), Signal::SIGCONT).ok();
        }
        asking
            .stdout
            .next_line_within(std::time::Duration::from_millis(100))
    });
    (how, asking)
}

#[test]
fn an_interrupt_ends_a_question() {
    needs_answers!();
    for signals in [
        &[Signal::SIGINT][..],
        &[Signal::SIGTSTP, Signal::SIGINT],
        &[Signal::SIGWINCH, Signal::SIGINT],
        &[Signal::SIGWINCH, Signal::SIGTERM],
        &[Signal::SIGWINCH, Signal::SIGHUP],
    ] {
        let (how, mut asking) = ended_by(signals);
        assert_ne!(how, "exit=0", "{signals:?}");
        let records = asking.end();
        let (verdict, reason) = ground(&records, "marker");
        assert_eq!(verdict, "deny", "{signals:?}");
        assert!(
            ["signalled", "withdrawn"].contains(&reason),
            "{signals:?}: {reason}"
        );
        assert!(!asking.has_run("marker"), "{signals:?}");
    }
}

#[test]
fn a_stop_or_a_resize_alone_ends_no_question() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    kill(Pid::from_raw(question.pid), Signal::SIGWINCH).unwrap();
    asking.answer(&["allow", &question.id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("allow", "user"));
}

#[test]
fn a_question_ends_with_its_session() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let _question = asking.question();
    kill(gate_of(pid(asking.front())), Signal::SIGTERM).unwrap();
    let records = asking.end();
    let (verdict, reason) = ground(&records, "a");
    assert_eq!(verdict, "deny");
    assert!(["signalled", "withdrawn"].contains(&reason), "{reason}");
    assert!(!asking.has_run("a"));
    until("the socket to be removed", || {
        (!asking.socket().try_exists().unwrap()).then_some(())
    });
}

#[test]
fn a_gate_that_dies_while_one_waits_runs_nothing() {
    needs_answers!();
    let asking = Asking::sh("", "/usr/bin/touch a; /usr/bin/touch b");
    let _question = asking.question();
    let front = pid(asking.front());
    kill(gate_of(front), Signal::SIGKILL).unwrap();
    until("the end of the front", || {
        let status = std::fs::read_to_string(format!("/proc/{front}/status")).unwrap_or_default();
        (status.is_empty() || status.contains("State:\tZ")).then_some(())
    });
    assert!(!asking.has_run("a") && !asking.has_run("b"));
    let (code, _, said) = asking.client(&["pending"]);
    assert_eq!(code, Some(6), "{said}");
    let socket = asking.socket();
    std::fs::remove_file(&socket).unwrap();
    std::fs::remove_dir(socket.parent().unwrap()).unwrap();
}
