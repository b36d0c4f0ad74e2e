//! The second seed's gate: lists of programs, patterns, and the order in which they count.

use execward_policy::seed::{
    AllowlistPolicy, CommandResolution, ExecAsk, ExecPolicy, ExecSecurity,
};
use execward_policy::{Action, Basis, Origin};

use crate::s1_modes::{allowlist, entry};
use crate::*;

/// What `patterns` let run where nothing is asked.
#[track_caller]
fn listed(patterns: &[&str]) -> Ruleset {
    allowlist(ExecSecurity::Allowlist, ExecAsk::Off, patterns)
}

#[test]
fn r60_a_session_without_grants_runs_nothing() {
    let ruleset = load_translation(&AllowlistPolicy::default().translate(None).unwrap());
    for line in ["rm -rf /", "ls", "cat /etc/shadow", "/home/u/bin/x"] {
        assert_eq!(decide(&ruleset, line), Decision::Deny, "{line}");
    }
}

#[test]
fn r62_what_destroys_is_known_by_its_arguments() {
    let ruleset =
        load_translation(&lists(&[], &["rm -rf /", "reboot"]).translate(&AskForApproval::Never));
    assert_decisions(
        &ruleset,
        &[
            ("rm -rf /", Decision::Deny),
            ("rm -r -f /", Decision::Deny),
            ("rm -fr /", Decision::Deny),
            ("rm --force --recursive /", Decision::Deny),
            ("rm / -rf", Decision::Deny),
            ("/usr/bin/rm -Rf /", Decision::Deny),
            ("/sbin/reboot", Decision::Deny),
            ("rm -rf build", Decision::Allow),
            ("git commit -m reboot", Decision::Allow),
        ],
    );
}

#[test]
fn r64_both_lists_are_the_authors() {
    let ruleset = policy(
        "mode = { security = 'allowlist', ask = 'off' }\n[[allow]]\nid = 'a'\nprogram = ['ls', 'cat']\n[[deny]]\nid = 'd'\nprogram = 'cat'",
    );
    assert_decisions(
        &ruleset,
        &[
            ("ls", Decision::Allow),
            ("cat", Decision::Deny),
            ("rm", Decision::Deny),
        ],
    );
}

#[test]
fn r65_a_command_is_its_file_and_its_words() {
    let ruleset = policy(
        "mode = { security = 'allowlist', ask = 'off' }\n[[allow]]\nid = 'a'\nprogram = '/opt/git/bin/git'\ncommand = 'git status'",
    );
    assert_decisions(
        &ruleset,
        &[
            ("/opt/git/bin/git status -s", Decision::Allow),
            ("/opt/git/bin/git push", Decision::Deny),
            ("git status", Decision::Deny),
        ],
    );
}

/// A call that a rule of each kind holds for, as rules are taken away.
#[test]
fn r68_denies_come_before_allows_and_the_mode_comes_last() {
    let rules = [
        "[[deny]]\nid = 'd'\ncommand = 'git push'\n",
        "[[ask]]\nid = 'q'\ncommand = 'git push'\n",
        "[[allow]]\nid = 'a'\ncommand = 'git push'\n",
    ];
    let actions = [
        Some(Action::Deny),
        Some(Action::Ask),
        Some(Action::Allow),
        None,
    ];
    for (taken, action) in actions.into_iter().enumerate() {
        let text = format!("mode.security = 'allowlist'\n{}", rules[taken..].concat());
        let ruleset = policy(&text);
        let request = call("git push");
        let explanation = ruleset.explain(&request, NOW);
        let decisive = explanation
            .verdict
            .rule()
            .map(execward_policy::Rule::action);
        assert_eq!(decisive, action, "{text}");
        let hits = explanation.hits.iter().map(|hit| hit.rule.action());
        assert!(
            hits.eq(actions[taken..].iter().copied().flatten()),
            "{text}"
        );
        let is_by_mode = matches!(explanation.verdict.basis(), Basis::Default { .. });
        assert_eq!(is_by_mode, action.is_none(), "{text}");
    }
}

#[test]
fn r69_what_is_denied_has_a_reason_and_what_is_allowed_needs_none() {
    let translation = lists(&["ls"], &["rm"]).translate(&AskForApproval::UnlessTrusted);
    let ruleset = load_translation(&translation);
    let of = |line: &str| ExecPolicyDecision::of(&ruleset, &translation, &call(line), NOW);
    assert_eq!(of("ls").requirement.phase(), "allowed");
    let denied = of("rm x");
    assert_eq!(denied.requirement.phase(), "forbidden");
    assert!(
        denied.reason().contains("`rm` is a denied prefix"),
        "{}",
        denied.reason()
    );
}

