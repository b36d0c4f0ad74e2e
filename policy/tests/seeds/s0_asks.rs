//! The first seed's typed asks.

use execward_policy::seed::{AskForApproval, ExecPolicyContext, ToolAskRule};

use crate::*;

const UNLESS_TRUSTED: AskForApproval = AskForApproval::UnlessTrusted;
const NEVER: AskForApproval = AskForApproval::Never;

fn asking(rules: &[ToolAskRule]) -> PrefixPolicy {
    asks(&[], &[], rules.to_vec())
}

#[test]
fn r15_the_inputs_come_from_an_exec() {
    let context = ExecPolicyContext::of(
        &argv(&["git", "commit", "-m", "two words"]),
        AskForApproval::Never,
    );
    assert_eq!(context.command, "git commit -m 'two words'");
    assert_eq!(context.cwd, "/workspace");
    assert_eq!(context.tool.as_deref(), Some("exec_shell"));
    assert_eq!((context.path, context.sandbox_mode), (None, None));
    // And each is something that a rule, or the mode, looks at.
    let rule = |selector: &str| {
        let text = format!("mode.security = 'full'\n[[deny]]\nid = 'd'\n{selector}");
        decide(&policy(&text), "cat a.txt")
    };
    for (holds, fails) in [
        ("command = 'cat a.txt'", "command = 'cat b.txt'"),
        ("cwd = '${workspace}'", "cwd = '/elsewhere'"),
        ("tool = 'exec_shell'", "tool = 'file_write'"),
        ("path = '${workspace}/a.txt'", "path = '${workspace}/b.txt'"),
    ] {
        assert_eq!(rule(holds), Decision::Deny, "{holds}");
        assert_eq!(rule(fails), Decision::Allow, "{fails}");
    }
    let none = lists(&[], &[]);
    assert_eq!(phase(&none, &AskForApproval::Never, "cat a.txt"), "allowed");
    assert_eq!(
        phase(&none, &AskForApproval::OnRequest, "cat a.txt"),
        "needs_approval"
    );
}

#[test]
fn r16_an_exec_is_a_call_of_the_shell_tool() {
    let policy = asking(&[ToolAskRule::exec_shell("git push")]);
    assert_phases(
        &policy,
        &NEVER,
        &[("git push", "forbidden"), ("git status", "allowed")],
    );
    let every = asking(&[ToolAskRule::new("exec_shell")]);
    assert_phases(
        &every,
        &NEVER,
        &[("git push", "forbidden"), ("/opt/x", "forbidden")],
    );
}

#[test]
fn r31_a_tool_is_compared_exactly() {
    let exact = asking(&[ToolAskRule::new("file_read")]);
    assert_phases(
        &exact,
        &NEVER,
        &[("cat a", "forbidden"), ("rm a", "allowed")],
    );
    for other in ["File_read", "file_rea", "file_*", "edit_file"] {
        let policy = asking(&[ToolAskRule::new(other)]);
        assert_eq!(phase(&policy, &NEVER, "cat a"), "allowed", "{other}");
    }
}

#[test]
fn r32_an_ask_reads_a_command_as_trust_does() {
    let policy = asking(&[ToolAskRule::exec_shell("cargo test")]);
    assert_phases(
        &policy,
        &NEVER,
        &[
            ("cargo test", "forbidden"),
            ("cargo test --workspace", "forbidden"),
            ("cargo tests", "allowed"),
            ("cargo build", "allowed"),
        ],
    );
}

#[test]
fn r33_an_ask_about_a_file_is_about_calls_that_name_it() {
    let policy = asking(&[ToolAskRule::file_path("file_read", "/etc/passwd")]);
    assert_phases(
        &policy,
        &NEVER,
        &[
            ("cat /etc/passwd", "forbidden"),
            ("cat /etc/../etc//passwd", "forbidden"),
            ("cat /etc/group", "allowed"),
            ("tee /etc/passwd", "allowed"),
        ],
    );
    // Without a path the ask is about all of them; with one, about no call that names no file.
    let wide = asking(&[ToolAskRule::new("file_read")]);
    assert_eq!(phase(&wide, &NEVER, "cat /etc/group"), "forbidden");
    let shell = asking(&[ToolAskRule::file_path("exec_shell", "/etc/passwd")]);
    assert_phases(
        &shell,
        &NEVER,
        &[("true", "allowed"), ("cat /etc/passwd", "forbidden")],
    );
}

