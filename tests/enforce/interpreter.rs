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
