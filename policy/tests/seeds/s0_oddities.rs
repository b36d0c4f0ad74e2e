//! What is odd about the first seed, and what is right instead.

use execward_policy::seed::{AskForApproval, ExecApprovalRequirement};

use crate::s0_modes::offered;
use crate::*;

const UNLESS_TRUSTED: AskForApproval = AskForApproval::UnlessTrusted;
const NEVER: AskForApproval = AskForApproval::Never;

#[test]
fn o1_deny_is_no_prefix_of_text() {
    let policy = lists(&[], &["rm", "git push"]);
    assert_phases(
        &policy,
        &NEVER,
        &[
            ("rm x", "forbidden"),
            ("/opt/bin/rm x", "forbidden"),
            ("rmdir x", "allowed"),
            ("git push", "forbidden"),
            ("git pushx", "allowed"),
        ],
    );
    // The name of the file it is and the name it was called by.
    let ruleset = load_translation(&policy.translate(&NEVER));
    let mut request = call("/opt/tidy x");
    request.program.resolved = Some("/usr/bin/rm".into());
    assert_eq!(decision(&ruleset, &request), Decision::Deny);
}

#[test]
fn o2_deny_sees_through_spelling() {
    assert_phases(
        &lists(&[], &["git push"]),
        &NEVER,
        &[
            ("git   push", "forbidden"),
            ("git -c a=b push", "forbidden"),
            ("git --brand-new x push", "forbidden"),
            ("git --brand-new push", "forbidden"),
            ("/usr/bin/git push", "forbidden"),
            ("env A=1 git push", "forbidden"),
            ("nice timeout 3 git push", "forbidden"),
            ("git commit -m push", "allowed"),
            ("git -C push status", "allowed"),
        ],
    );
    // `FOO=1` and `ls &&` are no part of the exec.
    let ruleset = load_translation(&lists(&[], &["git push"]).translate(&NEVER));
    let mut request = call("git push");
    request.env = Some([b"FOO=1".to_vec()].into());
    assert_eq!(decision(&ruleset, &request), Decision::Deny);
}

#[test]
fn o3_one_core_compares_and_doubt_alone_has_a_direction() {
    let policy = lists(&["git", "git  status"], &["git  push"]);
    assert_phases(
        &policy,
        &UNLESS_TRUSTED,
        &[
            ("git  push", "forbidden"),
            ("git status", "allowed"),
            // One flag that nobody knows: too little for trust, enough for a deny.
            ("git --brand-new status", "needs_approval"),
            ("git --brand-new push", "forbidden"),
        ],
    );
}

#[test]
fn o4_an_empty_entry_is_an_error_with_its_place() {
    for entry in ["", "  ", "\t"] {
        for policy in [lists(&["ls", entry], &[]), lists(&[], &["ls", entry])] {
            let faults = faults(&policy.translate(&NEVER));
            assert!(faults.starts_with("seed:user:"), "{faults}");
            assert!(faults.contains("a command has no words"), "{faults}");
        }
    }
}

#[test]
fn o5_case_counts() {
    let policy = lists(&["git branch -d", "ls"], &["rm -R /srv"]);
    assert_phases(
        &policy,
        &UNLESS_TRUSTED,
        &[
            ("git branch -d x", "allowed"),
            ("git branch -D x", "needs_approval"),
            ("LS", "needs_approval"),
            ("rm -R /srv", "forbidden"),
            ("rm -R /SRV", "needs_approval"),
        ],
    );
}

#[test]
fn o6_no_text_inside_a_script_makes_a_shell_trusted() {
    let policy = lists(&["git status"], &[]);
    let ruleset = load_translation(&policy.translate(&UNLESS_TRUSTED));
    for script in ["git status", "git status && rm -rf /"] {
        let verdict = decision(&ruleset, &argv(&["sh", "-c", script]));
        assert_eq!(verdict, Decision::Ask, "{script}");
    }
    let chained = lists(&["git status && ls"], &[]).translate(&UNLESS_TRUSTED);
    assert!(faults(&chained).contains("shell syntax"));
}

