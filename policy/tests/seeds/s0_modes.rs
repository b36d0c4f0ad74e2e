//! The first seed's ways of approving, and what a question offers.

use execward_policy::ToolCall;
use execward_policy::seed::{AskForApproval, ExecApprovalRequirement, ExecPolicy, ExecSecurity};

use crate::*;

const UNLESS_TRUSTED: AskForApproval = AskForApproval::UnlessTrusted;
const ON_REQUEST: AskForApproval = AskForApproval::OnRequest;
const NEVER: AskForApproval = AskForApproval::Never;

fn trusting() -> PrefixPolicy {
    lists(&["git status"], &[])
}

fn skip() -> ExecApprovalRequirement {
    ExecApprovalRequirement::Skip {
        bypass_sandbox: false,
        proposed_execpolicy_amendment: None,
    }
}

/// The prefixes that the question about a call offers.
pub(crate) fn offered(
    policy: &PrefixPolicy,
    approval: &AskForApproval,
    line: &str,
) -> Option<Vec<String>> {
    let requirement = check(policy, approval, line).requirement;
    let ExecApprovalRequirement::NeedsApproval {
        proposed_execpolicy_amendment,
        ..
    } = requirement
    else {
        panic!("{line}: {requirement:?}");
    };
    proposed_execpolicy_amendment.map(|amendment| amendment.prefixes)
}

#[test]
fn r37_never_lets_run_what_nothing_asks_about() {
    for line in ["git status", "git push", "/opt/x"] {
        assert_eq!(
            check(&trusting(), &NEVER, line).requirement,
            skip(),
            "{line}"
        );
    }
}

#[test]
fn r38_what_is_trusted_runs_and_nothing_is_offered() {
    let decision = check(&trusting(), &UNLESS_TRUSTED, "git status -s");
    assert_eq!(decision.requirement, skip());
}

#[test]
fn r39_what_is_not_trusted_is_asked_about() {
    assert_eq!(
        phase(&trusting(), &UNLESS_TRUSTED, "git push"),
        "needs_approval"
    );
}

#[test]
fn r40_approval_on_failure_is_refused_until_there_is_a_confined_first_run() {
    let faults = faults(&trusting().translate(&AskForApproval::OnFailure));
    assert!(
        faults.contains("until there is a confined first run"),
        "{faults}"
    );
}

#[test]
fn r41_on_request_asks_about_every_call() {
    for line in ["git status", "git push"] {
        assert_eq!(
            phase(&trusting(), &ON_REQUEST, line),
            "needs_approval",
            "{line}"
        );
    }
    assert_eq!(offered(&trusting(), &ON_REQUEST, "git status"), None);
}

#[test]
fn r42_rejecting_rules_refuses_what_would_be_asked() {
    let decision = check(&trusting(), &REJECT_RULES, "npm install");
    assert_eq!(decision.requirement.phase(), "forbidden");
    assert_eq!(decision.matched_rule, None);
    assert!(
        decision.reason().contains("refuses exceptions to rules"),
        "{}",
        decision.reason()
    );
}

#[test]
fn r43_rejecting_nothing_asks() {
    assert_eq!(
        phase(&trusting(), &REJECT_NOTHING, "npm install"),
        "needs_approval"
    );
}

#[test]
fn r44_the_other_refusals_are_carried_and_change_what_happens() {
    for (sandbox_approval, refused) in [(true, "forbidden"), (false, "needs_approval")] {
        let approval = rejecting(sandbox_approval, false);
        assert_eq!(phase_of_rights(&approval), refused);
        assert_eq!(phase(&trusting(), &approval, "git status"), "allowed");
        assert_eq!(phase(&trusting(), &approval, "git push"), "needs_approval");
    }
    for (mcp_elicitations, refused) in [(true, Decision::Deny), (false, Decision::Ask)] {
        let approval = rejecting(false, mcp_elicitations);
        assert_eq!(decision_of_tool(&approval), refused);
        assert_eq!(phase_of_rights(&approval), "needs_approval");
        assert_eq!(phase(&trusting(), &approval, "git push"), "needs_approval");
    }
}

/// What comes of a call of a tool that is asked about.
fn decision_of_tool(approval: &AskForApproval) -> Decision {
    let ruleset = load_translation(&trusting().translate(approval));
    let call = ToolCall::new("web_fetch");
    ruleset.decide_tool(&call, NOW).decision()
}

fn rejecting(sandbox_approval: bool, mcp_elicitations: bool) -> AskForApproval {
    AskForApproval::Reject {
        sandbox_approval,
        rules: false,
        mcp_elicitations,
    }
}

/// What comes of a trusted call, the file of which brings rights that the session lacks, beside
/// what execward brings to every policy.
fn phase_of_rights(approval: &AskForApproval) -> &'static str {
    let translation = trusting().translate(approval);
    let places = places();
    let sources: Vec<_> = execward_policy::builtin(&places)
        .chain(translation.sources())
        .collect();
    let ruleset =
        Ruleset::load(&sources, &places, &NoIncludes).unwrap_or_else(|faults| panic!("{faults}"));
    let mut request = call("newgrp users");
    request.program.gains_rights = true;
    let request = described(&ruleset, &request);
    let decision = ExecPolicyDecision::of(&ruleset, &translation, &request, NOW);
    decision.requirement.phase()
}

