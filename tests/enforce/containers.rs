//! Sessions within containers of runc's and crun's, as stock ones are: allowed, denied, asked and logged as elsewhere.

use std::process::{Command, Stdio};

use execward_tests::container::{Container, OF_DOCKER, RUNTIMES, Root};
use execward_tests::{
    Ground, Lines, Ran, binary, end_of, finish, needs_answers, needs_containers, of_type, until,
};
use serde_json::{Value, json};

use crate::three_verdicts::{CODE, RULES, SCRIPT, are_met};

/// The session of a script in a container, and its ground.
fn ran(container: Container, script: &str) -> (Ran, Ground) {
    // A root file system that can be read alone has no place for a socket.
    let ground = Ground::full(RULES).option("--prompt=none");
    let script = ground.script("script.sh", script);
    let command = container.around(&ground, &ground.command(&["sh", &script]));
    (ground.end(command), ground)
}

/// Whatever makes the container.
fn is_gated(container: impl Fn() -> Container, what: &str) {
    for runtime in RUNTIMES {
        is_gated_by(container().made_by(runtime), &format!("{runtime}, {what}"));
    }
}

fn is_gated_by(container: Container, what: &str) {
    let (ran, ground) = ran(container, SCRIPT);
    assert_eq!(ran.code(), CODE, "{what}: {}", ran.stderr);
    are_met(&ran.stdout, &ground, &ran.records, what);
}

#[test]
fn what_a_container_of_debian_runs_is_gated() {
    needs_containers!();
    let on = || Container::on(Root::Debian);
    let of_docker = || on().with_capabilities(&OF_DOCKER);
    let loose = || of_docker().changed("/process/noNewPrivileges", false.into());
    is_gated(on, "as it is by itself");
    is_gated(of_docker, "capabilities of Docker's");
    is_gated(loose, "with new privileges");
    is_gated(|| on().with_capabilities(&[]), "no capabilities");
    is_gated(|| on().with_capabilities(&[]).read_only(), "read-only");
    is_gated(|| on().of_user(1000), "a user");
    is_gated(|| on().of_user(1000).read_only(), "a user, read-only");
}

#[test]
fn what_a_container_of_busybox_runs_is_gated() {
    needs_containers!();
    let on = || Container::on(Root::Busybox);
    is_gated(on, "as it is by itself");
    is_gated(|| on().with_capabilities(&[]).read_only(), "read-only");
    is_gated(|| on().of_user(1000), "a user");
}

/// Where there is no shell, and nothing in `/bin`.
#[test]
fn what_a_bare_container_runs_is_gated() {
    needs_containers!();
    let ways = binary("fixture-ways").display().to_string();
    for (rule, stdout, verdict) in [
        (
            "[[deny]]\nid = \"no\"\nprogram = \"DIR/program\"\n",
            "errno=1\n",
            "deny",
        ),
        ("", "by-missing\n", "allow"),
    ] {
        let ground = Ground::full(rule).option("--prompt=none");
        let program = ground.copy("/bin/echo", "program");
        let command = ground.command(&[&ways, "missing", &program]);
        let ran = ground.end(Container::on(Root::Bare).around(&ground, &command));
        assert_eq!(ran.stdout, stdout, "{}", ran.stderr);
        let decision = &ran.decisions(&[&program])[0]["decision"];
        assert_eq!(decision["verdict"], verdict);
    }
}

/// The log says which container it was; the twin's runtime leaves nothing to tell it by.
#[test]
fn a_session_says_in_which_container_it_is() {
    needs_containers!();
    let id = "0123456789abcdef".repeat(4);
    let said = format!("engine=\"podman-5.0\"\nid=\"{id}\"\nimage=\"example/agent:1\"\n");
    let told = json!({"id": id, "image": "example/agent:1", "runtime": "podman-5.0"});
    let on = || Container::on(Root::Busybox);
    for (container, expected) in [(on().with_containerenv(&said), told), (on(), Value::Null)] {
        let (ran, _ground) = ran(container, "echo ran");
        let start = of_type(&ran.records, "session.start").next().expect("one");
        assert_eq!(start["container"], expected, "{start}");
        let cgroup = start["cgroup"].as_str().expect("a cgroup");
        assert!(cgroup.starts_with('/'), "{cgroup}");
    }
}

/// A container ends with its first process, which is the front.
#[test]
fn what_the_command_left_ends_with_its_container_unless_it_is_to_go_on() {
    needs_containers!();
    let left = "{ /bin/sleep 0.3; /bin/echo late; } & exit 3";
    for (option, stdout) in [
        ("--kill-at-exit", ""),
        ("--no-notice", ""),
        ("--linger", "late\n"),
    ] {
        let ground = Ground::full(RULES).option("--prompt=none").option(option);
        let script = ground.script("script.sh", left);
        let command = ground.command(&["sh", &script]);
        let ran = ground.end(Container::on(Root::Debian).around(&ground, &command));
        assert_eq!(ran.code(), Some(3), "{option}: {}", ran.stderr);
        assert_eq!(ran.stdout, stdout, "{option}: {}", ran.stderr);
        let last = ran.records.last().expect("records");
        assert_eq!(last["type"], "session.end", "{option}");
    }
}

/// What the container lacks is said, and nothing runs unguarded.
#[test]
fn what_a_container_lacks_is_said_with_the_next_step() {
    needs_containers!();
    // A runtime that leaves root the kernel's files, and not the capability to close them.
    let mounts = Container::on(Root::Debian).changed("/linux/readonlyPaths", json!([]));
    let (ran, _ground) = ran(mounts, "echo ran");
    assert_eq!(ran.status.code(), Some(125), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert!(
        ran.stderr.contains("cannot make `/proc/sys` read-only"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("run execward as a user of its own"),
        "{}",
        ran.stderr
    );
}

/// Somebody in the container and outside the session answers.
#[test]
fn a_question_of_a_container_is_answered_beside_its_session() {
    needs_containers!();
    needs_answers!();
    let ground = Ground::full(RULES)
        .option("--prompt=socket")
        .option("--session=contained");
    let command = ground.command(&["sh", "-c", "/bin/touch asked; echo $?"]);
    let mut container = Container::on(Root::Debian).around(&ground, &command);
    container.stdout(Stdio::piped());
    let mut running = container.spawn().expect("a container");
    let lines = Lines::of(running.stdout.take().expect("stdout"));
    let execward = binary("execward").display().to_string();
    let beside = |words: &[&str]| -> (Option<i32>, String, String) {
        let words = [&[execward.as_str()], words, &["--session", "contained"]].concat();
        let command: Command = Container::beside(&ground, &words);
        let (status, stdout, stderr) = finish(command);
        (status.code(), stdout, stderr)
    };
    let id = until("a question", || {
        let (_, pending, _) = beside(&["pending", "--json"]);
        let question: Value = serde_json::from_str(pending.lines().next()?).ok()?;
        Some(question["requestId"].as_str()?.to_owned())
    });
    let (code, _, said) = beside(&["allow", &id]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(lines.next_line().as_deref(), Some("0"));
    assert!(end_of(&mut running).success() && ground.has("asked"));
}