#[test]
fn o7_flags_count_for_trust() {
    assert_phases(
        &lists(&["git status", "cargo test", "find", "sudo"], &[]),
        &UNLESS_TRUSTED,
        &[
            ("git --exec-path=/x status", "needs_approval"),
            ("git -c core.fsmonitor=x status", "needs_approval"),
            ("git -C sub status", "allowed"),
            ("cargo test --config x.toml", "needs_approval"),
            ("cargo test --workspace", "allowed"),
            ("find . -exec sh ;", "needs_approval"),
            ("find . -name x", "allowed"),
        ],
    );
}

#[test]
fn o8_one_reading_of_operands_and_a_family_says_so() {
    for (prefix, cases) in [
        (
            "npm run",
            [
                ("npm run dev", "needs_approval"),
                ("npm --silent run dev", "needs_approval"),
            ],
        ),
        (
            "npm run *",
            [
                ("npm run dev", "allowed"),
                ("npm --silent run dev", "allowed"),
            ],
        ),
        (
            "npm run dev",
            [
                ("npm run dev", "allowed"),
                ("npm --silent run dev", "allowed"),
            ],
        ),
    ] {
        assert_phases(&lists(&[prefix], &[]), &UNLESS_TRUSTED, &cases);
    }
}

#[test]
fn o9_a_flag_that_selects_counts_as_a_word() {
    assert_phases(
        &lists(&["python3 -m pytest"], &["python3 -m pip"]),
        &UNLESS_TRUSTED,
        &[
            ("python3 -m pytest tests", "allowed"),
            ("python3 -m http.server", "needs_approval"),
            ("python3 pytest", "needs_approval"),
            ("python3.12 -m pip download x", "forbidden"),
            ("python3 -m pip install x", "forbidden"),
            ("python3 -mpip install x", "forbidden"),
        ],
    );
    // So the bare name is not the family of its modules.
    assert_phases(
        &lists(&["python3"], &[]),
        &UNLESS_TRUSTED,
        &[
            ("python3", "allowed"),
            ("python3 -m http.server", "needs_approval"),
            ("python3 a.py", "needs_approval"),
        ],
    );
}

#[test]
fn o10_an_amendment_is_the_whole_name_of_a_command() {
    let none = lists(&[], &[]);
    for (line, prefix) in [
        ("cargo test --workspace", "cargo test"),
        ("git -C sub status", "git status"),
        ("git commit --amend", "git commit"),
        ("npm run build", "npm run build"),
        ("/opt/tool/bin/tool x", "/opt/tool/bin/tool"),
    ] {
        let prefixes = offered(&none, &UNLESS_TRUSTED, line);
        assert_eq!(prefixes, Some(strings(&[prefix])), "{line}");
    }
    // What was offered covers no sibling.
    let taken = lists(&["cargo test"], &[]);
    assert_eq!(
        phase(&taken, &UNLESS_TRUSTED, "cargo publish"),
        "needs_approval"
    );
}

#[test]
fn o10_nothing_is_offered_where_no_prefix_says_what_runs() {
    let none = lists(&[], &[]);
    for line in [
        "git -c core.pager=x log",
        "cargo test --config x.toml",
        "bash -c ls",
        "python3 a.py",
        "env ls",
        "npx eslint",
        "poetry run python",
        "uv run x",
        "npm exec eslint",
        "git",
        "npm",
        "sudo ls",
        "busybox ls",
        "docker run x",
        "/lib64/ld-linux-x86-64.so.2 /bin/ls",
    ] {
        assert_eq!(
            offered(&none, &AskForApproval::OnRequest, line),
            None,
            "{line}"
        );
    }
    // No half word, no wildcard that somebody typed, no file that is not there to be named.
    let ruleset = load_translation(&none.translate(&UNLESS_TRUSTED));
    let translation = none.translate(&UNLESS_TRUSTED);
    let offered = |request: &ExecRequest| {
        ExecPolicyDecision::of(&ruleset, &translation, request, NOW).requirement
    };
    let mut anonymous = call("ls");
    anonymous.program.resolved = None;
    let mut preloaded = call("ls");
    preloaded.env = Some([b"LD_PRELOAD=/tmp/x.so".to_vec()].into());
    for request in [
        argv(&["git", "a b"]),
        argv(&["git", "*"]),
        argv(&["git", ""]),
        anonymous,
        preloaded,
    ] {
        assert!(
            matches!(
                offered(&request),
                ExecApprovalRequirement::NeedsApproval {
                    proposed_execpolicy_amendment: None,
                    ..
                }
            ),
            "{request:?}"
        );
    }
}

