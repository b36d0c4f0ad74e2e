//! The first seed's types: their words, their constructors, their outcomes.

use execward_policy::Layer;
use execward_policy::seed::{
    AskForApproval, ExecApprovalRequirement, ExecPolicyAmendment, ExecPolicyDecision,
    NetworkPolicyAmendment, NetworkPolicyRuleAction, Ruleset, RulesetLayer, ToolAskRule,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::*;

/// Asserts that `json` is what a value is written as, to the byte.
#[track_caller]
pub(crate) fn assert_round_trip<T: Serialize + DeserializeOwned>(json: &str) -> T {
    let value: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    let written = serde_json::to_string(&value).expect("JSON");
    assert_eq!(written, json);
    value
}

#[track_caller]
pub(crate) fn error_of<T: DeserializeOwned>(json: &str) -> String {
    match serde_json::from_str::<T>(json) {
        Ok(_) => panic!("{json} is read"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn r1_layers_are_ordered_and_named() {
    let mut layers = [
        RulesetLayer::User,
        RulesetLayer::BuiltinDefault,
        RulesetLayer::Agent,
    ];
    layers.sort();
    assert_eq!(layers, RulesetLayer::ALL);
    let layers = layers.map(Layer::from);
    assert_eq!(layers, [Layer::Builtin, Layer::Agent, Layer::User]);
    for name in ["\"builtin_default\"", "\"agent\"", "\"user\""] {
        assert_round_trip::<RulesetLayer>(name);
    }
    let error = error_of::<RulesetLayer>("\"User\"");
    assert!(error.contains("unknown variant `User`"), "{error}");
}

#[test]
fn r2_the_lists_of_a_ruleset_are_mandatory_and_its_asks_are_not() {
    let json = r#"{"layer":"agent","trusted_prefixes":["git status"],"denied_prefixes":[]}"#;
    let ruleset: Ruleset = assert_round_trip(json);
    assert!(ruleset.ask_rules.is_empty());
    let without = r#"{"layer":"agent","trusted_prefixes":[]}"#;
    let error = error_of::<Ruleset>(without);
    assert!(error.contains("missing field `denied_prefixes`"), "{error}");
    let misspelt = r#"{"layer":"user","trusted_prefixes":[],"denied_prefixes":[],"ask_rule":[]}"#;
    let error = error_of::<Ruleset>(misspelt);
    assert!(error.contains("unknown field `ask_rule`"), "{error}");
}

#[test]
fn r3_each_constructor_has_its_layer_and_its_lists() {
    let builtin = Ruleset::builtin_default();
    assert_eq!(builtin.layer, RulesetLayer::BuiltinDefault);
    assert!(builtin.trusted_prefixes.is_empty() && builtin.denied_prefixes.is_empty());
    let agent = Ruleset::agent(strings(&["a"]), strings(&["b"]));
    let user = Ruleset::user(strings(&["c"]), strings(&["d"]));
    assert_eq!(
        (agent.layer, user.layer),
        (RulesetLayer::Agent, RulesetLayer::User)
    );
    assert_eq!(agent.trusted_prefixes, ["a"]);
    assert_eq!(user.denied_prefixes, ["d"]);
    let once = user.with_ask_rules(vec![ToolAskRule::new("x"), ToolAskRule::new("y")]);
    let twice = once.with_ask_rules(vec![ToolAskRule::new("z")]);
    assert_eq!(twice.ask_rules, [ToolAskRule::new("z")]);
    assert_eq!(twice.trusted_prefixes, ["c"]);
}

#[test]
fn r4_an_ask_comes_back_as_it_was_written() {
    let whole: ToolAskRule = assert_round_trip(r#"{"tool":"t"}"#);
    assert_eq!(whole, ToolAskRule::new("t"));
    let rule: ToolAskRule = assert_round_trip(r#"{"tool":"t","command":"c","path":"p"}"#);
    assert_ne!(rule, ToolAskRule::new("t"));
    let error = error_of::<ToolAskRule>(r#"{"command":"c"}"#);
    assert!(error.contains("missing field `tool`"), "{error}");
}

#[test]
fn r5_asks_have_three_shapes() {
    let of = |tool: &str, command: Option<&str>, path: Option<&str>| ToolAskRule {
        tool: tool.to_owned(),
        command: command.map(str::to_owned),
        path: path.map(str::to_owned),
    };
    assert_eq!(ToolAskRule::new("t"), of("t", None, None));
    assert_eq!(
        ToolAskRule::exec_shell("c"),
        of("exec_shell", Some("c"), None)
    );
    assert_eq!(ToolAskRule::file_path("t", "p"), of("t", None, Some("p")));
}

#[test]
fn r6_a_label_has_each_part_as_it_was_written() {
    let mut rule = ToolAskRule::exec_shell("cargo test");
    assert_eq!(rule.label(), "tool=exec_shell command=cargo test");
    rule.path = Some(" /TMP/PROJECT/ ".to_owned());
    assert_eq!(
        rule.label(),
        "tool=exec_shell command=cargo test path= /TMP/PROJECT/ "
    );
}

#[test]
fn r7_ways_of_approving_have_their_words() {
    for json in [
        "\"unless_trusted\"",
        "\"on_failure\"",
        "\"on_request\"",
        "\"never\"",
        r#"{"reject":{"sandbox_approval":true,"rules":false,"mcp_elicitations":true}}"#,
    ] {
        assert_round_trip::<AskForApproval>(json);
    }
    let error = error_of::<AskForApproval>("\"sometimes\"");
    assert!(
        error.contains("expected one of `unless_trusted`"),
        "{error}"
    );
    let error = error_of::<AskForApproval>(r#"{"reject":{"rules":true}}"#);
    assert!(
        error.contains("missing field `sandbox_approval`"),
        "{error}"
    );
}

#[test]
fn r8_what_an_amendment_offers_is_trusted_once_it_is_taken() {
    let unless_trusted = AskForApproval::UnlessTrusted;
    let first = check(&lists(&[], &[]), &unless_trusted, "cargo test --workspace");
    let ExecApprovalRequirement::NeedsApproval {
        proposed_execpolicy_amendment: Some(amendment),
        ..
    } = first.requirement
    else {
        panic!("{first:?}");
    };
    let policy = PrefixPolicy::new(amendment.prefixes, Vec::new());
    assert_eq!(
        phase(&policy, &unless_trusted, "cargo test --workspace"),
        "allowed"
    );
    assert_round_trip::<ExecPolicyAmendment>(r#"{"prefixes":["cargo test"]}"#);
}

#[test]
fn r9_a_network_amendment_has_a_host_and_an_action() {
    for (action, word) in [
        (NetworkPolicyRuleAction::Allow, "allow"),
        (NetworkPolicyRuleAction::Deny, "deny"),
    ] {
        let json = format!(r#"{{"host":"example.com","action":"{word}"}}"#);
        let amendment: NetworkPolicyAmendment = assert_round_trip(&json);
        assert_eq!(amendment.action, action);
    }
}

/// One call for each outcome.
fn outcomes() -> [ExecPolicyDecision; 3] {
    let policy = lists(&["git status"], &["git push"]);
    ["git status", "git commit", "git push"]
        .map(|line| check(&policy, &AskForApproval::UnlessTrusted, line))
}

#[test]
fn r10_every_verdict_is_one_of_three_outcomes() {
    for (outcome, name) in outcomes()
        .iter()
        .zip(["Skip", "NeedsApproval", "Forbidden"])
    {
        // Without a wildcard: a fourth would not compile.
        let own = match &outcome.requirement {
            ExecApprovalRequirement::Skip { .. } => "Skip",
            ExecApprovalRequirement::NeedsApproval { .. } => "NeedsApproval",
            ExecApprovalRequirement::Forbidden { .. } => "Forbidden",
        };
        assert_eq!(own, name);
        let json = serde_json::to_string(&outcome.requirement).unwrap();
        assert!(json.starts_with(&format!("{{\"{name}\":{{")), "{json}");
        assert_round_trip::<ExecApprovalRequirement>(&json);
    }
}

#[test]
fn r11_every_outcome_has_a_reason_and_that_of_skip_is_one() {
    let [skip, ask, forbidden] = outcomes();
    assert_eq!(skip.requirement.reason(), "permitted by policy");
    let other = check(&lists(&["ls"], &[]), &AskForApproval::Never, "ls");
    assert_eq!(other.requirement.reason(), skip.requirement.reason());
    assert!(!ask.reason().is_empty() && !forbidden.reason().is_empty());
    assert_ne!(ask.reason(), forbidden.reason());
}

#[test]
fn r12_every_outcome_has_its_phase() {
    let phases = outcomes().map(|outcome| outcome.requirement.phase());
    assert_eq!(phases, ["allowed", "needs_approval", "forbidden"]);
}

#[test]
fn r13_a_decisions_reason_is_its_requirements() {
    for outcome in outcomes() {
        assert_eq!(outcome.reason(), outcome.requirement.reason());
        let json = serde_json::to_string(&outcome).unwrap();
        assert_eq!(assert_round_trip::<ExecPolicyDecision>(&json), outcome);
    }
}

#[test]
fn r14_the_pair_follows_from_the_outcome() {
    let pairs = outcomes().map(|outcome| (outcome.allow, outcome.requires_approval));
    assert_eq!(pairs, [(true, false), (true, true), (false, false)]);
}
