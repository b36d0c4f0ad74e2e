//! What a loaded policy decides.

use super::*;
use crate::mode::Ask;
use std::sync::Arc;

use crate::request::{Ancestor, Interpreter, Lineage, Origin, ProgramFile, RuleKey};
use crate::source::{Layer, NoIncludes};

fn load(sources: &[(&str, Layer)]) -> Ruleset {
    let sources: Vec<Source<'_>> = sources
        .iter()
        .map(|(text, layer)| Source {
            name: "p.toml",
            text: text.as_bytes(),
            layer: *layer,
        })
        .collect();
    Ruleset::load(&sources, &Places::of_tests(), &NoIncludes)
        .unwrap_or_else(|faults| panic!("{faults}"))
}

/// A user's policy in mode `allowlist`, `on-miss`, of these rules.
fn policy(rules: &str) -> Ruleset {
    let text = format!("version = 1\nmode.security = \"allowlist\"\n{rules}");
    load(&[(&text, Layer::User)])
}

fn call(program: ProgramFile, argv: &[&str]) -> ExecRequest {
    let argv = argv.iter().map(|argument| (*argument).into()).collect();
    ExecRequest::new(program, argv)
}

fn script(path: &str, interpreter: &str, argument: Option<&str>) -> ExecRequest {
    ExecRequest {
        interpreters: vec![Interpreter {
            file: ProgramFile::at(interpreter),
            argument: argument.map(Into::into),
        }],
        ..call(ProgramFile::at(path), &["x"])
    }
}

/// Decides a call whose first word is the path of the file and argv[0].
fn decide(ruleset: &Ruleset, line: &str) -> Decision {
    let argv: Vec<&str> = line.split(' ').collect();
    let request = call(ProgramFile::at(argv[0]), &argv);
    ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
}

#[test]
fn an_allow_permits_what_it_names_and_no_more() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = ['git status', '~/bin/x']");
    assert_eq!(decide(&ruleset, "/usr/bin/git status -s"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/home/u/bin/x y"), Decision::Allow);
    for line in [
        "/usr/bin/git",
        "/usr/bin/git -C x status",
        "/usr/bin/git stat",
        "/w/git status",
        "/usr/bin/gitk status",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Ask, "{line}");
    }
}

#[test]
fn a_deny_beats_an_allow_and_holds_for_the_name_anywhere() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = ['git', '/w/git']\n[[deny]]\nid = 'd'\ncommand = 'git push'",
    );
    assert_eq!(decide(&ruleset, "/usr/bin/git status"), Decision::Allow);
    for line in [
        "/usr/bin/git push",
        "/usr/bin/git -C sub push",
        "/w/git push",
        "/elsewhere/git --no-pager push origin",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Deny, "{line}");
    }
    assert_eq!(
        decide(&ruleset, "/usr/bin/git commit -m push"),
        Decision::Allow
    );
}

