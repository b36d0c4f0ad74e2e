//! Sessions of processes that hand themselves over to a supervisor outside: `run --socket`.

mod contained;
mod door;
mod refused;

use std::fs;
use std::process::{Command, Stdio};

use execward_tests::outside::{Outside, as_here};
use execward_tests::{Ground, Lines, binary, end_of, is_root, needs_answers, of_type, until};

use crate::three_verdicts::{CODE, RULES, SCRIPT, are_met};

fn desk(rules: &str) -> Ground {
    as_here(Ground::full(rules)).option("--prompt=none")
}

#[test]
fn what_hands_itself_over_is_gated_and_the_supervisor_ends_as_it_does() {
    let desk = desk(RULES);
    let outside = Outside::waiting(&desk, &desk);
    let script = desk.script("script.sh", SCRIPT);
    let mut shim = outside.shim(&["sh", &script]);
    shim.current_dir(desk.path(""));
    let handed = outside.end(shim);
    assert_eq!(handed.status.code(), CODE, "{}", handed.stderr);
    assert_eq!(handed.supervisor, CODE, "{}", handed.said);
    let records = desk.records_at_end();
    are_met(&handed.stdout, &desk, &records, "here");
    let start = &records[0];
    assert_eq!(start["cmd"], serde_json::json!(["sh", script]));
    assert_eq!(start["cwd"], desk.path("").display().to_string());
    assert!(start["handed_over"].is_u64(), "{start}");
    let end = records.last().expect("an end");
    assert_eq!(end["exit_code"], 3, "{end}");
}

/// Nobody here has typed what it starts with.
#[test]
fn its_first_exec_is_judged_as_any() {
    for (rules, ran) in [
        ("[[deny]]\nid = \"no\"\nprogram = \"true\"\n", false),
        ("", true),
    ] {
        let desk = desk(rules);
        let outside = Outside::waiting(&desk, &desk);
        let shim = outside.shim(&["true"]);
        let handed = outside.end(shim);
        let code = if ran { 0 } else { 126 };
        assert_eq!(handed.status.code(), Some(code), "{}", handed.stderr);
        assert_eq!(handed.supervisor, Some(code), "{}", handed.said);
        let records = desk.records_at_end();
        let decision = of_type(&records, "exec.decision")
            .last()
            .expect("a decision");
        let verdict = if ran { "allow" } else { "deny" };
        assert_eq!(decision["decision"]["verdict"], verdict, "{decision}");
        let outcomes = of_type(&records, "exec.outcome").count();
        assert_eq!(outcomes, usize::from(ran));
    }
}

#[test]
fn what_is_not_there_and_what_a_signal_ends_is_told_to_both() {
    for (words, code, supervisor) in [
        (&["no-such-program"][..], Some(127), 127),
        (&["sh", "-c", "kill -9 $$"], None, 137),
    ] {
        let desk = desk("");
        let outside = Outside::waiting(&desk, &desk);
        let shim = outside.shim(words);
        let handed = outside.end(shim);
        assert_eq!(handed.status.code(), code, "{}", handed.stderr);
        assert_eq!(handed.supervisor, Some(supervisor), "{}", handed.said);
        if code.is_some() {
            let said =
                "execward-shim: cannot execute `no-such-program`: No such file or directory\n";
            assert_eq!(handed.stderr, said);
            assert_eq!(
                handed.said,
                "execward: cannot find `no-such-program` on the PATH\n"
            );
        }
    }
}

/// An image has the shim that it was made with.
#[test]
fn a_shim_of_the_version_before_is_answered_in_its_own() {
    let desk = desk(RULES);
    let outside = Outside::waiting(&desk, &desk);
    let mut hands = Command::new(binary("fixture-hands"));
    hands.arg(outside.socket()).arg("previous");
    hands
        .args(["sh", "-c", "/bin/echo ran; /bin/mkdir no"])
        .current_dir(desk.path(""));
    if is_root() {
        hands.env("ROOT", "1");
    }
    let handed = outside.end(hands);
    // Its text is read, and has what is denied in it.
    assert_eq!(
        handed.stdout, "\\x01G\nOperation not permitted (os error 1)\n",
        "{}",
        handed.said
    );
    assert!(!desk.has("no"));
    assert_eq!(handed.supervisor, Some(126), "{}", handed.said);
}

