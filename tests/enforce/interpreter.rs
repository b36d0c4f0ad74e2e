//! `#!`: the kernel's rewriting, level by level.

use execward_tests::Ground;

#[test]
fn nested_interpreters_run_as_deep_as_the_kernel_goes() {
    let ground = Ground::full("");
    let mut inner = ground.script("s1", "#!/bin/echo one\n");
    for level in 2..=6 {
        inner = ground.script(&format!("s{level}"), &format!("#!{inner} arg{level}\n"));
    }
    for level in 1..=5 {
        let ran = ground.run(&[&format!("./s{level}"), "x"]);
        assert_eq!(ran.code(), Some(0), "level {level}: {}", ran.stderr);
        assert!(
            ran.stdout.starts_with("one ") && ran.stdout.ends_with(" x\n"),
            "{}",
            ran.stdout
        );
        assert_eq!(ran.results("verified"), 1, "level {level}");
    }
    let too_deep = ground.run(&["./s6"]);
    assert_eq!(too_deep.code(), Some(126), "{}", too_deep.stdout);
    assert_eq!(too_deep.outcome(&["./s6"])["errno"], "ELOOP");
}

#[test]
fn a_denied_script_and_a_denied_interpreter_do_not_run() {
    let rules = "[[deny]]\nid = \"script\"\nprogram = \"DIR/evil\"\n\
        [[deny]]\nid = \"interpreter\"\nprogram = \"DIR/interp\"\n";
    let ground = Ground::full(rules);
    let interpreter = ground.copy("/usr/bin/touch", "interp");
    ground.script("evil", "#!/usr/bin/touch marker1\n");
    ground.script("by-interp", &format!("#!{interpreter} marker2\n"));
    ground.script("fine", "#!/usr/bin/touch marker3\n");
    let ran = ground.sh("./evil; ./by-interp; ./fine");
    for (marker, ran_it) in [("marker1", false), ("marker2", false), ("marker3", true)] {
        assert_eq!(
            ground.path(marker).try_exists().unwrap(),
            ran_it,
            "{marker}: {}",
            ran.stderr
        );
    }
    assert_eq!(
        ran.decisions(&["./by-interp"])[0]["decision"]["rule"]["id"],
        "interpreter"
    );
}

#[test]
fn a_missing_interpreter_fails_as_the_kernel_says() {
    let ground = Ground::full("");
    ground.script("lost", "#!/no/such/interpreter\n");
    let ran = ground.sh("./lost; echo $?");
    assert_eq!(ran.stdout, "127\n");
    assert_eq!(ran.outcome(&["./lost"])["errno"], "ENOENT");
}

#[test]
fn a_file_without_a_format_is_left_to_the_caller() {
    let ground = Ground::full("");
    ground.script("plain", "echo interpreted\n");
    let ran = ground.sh("./plain");
    assert_eq!(ran.stdout, "interpreted\n");
    assert_eq!(ran.outcome(&["./plain"])["errno"], "ENOEXEC");
}

#[test]
fn the_record_of_a_script_names_its_interpreter() {
    let ground = Ground::full("");
    ground.script("s", "#!/bin/sh -e\necho $1\n");
    let ran = ground.run(&["./s", "word"]);
    assert_eq!(ran.stdout, "word\n");
    let script = &ran.decisions(&["./s"])[0]["proc"]["script"];
    assert_eq!(
        (&script["interp"], &script["optarg"]),
        (&"/bin/sh".into(), &"-e".into())
    );
}

/// A copy of `from` that names `loader` as its ELF interpreter.
fn with_loader(ground: &Ground, from: &str, name: &str, loader: &str) -> String {
    const SYSTEM: &[u8] = b"/lib64/ld-linux-x86-64.so.2";
    let bytes = std::fs::read(from).expect("the program");
    let at = bytes
        .windows(SYSTEM.len())
        .position(|window| window == SYSTEM);
    let at = at.expect("a dynamic program of x86-64");
    assert!(loader.len() <= SYSTEM.len(), "{loader} is too long");
    let (before, from_there) = bytes.split_at(at);
    let (_, after) = from_there.split_at(SYSTEM.len());
    let padding = vec![0; SYSTEM.len() - loader.len()];
    let bytes = [before, loader.as_bytes(), &padding, after].concat();
    let path = ground.copy(from, name);
    std::fs::write(&path, bytes).expect("a program");
    path
}

/// `./t marker`, where `t` is touch with the interpreter DIR/ld, under `ground`.
pub(crate) fn run_with_own_loader(ground: &Ground) -> execward_tests::Ran {
    let _loader = ground.copy("/lib64/ld-linux-x86-64.so.2", "ld");
    // The kernel opens it from the task's directory; the room for the name is small.
    let _t = with_loader(ground, "/usr/bin/touch", "t", "./ld");
    ground.sh("./t marker")
}

#[test]
fn an_elf_interpreter_is_an_image_that_a_deny_holds_for() {
    let denying = Ground::full("[[deny]]\nid = \"d\"\nprogram = \"DIR/ld\"\n");
    let ran = run_with_own_loader(&denying);
    assert!(!denying.has("marker"), "{}", ran.stderr);
    let outcome = ran.outcome(&["./t", "marker"]);
    assert_eq!(
        (&outcome["result"], &outcome["difference"]),
        (&"killed".into(), &"loader".into())
    );
    let twin = Ground::full("");
    let ran = run_with_own_loader(&twin);
    assert!(twin.has("marker"), "{}", ran.stderr);
    assert_eq!(ran.outcome(&["./t", "marker"])["result"], "changed");
}

#[test]
fn an_elf_interpreter_of_ones_own_must_be_allowed_too() {
    const RULES: &str =
        "[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n[[allow]]\nid = \"t\"\nprogram = ";
    let without = Ground::allowlist(&format!("{RULES}\"DIR/t\"\n"));
    let ran = run_with_own_loader(&without);
    assert!(!without.has("marker"), "{}", ran.stderr);
    assert_eq!(ran.outcome(&["./t", "marker"])["result"], "killed");
    let with = Ground::allowlist(&format!("{RULES}[\"DIR/t\", \"DIR/ld\"]\n"));
    let ran = run_with_own_loader(&with);
    assert!(with.has("marker"), "{}", ran.stderr);
}
