//! The second seed's charters.

use execward_policy::ToolCall;
use execward_policy::seed::Charter;

use crate::s0_types::{assert_round_trip, error_of};
use crate::*;

/// A policy with these charters, one a file, in a mode that asks about misses.
#[track_caller]
fn chartered(mode: &str, charters: &[&str]) -> Ruleset {
    let texts: Vec<String> = charters
        .iter()
        .map(|charter| format!("version = 1\nmode = {{ {mode} }}\n[charter]\n{charter}"))
        .collect();
    let sources: Vec<_> = texts
        .iter()
        .map(|text| Source {
            name: "charter.toml",
            text: text.as_bytes(),
            layer: Layer::User,
        })
        .collect();
    Ruleset::load(&sources, &places(), &NoIncludes).unwrap_or_else(|faults| panic!("{faults}"))
}

const ON_MISS: &str = "security = 'allowlist'";

fn decide_tool(ruleset: &Ruleset, tool: &str) -> Decision {
    ruleset.decide_tool(&ToolCall::new(tool), NOW).decision()
}

#[test]
fn r70_the_heuristics_of_a_charter_feed_the_gate() {
    let ruleset = chartered(
        "security = 'allowlist', ask = 'off'",
        &[
            "auto_approve = ['git status', 'git push', 'terraform apply']\n\
           require_confirmation = ['git push']\nalways_reject = ['git clean']\n\
           escalate = ['terraform apply']",
        ],
    );
    for (line, rule, decision) in [
        (
            "git status",
            Some("charter.auto_approve.1"),
            Decision::Allow,
        ),
        (
            "git push",
            Some("charter.require_confirmation.1"),
            Decision::Deny,
        ),
        ("git clean", Some("charter.always_reject.1"), Decision::Deny),
        (
            "terraform apply",
            Some("charter.escalate.1"),
            Decision::Deny,
        ),
        ("git log", None, Decision::Deny),
    ] {
        let request = call(line);
        let verdict = ruleset.decide(&request, NOW);
        assert_eq!(verdict.decision(), decision, "{line}");
        let found = verdict.rule().map(execward_policy::Rule::id);
        assert_eq!(found, rule, "{line}");
    }
}

