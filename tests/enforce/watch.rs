//! The approver's screen, on a terminal of its own.

use std::fs::{self, File};
use std::process::Command;

use execward_tests::{
    Asking, Ground, Screen, finish, is_root, needs_answers, of_type, skip, typed, under, until,
};
use nix::sys::signal::{Signal, kill};
use serde_json::Value;

use crate::approvals::ground as verdict;
use crate::lifetime::{gate_of, pid};

/// A session that asks about `touch a`, and lasts until its end is waited for.
fn asking() -> Asking {
    let asking = Asking::sh("", "/usr/bin/touch a; read line");
    let _question = asking.question();
    asking
}

/// A shell in which `execward watch` shows a session's question, started by `sh -c` with the modes of the
/// terminal before and after it in files, and its number in another.
fn watching(asking: &Asking) -> Screen {
    let mut screen = Screen::open(asking.ground());
    let watch = typed(&asking.command(&["watch"]));
    let script = asking.ground().script(
        "watch.sh",
        &format!(
            "stty -g > before; sh -c 'echo $$ > watch.pid; exec \"$@\"' sh {watch}\n\
             status=$?; stty -g > after; echo status=$status"
        ),
    );
    screen.press(&format!("clear; sh {script}\n"));
    screen.wait_for("/usr/bin/touch a");
    screen.wait_for("-- question ");
    assert!(screen.is_of_a_program());
    screen
}

/// The code that stands below the question.
fn code(screen: &mut Screen) -> String {
    screen.until("a code", |seen| {
        let (_, rest) = seen.split_once("to say so type  ")?;
        Some(rest.get(..2)?.to_owned())
    })
}

/// It has ended with `status`, and left the terminal as it was.
fn left(asking: &Asking, screen: &mut Screen, status: i32) {
    screen.wait_for(&format!("status={status}"));
    assert!(!screen.is_of_a_program());
    let modes = |name| fs::read_to_string(asking.ground().path(name)).expect("modes");
    assert_eq!(modes("before"), modes("after"));
    assert!(File::open(screen.terminal().path()).is_ok());
}

