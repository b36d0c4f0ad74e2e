//! What goes through a terminal of CMD's own as through the user's: bytes, keys, sizes, stops and ends.

use std::fs;
use std::process::Command;

use execward_tests::{Ground, Terminal, is_root, needs_answers, of_type, skip, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::desk::Desk;

impl Desk {
    /// Runs `line`; the settings of the terminal before and after it must be the same, and anybody can open
    /// it again.
    fn leaves_all_as_it_was(&mut self, line: &str, act: impl FnOnce(&mut Self)) {
        self.type_line(&format!(
            "stty -g >before; {line}; echo status=$?; stty -g | cmp - before && : </dev/tty && echo as''before"
        ));
        act(self);
        self.sees("asbefore");
    }

    /// Front and gate of the session that runs.
    fn processes(&self) -> [Pid; 2] {
        let gate = until("the session", || {
            let records = self.ground.records();
            let start = of_type(&records, "session.start").last()?;
            start.pointer("/sup/pid")?.as_i64()
        });
        let status = fs::read_to_string(format!("/proc/{gate}/status")).expect("a gate");
        let front = status.lines().find_map(|line| line.strip_prefix("PPid:\t"));
        let front: i32 = front.expect("a parent").parse().expect("a number");
        [front, i32::try_from(gate).expect("a number")].map(Pid::from_raw)
    }
}

const ASK: &str = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";

#[test]
fn a_terminal_is_left_as_it_was_found_however_a_session_ends() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    for (script, status) in [
        ("exit 9", "status=9\n"),
        ("kill -KILL $$", "status=137\n"),
        ("stty raw -echo; exit 3", "status=3\n"),
        ("exec /nowhere/to/be/found", "status=127\n"),
    ] {
        let line = desk.line(&["sh", "-c", script]);
        desk.leaves_all_as_it_was(&line, |desk| drop(desk.sees(status)));
    }
    let line = desk.line(&["/nowhere/to/be/found"]);
    desk.leaves_all_as_it_was(&line, |desk| drop(desk.sees("status=127\n")));
    let absent = desk.ground.path("absent.toml").display().to_string();
    let line = desk.line(&["true"]).replace("policy.toml", "absent.toml");
    assert!(line.contains(&absent));
    desk.leaves_all_as_it_was(&line, |desk| drop(desk.sees("status=125\n")));
    desk.leave();
}

/// The same in the middle of a question, where the screen is another too.
#[test]
fn a_terminal_is_left_as_it_was_found_in_the_middle_of_a_question() {
    needs_answers!();
    for (what, status) in [
        ("gate", 125),
        ("front", 143),
        ("hangup", 129),
        ("a signal that few know", 157),
    ] {
        let mut desk = Desk::of(ASK);
        let line = desk.line(&["sh", "-c", "sh -c ': ; /usr/bin/touch a' & wait"]);
        desk.leaves_all_as_it_was(&line, |desk| {
            desk.sees("answer [d]:");
            let [front, gate] = desk.processes();
            match what {
                "gate" => kill(gate, Signal::SIGKILL).unwrap(),
                "front" => kill(front, Signal::SIGTERM).unwrap(),
                "a signal that few know" => kill(front, Signal::SIGIO).unwrap(),
                _ => kill(front, Signal::SIGHUP).unwrap(),
            }
            let shown = desk.sees(&format!("status={status}"));
            assert!(!shown.contains("may this run?"), "{shown}");
        });
        assert!(!desk.ground.has("a"));
        desk.leave();
    }
}

/// Which ends a process by default, and is passed on by no name.
#[test]
fn a_real_time_signal_leaves_the_question_where_it_is() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    let line = desk.line(&["sh", "-c", "/usr/bin/touch a; echo over"]);
    desk.leaves_all_as_it_was(&line, |desk| {
        desk.sees("answer [d]:");
        let [front, _] = desk.processes();
        let number = libc::SIGRTMIN() + 1;
        let mut kill = Command::new("kill");
        kill.arg(format!("-{number}")).arg(front.to_string());
        assert!(kill.status().expect("kill").success());
        desk.sees(&format!("! real-time signal {number} is not passed on"));
        desk.answers("a");
        desk.sees("status=0");
    });
    assert!(desk.ground.has("a"));
    desk.leave();
}

