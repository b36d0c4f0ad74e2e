//! Processes of containers, which have the static shim and nothing else of execward.

use std::fs;
use std::process::Command;

use execward_tests::container::{Container, OF_DOCKER, RUNTIMES, Root};
use execward_tests::outside::{Handed, Outside};
use execward_tests::{Ground, binary, needs_containers, of_type};
use serde_json::{Value, json};

use crate::three_verdicts::{CODE, RULES, SCRIPT, are_met};

/// The session of a script in a container, which has `room` and not the desk.
fn handed_over(rules: &str, container: Container, script: &str) -> (Handed, Ground, Ground) {
    let (desk, room) = (
        Ground::full(rules).option("--prompt=none"),
        Ground::full(""),
    );
    let script = room.script("script.sh", script);
    let handed = handed_by(&desk, &room, container, &["sh", &script]);
    (handed, desk, room)
}

fn handed_by(desk: &Ground, room: &Ground, container: Container, words: &[&str]) -> Handed {
    let outside = Outside::waiting(desk, room);
    let mut shim: Command = outside.static_shim(words);
    shim.env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/root");
    let command = container.around(room, &shim);
    outside.end(command)
}

fn is_gated(container: impl Fn() -> Container, what: &str) {
    for runtime in RUNTIMES {
        let what = format!("{runtime}, {what}");
        let (handed, desk, room) = handed_over(RULES, container().made_by(runtime), SCRIPT);
        assert_eq!(handed.status.code(), CODE, "{what}: {}", handed.stderr);
        assert_eq!(handed.supervisor, CODE, "{what}: {}", handed.said);
        are_met(&handed.stdout, &room, &desk.records_at_end(), &what);
    }
}

#[test]
fn what_a_container_of_debian_hands_over_is_gated() {
    needs_containers!();
    let on = || Container::on(Root::Debian);
    let of_docker = || on().with_capabilities(&OF_DOCKER);
    is_gated(of_docker, "capabilities of Docker's");
    is_gated(
        || of_docker().changed("/process/noNewPrivileges", false.into()),
        "with new privileges",
    );
    is_gated(
        || on().with_capabilities(&[]).read_only(),
        "no capabilities, read-only",
    );
    is_gated(|| on().of_user(1000), "a user");
}

#[test]
fn what_a_container_of_busybox_hands_over_is_gated() {
    needs_containers!();
    let on = || Container::on(Root::Busybox);
    is_gated(on, "as it is by itself");
    is_gated(|| on().with_capabilities(&[]).read_only(), "read-only");
    is_gated(|| on().of_user(1000), "a user");
}

/// No library, no shell, nothing but two static programs.
#[test]
fn what_an_empty_container_hands_over_is_gated() {
    needs_containers!();
    let size = binary("execward-shim-static").metadata().expect("it").len();
    assert!(size <= 2 << 20, "{size}");
    for (rule, code) in [
        ("", 0),
        ("[[deny]]\nid = \"no\"\nprogram = \"DIR/tool\"\n", 126),
    ] {
        let room = Ground::full("");
        let tool = room.copy(binary("execward-shim-static"), "tool");
        let rules = rule.replace("DIR", &room.path("").display().to_string());
        let desk = Ground::full(&rules).option("--prompt=none");
        let container = Container::on(Root::Empty);
        let handed = handed_by(&desk, &room, container, &[&tool, "--version"]);
        assert_eq!(
            handed.status.code(),
            Some(code),
            "{} {}",
            handed.stderr,
            handed.said
        );
        assert_eq!(handed.stdout.starts_with("execward-shim 0."), code == 0);
        assert_eq!(handed.supervisor, Some(code));
    }
}

/// The log says which container it was, by its cgroup from outside; the twin's runtime leaves no name.
#[test]
fn a_record_says_which_container_it_was() {
    needs_containers!();
    let id = "0123456789abcdef".repeat(4);
    let said = format!("engine=\"podman-5.0\"\nid=\"{id}\"\nimage=\"example/agent:1\"\n");
    let told = json!({"id": id, "image": "example/agent:1", "runtime": "podman-5.0"});
    let on = || Container::on(Root::Busybox);
    for (container, expected) in [(on().with_containerenv(&said), told), (on(), Value::Null)] {
        let (handed, desk, _room) = handed_over(RULES, container, "exit 0");
        assert_eq!(handed.status.code(), Some(0), "{}", handed.stderr);
        let start = desk.records_at_end().swap_remove(0);
        assert_eq!(start["container"], expected, "{start}");
        let cgroup = start["cgroup"].as_str().expect("a cgroup");
        assert!(cgroup.starts_with('/'), "{cgroup}");
        assert_eq!(start["cmd_uid"], 0);
        assert_eq!(start["cmd"][0], "sh");
    }
}

