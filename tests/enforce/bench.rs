//! The author's bench: `policy lint`, `test` and `diff`.

use std::fs;
use std::process::Command;

use execward_tests::{Ground, binary, finish};
use serde_json::Value;

/// The exit status, what is printed, and what is said.
fn policy(ground: &Ground, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binary("execward"));
    command
        .arg("policy")
        .args(words)
        .current_dir(ground.path(""))
        .env("HOME", ground.path("home"));
    let (status, stdout, stderr) = finish(command);
    (status.code(), stdout, stderr)
}

/// Thirteen faults, each in a rule of its own or in the mode, and their kinds.
const PLANTED: &str = r#"version = 1
trusted_dirs = ["~/bin"]
[mode]
security = "allowlist"
ask_fallback = "full"
[[allow]]
id = "writable-program"
program = "${workspace}/tools/*"
[[allow]]
id = "writable-children"
command = "ls -l"
children = ["${workspace}/hooks/*", "/usr/bin/*"]
[[allow]]
id = "any-children"
command = "cat /dev/null"
children = "/**"
[[allow]]
id = "any-script"
program = "perl"
[[deny]]
id = "directory-alone"
path = "/etc"
[[allow]]
id = "cannot-hold"
command = "head"
expires = 2020-01-01T00:00:00Z
[[allow]]
id = "first"
command = "tail -n"
[[allow]]
id = "duplicate"
command = ["tail -n"]
[[deny]]
id = "no-cut"
command = "cut"
[[allow]]
id = "shadowed"
command = "cut -c"
[[ask]]
id = "sort-asks"
command = "sort"
[[allow]]
id = "unreachable"
command = "sort -u"
[[deny]]
id = "multicall-name"
program = "busybox"
[[allow]]
id = "missing-program"
command = "no-such-program"
"#;

#[test]
fn every_planted_fault_is_found_and_nothing_in_the_presets() {
    let ground = Ground::new(PLANTED);
    let (code, found, said) = policy(&ground, &["lint", "--policy", "policy.toml", "--json"]);
    assert_eq!(code, Some(1), "{said}");
    let mut kinds: Vec<String> = Vec::new();
    for line in found.lines() {
        let warning: Value = serde_json::from_str(line).expect("JSON");
        let kind = warning["kind"].as_str().expect("a kind");
        // Each rule is called what is the matter with it.
        assert!(
            warning["rule"].is_null() || warning["rule"] == kind,
            "{line}"
        );
        kinds.push(kind.to_owned());
    }
    kinds.sort();
    let expected = [
        "any-children",
        "any-script",
        "cannot-hold",
        "contradictory-modes",
        "directory-alone",
        "duplicate",
        "missing-program",
        "multicall-name",
        "shadowed",
        "unreachable",
        "writable-children",
        "writable-program",
        "writable-trusted-dir",
    ];
    assert_eq!(kinds, expected);
    let (_, words, _) = policy(&ground, &["lint", "--policy", "policy.toml"]);
    assert!(
        words.contains("policy.toml:6: rule writable-program: the session can write"),
        "{words}"
    );
    assert!(words.ends_with("13 warnings in policy.toml\n"), "{words}");
    for preset in ["strict", "dev", "ci"] {
        let (code, words, _) = policy(&ground, &["lint", "--preset", preset]);
        assert_eq!(
            (code, words),
            (Some(0), format!("nothing to say in preset:{preset}\n"))
        );
    }
    // A policy with faults is not looked at further.
    fs::write(ground.path("policy.toml"), "version = 2\n").expect("a policy");
    assert_eq!(
        policy(&ground, &["lint", "--policy", "policy.toml"]).0,
        Some(2)
    );
}

const RULES: &str = "version = 1\n[mode]\nsecurity = \"allowlist\"\n\
    [[allow]]\nid = \"log\"\ncommand = \"git log\"\n\
    [[deny]]\nid = \"push\"\ncommand = \"git push\"\n\
    [[allow]]\nid = \"edit\"\ntool = \"file_write\"\npath = \"${workspace}/in/\"\n\
    [tools.file_write]\nask = \"on-miss\"\n";

const CASES: &str = "[[case]]\nargv = \"git log -1\"\nexpect = \"allow\"\nrule = \"log\"\n\
    [[case]]\nargv = [\"git\", \"push\"]\nexpect = \"deny\"\n\
    [[case]]\nshell = \"cd in && git log; git push\"\nexpect = \"deny\"\nrule = \"push\"\n\
    [[case]]\ntool = \"file_write\"\npath = \"../in/x\"\ncwd = \"in\"\nexpect = \"allow\"\n\
    [[case]]\nargv = \"git log\"\nenv = \"LD_PRELOAD=x\"\nexpect = \"ask\"\n\
    [[case]]\nargv = \"make\"\nvia = [\"git\"]\nexpect = \"ask\"\n";