#[test]
fn what_it_runs_can_be_held_to_a_list() {
    for (script, supervisor) in [
        ("/bin/true; exit 0", 0),
        ("/bin/true; /bin/echo; exit 0", 1),
    ] {
        let desk = desk("");
        let list = "version = 1\n[[exec]]\nprogram = \"/usr/bin/dash\"\nargv = [\"sh\", \"**\"]\n\
                    [[exec]]\nprogram = \"/usr/bin/true\"\nargv = [\"/bin/true\"]\n";
        fs::write(desk.path("list.toml"), list).expect("a list");
        let expect = format!("--expect={}", desk.path("list.toml").display());
        let desk = desk.option(&expect);
        let outside = Outside::waiting(&desk, &desk);
        let script = desk.script("script.sh", script);
        let shim = outside.shim(&["sh", &script]);
        let handed = outside.end(shim);
        assert_eq!(handed.status.code(), Some(0), "{}", handed.stderr);
        assert_eq!(handed.supervisor, Some(supervisor), "{}", handed.said);
    }
}

#[test]
fn a_question_of_it_is_answered_at_the_desk() {
    needs_answers!();
    for (verb, code) in [("allow", 0), ("deny", 126)] {
        let desk = as_here(Ground::full(RULES)).option("--session=outside");
        let control = format!("--control={}", desk.path("control").display());
        let desk = desk.option(&control);
        let outside = Outside::waiting(&desk, &desk);
        let script = desk.script("script.sh", "/bin/touch asked; exit $?");
        let mut shim = outside.shim(&["sh", &script]);
        shim.current_dir(desk.path("")).stdout(Stdio::piped());
        let mut running = shim.spawn().expect("a shim");
        let beside = |words: &[&str]| {
            let control = desk.path("control").display().to_string();
            desk.says(&[words, &["--control", &control]].concat())
        };
        let id = until("a question", || {
            let (_, pending) = beside(&["pending", "--json"]);
            let question: serde_json::Value = serde_json::from_str(pending.lines().next()?).ok()?;
            Some(question["requestId"].as_str()?.to_owned())
        });
        let (said, what) = beside(&[verb, &id]);
        assert_eq!(said, Some(0), "{what}");
        assert_eq!(end_of(&mut running).code(), Some(code));
        assert_eq!(outside.wait().0, Some(code));
        assert_eq!(desk.has("asked"), code == 0);
    }
}