#[test]
fn keys_reach_the_command_as_its_terminal_reads_them() {
    needs_answers!();
    let mut desk = Desk::of("");
    desk.run("trap 'echo caught' INT; echo begun; until [ \"$y\" ]; do read y; done; echo \"<$y>\"; cat; echo end");
    desk.sees("begun");
    desk.terminal.press("\x03");
    desk.sees("caught");
    desk.terminal.press("ab\x7fc\n");
    desk.sees("<ac>");
    desk.terminal.press("line\n\x04");
    desk.sees("end");
    desk.sees("status=0");
    desk.run("echo begun; exec sleep 1000");
    desk.sees("begun");
    desk.terminal.press("\x1c");
    desk.sees("status=131");
    desk.leave();
}

#[test]
fn control_z_stops_a_job_and_fg_continues_it() {
    needs_answers!();
    let mut desk = Desk::of("");
    let script = desk.ground.script(
        "s",
        "trap 'echo continued' CONT; echo begun; until read x; do :; done; echo \"got $x\"; exit 5",
    );
    let line = desk.line(&["sh", &script]);
    desk.type_line(&format!("stty -g >before; {line}"));
    desk.sees("begun");
    for _ in 0..2 {
        desk.terminal.press("\x1a");
        desk.sees("Stopped");
        desk.type_line("stty -g | cmp - before && echo as''before");
        desk.sees("asbefore");
        desk.type_line("fg");
        // The shell shows the job's line while keys are its own still.
        desk.sees("continued");
    }
    desk.terminal.press("hello\n");
    desk.sees("got hello");
    desk.type_line("echo status=$status; stty -g | cmp - before && echo as''before");
    desk.sees("status=5");
    desk.sees("asbefore");
    desk.leave();
}

/// As a pager does, behind a session: the key is a signal then, of which the front hears.
#[test]
fn control_z_stops_the_command_where_another_of_the_job_reads_the_keys() {
    needs_answers!();
    let mut desk = Desk::on(Ground::full("").option("--prompt=tty"));
    let script = desk.ground.script(
        "s",
        "trap 'echo continued' CONT; echo begun; until read x; do :; done; echo over",
    );
    let line = desk.line(&["sh", &script]);
    desk.type_line(&format!(
        "{line} | sh -c 'read x; stty isig <&1; echo \"$x\"; exec cat'"
    ));
    desk.sees("begun");
    desk.terminal.press("\x1a");
    desk.sees("Stopped");
    desk.type_line("fg");
    desk.sees("continued");
    desk.terminal.press("\n");
    desk.sees("over");
    desk.leave();
}

/// A job that stops with a question on its screen shows it again.
#[test]
fn a_question_is_there_again_after_a_stop() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    let script = desk
        .ground
        .script("s", "/usr/bin/touch a & kill -STOP $$; wait; echo over");
    let line = desk.line(&["sh", &script]);
    desk.type_line(&line);
    desk.sees("Stopped");
    desk.type_line("fg");
    let shown = desk.sees("answer [d]:");
    assert!(shown.contains("program    /usr/bin/touch"), "{shown}");
    desk.answers("a");
    desk.sees("over");
    assert!(desk.ground.has("a"));
    desk.leave();
}

#[test]
fn the_window_of_the_command_follows_that_of_the_user() {
    needs_answers!();
    let mut desk = Desk::of("");
    let script = "trap 'stty size' WINCH; trap 'kill $!; exit' INT; stty size; sleep 1000 & \
                  while :; do wait; done";
    let line = desk.line(&["bash", "-c", script]);
    desk.type_line(&format!("{line}; echo status=$?"));
    desk.sees("24 80");
    desk.size(50, 120);
    desk.sees("50 120");
    desk.terminal.press("\x03");
    desk.sees("status=");
    desk.leave();
}

