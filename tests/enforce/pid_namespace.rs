//! Process numbers of the session's own: `--pid-namespace`.

mod ends;

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use execward_tests::{Asking, Ground, binary, is_root, of_type, skip, under};
use serde_json::Value;

use crate::approvals::ground as basis;

const OPTION: &str = "--pid-namespace";
const REASON: &str = "only root can have a pid namespace";

/// With what it is combined.
const BESIDE: [&[&str]; 4] = [
    &[],
    &["--user=nobody"],
    &["--hide-state"],
    &["--hide-state", "--user=nobody"],
];

/// A ground whose sessions have one, and where every user may write.
fn inside(ground: Ground, beside: &[&str]) -> Ground {
    let writable = Permissions::from_mode(0o1777);
    fs::set_permissions(ground.path(""), writable).expect("chmod");
    let mut ground = ground.option(OPTION);
    for option in beside {
        ground = ground.option(option);
    }
    ground
}

/// The number outside of the process that was to execute `words`.
fn number_of(records: &[Value], words: &[&str]) -> i32 {
    let starts = |record: &&Value| {
        let argv = record.pointer("/proc/argv").and_then(Value::as_array);
        argv.is_some_and(|argv| words.iter().zip(argv).all(|(word, shown)| word == shown))
    };
    let decision = of_type(records, "exec.decision").find(starts);
    let pid = decision.and_then(|record| record.pointer("/proc/pid")?.as_i64());
    pid.and_then(|pid| i32::try_from(pid).ok()).expect("a pid")
}

#[test]
fn nothing_outside_has_a_number_inside() {
    if !is_root() {
        let ran = Ground::full("").option(OPTION).run(&["touch", "marker"]);
        assert_eq!(ran.status.code(), Some(125));
        let next = "which only root can have";
        assert!(ran.stderr.contains(next), "{}", ran.stderr);
        assert!(ran.stderr.contains("start it with `sudo`"));
        return skip(REASON);
    }
    let look = "for p in /proc/[0-9]*; do echo ${p##*/}; done; echo $PPID $$";
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside);
        let ran = ground.sh(look);
        assert_eq!(ran.stdout, "1\n2\n0 2\n", "{beside:?}: {}", ran.stderr);
        let start = of_type(&ran.records, "session.start").next();
        assert_eq!(start.expect("one")["pid_namespace"], true);
        assert_ne!(number_of(&ran.records, &["sh"]), 2, "a number outside");
        let records = ground.records_at_end();
        assert_eq!(of_type(&records, "session.end").count(), 1);
    }
    // The twin sees this test too.
    let ran = Ground::full("").sh(look);
    let own = std::process::id().to_string();
    assert!(ran.stdout.lines().any(|line| line == own), "{}", ran.stdout);
    let start = of_type(&ran.records, "session.start").next();
    assert!(start.expect("one").get("pid_namespace").is_none());
}

/// What has no number outside of the session cannot be reached by it; the first process inside is closed.
#[test]
fn nobody_inside_has_a_hold_on_the_first_process() {
    if !is_root() {
        return skip(REASON);
    }
    let ways = binary("fixture-ways").display().to_string();
    let script = format!(
        "sleep 1000 &
         for p in 1 $!; do
             {ways} attach $p | grep -x errno=0; {ways} steal $p | grep -x errno=0
             (: < /proc/$p/mem) 2>/dev/null && echo mem
             readlink /proc/$p/fd/0 >/dev/null 2>&1 && echo fd
             kill -s STOP $p; kill -s KILL $p; [ $p = 1 ] || wait $! 2>/dev/null; echo over
         done; awk '/^(CapPrm|CapEff|NoNewPrivs)/ {{ print $1, $2 }}' /proc/1/status
         (: > /proc/sys/kernel/core_pattern) 2>/dev/null || echo closed"
    );
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside);
        let ran = ground.sh(&script);
        let none = "0000000000000000";
        let expected = format!(
            "over\nerrno=0\nerrno=0\nmem\nfd\nover\nCapPrm: {none}\nCapEff: {none}\n\
             NoNewPrivs: 1\nclosed\n"
        );
        assert_eq!(ran.stdout, expected, "{beside:?}: {}", ran.stderr);
    }
}

#[test]
fn a_kill_of_everybody_ends_the_session_and_nobody_else() {
    if !is_root() {
        return skip(REASON);
    }
    let mut bystander = Command::new("sleep").arg("1000").spawn().expect("sleep");
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside);
        let ran = ground.sh("sleep 1000 & sh -c 'kill -9 -1; exit 3'; echo gone on");
        assert_eq!(ran.code(), Some(128 + 9), "{beside:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "");
        let records = ground.records_at_end();
        let end = of_type(&records, "session.end").next().expect("one");
        assert_eq!(end["signal"], 9);
        assert_eq!(end["count"]["decisions"], 3, "{end}");
    }
    assert!(bystander.try_wait().expect("a child").is_none());
    bystander.kill().expect("a child");
    bystander.wait().expect("a child");
}