/// What goes on after CMD goes on gated, unless it is to end with it.
#[test]
fn what_it_leaves_stays_gated_or_ends() {
    let left = "{ read line; /bin/echo late; /bin/mkdir no; echo $?; } <fifo & exit 0";
    let desk = desk(RULES);
    let outside = Outside::waiting(&desk, &desk);
    nix::unistd::mkfifo(&desk.path("fifo"), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    let script = desk.script("script.sh", left);
    let mut shim = outside.shim(&["sh", &script]);
    shim.current_dir(desk.path("")).stdout(Stdio::piped());
    let mut running = shim.spawn().expect("a shim");
    let lines = Lines::of(running.stdout.take().expect("stdout"));
    assert_eq!(end_of(&mut running).code(), Some(0));
    assert_eq!(outside.wait().0, Some(0));
    fs::write(desk.path("fifo"), "go\n").expect("a reader");
    assert_eq!(lines.next_line().as_deref(), Some("late"));
    assert_eq!(lines.next_line().as_deref(), Some("126"));
    assert!(!desk.has("no"));
    let _records = desk.records_at_end();
}

/// Both of them hear it, and nothing is left of CMD and what is below it.
#[test]
fn stop_and_the_end_of_the_gate_end_it_and_what_is_below() {
    for is_stopped in [true, false] {
        let desk = as_here(Ground::full("")).option("--session=outside");
        let control = format!("--control={}", desk.path("control").display());
        let desk = if execward_tests::takes_answers() {
            desk.option(&control)
        } else {
            desk
        };
        if is_stopped && !execward_tests::takes_answers() {
            continue;
        }
        let outside = Outside::waiting(&desk, &desk);
        let script = desk.script(
            "script.sh",
            "echo $$; /bin/sleep 1000 & echo $!; exec /bin/sleep 1000",
        );
        let mut shim = outside.shim(&["sh", &script]);
        shim.stdout(Stdio::piped());
        let mut running = shim.spawn().expect("a shim");
        let lines = Lines::of(running.stdout.take().expect("stdout"));
        let pids = [
            lines.next_line().expect("a pid"),
            lines.next_line().expect("a pid"),
        ];
        for pid in &pids {
            let path = format!("/proc/{pid}/status");
            until("sleep, which nobody traces", || {
                // At its exec-stop CMD ends with the gate, and whom it forked is nobody's to find.
                let status = fs::read_to_string(&path).ok()?;
                let runs = status.contains("Name:\tsleep\n") && status.contains("TracerPid:\t0\n");
                runs.then_some(())
            });
        }
        if is_stopped {
            let control = desk.path("control").display().to_string();
            let (code, said) = desk.says(&["stop", "--control", &control]);
            assert_eq!(code, Some(0), "{said}");
        } else {
            let gate = desk.records()[0]["sup"]["pid"].as_i64().expect("a pid");
            let gate = nix::unistd::Pid::from_raw(i32::try_from(gate).expect("a pid"));
            nix::sys::signal::kill(gate, nix::sys::signal::Signal::SIGKILL).expect("a gate");
        }
        let status = end_of(&mut running);
        assert_eq!(status.code(), None, "{status}");
        let (code, said) = outside.wait();
        if is_stopped {
            assert!(code == Some(143) || code == Some(137), "{code:?} {said}");
        } else {
            assert_eq!(code, Some(125), "{said}");
            assert!(said.contains("the gate is gone"), "{said}");
        }
        until("the end of sleep", || {
            let state = fs::read_to_string(format!("/proc/{}/stat", pids[1]));
            state
                .map_or(true, |state| state.contains(") Z "))
                .then_some(())
        });
    }
}

/// CMD's child has got another parent, outside of the session.
#[test]
fn stop_reaches_what_was_left_to_another_parent() {
    needs_answers!();
    let desk = as_here(Ground::full(""));
    let control = format!("--control={}", desk.path("control").display());
    let desk = desk.option(&control);
    let outside = Outside::waiting(&desk, &desk);
    let left = desk.script("left.sh", "while :; do /bin/true; done");
    let script = desk.script("script.sh", &format!("setsid sh {left} & echo $!; exit 0"));
    let mut shim = outside.shim(&["sh", &script]);
    shim.stdout(Stdio::piped());
    let mut running = shim.spawn().expect("a shim");
    let lines = Lines::of(running.stdout.take().expect("stdout"));
    let left = lines.next_line().expect("a pid");
    assert_eq!(end_of(&mut running).code(), Some(0));
    assert_eq!(outside.wait().0, Some(0));
    until("its own exec", || {
        let words = fs::read_to_string(format!("/proc/{left}/cmdline")).ok()?;
        words.contains("left.sh").then_some(())
    });
    until("an exec of it", || {
        let records = desk.records();
        let mut decisions = of_type(&records, "exec.decision");
        decisions
            .any(|it| it["proc"]["argv"][0] == "/bin/true")
            .then_some(())
    });
    let control = desk.path("control").display().to_string();
    let (code, said) = desk.says(&["stop", "--control", &control]);
    assert_eq!(code, Some(0), "{said}");
    let _records = desk.records_at_end();
}
