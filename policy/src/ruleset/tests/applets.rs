//! An allow of a multi-call file names its applets.

use super::*;

fn decide_as(ruleset: &Ruleset, file: ProgramFile, argv: &[&str]) -> Decision {
    let request = call(file, argv);
    ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
}

#[test]
fn program_says_which_file_and_command_which_applets() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '/usr/bin/busybox'\ncommand = ['cat', 'ls', '!ls -R', 'find']",
    );
    let busybox = || ProgramFile::at("/usr/bin/busybox");
    for (argv, decision) in [
        (&["busybox", "cat", "x"][..], Decision::Allow),
        (&["/usr/bin/busybox", "ls", "-l"], Decision::Allow),
        (&["cat", "x"], Decision::Allow),
        (&["/anything/cat", "x"], Decision::Allow),
        (&["busybox", "find", ".", "-name", "x"], Decision::Allow),
        (&["busybox", "find", ".", "-delete"], Decision::Ask),
        (&["busybox", "ls", "-R"], Decision::Ask),
        (&["busybox", "sh", "-c", "x"], Decision::Ask),
        (&["sh", "cat"], Decision::Ask),
        (&["cat", "busybox", "sh"], Decision::Allow),
        (&["busybox"], Decision::Ask),
        (&["busybox", "--install"], Decision::Ask),
    ] {
        assert_eq!(decide_as(&ruleset, busybox(), argv), decision, "{argv:?}");
    }
    let elsewhere = ProgramFile::at("/tmp/busybox");
    assert_eq!(
        decide_as(&ruleset, elsewhere, &["busybox", "cat"]),
        Decision::Ask
    );
}

#[test]
fn the_file_alone_is_none_of_its_applets() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = 'busybox'");
    let busybox = || ProgramFile::at("/usr/bin/busybox");
    assert_eq!(
        decide_as(&ruleset, busybox(), &["busybox", "rm", "x"]),
        Decision::Ask
    );
    assert_eq!(
        decide_as(&ruleset, busybox(), &["busybox"]),
        Decision::Allow
    );
    let open = policy("[[allow]]\nid = 'a'\ncommand = ['busybox *']");
    assert_eq!(
        decide_as(&open, busybox(), &["busybox", "rm", "x"]),
        Decision::Allow
    );
}

#[test]
fn an_applet_may_stand_behind_the_name_of_its_file() {
    for (command, argv, decision) in [
        (
            "'busybox cat'",
            &["busybox", "cat", "x"][..],
            Decision::Allow,
        ),
        ("'busybox cat'", &["busybox", "rm", "x"], Decision::Ask),
        ("'busybox cat'", &["cat", "x"], Decision::Ask),
        ("'busybox'", &["busybox", "cat", "x"], Decision::Ask),
        ("'busybox *'", &["busybox", "rm", "x"], Decision::Allow),
        (
            "['busybox *', '!rm']",
            &["busybox", "rm", "x"],
            Decision::Ask,
        ),
        ("['busybox *', '!rm']", &["busybox", "ls"], Decision::Allow),
    ] {
        let rule =
            format!("[[allow]]\nid = 'a'\nprogram = '/usr/bin/busybox'\ncommand = {command}");
        let file = ProgramFile::at("/usr/bin/busybox");
        assert_eq!(
            decide_as(&policy(&rule), file, argv),
            decision,
            "{command} {argv:?}"
        );
    }
}

#[test]
fn the_key_that_fails_for_an_applet_is_named() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '/usr/bin/busybox'\ncommand = 'grep'\nargs = ['x']\n\
         flags = '-n'",
    );
    for (argv, key) in [
        (&["busybox", "grep", "-i", "x"][..], "flags"),
        (&["busybox", "grep", "-n", "y"], "args"),
        (&["busybox", "rm", "x"], "command"),
    ] {
        let request = call(ProgramFile::at("/usr/bin/busybox"), argv);
        let explanation = ruleset.explain(&request, Timestamp::UNIX_EPOCH);
        let keys: Vec<_> = explanation.misses.iter().map(|miss| miss.key).collect();
        assert_eq!(keys, [key], "{argv:?}");
    }
}