#[test]
fn r71_one_function_judges() {
    let ruleset = policy(
        "mode.security = 'allowlist'\n[[allow]]\nid = 'a'\nprogram = 'ls'\n[[deny]]\nid = 'd'\nprogram = 'rm'",
    );
    for line in ["ls", "rm", "cat"] {
        let request = call(line);
        let explained = ruleset.explain(&request, NOW).verdict;
        assert_eq!(decision(&ruleset, &request), explained.decision());
    }
}

#[test]
fn r73_a_program_is_an_absolute_path() {
    let request = call("ls");
    let resolution = CommandResolution::from(&request.program);
    assert_eq!(resolution.resolved_path.as_deref(), Some("/usr/bin/ls"));
    // The path decides, whatever the caller calls the program.
    let ruleset = listed(&["/usr/bin/ls"]);
    let mut renamed = call("ls");
    renamed.argv = vec![b"cat".to_vec()];
    assert_eq!(decision(&ruleset, &renamed), Decision::Allow);
    let mut disguised = call("/opt/ls");
    disguised.argv = vec![b"/usr/bin/ls".to_vec()];
    assert_eq!(decision(&ruleset, &disguised), Decision::Deny);
}

#[test]
fn r74_an_entry_is_a_glob_over_resolved_paths() {
    let ruleset = listed(&["/opt/tool-?/bin/*", "git"]);
    assert_decisions(
        &ruleset,
        &[
            ("/opt/tool-1/bin/x any arguments", Decision::Allow),
            ("/opt/tool-10/bin/x", Decision::Deny),
            ("git push", Decision::Allow),
        ],
    );
    let mut through_a_link = call("/opt/tool-1/bin/x");
    through_a_link.program.resolved = Some("/home/u/x".into());
    assert_eq!(decision(&ruleset, &through_a_link), Decision::Allow);
    through_a_link.program.given = "/opt/tool-1/bin/../../../home/u/x".into();
    assert_eq!(decision(&ruleset, &through_a_link), Decision::Deny);
}

#[test]
fn r93_stars_and_question_marks_stop_at_a_slash() {
    for (pattern, hits, misses) in [
        ("/opt/*", ["/opt/a", "/opt/.a"], ["/opt/a/b", "/opt"]),
        ("/opt/**", ["/opt/a", "/opt/a/b/c"], ["/opt", "/optical/a"]),
        (
            "/opt/**/bin/x",
            ["/opt/bin/x", "/opt/a/b/bin/x"],
            ["/opt/bin/y", "/bin/x"],
        ),
        (
            "/opt/a?c",
            ["/opt/abc", "/opt/a-c"],
            ["/opt/a/c", "/opt/ac"],
        ),
        (
            "/opt/[ab]{c}",
            ["/opt/[ab]{c}", "/opt/[ab]{c}"],
            ["/opt/ac", "/opt/bc"],
        ),
    ] {
        let ruleset = listed(&[pattern]);
        for path in hits {
            assert_eq!(decide(&ruleset, path), Decision::Allow, "{pattern} {path}");
        }
        for path in misses {
            assert_eq!(decide(&ruleset, path), Decision::Deny, "{pattern} {path}");
        }
    }
}

#[test]
fn r94_a_pattern_with_a_slash_is_about_the_path() {
    let ruleset = listed(&["/usr/bin/*"]);
    assert_decisions(
        &ruleset,
        &[
            ("/usr/bin/ls", Decision::Allow),
            ("/usr/local/bin/ls", Decision::Deny),
        ],
    );
}

#[test]
fn r95_case_counts_unless_it_is_said_otherwise() {
    let ruleset = listed(&["/opt/Tool"]);
    assert_decisions(
        &ruleset,
        &[
            ("/opt/Tool", Decision::Allow),
            ("/opt/tool", Decision::Deny),
        ],
    );
    let ignoring = "mode = { security = 'allowlist', ask = 'off' }\n\
                    [[allow]]\nid = 'a'\nprogram = '/opt/Tool'\nignore_case = true";
    assert_decisions(
        &policy(ignoring),
        &[
            ("/opt/Tool", Decision::Allow),
            ("/OPT/tool", Decision::Allow),
            ("/opt/tools", Decision::Deny),
        ],
    );
}

#[test]
fn r96_a_tilde_is_the_home_of_the_sessions_user() {
    let ruleset = listed(&["~/bin/*"]);
    assert_decisions(
        &ruleset,
        &[
            ("/home/u/bin/x", Decision::Allow),
            ("/home/v/bin/x", Decision::Deny),
        ],
    );
}

#[test]
fn r130_what_is_allowed_goes_on_and_what_is_denied_does_not() {
    let ruleset = listed(&["/usr/bin/ls"]);
    let verdict = |line: &str| {
        let request = call(line);
        let verdict = ruleset.decide(&request, NOW);
        (verdict.decision(), verdict.unanswered())
    };
    assert_eq!(verdict("ls"), (Decision::Allow, Decision::Allow));
    assert_eq!(verdict("cat"), (Decision::Deny, Decision::Deny));
}

