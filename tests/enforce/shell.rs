//! A shell's text, judged before anybody runs it.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use execward_tests::{Ground, binary};
use serde_json::Value;

const RULES: &str = "[[allow]]\nid = \"git\"\ncommand = [\"git status\", \"git log\"]\n\
    [[allow]]\nid = \"sh\"\nprogram = \"@shells\"\n\
    [[deny]]\nid = \"no-push\"\ncommand = \"git push\"\nreason = \"a person publishes\"\n\
    [[deny]]\nid = \"secret\"\npath = \"DIR/secret\"\n\
    [[deny]]\nid = \"no-kill\"\ncommand = \"pwd\"\n";

fn ground(mode: &str) -> Ground {
    let ground = Ground::full("");
    let rules = RULES.replace("DIR", &ground.path("").display().to_string());
    let text = format!("version = 1\n[mode]\nsecurity = \"allowlist\"\n{mode}\n{rules}");
    fs::write(ground.path("policy.toml"), text).expect("a policy");
    fs::create_dir(ground.path("sub")).expect("a directory");
    symlink("../secret", ground.path("sub/link")).expect("a link");
    ground
}

/// The exit status, and what is printed.
fn check(ground: &Ground, text: &str) -> (Option<i32>, Value) {
    let output = Command::new(binary("execward"))
        .args([
            "check",
            "--policy",
            "policy.toml",
            "--json",
            "--shell",
            text,
        ])
        .current_dir(ground.path(""))
        .env("HOME", ground.path(""))
        .output()
        .expect("execward");
    let shown = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), shown)
}

#[test]
fn a_text_gets_the_strictest_verdict_of_its_commands() {
    let ground = ground("");
    for (text, status) in [
        ("git status", 0),
        ("git status && git log -1 | wc -l", 0),
        ("cd sub && git status; echo done", 0),
        ("", 0),
        ("git status; git push", 4),
        ("git log | git -C x push", 4),
        ("if git status; then git push; fi", 4),
        ("f() { git push; }", 4),
        ("echo $(git push)", 4),
        ("sh -c 'git status; g\"\"it push'", 4),
        ("eval git push", 4),
        ("timeout 5 git push", 4),
        ("trap 'git push' EXIT", 4),
        ("eval 'git status'", 0),
        ("trap 'git status' EXIT", 0),
        ("git log > secret", 4),
        ("git log < sub/link", 4),
        ("cd sub; git log >> ../secret", 4),
        ("git log > secret; cd /", 4),
        ("pwd", 4),
        ("make", 3),
        ("git log > out", 3),
        ("git log $x", 3),
        ("eval \"$x\"", 3),
        ("(cd sub; git status)", 0),
        ("(cd sub; git log > ../secret)", 4),
        ("(cd sub); git log > ../secret", 3),
        ("false && cd sub; git status", 3),
        ("trap 'git status' EXIT; cd sub", 3),
        ("sh -c 'cd sub'; git log > secret", 4),
        ("cd /no/such/place && git status", 3),
        ("echo \"open", 3),
    ] {
        let (code, shown) = check(&ground, text);
        assert_eq!(code, Some(status), "{text}: {shown}");
    }
}

/// What keeps a command from being told is said of the text; of its program the policy says the same.
#[test]
fn a_program_is_judged_whatever_else_is_not_told_of_it() {
    let ground = ground("");
    for text in ["PATH=/x make", "xargs bash -c make", "fish -c make"] {
        let (code, shown) = check(&ground, text);
        let judged = shown["judged"].as_array().expect("what is judged");
        assert_eq!((code, judged.len()), (Some(3), 1), "{text}: {shown}");
    }
}

/// Nobody is asked, so that what cannot be told is refused.
#[test]
fn a_text_that_cannot_be_told_whole_is_never_allowed() {
    let ground = ground("ask = \"off\"");
    for text in ["git log $x", "git log > out", "git log `x`", "git log *"] {
        let (code, shown) = check(&ground, text);
        assert_eq!(code, Some(4), "{text}");
        assert!(shown["not_analysed"].is_string(), "{shown}");
    }
    assert_eq!(check(&ground, "git log").0, Some(0));
}

#[test]
fn a_text_that_is_too_much_is_said_to_be() {
    let ground = ground("");
    for (text, why) in [
        ("a;".repeat(40_000), "longer than 65536 bytes"),
        ("a;".repeat(1_100), "too many commands"),
        ("$(".repeat(20_000), ""),
        ("(".repeat(30_000), ""),
        // Its end, where the parser looks at no clock, is the kernel's to bound.
        ("a | ".repeat(10_000), ""),
        ("{a,".repeat(10_000), ""),
        ("<<E ".repeat(10_000), ""),
        ("eval ".repeat(10_000), ""),
    ] {
        let (code, shown) = check(&ground, &text);
        assert_eq!(code, Some(3), "{shown}");
        let said = shown["not_analysed"].as_str().expect("why");
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn the_commands_of_a_text_are_told_with_their_words_and_pipelines() {
    let ground = ground("");
    let (_, shown) = check(&ground, "A=1 git log 'a b' | wc -l && git status");
    let analysis = &shown["analysis"];
    assert_eq!(analysis["segments"][0]["argv"][2], "a b");
    assert_eq!(analysis["segments"][0]["env"][0], "A=1");
    assert_eq!(analysis["segments"][1]["raw"], "wc -l");
    assert_eq!(analysis["chains"], serde_json::json!([[0, 1], [2]]));
    assert_eq!(analysis["ok"], true);
    let (_, shown) = check(&ground, "git log > x");
    assert_eq!(shown["analysis"]["ok"], false);
    assert_eq!(shown["analysis"]["refused"][0]["token"], "redirection");
    assert_eq!(shown["analysis"]["reason"], "redirection `> x` at 1:9");
}