#[test]
fn r34_a_path_means_one_file_however_it_is_bounded() {
    let policy = asking(&[ToolAskRule::file_path("file_read", " /tmp/project/ ")]);
    assert_phases(
        &policy,
        &NEVER,
        &[
            ("cat /tmp/project", "forbidden"),
            ("cat /tmp/project/", "forbidden"),
            ("cat /TMP/PROJECT", "allowed"),
            ("cat /tmp/project2", "allowed"),
        ],
    );
    // What is not absolute is below the workspace, and not the same as what is.
    let relative = asking(&[ToolAskRule::file_path("file_read", "src/a.rs")]);
    assert_phases(
        &relative,
        &NEVER,
        &[
            ("cat src/a.rs", "forbidden"),
            ("cat /workspace/src/a.rs", "forbidden"),
            ("cat /src/a.rs", "allowed"),
        ],
    );
}

#[test]
fn r35_the_ask_that_says_most_is_reported() {
    let policy = asking(&[
        ToolAskRule::new("exec_shell"),
        ToolAskRule::exec_shell("git push"),
    ]);
    let decision = check(&policy, &NEVER, "git push");
    assert_eq!(
        decision.matched_rule.as_deref(),
        Some("tool=exec_shell command=git push")
    );
    // Of equals, that of the later layer.
    let ask = |command: &str| vec![ToolAskRule::exec_shell(command)];
    let layers = vec![
        seed_user().with_ask_rules(ask("git push")),
        seed_agent().with_ask_rules(ask("git push")),
    ];
    let policy = PrefixPolicy::with_rulesets(layers);
    let ruleset = load_translation(&policy.translate(&NEVER));
    let layer = |ruleset: &Ruleset| {
        let request = call("git push");
        ruleset
            .decide(&request, NOW)
            .rule()
            .map(execward_policy::Rule::layer)
    };
    assert_eq!(layer(&ruleset), Some(Layer::User));
}

fn seed_user() -> execward_policy::seed::Ruleset {
    execward_policy::seed::Ruleset::user(Vec::new(), Vec::new())
}

fn seed_agent() -> execward_policy::seed::Ruleset {
    execward_policy::seed::Ruleset::agent(Vec::new(), Vec::new())
}

#[test]
fn r36_an_ask_that_nobody_may_put_is_a_refusal() {
    let policy = asking(&[ToolAskRule::exec_shell("cargo test")]);
    let decision = check(&policy, &NEVER, "cargo test --workspace");
    assert_eq!((decision.allow, decision.requires_approval), (false, false));
    let label = "tool=exec_shell command=cargo test";
    assert_eq!(
        decision.reason(),
        format!("`{label}` asks, and the mode never does")
    );
}

#[test]
fn r48_the_ask_is_reported_before_the_trusted_prefix() {
    let rule = ToolAskRule::exec_shell("cargo test");
    let policy = asks(&["cargo test", "cargo build"], &[], vec![rule.clone()]);
    for approval in [NEVER, UNLESS_TRUSTED] {
        let asked = check(&policy, &approval, "cargo test");
        assert_eq!(asked.matched_rule, Some(rule.label()), "{approval:?}");
        let trusted = check(&policy, &approval, "cargo build");
        assert_eq!(
            trusted.matched_rule.as_deref(),
            Some("cargo build"),
            "{approval:?}"
        );
    }
}

#[test]
fn r49_an_ask_counts_for_what_is_trusted_too() {
    let policy = asks(
        &["cargo test"],
        &[],
        vec![ToolAskRule::exec_shell("cargo test")],
    );
    let decision = check(&policy, &NEVER, "cargo test --workspace");
    assert_eq!(decision.requirement.phase(), "forbidden");
    assert_eq!(
        decision.matched_rule.as_deref(),
        Some("tool=exec_shell command=cargo test")
    );
}

#[test]
fn r50_asks_act_in_every_mode_which_is_the_reverse_of_the_seed() {
    let policy = asks(
        &["cargo test"],
        &[],
        vec![ToolAskRule::exec_shell("cargo test")],
    );
    for (approval, expected) in [
        (UNLESS_TRUSTED, "needs_approval"),
        (AskForApproval::OnRequest, "needs_approval"),
        (REJECT_NOTHING, "needs_approval"),
        (REJECT_RULES, "forbidden"),
        (NEVER, "forbidden"),
    ] {
        assert_eq!(
            phase(&policy, &approval, "cargo test"),
            expected,
            "{approval:?}"
        );
    }
}

