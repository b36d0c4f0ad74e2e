//! Bad input: nothing runs, and what to do is said.

use execward_tests::{Ground, Ran, binary};

fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code(), Some(125), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.starts_with("execward: "), "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "no `{word}` in {}", ran.stderr);
    }
}

#[test]
fn a_broken_policy_is_refused_with_every_fault_located() {
    let text = "version = 1\n[mode]\nsecurty = \"full\"\n[[deny]]\nid = \"x\"\nprogam = \"ls\"\n";
    let ran = Ground::new(text).run(&["echo", "ran"]);
    refused(
        &ran,
        &[
            "policy.toml:3:1",
            "policy.toml:6:1",
            "`security`",
            "`program`",
        ],
    );
}

#[test]
fn a_missing_policy_is_refused() {
    let ground = Ground::full("").option("--policy").option("nowhere.toml");
    refused(
        &ground.run(&["echo", "ran"]),
        &["nowhere.toml", "No such file"],
    );
}

#[test]
fn a_policy_that_is_no_regular_file_is_refused_at_once() {
    let fifo = Ground::full("");
    let path = fifo.path("fifo").display().to_string();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    for name in [path.as_str(), "/dev/zero", "/"] {
        let ground = Ground::full("").option("--policy").option(name);
        refused(&ground.run(&["echo", "ran"]), &[name, "not a regular file"]);
    }
}

#[test]
fn a_log_in_a_place_that_is_none_is_refused() {
    for (log, word) in [
        ("/dev/full", "not a regular file"),
        ("/proc/nowhere/log", "/proc/nowhere/log"),
    ] {
        let ground = Ground::full("").option("--audit").option(log);
        let ran = ground.run(&["echo", "ran"]);
        refused(&ran, &[word]);
    }
}

#[test]
fn a_gate_inside_a_gate_names_the_cause() {
    let inner = Ground::full("");
    let command = inner.command(&["echo", "ran"]);
    let mut words = vec![command.get_program().to_str().unwrap()];
    words.extend(command.get_args().map(|word| word.to_str().unwrap()));
    refused(
        &Ground::full("").run(&words),
        &["EBUSY", "another seccomp listener"],
    );
}

#[test]
fn the_shim_alone_runs_nothing() {
    let mut command = std::process::Command::new(binary("execward"));
    command.args(["__shim", "9", "drop", "echo", "ran"]);
    let (status, stdout, _) = execward_tests::finish(command);
    assert_eq!((status.code(), stdout.as_str()), (Some(125), ""));
}