#[test]
fn cases_are_tried_and_told_apart() {
    let ground = Ground::new(RULES);
    fs::create_dir(ground.path("in")).expect("a directory");
    fs::write(ground.path("cases.toml"), CASES).expect("cases");
    let test = |cases: &str| policy(&ground, &["test", "--policy", "policy.toml", cases]);
    let (code, words, said) = test("cases.toml");
    assert_eq!(
        (code, words.as_str()),
        (Some(0), "6 cases, 0 failed\n"),
        "{said}"
    );
    let wrong = CASES.replace(
        "expect = \"allow\"\nrule = \"log\"",
        "expect = \"allow\"\nrule = \"edit\"",
    );
    fs::write(
        ground.path("wrong.toml"),
        wrong.replace("\"ask\"", "\"deny\""),
    )
    .expect("cases");
    let (code, words, _) = test("wrong.toml");
    assert_eq!(code, Some(1));
    let expected = "wrong.toml:1: expected allow (rule edit), got allow (rule log): git log -1\n\
        wrong.toml:17: expected deny, got ask: git log\n\
        wrong.toml:21: expected deny, got ask: make\n6 cases, 3 failed\n";
    assert_eq!(words, expected);
    fs::write(
        ground.path("other.toml"),
        RULES.replace("git push", "git pull"),
    )
    .expect("a policy");
    let words = ["diff", "policy.toml", "other.toml", "--cases", "cases.toml"];
    let (code, differing, _) = policy(&ground, &words);
    assert_eq!(code, Some(1));
    let expected = "cases.toml:5: deny (rule push) -> ask: git push\n\
        cases.toml:8: deny (rule push) -> ask: sh -c \"cd in && git log; git push\"\n\
        6 cases, 2 differ\n";
    assert_eq!(differing, expected);
    let words = [
        "diff",
        "policy.toml",
        "policy.toml",
        "--cases",
        "cases.toml",
        "--json",
    ];
    assert_eq!(
        policy(&ground, &words),
        (Some(0), String::new(), String::new())
    );
}

#[test]
fn every_fault_of_a_file_of_cases_is_told_with_its_place() {
    let ground = Ground::new(RULES);
    let cases = "x = 1\n[[case]]\nargv = \"git 'log\"\nexpect = \"allow\"\n\
        [[case]]\nargv = \"git\"\nexpect = \"maybe\"\n\
        [[case]]\nargv = \"git\"\nshell = \"x\"\nexpect = \"ask\"\n\
        [[case]]\nargvs = \"git\"\n[[case]]\nargv = \"ls\"\n\
        [[case]]\nargv = \"ls\"\npath = \"x\"\nexpect = \"ask\"\n\
        [[case]]\nargv = []\nexpect = \"ask\"\n[[case]]\nargv = \"ls\"\nenv = \"X\"\nexpect = \"ask\"\n";
    fs::write(ground.path("cases.toml"), cases).expect("cases");
    let (code, words, said) = policy(&ground, &["test", "--policy", "policy.toml", "cases.toml"]);
    assert_eq!((code, words.as_str()), (Some(2), ""));
    let places = [
        "1:1", "2:1", "7:10", "8:1", "13:1", "14:1", "16:1", "20:1", "23:1",
    ];
    let told: Vec<_> = said.lines().skip(1).collect();
    assert_eq!(told.len(), places.len(), "{said}");
    for (line, place) in told.iter().zip(places) {
        assert!(line.starts_with(&format!("cases.toml:{place}: ")), "{line}");
    }
    for (text, why) in [
        (&b""[..], "there is no `[[case]]`"),
        (b"[[case]]\nargv = \"\xff\"", "not UTF-8"),
        (b"[[case]]\nargv = 1", "a text or a list of texts"),
        (b"[[case]]\nargv = \"ls | x\"\nexpect = \"ask\"", "one call"),
        (b"[[case]]\nargv = [\"\\u0000\"]\nexpect = \"ask\"", "NUL"),
        (
            b"[[case]]\ntool = \"\"\nexpect = \"ask\"",
            "a tool has a name",
        ),
    ] {
        fs::write(ground.path("cases.toml"), text).expect("cases");
        let (code, _, said) = policy(&ground, &["test", "--policy", "policy.toml", "cases.toml"]);
        assert_eq!(code, Some(2));
        assert!(said.contains(why), "{said}");
    }
}