/// The reasons of those who answered.
fn answers(records: &[Value]) -> Vec<String> {
    let decisions = of_type(records, "exec.decision");
    let notes = decisions.filter_map(|it| it.get("approval")?.as_object());
    let reasons = notes.map(|note| note.get("reason").and_then(Value::as_str));
    reasons
        .map(|it| it.unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn an_answer_needs_the_code_of_its_question() {
    needs_answers!();
    let mut asking = asking();
    let mut screen = watching(&asking);
    // Neither by itself is one, nor what no code has in it.
    screen.press("\r\r");
    for wrong in ["0", "00"] {
        screen.press("a\r");
        let _code = code(&mut screen);
        screen.press(wrong);
        if wrong.len() < 2 {
            screen.press("\r");
            screen.wait_for("an answer needs its code");
        } else {
            screen.wait_for("that was not the code");
        }
    }
    let (_, open, _) = asking.client(&["pending"]);
    assert!(open.contains("touch a") && !asking.has_run("a"));
    // The twin.
    screen.press("a\r");
    let code = code(&mut screen);
    screen.press(&code);
    screen.wait_for("allowed here (user)");
    screen.press("q");
    left(&asking, &mut screen, 0);
    let records = asking.end();
    assert_eq!(verdict(&records, "a"), ("allow", "user"));
    assert!(asking.has_run("a"));
    screen.close();
}

#[test]
fn a_deny_has_its_reason() {
    needs_answers!();
    let mut asking = asking();
    let mut screen = watching(&asking);
    screen.press("d\rnot today\r");
    let code = code(&mut screen);
    screen.press(&code);
    screen.wait_for("denied here (user)");
    screen.press("q");
    left(&asking, &mut screen, 0);
    let records = asking.end();
    assert_eq!(verdict(&records, "a"), ("deny", "user"));
    assert_eq!(answers(&records), ["not today"]);
    screen.close();
}

#[test]
fn whoever_answers_first_is_heard_and_the_screen_says_so() {
    needs_answers!();
    let mut asking = asking();
    let question = asking.question();
    let mut screen = watching(&asking);
    screen.press("a\r");
    let code = code(&mut screen);
    asking.answer(&["allow", &question.id]);
    screen.wait_for("allowed not here (user)");
    screen.press(&code);
    screen.press("h");
    screen.wait_for("settled");
    screen.press("qq");
    left(&asking, &mut screen, 0);
    let records = asking.end();
    assert_eq!(answers(&records).len(), 1);
    screen.close();
}

#[test]
fn the_terminal_is_as_it_was_however_it_is_left() {
    needs_answers!();
    let mut asking = asking();
    for signal in [
        None,
        Some(libc::SIGTERM),
        Some(libc::SIGHUP),
        Some(libc::SIGINT),
        Some(libc::SIGUSR1),
        Some(libc::SIGIO),
        Some(libc::SIGRTMIN() + 1),
    ] {
        let mut screen = watching(&asking);
        match signal {
            None => screen.press("q"),
            Some(signal) => {
                let pid = fs::read_to_string(asking.ground().path("watch.pid")).expect("a number");
                // Of the signals that have no name, too.
                let mut kill = Command::new("kill");
                kill.arg(format!("-{signal}")).arg(pid.trim());
                assert!(kill.status().expect("kill").success());
            }
        }
        left(
            &asking,
            &mut screen,
            signal.map_or(0, |signal| 128 + signal),
        );
        screen.close();
    }
    let mut screen = watching(&asking);
    let gate = gate_of(pid(asking.front()));
    kill(gate, Signal::SIGKILL).expect("a gate");
    screen.wait_for("has ended");
    left(&asking, &mut screen, 6);
    asking.front_ends();
    screen.close();
}

#[test]
fn a_screen_that_is_stopped_leaves_the_terminal_to_the_shell() {
    needs_answers!();
    let asking = asking();
    let mut screen = Screen::open(asking.ground());
    screen.press(&format!("clear; {}\n", typed(&asking.command(&["watch"]))));
    screen.wait_for("-- question ");
    screen.press("\x1a");
    screen.wait_for("Stopped");
    assert!(!screen.is_of_a_program());
    assert!(File::open(screen.terminal().path()).is_ok());
    screen.press("fg\n");
    screen.wait_for("-- question ");
    assert!(screen.is_of_a_program());
    screen.press("q");
    screen.wait_for("ready> ");
    screen.close();
}

/// Root opens it all the same: `TIOCEXCL` binds nobody with `CAP_SYS_ADMIN`.
#[test]
fn nobody_else_opens_the_terminal() {
    needs_answers!();
    if is_root() {
        return skip("root opens every terminal");
    }
    let asking = asking();
    let mut screen = watching(&asking);
    let opened = File::open(screen.terminal().path());
    let errno = opened.err().and_then(|error| error.raw_os_error());
    assert_eq!(errno, Some(libc::EBUSY));
    screen.press("q");
    left(&asking, &mut screen, 0);
    screen.close();
}

#[test]
fn a_terminal_that_another_has_open_shows_no_question() {
    needs_answers!();
    let asking = asking();
    let mut screen = Screen::open(asking.ground());
    let watch = typed(&asking.command(&["watch"]));
    screen.press(&format!("clear; sleep 1000 & {watch}; echo status=$?\n"));
    screen.wait_for("has this terminal open too");
    screen.wait_for("status=7");
    // The twin.
    screen.press(&format!(
        "kill $!; wait; clear; sleep 1000 <&- >&- 2>&- & {watch}; echo status=$?; kill $!\n"
    ));
    screen.wait_for("-- question ");
    screen.press("q");
    screen.wait_for("status=0");
    screen.close();
}

#[test]
fn without_a_terminal_it_says_what_does_without_one() {
    needs_answers!();
    let asking = asking();
    let command = under(&["setsid", "--wait"], &asking.command(&["watch"]));
    let (status, _, stderr) = finish(command);
    assert_eq!(status.code(), Some(7));
    assert!(stderr.contains("`execward pending` lists"), "{stderr}");
    // A window that is too small is no terminal less.
    let mut screen = watching(&asking);
    screen.terminal().resize(None, 40);
    screen.wait_for("watch needs 60 columns");
    screen.terminal().resize(None, 80);
    until("the question again", || {
        screen.wait_for("-- question ");
        Some(())
    });
    screen.press("q");
    left(&asking, &mut screen, 0);
    screen.close();
}

/// The head of a script, and the names of variables that changed, as the policy knew them.
#[test]
fn a_question_has_what_the_policy_saw() {
    needs_answers!();
    let ground = Ground::full("[[ask]]\nid = \"ask-script\"\nprogram = \"DIR/asked.sh\"\n");
    let script = ground.script("asked.sh", "#!/bin/sh\necho asked\n");
    let content = fs::read_to_string(&script).expect("a script");
    let call = format!("BASH_ENV=/nowhere {script}");
    let mut asking = Asking::start(ground, "socket", &call);
    let question = asking.question();
    let request = &question.message["request"];
    assert_eq!(request["script"]["head"], content);
    assert_eq!(
        request["environment"]["changed"],
        serde_json::json!(["BASH_ENV"])
    );
    let mut screen = Screen::open(asking.ground());
    screen.press(&format!("clear; {}\n", typed(&asking.command(&["watch"]))));
    screen.wait_for("| \"echo asked\"");
    screen.wait_for("changed BASH_ENV");
    screen.press("q");
    screen.wait_for("ready> ");
    screen.close();
    asking.answer(&["deny", &question.id]);
    let _records = asking.end();
}