#[test]
fn r100_to_r103_a_charter_is_four_lists_of_text() {
    let json = r#"{"autoApprove":["git status"],"requireConfirmation":["git push"],"alwaysReject":["rm -rf"],"escalate":["mcp__deploy"]}"#;
    let charter: Charter = assert_round_trip(json);
    let ruleset = load_translation(&charter.translate());
    assert_eq!(ruleset.rules().count(), 4);
    assert!(ruleset.rules().all(|rule| rule.layer() == Layer::Agent));
    let error = error_of::<Charter>(r#"{"autoApprove":[],"always_reject":[]}"#);
    assert!(error.contains("unknown field `always_reject`"), "{error}");
    let empty: Charter = serde_json::from_str("{}").unwrap();
    assert_eq!(load_translation(&empty.translate()).rules().count(), 0);
}

#[test]
fn r104_an_entry_is_a_tool_or_a_command() {
    let ruleset = chartered(
        ON_MISS,
        &["auto_approve = ['file_read', 'mcp__a__get_*', 'git log']\n\
           always_reject = ['git push', 'mcp__a__delete', 'file_delete']"],
    );
    assert_decisions(
        &ruleset,
        &[
            ("git push", Decision::Deny),
            ("git log -1", Decision::Allow),
            ("cat x", Decision::Allow),
            ("rm x", Decision::Deny),
        ],
    );
    for (tool, decision) in [
        ("file_read", Decision::Allow),
        ("mcp__a__get_x", Decision::Allow),
        ("mcp__a__delete", Decision::Deny),
        ("file_delete", Decision::Deny),
        ("mcp__a__put", Decision::Deny),
    ] {
        assert_eq!(decide_tool(&ruleset, tool), decision, "{tool}");
    }
}

#[test]
fn r105_what_is_approved_runs_unasked() {
    let ruleset = chartered(
        ON_MISS,
        &["auto_approve = ['git status', 'npm run test:*']"],
    );
    assert_decisions(
        &ruleset,
        &[
            ("git status -s", Decision::Allow),
            ("npm run test:unit", Decision::Allow),
            ("npm run deploy", Decision::Ask),
            ("git push", Decision::Ask),
        ],
    );
}

#[test]
fn r106_what_is_rejected_is_denied_whatever_approves_it() {
    let ruleset = chartered(
        "security = 'full'",
        &["auto_approve = ['rm']\nalways_reject = ['rm -rf']"],
    );
    assert_decisions(
        &ruleset,
        &[("rm -r -f x", Decision::Deny), ("rm x", Decision::Allow)],
    );
}

#[test]
fn r107_what_wants_confirmation_is_asked_about_in_every_mode() {
    for mode in ["security = 'full'", ON_MISS] {
        let ruleset = chartered(
            mode,
            &["auto_approve = ['git push']\nrequire_confirmation = ['git push', 'file_write']"],
        );
        assert_decisions(
            &ruleset,
            &[("git push", Decision::Ask), ("tee x", Decision::Ask)],
        );
        assert_eq!(decide_tool(&ruleset, "file_write"), Decision::Ask);
    }
}

#[test]
fn r108_what_goes_higher_is_denied_where_nobody_is() {
    let ruleset = chartered(
        "security = 'full'",
        &["escalate = ['terraform apply', 'mcp__deploy']"],
    );
    let verdict = ruleset.decide(&call("terraform apply"), NOW);
    assert_eq!(verdict.decision(), Decision::Deny);
    assert!(verdict.rule().is_some_and(execward_policy::Rule::escalates));
    assert_eq!(decide_tool(&ruleset, "mcp__deploy"), Decision::Deny);
}

#[test]
fn r152_a_higher_tier_is_asked_where_there_is_one() {
    let ruleset = chartered(
        "security = 'full', escalate_to = '/run/up/control'",
        &["escalate = ['terraform apply', 'mcp__deploy']"],
    );
    let verdict = ruleset.decide(&call("terraform apply"), NOW);
    assert_eq!(verdict.decision(), Decision::Ask);
    assert!(verdict.rule().is_some_and(execward_policy::Rule::escalates));
    // Whoever makes a call of a tool asks by itself, and nobody higher.
    assert_eq!(decide_tool(&ruleset, "mcp__deploy"), Decision::Deny);
}

#[test]
fn o39_a_charter_reaches_commands_and_a_deny_comes_first() {
    let ruleset = chartered(
        ON_MISS,
        &[
            "auto_approve = ['git *']\nrequire_confirmation = ['bash_execute']\nalways_reject = ['git push']",
        ],
    );
    assert_decisions(
        &ruleset,
        &[
            ("git push", Decision::Deny),
            ("/usr/bin/git -C x push", Decision::Deny),
            ("git log", Decision::Ask),
        ],
    );
    // An exec is nothing that a list could approve.
    let text = "version = 1\nmode.security = 'full'\n[charter]\nauto_approve = ['exec_shell']";
    let source = Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    };
    let faults = Ruleset::load(&[source], &places(), &NoIncludes).unwrap_err();
    assert!(faults.to_string().contains("is every exec"), "{faults}");
}

#[test]
fn charters_forbid_and_ask_together_and_approve_what_each_approves() {
    let one = "auto_approve = ['git *', 'file_read', 'ls']\nalways_reject = ['git push']";
    let other = "auto_approve = ['git log', 'git push', 'file_read']\n\
        require_confirmation = ['git log --all']\nescalate = ['ls']";
    let ruleset = chartered(ON_MISS, &[one, other]);
    assert_decisions(
        &ruleset,
        &[
            ("git log", Decision::Allow),
            ("git log --all", Decision::Ask),
            ("git status", Decision::Ask),
            ("git push", Decision::Deny),
            ("ls", Decision::Deny),
        ],
    );
    assert_eq!(decide_tool(&ruleset, "file_read"), Decision::Allow);
    // One that approves nothing leaves nothing approved.
    let ruleset = chartered(ON_MISS, &[one, "always_reject = ['git clean']"]);
    assert_decisions(
        &ruleset,
        &[("git log", Decision::Ask), ("git clean", Decision::Deny)],
    );
    // A rule of the user's is no charter's.
    let text = format!("version = 1\nmode.security = 'allowlist'\n[charter]\n{one}");
    let own = "version = 1\n[[allow]]\nid = 'own'\ncommand = 'git status'";
    let sources = [text.as_str(), own].map(|text| Source {
        name: "p.toml",
        text: text.as_bytes(),
        layer: Layer::User,
    });
    let ruleset = Ruleset::load(&sources, &places(), &NoIncludes).unwrap();
    assert_decisions(&ruleset, &[("git status", Decision::Allow)]);
}