#[test]
fn an_ask_beats_an_allow() {
    let ruleset =
        policy("[[allow]]\nid = 'a'\nprogram = 'git'\n[[ask]]\nid = 'q'\ncommand = 'git push'");
    assert_eq!(decide(&ruleset, "/usr/bin/git status"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/usr/bin/git push"), Decision::Ask);
}

#[test]
fn the_first_argument_identifies_nothing() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = 'git status'");
    let disguised = call(ProgramFile::at("/tmp/evil"), &["/usr/bin/git", "status"]);
    assert_eq!(
        ruleset.decide(&disguised, Timestamp::UNIX_EPOCH).decision(),
        Decision::Ask
    );
    let odd = call(ProgramFile::at("/usr/bin/git"), &["evil", "status"]);
    assert_eq!(
        ruleset.decide(&odd, Timestamp::UNIX_EPOCH).decision(),
        Decision::Allow
    );
    let none = call(ProgramFile::at("/usr/bin/git"), &[]);
    assert_eq!(
        ruleset.decide(&none, Timestamp::UNIX_EPOCH).decision(),
        Decision::Ask
    );
}

#[test]
fn an_allow_by_path_holds_for_every_name_on_the_way() {
    let linked = ProgramFile {
        given: "/tmp/l".into(),
        links: vec!["/tmp/l".into(), "/opt/profile/tool".into()],
        ..ProgramFile::at("/store/tool-1")
    };
    for (program, decision) in [
        ("/tmp/l", Decision::Allow),
        ("/opt/profile/*", Decision::Allow),
        ("/store/**", Decision::Allow),
        ("/opt/tool", Decision::Ask),
    ] {
        let ruleset = policy(&format!("[[allow]]\nid = 'a'\nprogram = '{program}'"));
        let request = call(linked.clone(), &["l"]);
        assert_eq!(
            ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            decision,
            "{program}"
        );
    }
}

#[test]
fn an_allow_ignores_a_path_through_a_parent_and_a_deny_does_not() {
    let file = ProgramFile {
        given: "/opt/tools/../tools/x".into(),
        ..ProgramFile::at("/tmp/evil")
    };
    let request = call(file, &["x"]);
    let allow = policy("[[allow]]\nid = 'a'\nprogram = '/opt/tools/'");
    assert_eq!(
        allow.decide(&request, Timestamp::UNIX_EPOCH).decision(),
        Decision::Ask
    );
    let deny = policy("[[deny]]\nid = 'd'\nprogram = '/opt/tools/x'");
    assert_eq!(
        deny.decide(&request, Timestamp::UNIX_EPOCH).decision(),
        Decision::Deny
    );
}

#[test]
fn a_file_that_proves_nothing_is_never_allowed_and_still_denied() {
    let allow = policy("[[allow]]\nid = 'a'\nprogram = ['git', '/**']");
    let deny = policy("[[deny]]\nid = 'd'\nprogram = 'git'");
    for origin in [Origin::Foreign, Origin::Anonymous, Origin::Unstable] {
        let file = ProgramFile {
            origin,
            ..ProgramFile::at("/usr/bin/git")
        };
        let request = call(file, &["git"]);
        assert_eq!(
            allow.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            Decision::Ask,
            "{origin:?}"
        );
        assert_eq!(
            deny.decide(&request, Timestamp::UNIX_EPOCH).decision(),
            Decision::Deny,
            "{origin:?}"
        );
    }
}

#[test]
fn exceptions_take_away_from_a_permission_in_doubt() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = ['git *', '!git push']");
    assert_eq!(decide(&ruleset, "/usr/bin/git status"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/usr/bin/git -C x push"), Decision::Ask);
}

#[test]
fn exceptions_take_away_from_a_prohibition_only_what_is_proven() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '/**'\n\
         [[deny]]\nid = 'd'\ncommand = ['git', '!git status']\n\
         [[deny]]\nid = 'e'\nprogram = ['!/usr/', '!/w/']",
    );
    assert_eq!(decide(&ruleset, "/usr/bin/git status"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/usr/bin/git -C x status"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/w/git status"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/w/x"), Decision::Allow);
    assert_eq!(decide(&ruleset, "/opt/x"), Decision::Deny);
}

#[test]
fn beside_program_a_command_only_says_what_the_file_is_called() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = '~/.cargo/bin/*'\ncommand = 'cargo test'\n\
         [[deny]]\nid = 'd'\nprogram = '/w/'\ncommand = 'cargo run'",
    );
    assert_eq!(
        decide(&ruleset, "/home/u/.cargo/bin/cargo test"),
        Decision::Allow
    );
    assert_eq!(
        decide(&ruleset, "/home/u/.cargo/bin/cargo run"),
        Decision::Ask
    );
    assert_eq!(
        decide(&ruleset, "/home/u/.cargo/bin/other test"),
        Decision::Ask
    );
    assert_eq!(decide(&ruleset, "/usr/bin/cargo test"), Decision::Ask);
    assert_eq!(decide(&ruleset, "/w/cargo run"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/usr/bin/cargo run"), Decision::Ask);
}

#[test]
fn an_allow_binds_the_command_to_the_name_that_program_covers() {
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = '/usr/bin/*'\ncommand = 'cargo test'");
    let disguised = ProgramFile {
        given: "/tmp/cargo".into(),
        links: vec!["/tmp/cargo".into()],
        ..ProgramFile::at("/usr/bin/env")
    };
    let request = call(disguised, &["cargo", "test"]);
    assert_eq!(
        ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision(),
        Decision::Ask
    );
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

#[test]
fn rules_of_every_source_count() {
    let ruleset = load(&[
        (
            "version = 1\n[[deny]]\nid = 'a'\nprogram = 'x'",
            Layer::Builtin,
        ),
        ("version = 1\nmode.security = 'full'", Layer::User),
        (
            "version = 1\n[[deny]]\nid = 'a'\nprogram = 'y'",
            Layer::User,
        ),
    ]);
    assert_eq!(decide(&ruleset, "/usr/bin/x"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/usr/bin/y"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/usr/bin/z"), Decision::Allow);
}

#[test]
fn the_mode_comes_key_by_key_from_the_highest_layer_and_its_last_source() {
    let ruleset = load(&[
        (
            "version = 1\nmode = { security = 'allowlist', ask = 'off' }",
            Layer::User,
        ),
        ("version = 1\nmode.security = 'full'", Layer::User),
        (
            "version = 1\nmode = { security = 'deny', ask = 'always' }",
            Layer::Builtin,
        ),
    ]);
    assert_eq!(
        ruleset.mode(),
        Mode {
            security: Security::Full,
            ask: Ask::Off,
            ask_fallback: Security::Deny,
            approval: None,
        }
    );
}

#[test]
fn without_a_mode_nothing_runs() {
    let ruleset = load(&[("version = 1", Layer::User)]);
    assert_eq!(
        ruleset.mode(),
        Mode {
            security: Security::Deny,
            ask: Ask::OnMiss,
            ask_fallback: Security::Deny,
            approval: None,
        }
    );
    assert_eq!(
        Ruleset::load(&[], &Places::of_tests(), &NoIncludes)
            .map(|ruleset| ruleset.mode())
            .ok(),
        Some(ruleset.mode())
    );
}

#[test]
fn a_verdict_names_the_rule_that_led_to_it() {
    let text = "version = 1\nmode.security = 'SECURITY'\nmode.ask = 'ASK'\n\
        [[allow]]\nid = 'allow'\nprogram = 'allowed'\n\
        [[ask]]\nid = 'ask'\nprogram = 'asked'\n\
        [[deny]]\nid = 'deny'\nprogram = 'denied'\nreason = 'r'\ninstead = 'i'";
    for (security, ask, allowed, asked) in [
        ("allowlist", "on-miss", Some("allow"), Some("ask")),
        ("allowlist", "off", Some("allow"), Some("ask")),
        ("full", "always", None, Some("ask")),
        ("deny", "on-miss", None, None),
    ] {
        let text = text.replace("SECURITY", security).replace("ASK", ask);
        let ruleset = load(&[(&text, Layer::User)]);
        let id = |name: &str| {
            let request = call(ProgramFile::at(format!("/usr/bin/{name}")), &[]);
            ruleset
                .decide(&request, Timestamp::UNIX_EPOCH)
                .rule()
                .map(|rule| rule.id().to_owned())
        };
        assert_eq!(id("allowed").as_deref(), allowed, "{security} {ask}");
        assert_eq!(id("asked").as_deref(), asked, "{security} {ask}");
        assert_eq!(id("denied").as_deref(), Some("deny"), "{security} {ask}");
        assert_eq!(id("other"), None, "{security} {ask}");
    }
}

#[test]
fn of_several_rules_the_highest_layer_and_then_the_first_id_is_named() {
    let ruleset = load(&[
        (
            "version = 1\n[[deny]]\nid = 'a'\nprogram = 'x'",
            Layer::Builtin,
        ),
        (
            "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'c'\nprogram = '**/x'\n\
             [[deny]]\nid = 'b'\nprogram = '/usr/**'",
            Layer::User,
        ),
    ]);
    let request = call(ProgramFile::at("/usr/bin/x"), &[]);
    let verdict = ruleset.decide(&request, Timestamp::UNIX_EPOCH);
    let rule = verdict.rule().unwrap();
    assert_eq!(
        (rule.id(), rule.layer(), rule.source(), rule.line()),
        ("b", Layer::User, "p.toml", 6)
    );
}

/// A call of touch below a process that the rule `a` allowed.
fn child_of_a() -> ExecRequest {
    let ancestor = Ancestor {
        files: vec![ProgramFile::at("/usr/bin/make")],
        allowed_by: Some(RuleKey {
            layer: Layer::User,
            id: "a".to_owned(),
        }),
    };
    ExecRequest {
        lineage: Lineage {
            ancestors: vec![Arc::new(ancestor)],
            is_broken: false,
        },
        ..call(ProgramFile::at("/usr/bin/touch"), &["touch", "x"])
    }
}

#[test]
fn children_end_with_their_rule() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = 'make'\nchildren = 'touch'\nexpires = 2026-01-01T00:00:00Z",
    );
    let at = |time: &str| {
        ruleset
            .decide(&child_of_a(), time.parse().unwrap())
            .decision()
    };
    assert_eq!(at("2025-12-31T23:59:59Z"), Decision::Allow);
    assert_eq!(at("2026-01-01T00:00:00Z"), Decision::Ask);
}

#[test]
fn a_module_is_a_program_however_the_flag_is_written() {
    let ruleset = load(&[(
        "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\ncommand = 'pip install'",
        Layer::User,
    )]);
    for line in [
        "/usr/bin/python3 -m pip install x",
        "/usr/bin/python3 -mpip install x",
        "/usr/bin/python3.12 -Im pip install x",
        "/usr/bin/python3 -Bmpip -q install x",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Deny, "{line}");
    }
    for line in [
        "/usr/bin/python3 -m venv pip",
        "/usr/bin/python3 setup.py install",
        "/usr/bin/perl -mpip install",
    ] {
        assert_eq!(decide(&ruleset, line), Decision::Allow, "{line}");
    }
}

#[test]
fn a_path_is_that_file_and_no_twin_of_it() {
    let ruleset = load(&[(
        "version = 1\nmode.security = 'full'\n[[deny]]\nid = 'd'\ncommand = '/opt/bin/git push'",
        Layer::User,
    )]);
    assert_eq!(decide(&ruleset, "/opt/bin/git push"), Decision::Deny);
    assert_eq!(
        decide(&ruleset, "/usr/lib/git-core/git-push"),
        Decision::Allow
    );
}