#[test]
fn r51_a_denied_prefix_is_reported_before_an_ask() {
    let policy = asks(
        &["cargo test"],
        &["cargo test --danger"],
        vec![ToolAskRule::exec_shell("cargo test")],
    );
    let decision = check(&policy, &NEVER, "cargo test --danger");
    assert_eq!(decision.requirement.phase(), "forbidden");
    assert_eq!(
        decision.matched_rule.as_deref(),
        Some("cargo test --danger")
    );
}

#[test]
fn o12_deny_beats_ask_beats_trust_in_every_mode() {
    let policy = asks(
        &["git status", "git log", "git push"],
        &["git push"],
        vec![
            ToolAskRule::exec_shell("git log"),
            ToolAskRule::exec_shell("git push"),
        ],
    );
    assert_phases(
        &policy,
        &UNLESS_TRUSTED,
        &[
            ("git status", "allowed"),
            ("git log", "needs_approval"),
            ("git push", "forbidden"),
        ],
    );
    assert_phases(
        &policy,
        &NEVER,
        &[
            ("git status", "allowed"),
            ("git log", "forbidden"),
            ("git push", "forbidden"),
        ],
    );
}

#[test]
fn o21_every_hit_is_listed_and_the_decisive_one_is_known() {
    let policy = asks(&["git log"], &[], vec![ToolAskRule::exec_shell("git log")]);
    let translation = policy.translate(&UNLESS_TRUSTED);
    let ruleset = load_translation(&translation);
    let request = call("git log");
    let explanation = ruleset.explain(&request, NOW);
    let hits: Vec<_> = explanation
        .hits
        .iter()
        .map(|hit| {
            (
                translation.label(hit.rule).unwrap(),
                hit.rule.layer(),
                hit.is_lifted,
            )
        })
        .collect();
    let ask = "tool=exec_shell command=git log";
    assert_eq!(
        hits,
        [(ask, Layer::User, false), ("git log", Layer::User, false)]
    );
    let decisive = explanation.verdict.rule().unwrap();
    assert_eq!(translation.label(decisive), Some(ask));
    assert!(decisive.line() > 1);
}

#[test]
fn o22_a_layer_counts_before_the_length_of_a_rule() {
    let agent = execward_policy::seed::Ruleset::agent(Vec::new(), Vec::new());
    let user = execward_policy::seed::Ruleset::user(Vec::new(), Vec::new());
    let policy = PrefixPolicy::with_rulesets(vec![
        agent.with_ask_rules(vec![ToolAskRule::exec_shell("git push origin main")]),
        user.with_ask_rules(vec![ToolAskRule::new("exec_shell")]),
    ]);
    let decision = check(&policy, &NEVER, "git push origin main");
    assert_eq!(decision.matched_rule.as_deref(), Some("tool=exec_shell"));
}

#[test]
fn o23_paths_are_resolved_and_compared_by_component() {
    let policy = asks(
        &[],
        &[],
        vec![ToolAskRule::file_path("file_read", "src/a.rs")],
    );
    assert_phases(
        &policy,
        &NEVER,
        &[
            ("cat src/a.rs", "forbidden"),
            ("cat src/../src/./a.rs", "forbidden"),
            ("cat /src/a.rs", "allowed"),
            ("cat src\\a.rs", "allowed"),
        ],
    );
    // The same operand in another directory is another file.
    let ruleset = load_translation(&policy.translate(&NEVER));
    let mut elsewhere = call("cat src/a.rs");
    elsewhere.cwd = Some("/elsewhere".into());
    assert_eq!(decision(&ruleset, &elsewhere), Decision::Allow);
    // And one that cannot be resolved satisfies no allow.
    let text = "mode.security = 'allowlist'\n[[allow]]\nid = 'a'\ntool = 'file_read'\npath = '${workspace}/'";
    let mut lost = call("cat src/a.rs");
    let reading = crate::policy(text);
    assert_eq!(decision(&reading, &lost), Decision::Allow);
    lost.cwd = None;
    assert_eq!(decision(&reading, &lost), Decision::Ask);
}
