//! Which rule and which mode a verdict rests on.

use super::*;

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
fn a_question_for_a_higher_supervisor_is_a_refusal_unless_it_is_lifted() {
    let asks = "[[ask]]\nid = 'a'\nprogram = 'x'\nescalate = true\n\
        [[ask]]\nid = '0'\nprogram = 'x'\n[[ask]]\nid = 'b'\nprogram = 'y'\nescalate = false";
    let agent = format!("version = 1\n{asks}");
    let user = "version = 1\nmode = { security = 'full', ask_fallback = 'full' }\n";
    let ruleset = load(&[(&agent, Layer::Agent), (user, Layer::User)]);
    assert_eq!(decide(&ruleset, "/usr/bin/x"), Decision::Deny);
    assert_eq!(decide(&ruleset, "/usr/bin/y"), Decision::Ask);
    let request = ExecRequest::new(ProgramFile::at("/usr/bin/x"), vec![b"x".to_vec()]);
    let explained = ruleset.explain(&request, Timestamp::UNIX_EPOCH);
    assert_eq!(explained.verdict.rule().map(Rule::id), Some("a"));
    let hits: Vec<_> = explained.hits.iter().map(|hit| hit.rule.id()).collect();
    assert_eq!(hits, ["a", "0"]);
    let lifting = format!("{user}[[allow]]\nid = 'l'\nprogram = 'x'");
    let ruleset = load(&[(&agent, Layer::Agent), (&lifting, Layer::User)]);
    assert_eq!(decide(&ruleset, "/usr/bin/x"), Decision::Allow);
}

#[test]
fn a_question_for_a_higher_supervisor_is_one_where_a_policy_names_it() {
    let asks = "[[ask]]\nid = 'a'\nprogram = 'x'\nescalate = true\n\
        [[ask]]\nid = '0'\nprogram = 'x'";
    let agent = format!("version = 1\n{asks}");
    for (mode, expected) in [
        ("security = 'full', ask_fallback = 'full'", Decision::Ask),
        ("security = 'allowlist'", Decision::Ask),
        ("security = 'full', ask = 'off'", Decision::Deny),
        ("security = 'deny'", Decision::Deny),
        ("security = 'full', approval = 'never'", Decision::Deny),
    ] {
        let user = format!("version = 1\nmode = {{ {mode}, escalate_to = '/run/up' }}");
        let ruleset = load(&[(&agent, Layer::Agent), (&user, Layer::User)]);
        assert_eq!(ruleset.escalate_to(), Some("/run/up"));
        let request = ExecRequest::new(ProgramFile::at("/usr/bin/x"), vec![b"x".to_vec()]);
        let verdict = ruleset.decide(&request, Timestamp::UNIX_EPOCH);
        assert_eq!(verdict.decision(), expected, "{mode}");
        assert_eq!(verdict.unanswered(), Decision::Deny, "{mode}");
        if expected == Decision::Ask {
            assert_eq!(verdict.rule().map(Rule::id), Some("a"));
        }
    }
}

#[test]
fn a_variable_is_looked_for_in_the_call_and_missed_in_doubt() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = 'aws'\n\
         [[ask]]\nid = 'q'\nenv = ['AWS_PROFILE=prod*', '!AWS_PROFILE=production-read']\n\
         [[deny]]\nid = 'd'\nprogram = 'aws'\nenv = 'LD_PRELOAD'",
    );
    let decide = |env: Option<&[&str]>| {
        let env = env.map(|env| env.iter().map(|variable| (*variable).into()).collect());
        let argv = vec![b"aws".to_vec(), b"s3".to_vec()];
        let request = ExecRequest::new(ProgramFile::at("/usr/bin/aws"), argv);
        let request = ExecRequest { env, ..request };
        ruleset.decide(&request, Timestamp::UNIX_EPOCH).decision()
    };
    assert_eq!(decide(Some(&[])), Decision::Allow);
    assert_eq!(
        decide(Some(&["AWS_PROFILE=dev", "TERM=x"])),
        Decision::Allow
    );
    assert_eq!(
        decide(Some(&["AWS_PROFILE=production-read"])),
        Decision::Allow
    );
    assert_eq!(
        decide(Some(&["A=b", "AWS_PROFILE=production"])),
        Decision::Ask
    );
    assert_eq!(
        decide(Some(&["AWS_PROFILE=dev", "AWS_PROFILE=prod"])),
        Decision::Ask
    );
    assert_eq!(
        decide(Some(&["AWS_PROFILE=prod", "LD_PRELOAD=x"])),
        Decision::Deny
    );
    assert_eq!(decide(None), Decision::Deny);
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
fn an_allow_of_fewer_words_lifts_no_ask() {
    for (allow, decision) in [
        ("program = 'git'", Decision::Ask),
        ("command = 'git *'", Decision::Ask),
        ("command = 'git push'", Decision::Allow),
        ("command = 'git push origin'", Decision::Allow),
        ("argv = ['git', 'push', 'origin']", Decision::Allow),
    ] {
        let user = format!("version = 1\nmode.security = 'full'\n[[allow]]\nid = 'a'\n{allow}");
        let ruleset = load(&[
            (
                "version = 1\n[[ask]]\nid = 'q'\ncommand = 'git push'",
                Layer::Builtin,
            ),
            (&user, Layer::User),
        ]);
        let call = "/usr/bin/git push origin";
        assert_eq!(decide(&ruleset, call), decision, "{allow}");
    }
}