#[test]
fn o11_a_host_is_what_a_known_client_is_given() {
    for (line, expected) in [
        ("cargo test", &[][..]),
        ("unheard-of https://example.com", &[]),
        ("git fetch origin", &[]),
        ("curl -K f", &[]),
        ("curl https://example.com/workspace", &["example.com"]),
        (
            "curl https://b.example https://a.example",
            &["a.example", "b.example"],
        ),
        ("git clone git@example.com:a/b", &["example.com"]),
    ] {
        let decision = check(&lists(&[], &[]), &UNLESS_TRUSTED, line);
        let ExecApprovalRequirement::NeedsApproval {
            proposed_network_policy_amendments: amendments,
            ..
        } = decision.requirement
        else {
            panic!("{decision:?}");
        };
        let hosts: Vec<_> = amendments.iter().map(|amendment| &amendment.host).collect();
        assert_eq!(hosts, expected, "{line}");
    }
    // To take an offer is no word about the exec, nor the other way round.
    let taken = lists(&["curl"], &[]);
    assert_eq!(
        phase(
            &taken,
            &AskForApproval::OnRequest,
            "curl https://example.com"
        ),
        "needs_approval"
    );
}

#[test]
fn o20_deny_is_absolute_and_the_rest_goes_by_layer() {
    let agent =
        execward_policy::seed::Ruleset::agent(strings(&["git log"]), strings(&["git push"]));
    let user = execward_policy::seed::Ruleset::user(strings(&["git push origin"]), Vec::new());
    let policy = PrefixPolicy::with_rulesets(vec![agent, user]);
    // The user's longer prefix shadows no deny of the agent's, and the agent's trust counts.
    assert_phases(
        &policy,
        &UNLESS_TRUSTED,
        &[("git push origin", "forbidden"), ("git log", "allowed")],
    );
    // An ask of the agent's is lifted by the user's word for the same, not by one for less.
    let text = |allow: &str| {
        format!("mode.security = 'allowlist'\n[[allow]]\nid = 'a'\ncommand = '{allow}'")
    };
    for (allow, expected) in [("git fetch", Decision::Allow), ("git *", Decision::Ask)] {
        let user = format!("version = 1\n{}", text(allow));
        let agent = "version = 1\nlayer = 'agent'\n[[ask]]\nid = 'q'\ncommand = 'git fetch'";
        let sources = [
            ("user", user.as_bytes(), Layer::User),
            ("agent", agent.as_bytes(), Layer::Agent),
        ];
        let sources = sources.map(|(name, text, layer)| Source { name, text, layer });
        let ruleset = Ruleset::load(&sources, &places(), &NoIncludes).unwrap();
        assert_eq!(decide(&ruleset, "git fetch"), expected, "{allow}");
    }
}

#[test]
fn o24_a_floor_of_rules_comes_with_every_policy() {
    let user = Source {
        name: "user",
        text: b"version = 1\nmode.security = 'full'",
        layer: Layer::User,
    };
    let sources: Vec<_> = execward_policy::builtin(&places()).chain([user]).collect();
    let ruleset = Ruleset::load(&sources, &places(), &NoIncludes).unwrap();
    assert_decisions(
        &ruleset,
        &[
            ("ls", Decision::Allow),
            ("docker run x", Decision::Ask),
            ("rm -r -f /", Decision::Deny),
        ],
    );
}

#[test]
fn o25_a_directory_bounds_a_rule() {
    let ruleset = policy(
        "mode.security = 'allowlist'\n[[allow]]\nid = 'a'\ncommand = 'make all'\ncwd = '${workspace}/'",
    );
    let mut request = call("make all");
    assert_eq!(decision(&ruleset, &request), Decision::Allow);
    request.cwd = Some("/elsewhere".into());
    assert_eq!(decision(&ruleset, &request), Decision::Ask);
}