#[test]
fn r138_a_name_is_no_proof() {
    let ruleset = listed(&["git", "/usr/bin/ls"]);
    assert_decisions(
        &ruleset,
        &[
            ("git status", Decision::Allow),
            ("/usr/local/bin/git status", Decision::Allow),
            ("/workspace/bin/git status", Decision::Deny),
            ("/home/u/bin/ls", Decision::Deny),
        ],
    );
    // Nor is a directory that the session can write, whatever it is called.
    let mut planted = call("git status");
    planted.program.is_settled = false;
    assert_eq!(decision(&ruleset, &planted), Decision::Deny);
    let mut foreign = call("ls");
    foreign.program.origin = Origin::Foreign;
    assert_eq!(decision(&ruleset, &foreign), Decision::Deny);
}

#[test]
fn r143_the_types_are_there_and_a_policy_of_them_is_judged() {
    let text = r#"{"security":"allowlist","ask":"off","askFallback":"deny"}"#;
    let policy = AllowlistPolicy {
        policy: serde_json::from_str::<ExecPolicy>(text).unwrap(),
        allowlist: vec![entry("ls", "/usr/bin/ls")],
        ..AllowlistPolicy::default()
    };
    let translation = policy.translate(None).unwrap();
    let ruleset = load_translation(&translation);
    let request = call("ls");
    let rule = ruleset.decide(&request, NOW).rule().unwrap();
    assert_eq!(
        (rule.id(), translation.label(rule)),
        ("ls", Some("/usr/bin/ls"))
    );
}

#[test]
fn o31_a_fallback_is_for_questions_that_nobody_answers() {
    for (fallback, miss) in [
        ("deny", Decision::Deny),
        ("allowlist", Decision::Deny),
        ("full", Decision::Allow),
    ] {
        let ruleset = policy(&format!(
            "mode = {{ security = 'full', ask = 'always', ask_fallback = '{fallback}' }}\n\
             [[ask]]\nid = 'q'\nprogram = 'rm'"
        ));
        let request = call("cat");
        assert_eq!(
            ruleset.decide(&request, NOW).unanswered(),
            miss,
            "{fallback}"
        );
        // An ask means a person.
        let request = call("rm");
        assert_eq!(
            ruleset.decide(&request, NOW).unanswered(),
            Decision::Deny,
            "{fallback}"
        );
    }
    // It is no other way of asking: where nothing is asked, it changes nothing.
    let ruleset = policy("mode = { security = 'allowlist', ask = 'off', ask_fallback = 'full' }");
    assert_eq!(decide(&ruleset, "ls"), Decision::Deny);
}

#[test]
fn o32_deny_is_absolute_and_always_means_always() {
    let always = |security| allowlist(security, ExecAsk::Always, &["/usr/bin/ls"]);
    assert_decisions(&always(ExecSecurity::Deny), &[("ls", Decision::Deny)]);
    assert_decisions(
        &always(ExecSecurity::Full),
        &[("ls", Decision::Ask), ("cat", Decision::Ask)],
    );
}

#[test]
fn o36_a_bare_name_is_a_name_in_a_trusted_directory() {
    let ruleset = listed(&["ls", "/opt/a?c"]);
    assert_decisions(
        &ruleset,
        &[
            ("/usr/bin/ls", Decision::Allow),
            ("/workspace/ls", Decision::Deny),
            ("/opt/a/c", Decision::Deny),
        ],
    );
    let wild = AllowlistPolicy {
        allowlist: vec![entry("a", "l?")],
        ..AllowlistPolicy::default()
    };
    assert!(faults(&wild.translate(None).unwrap()).contains("a bare name takes no wildcard"));
}

#[test]
fn o40_an_escalation_without_a_route_is_a_refusal() {
    let ruleset = policy(
        "mode.security = 'full'\n[[ask]]\nid = 'q'\ncommand = 'terraform apply'\nescalate = true\n[[allow]]\nid = 'a'\ncommand = 'terraform apply'",
    );
    assert_decisions(
        &ruleset,
        &[
            ("terraform apply", Decision::Deny),
            ("terraform plan", Decision::Allow),
        ],
    );
}

#[test]
fn o43_arguments_are_judged_and_no_substrings() {
    let denied = ["rm -rf /", "reboot", "shutdown"];
    let ruleset = load_translation(&lists(&[], &denied).translate(&AskForApproval::Never));
    assert_decisions(
        &ruleset,
        &[
            ("rm -rf /tmp/x", Decision::Allow),
            ("cat asphalt.txt", Decision::Allow),
            ("rm -r -f /", Decision::Deny),
            ("rm   -rf  /", Decision::Deny),
        ],
    );
    let request = argv(&["git", "commit", "-m", "reboot the build, rm -rf / and all"]);
    assert_eq!(decision(&ruleset, &request), Decision::Allow);
}
