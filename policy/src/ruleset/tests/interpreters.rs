//! `#!` interpreters: denied like any image, allowed with their script or by themselves.

use super::*;

#[test]
fn an_ask_that_is_lifted_for_one_image_and_not_for_another_is_not_lifted() {
    let ruleset = load(&[
        (
            "version = 1\n[[ask]]\nid = 'q'\nprogram = ['tool', 'sh']",
            Layer::Builtin,
        ),
        (
            "version = 1\nmode.security = 'full'\n[[allow]]\nid = 'a'\nprogram = 'tool'",
            Layer::User,
        ),
    ]);
    let request = script("/usr/bin/tool", "/usr/bin/sh", None);
    let explanation = ruleset.explain(&request, Timestamp::UNIX_EPOCH);
    assert_eq!(explanation.verdict.decision(), Decision::Ask);
    assert!(!explanation.hits[0].is_lifted);
}

#[test]
fn a_deny_holds_for_an_interpreter() {
    for rule in [
        "program = 'node'",
        "program = '/usr/bin/node'",
        "command = 'node'",
    ] {
        let ruleset = policy(&format!(
            "[[allow]]\nid = 'a'\nprogram = '/w/x'\n[[deny]]\nid = 'd'\n{rule}"
        ));
        let request = script("/w/x", "/usr/bin/node", None);
        assert_eq!(
            ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            Decision::Deny,
            "{rule}"
        );
        let request = script("/w/x", "/usr/bin/perl", None);
        assert_eq!(
            ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            Decision::Allow,
            "{rule}"
        );
    }
}

#[test]
fn a_deny_holds_for_words_on_the_interpreter_line() {
    let ruleset =
        policy("[[allow]]\nid = 'a'\nprogram = '/w/x'\n[[deny]]\nid = 'd'\ncommand = 'git push'");
    for (argument, decision) in [
        (Some("push"), Decision::Deny),
        (Some("status"), Decision::Allow),
        (None, Decision::Allow),
    ] {
        let request = script("/w/x", "/usr/bin/git", argument);
        assert_eq!(
            ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            decision,
            "{argument:?}"
        );
    }
}

#[test]
fn an_allowed_script_brings_a_trusted_interpreter_along_and_no_other() {
    let script_alone = "[[allow]]\nid = 'a'\nprogram = '/w/x'\n";
    for (rules, interpreter, decision) in [
        ("", "/usr/bin/python3", Decision::Allow),
        ("", "/w/venv/python", Decision::Ask),
        (
            "[[allow]]\nid = 'i'\nprogram = '/w/venv/python'",
            "/w/venv/python",
            Decision::Allow,
        ),
        (
            "[[allow]]\nid = 'i'\ncommand = '/w/venv/python'",
            "/w/venv/python",
            Decision::Ask,
        ),
    ] {
        let ruleset = policy(&format!("{script_alone}{rules}"));
        let request = script("/w/x", interpreter, None);
        assert_eq!(
            ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            decision,
            "{rules} {interpreter}"
        );
    }
}

#[test]
fn an_allowed_interpreter_does_not_allow_its_script() {
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = 'python3'");
    let request = script("/w/x", "/usr/bin/python3", None);
    assert_eq!(
        ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
        Decision::Ask
    );
}
