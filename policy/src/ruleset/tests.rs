//! What a loaded policy decides.

use std::sync::Arc;

use super::*;
use crate::approval::Category;
use crate::mode::{Ask, Security, State};
use crate::request::{Ancestor, Interpreter, Lineage, Origin, ProgramFile, RuleKey};
use crate::source::{Layer, NoIncludes};
use crate::trust::SYSTEM_DIRS;
use crate::verdict::{Basis, Decision, Verdict};

mod applets;
mod case;
mod commands;
mod digests;
mod env;
mod history;
mod interpreters;
mod named;
mod reference;
mod shells;
mod synonyms;
mod tables;
mod tool_calls;
mod unlisted;
mod verdicts;

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

/// A user's policy of this rule alone, where nobody is asked: what it does not hold for gets the
/// opposite.
fn alone(action: &str, keys: &str) -> Ruleset {
    let security = if action == "allow" {
        "allowlist"
    } else {
        "full"
    };
    let text = format!(
        "version = 1\nmode = {{ security = '{security}', ask = 'off' }}\n\
         [[{action}]]\nid = 'r'\n{keys}"
    );
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
        "/usr/bin/git -c a=b status",
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
    let led = ProgramFile {
        given: "/opt/tools/../tools/x".into(),
        ..ProgramFile::at("/opt/tools/x")
    };
    let allow = policy("[[allow]]\nid = 'a'\nprogram = '/opt/tools/'");
    assert_eq!(
        allow
            .decide(&call(led, &["x"]), Timestamp::UNIX_EPOCH)
            .decision(),
        Decision::Allow
    );
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
fn what_rules_call_the_same_file_elsewhere_forbids_and_permits_nothing() {
    let file = ProgramFile {
        aliases: vec!["/usr/bin/git".into()],
        ..ProgramFile::at("/tmp/link")
    };
    let request = call(file, &["x", "push"]);
    let decision = |rules: &str| {
        policy(rules)
            .decide(&request, Timestamp::UNIX_EPOCH)
            .decision()
    };
    for selector in [
        "program = 'git'",
        "program = '/usr/bin/git'",
        "command = 'git push'",
    ] {
        assert_eq!(
            decision(&format!("[[deny]]\nid = 'd'\n{selector}")),
            Decision::Deny
        );
        assert_eq!(
            decision(&format!("[[allow]]\nid = 'a'\n{selector}")),
            Decision::Ask
        );
    }
    let excepting = "[[deny]]\nid = 'd'\nprogram = ['/tmp/', '!/usr/bin/git']";
    assert_eq!(decision(excepting), Decision::Deny);
}

#[test]
fn the_files_that_a_policy_forbids_or_asks_about_are_named() {
    let ruleset = policy(
        "[[deny]]\nid = 'd'\nprogram = ['/opt/x', '/opt/*', '**/y', '!/opt/z']\n\
         [[ask]]\nid = 'q'\ncommand = 'git push'\n[[allow]]\nid = 'a'\nprogram = '/opt/a'",
    );
    let named: Vec<_> = ruleset.named_files().collect();
    assert_eq!(named.first(), Some(&b"/opt/x".to_vec()));
    assert_eq!(named.len(), 1 + SYSTEM_DIRS.len());
    assert!(named.contains(&b"/usr/local/bin/git".to_vec()));
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