#[test]
fn where_one_mode_never_asks_no_other_does() {
    let never = "version = 1\nmode = { security = 'full', ask = 'off' }";
    for beside in [
        "version = 1\nlayer = 'agent'\nmode.ask = 'always'",
        "version = 1\nlayer = 'floor'\nmode.ask = 'always'",
    ] {
        let ruleset = load(&[(never, Layer::User), (beside, Layer::User)]);
        let request = call(ProgramFile::at("/usr/bin/x"), &[]);
        let verdict = ruleset.decide(&request, Timestamp::UNIX_EPOCH);
        assert_eq!(verdict.decision(), Decision::Deny, "{beside}");
        assert_eq!(verdict.unanswered(), Decision::Deny, "{beside}");
        assert!(
            matches!(verdict.basis(), Basis::Default { ask: Ask::Off, .. }),
            "{beside}"
        );
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

/// A file that brings rights, called by its path.
fn bringing_rights(path: &str) -> ExecRequest {
    let program = ProgramFile {
        gains_rights: true,
        ..ProgramFile::at(path)
    };
    call(program, &[path])
}

#[test]
fn rights_are_asked_about_beside_all_else_and_each_refusal_is_for_its_own() {
    let rules = "[[ask]]\nid = 'rights'\nprogram = '@setuid'\n\
        [[ask]]\nid = 'asked'\nprogram = 'asked'\n\
        [[allow]]\nid = 'ok'\nprogram = ['/usr/bin/ok', '/usr/bin/asked']";
    for (approval, ok, asked, missed, plain_missed) in [
        ("'unless_trusted'", 'P', 'P', 'P', 'P'),
        ("'never'", 'D', 'D', 'D', 'D'),
        ("{ reject = { rules = true } }", 'P', 'D', 'D', 'D'),
        (
            "{ reject = { sandbox_approval = true } }",
            'D',
            'D',
            'D',
            'P',
        ),
        (
            "{ reject = { rules = true, sandbox_approval = true } }",
            'D',
            'D',
            'D',
            'D',
        ),
    ] {
        let text = format!(
            "version = 1\nmode = {{ security = 'allowlist', approval = {approval} }}\n{rules}"
        );
        let ruleset = load(&[(&text, Layer::User)]);
        let letter = |request: &ExecRequest| {
            let verdict = ruleset.decide(request, Timestamp::UNIX_EPOCH);
            match verdict.decision() {
                Decision::Allow => 'A',
                Decision::Ask => 'P',
                Decision::Deny => 'D',
            }
        };
        let plain = |path| call(ProgramFile::at(path), &[path]);
        let seen = [
            letter(&bringing_rights("/usr/bin/ok")),
            letter(&bringing_rights("/usr/bin/asked")),
            letter(&bringing_rights("/usr/bin/missed")),
            letter(&plain("/usr/bin/missed")),
            letter(&plain("/usr/bin/ok")),
        ];
        assert_eq!(seen, [ok, asked, missed, plain_missed, 'A'], "{approval}");
    }
}

#[test]
fn a_question_about_rights_is_lifted_as_any_is_and_never_falls_open() {
    let builtin = "version = 1\n[[ask]]\nid = 'rights'\nprogram = '@setuid'";
    let user = "version = 1\nmode = { security = 'full', ask_fallback = 'full' }\n\
        [[allow]]\nid = 'ok'\nprogram = '/usr/bin/ok'";
    let ruleset = load(&[(builtin, Layer::Builtin), (user, Layer::User)]);
    let decide = |path| ruleset.decide(&bringing_rights(path), Timestamp::UNIX_EPOCH);
    assert_eq!(decide("/usr/bin/ok").decision(), Decision::Allow);
    let asked = decide("/usr/bin/other");
    assert_eq!(asked.decision(), Decision::Ask);
    assert_eq!(asked.unanswered(), Decision::Deny);
    assert_eq!(asked.rule().map(Rule::id), Some("rights"));
}

#[test]
fn no_allow_means_the_files_that_bring_rights() {
    let ruleset = policy("[[allow]]\nid = 'a'\nprogram = ['@setuid', '/usr/bin/*', '!@setuid']");
    let decide = |request: &ExecRequest| ruleset.decide(request, Timestamp::UNIX_EPOCH).decision();
    assert_eq!(decide(&bringing_rights("/usr/bin/x")), Decision::Ask);
    assert_eq!(
        decide(&call(ProgramFile::at("/usr/bin/x"), &["x"])),
        Decision::Allow
    );
}
