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

#[test]
fn what_a_dynamic_linker_starts_is_known_by_where_its_path_leads() {
    let ruleset = policy("[[deny]]\nid = 'd'\nprogram = ['/usr/bin/touch', 'curl']");
    let mut request = call(
        ProgramFile::at("/lib64/ld-linux-x86-64.so.2"),
        &["ld.so", "--argv0", "x", "./link", "m"],
    );
    request.cwd = Some("/w".into());
    let paths = ruleset.named_paths(&request);
    assert_eq!(paths, [b"/w/./link".to_vec()]);
    let mut decide = |path: &str| {
        let destination = crate::request::Destination::as_written(path.as_bytes());
        request.destinations = [(paths[0].clone(), destination)].into();
        ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
    };
    assert_eq!(decide("/usr/bin/touch"), Decision::Deny);
    assert_eq!(decide("/usr/bin/curl"), Decision::Deny);
    assert_eq!(decide("/usr/bin/true"), Decision::Ask);
}

#[test]
fn a_command_is_denied_when_its_file_is_given_to_an_interpreter() {
    let ruleset = load(&[(
        "version = 1\nmode.security = 'full'\n\
         [[deny]]\nid = 'pip'\ncommand = 'pip install'\n\
         [[deny]]\nid = 'npm'\ncommand = 'npm publish'\n\
         [[deny]]\nid = 'tool'\nprogram = '/opt/tool'",
        Layer::User,
    )]);
    for (line, decision) in [
        ("/usr/bin/python3 /usr/bin/pip3 install x", Decision::Deny),
        (
            "/usr/bin/python3 -I -W x /usr/bin/pip install x",
            Decision::Deny,
        ),
        ("/usr/bin/python3 /usr/bin/pip3 list", Decision::Allow),
        (
            "/usr/bin/python3 a.py /usr/bin/pip3 install",
            Decision::Allow,
        ),
        (
            "/usr/bin/python3 -c x /usr/bin/pip3 install",
            Decision::Allow,
        ),
        ("/usr/bin/node /usr/bin/npm publish", Decision::Deny),
        ("/usr/bin/node --no-warnings /x/npm publish", Decision::Deny),
        ("/usr/bin/node /x/npm run publish", Decision::Allow),
        ("/usr/bin/sh /opt/tool", Decision::Deny),
        ("/usr/bin/sh -x /opt/tool a", Decision::Deny),
        ("/usr/bin/sh -c x /opt/tool", Decision::Allow),
        ("/usr/bin/perl -w /opt/tool", Decision::Deny),
        ("/usr/bin/sed /opt/tool", Decision::Allow),
    ] {
        assert_eq!(decide(&ruleset, line), decision, "{line}");
    }
}