#[test]
fn much_output_comes_through_whole_and_in_order() {
    needs_answers!();
    let ground = Ground::full("");
    let mut terminal = Terminal::of(&ground.command(&["sh", "-c", "seq 160000; echo end"]));
    let shown = terminal.wait_for("end\r\n");
    let numbers = (1..=160_000).map(|number: u32| number.to_string());
    let mut expected = numbers.chain(["end".into(), String::new()]);
    let mut seen = shown.split("\r\n");
    let differ = |(seen, expected): &(Option<&str>, Option<String>)| *seen != expected.as_deref();
    let mut pairs = std::iter::from_fn(|| match (seen.next(), expected.next()) {
        (None, None) => None,
        pair => Some(pair),
    });
    assert_eq!(pairs.find(differ), None);
    assert!(terminal.end().success());
}

/// Nothing of the session has the user's terminal, by its name or by a descriptor of its caller's.
#[test]
fn the_session_cannot_open_the_terminal_that_answers_come_from() {
    needs_answers!();
    let mut desk = Desk::of("");
    let script = desk.ground.script(
        "s",
        "(: <\"$1\") 2>&1 && echo opened; test \"$(tty)\" = \"$1\" && echo same\n\
         tty <&3 | grep -q pts && test \"$(tty <&3)\" = \"$1\" && echo inherited\n\
         (echo by-own-name >/dev/tty) && echo over",
    );
    desk.type_line(&format!("sh {script} $(tty) 3</dev/tty"));
    for seen in ["opened", "same", "by-own-name", "over"] {
        desk.sees(seen);
    }
    let line = desk.line(&["sh", &script]);
    desk.type_line(&format!("{line} $(tty) 3<$(tty)"));
    // Of what comes behind it: the screen may show the twin still.
    let shown = desk.terminal.until("the end", |shown| {
        let (_, rest) = shown.rsplit_once("resource busy")?;
        rest.contains("over").then(|| rest.to_owned())
    });
    assert!(shown.contains("by-own-name"), "{shown}");
    for none in ["opened", "same", "inherited"] {
        assert!(!shown.contains(none), "{none}: {shown}");
    }
    desk.leave();
}

#[test]
fn what_is_no_terminal_stays_what_it_is() {
    needs_answers!();
    let mut desk = Desk::of("");
    let line = desk.line(&[
        "sh",
        "-c",
        "echo out; echo err >&2; test -t 2 && echo t2 >&2",
    ]);
    desk.type_line(&format!(
        "x=$({line}); echo \"<$x>\"; {line} | tr o O; {line} 2>err; cat err"
    ));
    let shown = desk.sees("<out>");
    assert!(shown.contains("err\nt2\n<out>"), "{shown}");
    desk.sees("Out");
    desk.sees("out\nerr");
    desk.leave();
}

#[test]
fn a_terminal_that_hangs_up_ends_the_command() {
    needs_answers!();
    let ground = Ground::full(ASK);
    let command = ground.command(&["sh", "-c", "echo begun; while :; do sleep 1; done"]);
    let mut terminal = Terminal::of(&command);
    terminal.wait_for("begun");
    assert_eq!(terminal.hang_up().code(), Some(128 + 1));
    let records = ground.records_at_end();
    assert_eq!(of_type(&records, "session.end").count(), 1);
}

#[test]
fn another_user_has_a_terminal_of_its_own() {
    needs_answers!();
    if !is_root() {
        return skip("only root runs CMD as another user");
    }
    let mut desk = Desk::on(Ground::full("").option("--user=nobody"));
    let line = desk.line(&[
        "sh",
        "-c",
        "tty; id -u; (: <$(tty)) && stat -c %U $(tty); stty size </dev/tty",
    ]);
    desk.type_line(&format!("{line}; echo status=$?"));
    let shown = desk.sees("24 80");
    assert!(
        shown.contains("/dev/pts/") && shown.contains("nobody"),
        "{shown}"
    );
    desk.sees("status=0");
    desk.leave();
}