/// A path of a rule is that of the container: the file there, its other names, and what its links lead to.
#[test]
fn rules_mean_the_files_of_the_container() {
    needs_containers!();
    let rules = "[[deny]]\nid = \"tool\"\nprogram = \"/opt/tool\"\n\
        [[deny]]\nid = \"mine\"\nprogram = \"${workspace}/mine\"\n\
        [[deny]]\nid = \"below\"\nprogram = \"/linked/\"\n";
    let script = "/opt/tool; echo $?; /elsewhere/hard; echo $?; /opt/other; echo $?; ./mine; echo $?; \
        /real/x; echo $?; /elsewhere/x; echo $?";
    let (desk, room) = (
        Ground::full(rules).option("--prompt=none"),
        Ground::full(""),
    );
    let script = room.script("script.sh", script);
    fs::copy("/bin/true", room.path("mine")).expect("a copy");
    let container = Container::on(Root::Busybox).furnished(
        "mkdir opt real elsewhere && ln -s real linked && cp bin/busybox opt/tool && ln opt/tool elsewhere/hard \
         && for file in opt/other real/x elsewhere/x; do cp /bin/true $file; done",
    );
    assert!(
        !std::path::Path::new("/opt/tool")
            .try_exists()
            .expect("a directory")
    );
    let handed = handed_by(&desk, &room, container, &["sh", &script]);
    assert_eq!(
        handed.stdout, "126\n126\n0\n126\n126\n0\n",
        "{} {}",
        handed.stderr, handed.said
    );
    let records = desk.records_at_end();
    let rule = |program: &str| {
        let mut decisions = of_type(&records, "exec.decision");
        let decision = decisions.find(|it| it["proc"]["argv"][0] == program);
        decision.expect(program)["decision"]["rule"]["id"].clone()
    };
    for (program, id) in [
        ("/opt/tool", "tool"),
        ("/elsewhere/hard", "tool"),
        ("./mine", "mine"),
        ("/real/x", "below"),
    ] {
        assert_eq!(rule(program), id, "{program}");
    }
    assert_eq!(rule("/opt/other"), Value::Null);
    // Decided again from the records, on a machine that has none of these files.
    let (code, said) = desk.says(&["explain", "--all", "--log", "audit.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("0 disagree"), "{said}");
}

/// A container whose root can write what is the kernel's could undo the gate; its twin cannot.
#[test]
fn a_container_that_leaves_the_kernel_open_to_root_is_refused() {
    needs_containers!();
    let open = || Container::on(Root::Busybox).changed("/linux/readonlyPaths", json!([]));
    let (handed, _desk, _room) = handed_over(RULES, open(), "echo ran");
    assert_eq!(handed.status.code(), Some(125), "{}", handed.stderr);
    assert_eq!((handed.supervisor, handed.stdout.as_str()), (Some(125), ""));
    for said in [&handed.stderr, &handed.said] {
        assert!(
            said.contains("let the runtime mount that read-only"),
            "{said}"
        );
    }
    // Another proc, which no runtime has closed.
    let proc = json!({"destination": "/x/proc", "source": "proc", "type": "proc"});
    let another = Container::on(Root::Busybox).mounting(proc);
    let (handed, _desk, _room) = handed_over(RULES, another, "echo ran");
    assert_eq!(handed.supervisor, Some(125), "{}", handed.stdout);
    assert!(
        handed.said.contains("`/x/proc/sys` can be written"),
        "{}",
        handed.said
    );
    let (handed, _desk, _room) = handed_over(RULES, open().of_user(1000), "echo ran");
    assert_eq!(handed.stdout, "ran\n", "{}", handed.stderr);
}

/// CMD is the container's first process: with it everything ends.
#[test]
fn a_container_whose_supervisor_is_killed_runs_nothing_more() {
    needs_containers!();
    let (desk, room) = (Ground::full("").option("--prompt=none"), Ground::full(""));
    let outside = Outside::waiting(&desk, &room);
    let script = room.script(
        "script.sh",
        "echo up; while /bin/cat /dev/null; do :; done; /bin/echo ran; while :; do :; done",
    );
    let mut shim = outside.static_shim(&["sh", &script]);
    shim.env("PATH", "/bin");
    let mut command = Container::on(Root::Busybox).around(&room, &shim);
    command.stdout(std::process::Stdio::piped());
    let mut running = command.spawn().expect("a container");
    let lines = execward_tests::Lines::of(running.stdout.take().expect("stdout"));
    assert_eq!(lines.next_line().as_deref(), Some("up"));
    let gate = desk.records()[0]["sup"]["pid"].as_i64().expect("a pid");
    let gate = nix::unistd::Pid::from_raw(i32::try_from(gate).expect("a pid"));
    nix::sys::signal::kill(gate, nix::sys::signal::Signal::SIGKILL).expect("a gate");
    let (code, said) = outside.wait();
    assert_eq!(code, Some(125), "{said}");
    let status = execward_tests::end_of(&mut running);
    assert_eq!(status.code(), Some(137), "{status}");
    assert_eq!(lines.next_line(), None);
}