#[test]
fn orphans_inside_are_reaped_and_have_no_history_that_allows() {
    if !is_root() {
        return skip(REASON);
    }
    let reaped = "for i in 1 2 3 4 5; do (/bin/true & echo $! >>left); done; \
        for pid in $(cat left); do while [ -e /proc/$pid ]; do :; done; done; echo reaped";
    let ground = inside(Ground::full(""), &[]);
    assert_eq!(ground.sh(reaped).stdout, "reaped\n");
    let ground = Ground::allowlist(
        "[[allow]]\nid = \"tool\"\nprogram = \"DIR/tool\"\nchildren = \"/usr/bin/*\"\n\
         [[allow]]\nid = \"sh\"\nprogram = [\"sh\", \"mkfifo\"]\n",
    );
    let ground = inside(ground, &[]);
    // Its parent is gone when that has no number any more: the pipes of a process close before.
    ground.script(
        "tool",
        "#!/bin/sh\ntouch child; (while [ -e /proc/$$ ]; do :; done; touch orphan; echo >over) &\n",
    );
    let ran = ground.sh("mkfifo over; ./tool; read -r _ <over; true");
    assert!(
        ground.has("child") && !ground.has("orphan"),
        "{}",
        ran.stderr
    );
    let decision = ran.decisions(&["touch", "orphan"])[0];
    assert_eq!(decision["decision"]["verdict"], "deny");
}

/// The task's `/proc/self` is one that has other numbers than the gate's.
#[test]
fn a_file_by_a_link_of_proc_is_that_file() {
    if !is_root() {
        return skip(REASON);
    }
    let ways = binary("fixture-ways").display().to_string();
    let rules = "[[deny]]\nid = \"no-echo\"\nprogram = \"/usr/bin/echo\"\n\
        [[deny]]\nid = \"no-argument\"\nprogram = \"DIR/tool\"\nargs = [\"-c\", \": evil\"]\n";
    for beside in BESIDE {
        let open = inside(Ground::full(""), beside);
        let denied = inside(Ground::full(rules), beside);
        for by in ["fd", "proc", "thread"] {
            let ran = open.run(&[&ways, by, "/usr/bin/echo"]);
            assert_eq!(ran.stdout, format!("by-{by}\n"), "{}", ran.stderr);
            assert_eq!(ran.outcome(&["/usr/bin/echo"])["result"], "verified");
            let ran = denied.run(&[&ways, by, "/usr/bin/echo"]);
            assert_eq!(ran.stdout, "errno=1\n", "{by}: {}", ran.stderr);
        }
        let tool = denied.copy("/bin/bash", "tool");
        for link in ["/proc/self/exe", "/proc/thread-self/exe", "/proc/$$/exe"] {
            let script = format!(
                "(exec -a {tool} {link} -c ': fine'; echo not) && echo ran\n\
                 (exec -a {tool} {link} -c ': evil') || echo $?"
            );
            let ran = denied.run(&[&tool, &denied.script("script.sh", &script)]);
            assert_eq!(ran.stdout, "ran\n126\n", "{link}: {}", ran.stderr);
            let decision = ran.decisions(&[&tool, "-c", ": evil"])[0];
            assert_eq!(decision["proc"]["path"], tool, "{decision}");
            assert_eq!(decision["decision"]["rule"]["id"], "no-argument");
        }
    }
}

#[test]
fn a_script_by_its_descriptor_runs_by_its_interpreter() {
    if !is_root() {
        return skip(REASON);
    }
    let deny = "[[deny]]\nid = \"script\"\nprogram = \"DIR/other\"\n";
    let ground = inside(Ground::full(deny), &[]);
    for name in ["script", "other"] {
        ground.script(name, "#!/bin/sh\necho script\n");
    }
    let ran = ground.sh("exec 3<script; /proc/self/fd/3; exec 4<other; /dev/fd/4; echo $?");
    assert_eq!(ran.stdout, "script\n126\n", "{}", ran.stderr);
}

#[test]
fn a_question_is_answered_from_outside_alone() {
    if !is_root() {
        return skip(REASON);
    }
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let execward = binary("execward").display().to_string();
    for beside in [&[] as &[&str], &["--user=nobody"]] {
        let ground = inside(Ground::full(ask), beside);
        let script = format!(
            "/usr/bin/touch a & read id socket; {execward} allow $id --control $socket 2>&1; echo $?; wait; \
             echo over"
        );
        let mut asking = Asking::start(ground, "socket", &script);
        let question = asking.question();
        let socket = asking.socket().display().to_string();
        let mut stdin = asking.stdin();
        stdin
            .write_all(format!("{} {socket}\n", question.id).as_bytes())
            .expect("read");
        let said = asking.stdout.next_line().expect("a refusal");
        assert!(said.starts_with("execward: "), "{said}");
        assert_ne!(asking.stdout.next_line().as_deref(), Some("0"), "{said}");
        assert!(!asking.has_run("a"));
        asking.answer(&["allow", &question.id]);
        assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
        assert_eq!(basis(&asking.end(), "a"), ("allow", "user"));
    }
}

/// A container masks parts of proc by mounts, and they are none of the session's to see again.
#[test]
fn what_is_mounted_on_proc_stays_so() {
    if !is_root() {
        return skip(REASON);
    }
    let mask = "mount --bind /dev/null /proc/version && mount -t tmpfs -o ro none /proc/irq && exec \"$@\"";
    let outer = ["unshare", "--mount", "sh", "-c", mask, "sh"];
    let look =
        "[ -s /proc/version ] || [ ! -c /proc/version ] || echo masked; ls /proc/irq; echo $$";
    for beside in BESIDE {
        let ground = inside(Ground::full(""), beside);
        let script = ground.script("script.sh", look);
        let ran = ground.end(under(&outer, &ground.command(&["sh", &script])));
        assert_eq!(ran.stdout, "masked\n2\n", "{beside:?}: {}", ran.stderr);
    }
    let ground = inside(Ground::full(""), &[]);
    let ran = ground.sh("[ -c /proc/version ] || echo plain");
    assert_eq!(ran.stdout, "plain\n");
    assert!(Path::new("/proc/version").is_file());
}
