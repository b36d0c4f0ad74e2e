//! A session's start and end.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use execward_tests::{Ground, Lines, end_of, finish, of_type, rest_of_stderr, under, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub(crate) fn pid(child: &std::process::Child) -> Pid {
    Pid::from_raw(child.id().try_into().expect("a pid"))
}

/// The gate: the front's only child.
pub(crate) fn gate_of(front: Pid) -> Pid {
    let children = format!("/proc/{front}/task/{front}/children");
    let gate: i32 = until("the gate", || {
        let children = std::fs::read_to_string(&children).ok()?;
        children.split_whitespace().next()?.parse().ok()
    });
    Pid::from_raw(gate)
}

#[test]
fn exit_codes_and_signals_are_the_commands_own() {
    let ground = Ground::full("");
    assert_eq!(ground.sh("exit 7").code(), Some(7));
    assert_eq!(ground.sh("kill -TERM $$").code(), Some(128 + 15));
    assert_eq!(ground.sh("kill -KILL $$").code(), Some(128 + 9));
}

#[test]
fn output_ends_with_the_command_and_what_it_left_stays_gated() {
    let ground = Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"touch\"\n");
    let fifo = ground.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // The detached shell goes on only after the front is gone.
    let ran = ground
        .sh("(read x <fifo; touch marker; /bin/echo late >out) >/dev/null 2>&1 & echo started");
    assert_eq!(ran.stdout, "started\n");
    assert!(of_type(&ran.records, "session.end").next().is_none());
    std::fs::write(&fifo, "go\n").unwrap();
    let records = ground.records_at_end();
    assert!(!ground.path("marker").try_exists().unwrap());
    assert_eq!(
        std::fs::read_to_string(ground.path("out")).unwrap(),
        "late\n"
    );
    let argv = |record: &&serde_json::Value| record["proc"]["argv"][1] == "late";
    assert_eq!(of_type(&records, "exec.decision").filter(argv).count(), 1);
}

#[test]
fn kill_at_exit_leaves_nothing_running() {
    let ground = Ground::full("").option("--kill-at-exit");
    let ran = ground.sh("sleep 1000 & echo $!");
    let left = ran.stdout.trim().to_owned();
    until("the end of what was left", || {
        (!std::path::Path::new(&format!("/proc/{left}"))
            .try_exists()
            .unwrap())
        .then_some(())
    });
    let _records = ground.records_at_end();
}

/// Such a process looks like a zombie.
#[test]
fn a_process_whose_first_thread_has_ended_is_killed_at_exit_as_any() {
    let ground = Ground::full("").option("--kill-at-exit");
    let threads = execward_tests::binary("fixture-threads");
    let script = format!("{} outlives & read line", threads.display());
    let mut front = ground
        .command(&["sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = Lines::of(front.stdout.take().unwrap());
    let left = lines.next_line().unwrap();
    let status = format!("/proc/{left}/status");
    until("the end of its first thread", || {
        let status = std::fs::read_to_string(&status).unwrap();
        (status.contains("State:\tZ") && status.contains("Threads:\t2")).then_some(())
    });
    drop(front.stdin.take());
    assert!(end_of(&mut front).code().is_some());
    until("the end of the other", || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        (!status.contains("Threads:\t2")).then_some(())
    });
    let _records = ground.records_at_end();
}

#[test]
fn the_commands_descriptors_are_the_callers() {
    let ground = Ground::full("");
    let list = "exec 7</etc/hostname; exec \"$@\"";
    let listing = "for fd in /proc/self/fd/*; do echo ${fd##*/}; done";
    let mut bare = std::process::Command::new("bash");
    bare.args(["-c", list, "x", "bash", "-c", listing])
        .stdin(Stdio::null());
    let (_, expected, _) = finish(bare);
    let gated = ground.command(&["bash", "-c", listing]);
    let with_seven = under(&["bash", "-c", list, "x"], &gated);
    let (_, seen, _) = finish(with_seven);
    assert!(expected.contains('7'));
    assert_eq!(seen, expected);
}

#[test]
fn a_dead_gate_lets_nothing_through_and_is_announced() {
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"touch\"\n").option("--no-notice");
    let script = "echo $$; t=touch; while :; do /bin/true; $t marker; done 2>/dev/null";
    let mut front = ground
        .command(&["bash", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = Lines::of(front.stdout.take().unwrap());
    let command = lines.next_line().unwrap();
    until("some execs", || (ground.records().len() > 20).then_some(()));
    kill(gate_of(pid(&front)), Signal::SIGKILL).unwrap();
    let status = end_of(&mut front);
    let said = rest_of_stderr(&mut front);
    assert_eq!(status.code(), Some(125));
    assert!(
        said.contains("execward: the gate is gone (signal: 9"),
        "{said}"
    );
    assert!(!ground.path("marker").try_exists().unwrap());
    // CMD said its pid; nothing of the session is left.
    let left = format!("/proc/{command}/status");
    until("the end of CMD", || {
        let status = std::fs::read_to_string(&left).unwrap_or_default();
        (status.is_empty() || status.contains("State:\tZ")).then_some(())
    });
}

#[test]
fn a_dead_front_takes_the_command_along() {
    let ground = Ground::full("");
    let mut front = ground
        .command(&["sh", "-c", "echo $$; exec sleep 1000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = Lines::of(front.stdout.take().unwrap());
    assert!(lines.next_line().is_some());
    kill(pid(&front), Signal::SIGKILL).unwrap();
    assert_eq!(end_of(&mut front).signal(), Some(9));
    let records = ground.records_at_end();
    assert_eq!(records.last().unwrap()["signal"], 9);
}

#[test]
fn orphans_are_reaped() {
    let ground = Ground::full("");
    // Each inner shell leaves a child whose parent is gone at once; none may stay a zombie.
    let script = "for i in 1 2 3 4 5; do (/bin/true & echo $! >>left); done; \
        for pid in $(cat left); do while [ -e /proc/$pid ]; do :; done; done; echo reaped";
    assert_eq!(ground.sh(script).stdout, "reaped\n");
}

/// Root may not either: it has not the capability.
#[test]
fn neither_front_nor_gate_can_be_looked_into_from_inside() {
    let ground = Ground::full("");
    let ways = execward_tests::binary("fixture-ways").display().to_string();
    let script = format!(
        "gate=$PPID; front=$(awk '/^PPid/ {{ print $2 }}' /proc/$gate/status); sleep 1000 &
         for p in $gate $front $!; do {ways} attach $p; {ways} steal $p
         (: < /proc/$p/mem) 2>/dev/null && echo mem; readlink /proc/$p/fd/0 >/dev/null 2>&1 && echo fd
         done; kill $!"
    );
    let ran = ground.sh(&script);
    let (closed, open) = ("errno=1\nerrno=1\n", "errno=0\nerrno=0\nmem\nfd\n");
    let expected = [closed, closed, open].concat();
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
}

/// It reads hostile bytes outside the session's filter: each of its threads is under filters of its own.
#[test]
fn the_gate_starts_nothing_any_more() {
    let ground = Ground::full("");
    let ran = ground.sh("cat /proc/$PPID/task/*/status");
    let modes = ran
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("Seccomp:"));
    let modes: Vec<_> = modes.collect();
    assert!(
        modes.len() > 3 && modes.iter().all(|mode| mode.ends_with('2')),
        "{modes:?}"
    );
}