#[test]
fn r45_a_question_says_whether_the_mode_or_a_miss_raised_it() {
    let of_mode = check(&trusting(), &ON_REQUEST, "git status");
    let of_miss = check(&trusting(), &ON_REQUEST, "git push");
    assert_eq!(of_mode.reason(), "the mode asks");
    assert_eq!(of_miss.reason(), "no trusted prefix matches");
    // What needs no rule is no miss.
    let of_safe_bin = check(&trusting(), &ON_REQUEST, "wc -l");
    assert_eq!(of_safe_bin.reason(), "the mode asks");
    assert_eq!(offered(&trusting(), &ON_REQUEST, "wc -l"), None);
}

#[test]
fn r46_a_miss_offers_an_amendment_and_what_is_trusted_none() {
    for approval in [UNLESS_TRUSTED, ON_REQUEST] {
        let prefixes = offered(&trusting(), &approval, "cargo test --workspace");
        assert_eq!(prefixes, Some(strings(&["cargo test"])), "{approval:?}");
    }
    assert_eq!(offered(&trusting(), &ON_REQUEST, "git status"), None);
}

#[test]
fn r47_a_question_has_a_list_of_network_amendments() {
    for (line, expected) in [
        ("git push", serde_json::json!([])),
        (
            "curl https://Example.com/a",
            serde_json::json!([{"host": "example.com", "action": "allow"}]),
        ),
    ] {
        let decision = check(&trusting(), &UNLESS_TRUSTED, line);
        let json = serde_json::to_value(&decision.requirement).unwrap();
        let list = json.pointer("/NeedsApproval/proposed_network_policy_amendments");
        assert_eq!(list, Some(&expected), "{line}");
    }
}

#[test]
fn r53_what_runs_stays_in_its_confinement() {
    for approval in [UNLESS_TRUSTED, NEVER] {
        let decision = check(&trusting(), &approval, "git status");
        assert_eq!(decision.requirement, skip(), "{approval:?}");
    }
}

#[test]
fn r55_a_policy_with_an_error_judges_nothing() {
    let error = lists(&["git status"], &["git push && ls"]).translate(&NEVER);
    assert!(error.load(&places()).is_err());
    // Nor does what cannot be told lead to a permission: a call without arguments, a file without
    // a path, a history with a gap.
    let ruleset = load_translation(&trusting().translate(&UNLESS_TRUSTED));
    let mut request = call("git status");
    request.argv.clear();
    assert_eq!(decision(&ruleset, &request), Decision::Ask);
    let mut request = call("git status");
    request.program.resolved = None;
    request.program.origin = execward_policy::Origin::Anonymous;
    assert_eq!(decision(&ruleset, &request), Decision::Ask);
}

#[test]
fn o13_never_only_takes_the_questions_away() {
    // What a miss gets is for the security mode to say, and `full` is only what the seed had.
    assert_eq!(phase(&trusting(), &NEVER, "git push"), "allowed");
    let allowlist = ExecPolicy {
        security: ExecSecurity::Allowlist,
        ..NEVER.preset()
    };
    let translation = trusting().translate_in(&allowlist, Some(&NEVER));
    let ruleset = load_translation(&translation);
    assert_decisions(
        &ruleset,
        &[
            ("git status", Decision::Allow),
            ("git push", Decision::Deny),
        ],
    );
    assert!(ruleset.never_asks());
}

#[test]
fn o14_a_rejection_filters_questions_and_nothing_else() {
    for approval in [REJECT_RULES, REJECT_NOTHING] {
        assert_eq!(
            phase(&trusting(), &approval, "git status"),
            "allowed",
            "{approval:?}"
        );
    }
    assert_eq!(phase(&trusting(), &REJECT_RULES, "git push"), "forbidden");
    assert_eq!(
        phase(&trusting(), &REJECT_NOTHING, "git push"),
        "needs_approval"
    );
}

#[test]
fn o15_each_refusal_is_for_questions_of_its_own() {
    assert_eq!(
        phase_of_rights(&REJECT_RULES),
        "forbidden",
        "no rule trusts it"
    );
    assert_eq!(phase_of_rights(&REJECT_NOTHING), "needs_approval");
    let approval = AskForApproval::Reject {
        sandbox_approval: true,
        rules: true,
        mcp_elicitations: false,
    };
    assert_eq!(phase_of_rights(&approval), "forbidden");
    assert_eq!(phase(&trusting(), &approval, "git push"), "forbidden");
    assert_eq!(phase(&trusting(), &approval, "git status"), "allowed");
    assert_eq!(decision_of_tool(&approval), Decision::Ask);
    assert_eq!(decision_of_tool(&REJECT_RULES), Decision::Ask);
}

#[test]
fn o16_on_request_asks_about_what_is_trusted_too() {
    let ruleset = load_translation(&trusting().translate(&ON_REQUEST));
    assert_eq!(decide(&ruleset, "git status"), Decision::Ask);
    assert_eq!(ruleset.mode().ask, execward_policy::Ask::Always);
}

#[test]
fn o17_there_is_no_first_run_without_confinement() {
    let policy = lists(&["git status"], &["git push"]);
    assert!(
        policy
            .translate(&AskForApproval::OnFailure)
            .load(&places())
            .is_err()
    );
}

#[test]
fn o18_a_verdict_is_one_of_three_and_a_question_is_no_permission() {
    let policy = trusting();
    let decision = check(&policy, &UNLESS_TRUSTED, "git push");
    assert!(decision.allow && decision.requires_approval);
    let ruleset = load_translation(&policy.translate(&UNLESS_TRUSTED));
    let request = call("git push");
    let verdict = ruleset.decide(&request, NOW);
    assert_eq!(verdict.decision(), Decision::Ask);
    assert_eq!(verdict.unanswered(), Decision::Deny);
}