#[test]
fn a_link_to_a_multi_call_file_is_the_applet_that_it_is_called() {
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = 'cat'");
    let link = || ProgramFile {
        given: "/bin/cat".into(),
        links: vec!["/bin/cat".into()],
        resolved: Some("/bin/busybox".into()),
        ..ProgramFile::at("/bin/cat")
    };
    assert_eq!(decide_as(&ruleset, link(), &["cat", "sh"]), Decision::Allow);
    assert_eq!(
        decide_as(&ruleset, link(), &["sh", "-c", "x"]),
        Decision::Ask
    );
    assert_eq!(
        decide_as(&ruleset, link(), &["busybox", "sh"]),
        Decision::Ask
    );
}

#[test]
fn the_other_keys_of_the_rule_look_at_the_applet() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '/usr/bin/busybox'\ncommand = 'grep'\nargs = ['x', 'y']\n\
         flags = '-n'\nmatch = ['/usr/bin/busybox grep -n x y']\n\
         not_match = ['/usr/bin/busybox grep x z', '/usr/bin/busybox grep -i x']",
    );
    let busybox = ProgramFile::at("/usr/bin/busybox");
    assert_eq!(
        decide_as(&ruleset, busybox, &["grep", "x"]),
        Decision::Allow
    );
}

#[test]
fn a_deny_of_a_path_is_one_of_the_applet_of_its_name() {
    let ruleset = policy("[[deny]]\nid = 'd'\nprogram = '/usr/bin/touch'");
    let denied = |file: ProgramFile, argv: &[&str]| {
        let verdict = ruleset.decide(&call(file, argv), Timestamp::UNIX_EPOCH);
        assert!(
            matches!(verdict.basis(), crate::verdict::Basis::Rule(_)),
            "{argv:?}"
        );
    };
    let busybox = || ProgramFile::at("/usr/bin/busybox");
    denied(busybox(), &["busybox", "touch", "m"]);
    denied(busybox(), &["touch", "m"]);
    denied(busybox(), &["busybox", "env", "busybox", "touch", "m"]);
    denied(busybox(), &["busybox", "busybox", "touch", "m"]);
    denied(busybox(), &["busybox", "./touch", "m"]);
    denied(busybox(), &["-touch", "m"]);
    denied(busybox(), &["busyboxx", "touch", "m"]);
    denied(busybox(), &["-busybox", "touch", "m"]);
    for started in [
        &["busybox", "env", "/usr/bin/touch", "m"][..],
        &["busybox", "busybox", "env", "/usr/bin/touch", "m"],
        &["busybox", "./env", "/usr/bin/touch", "m"],
        &["-env", "/usr/bin/touch", "m"],
        &["busyboxx", "env", "/usr/bin/touch", "m"],
        &["busybox", "env", "-S", "/usr/bin/touch m"],
    ] {
        denied(busybox(), started);
    }
    let linker = ProgramFile::at("/lib64/ld-linux-x86-64.so.2");
    denied(linker, &["ld.so", "/usr/bin/env", "/usr/bin/touch", "m"]);
    let link = ProgramFile {
        given: "/w/touch".into(),
        links: vec!["/w/touch".into()],
        ..busybox()
    };
    denied(link, &["touch", "m"]);
}

#[test]
fn an_applet_is_found_beside_entries_that_have_no_name() {
    let ruleset = policy("[[deny]]\nid = 'd'\nprogram = ['/usr/bin/touch', '/opt/x/*']");
    let busybox = ProgramFile::at("/usr/bin/busybox");
    assert_eq!(
        decide_as(&ruleset, busybox, &["busybox", "touch", "m"]),
        Decision::Deny
    );
}
