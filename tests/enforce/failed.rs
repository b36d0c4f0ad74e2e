//! Execs that fail do so as without a gate, and leave nothing behind.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use execward_tests::{Ground, binary, finish, of_type, skip};

/// What [`fixture-fails`] tries, in the ground's directory.
fn prepare(ground: &Ground) {
    for (name, text, mode) in [
        ("plain", "no format\n", 0o755),
        ("noexec", "#!/bin/sh\n", 0o644),
        ("empty", "", 0o755),
        ("badelf", "\u{7f}ELF of no kind", 0o755),
        ("lost", "#!/no/such/interpreter\n", 0o755),
    ] {
        ground.script(name, text);
        std::fs::set_permissions(ground.path(name), Permissions::from_mode(mode)).expect("a file");
    }
    std::fs::create_dir(ground.path("directory")).expect("a file");
    symlink("loop", ground.path("loop")).expect("a file");
    symlink("nowhere", ground.path("dangling")).expect("a file");
    symlink("/bin/true", ground.path("link")).expect("a file");
    let mut inner = "/bin/echo".to_owned();
    for level in 1..=6 {
        inner = ground.script(&format!("deep{level}"), &format!("#!{inner}\n"));
    }
}

#[test]
fn every_failing_exec_has_the_errno_it_has_without_a_gate() {
    let ground = Ground::full("");
    prepare(&ground);
    let fixture = binary("fixture-fails").display().to_string();
    let directory = ground.path("").display().to_string();
    let mut bare = Command::new(&fixture);
    bare.arg(&directory);
    let (_, expected, _) = finish(bare);
    assert!(expected.contains("deep6 40\n"), "{expected}");
    let ran = ground.run(&[&fixture, &directory]);
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
    assert!(expected.ends_with("traced false\n"), "{expected}");
    // What the kernel was asked to find out by itself has an outcome, and nothing ran.
    let continued = of_type(&ran.records, "exec.decision")
        .filter(|record| record["effect"]["sent"] == "continue")
        .count();
    assert_eq!(of_type(&ran.records, "exec.outcome").count(), continued);
    assert_eq!(ran.results("verified"), 1);
    assert_eq!(ran.results("failed"), continued - 1);
}

#[test]
fn the_record_of_a_failed_exec_names_its_errno() {
    let ground = Ground::full("");
    prepare(&ground);
    for (name, errno) in [("empty", "ENOEXEC"), ("lost", "ENOENT")] {
        let ran = ground.run(&["bash", "-c", &format!("exec ./{name}")]);
        let outcome = ran.outcome(&[&format!("./{name}")]);
        assert_eq!(
            (&outcome["result"], &outcome["errno"]),
            (&"failed".into(), &errno.into()),
            "{name}"
        );
    }
}

#[test]
fn a_denied_file_that_cannot_run_is_denied_all_the_same() {
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"DIR/plain\"\n");
    prepare(&ground);
    // With EPERM in place of ENOEXEC the shell does not interpret it either.
    let ran = ground.sh("./plain; echo $?; ./empty; echo $?");
    assert_eq!(ran.stdout, "126\n0\n", "{}", ran.stderr);
}

/// Its caller ends right after: too soon for a timer, not for a stop behind the call.
#[test]
fn the_record_of_a_script_whose_interpreter_is_missing_names_its_errno() {
    let ground = Ground::full("");
    prepare(&ground);
    let ran = ground.run(&["bash", "-c", "exec ./lost"]);
    assert_eq!(ran.code(), Some(127));
    let outcome = ran.outcome(&["./lost"]);
    assert_eq!(
        (&outcome["result"], &outcome["errno"]),
        (&"failed".into(), &"ENOENT".into())
    );
}

/// Nobody could execute it: nothing is judged, nobody is asked, and the kernel's errno is the answer.
#[test]
fn a_file_without_the_execute_bit_is_answered_as_the_kernel_would() {
    let ground = Ground::allowlist("[[allow]]\nid = \"sh\"\nprogram = \"bash\"\n");
    prepare(&ground);
    for name in ["noexec", "directory"] {
        let ran = ground.run(&["bash", "-c", &format!("exec ./{name}")]);
        assert_eq!(ran.code(), Some(126), "{name}");
        assert!(!ran.stderr.contains("execward: denied"), "{}", ran.stderr);
        assert!(ran.decisions(&[&format!("./{name}")]).is_empty(), "{name}");
    }
    let ran = ground.run(&["bash", "-c", "exec ./plain"]);
    assert!(
        ran.stderr.contains("execward: denied"),
        "its twin is judged: {}",
        ran.stderr
    );
}

/// AT_EXECVE_CHECK loads nothing, and its answer is the gate's own.
#[test]
fn a_question_to_the_kernel_is_judged_and_loads_nothing() {
    let fixture = binary("fixture-fails").display().to_string();
    let words = [fixture.as_str(), "check", "/usr/bin/touch"];
    let mut bare = Command::new(words[0]);
    bare.args(&words[1..]);
    let (_, expected, _) = finish(bare);
    let ran = Ground::full("").run(&words);
    assert_eq!(ran.stdout, expected, "{}", ran.stderr);
    let denied = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n");
    let ran = denied.run(&words);
    if expected == "check 22\n" {
        return skip("this kernel has no AT_EXECVE_CHECK");
    }
    assert_eq!(
        (expected.as_str(), ran.stdout.as_str()),
        ("check 0\n", "check 1\n")
    );
    assert_eq!(
        ran.decisions(&["/usr/bin/touch"])[0]["decision"]["verdict"],
        "deny"
    );
}
