//! The ten tests of the first seed, as data. Six hold as they are; four were changed on purpose.

use execward_policy::seed::{AskForApproval, ExecApprovalRequirement, ToolAskRule};

use crate::*;

/// A call, and what the seed's test says of it, or what is right instead.
struct Vector {
    name: &'static str,
    /// Why it says something else than the seed's test.
    changed: Option<&'static str>,
    trusted: &'static [&'static str],
    denied: &'static [&'static str],
    asked: Option<fn() -> ToolAskRule>,
    approval: AskForApproval,
    line: &'static str,
    phase: &'static str,
    matched: Option<&'static str>,
    offered: Option<&'static str>,
}

const CARGO_TEST: Option<fn() -> ToolAskRule> = Some(|| ToolAskRule::exec_shell("cargo test"));
const CARGO_TEST_LABEL: Option<&str> = Some("tool=exec_shell command=cargo test");

const PLAIN: Vector = Vector {
    name: "",
    changed: None,
    trusted: &[],
    denied: &[],
    asked: None,
    approval: AskForApproval::UnlessTrusted,
    line: "cargo test --workspace",
    phase: "allowed",
    matched: None,
    offered: None,
};

const VECTORS: [Vector; 11] = [
    Vector {
        name: "trusted prefix skips approval",
        trusted: &["git status"],
        line: "git status --porcelain",
        matched: Some("git status"),
        ..PLAIN
    },
    Vector {
        name: "denied prefix blocks what is trusted",
        trusted: &["git status"],
        denied: &["git status"],
        line: "git status --porcelain",
        phase: "forbidden",
        matched: Some("git status"),
        ..PLAIN
    },
    Vector {
        name: "unmatched command proposes a rule",
        changed: Some("the whole command is offered, and no host (O10, O11)"),
        phase: "needs_approval",
        offered: Some("cargo test"),
        ..PLAIN
    },
    Vector {
        name: "trusted command on request needs approval without a new rule",
        trusted: &["cargo test"],
        approval: AskForApproval::OnRequest,
        phase: "needs_approval",
        matched: Some("cargo test"),
        ..PLAIN
    },
    Vector {
        name: "reject rules forbids what is unmatched",
        approval: REJECT_RULES,
        line: "npm install",
        phase: "forbidden",
        ..PLAIN
    },
    Vector {
        name: "ask forbids under never",
        asked: CARGO_TEST,
        approval: AskForApproval::Never,
        phase: "forbidden",
        matched: CARGO_TEST_LABEL,
        ..PLAIN
    },
    Vector {
        name: "ask outside never",
        changed: Some("an ask asks in every mode, and a prefix would not lift it (O12)"),
        asked: CARGO_TEST,
        phase: "needs_approval",
        matched: CARGO_TEST_LABEL,
        ..PLAIN
    },
    Vector {
        name: "ask beside trust and deny: trusted",
        changed: Some("an ask outranks a trusted prefix of its layer (O12)"),
        trusted: &["cargo test"],
        denied: &["cargo test --danger"],
        asked: CARGO_TEST,
        phase: "needs_approval",
        matched: CARGO_TEST_LABEL,
        ..PLAIN
    },
    Vector {
        name: "ask beside trust and deny: denied",
        trusted: &["cargo test"],
        denied: &["cargo test --danger"],
        asked: CARGO_TEST,
        approval: AskForApproval::Never,
        line: "cargo test --danger",
        phase: "forbidden",
        matched: Some("cargo test --danger"),
        ..PLAIN
    },
    Vector {
        name: "ask label wins over trust under never",
        trusted: &["cargo test"],
        asked: CARGO_TEST,
        approval: AskForApproval::Never,
        phase: "forbidden",
        matched: CARGO_TEST_LABEL,
        ..PLAIN
    },
    Vector {
        name: "ask about a path between blanks and slashes",
        changed: Some("bytes are compared, and `/tmp` is not `tmp` (O5, O23)"),
        asked: Some(|| ToolAskRule::file_path("file_write", " /tmp/project/ ")),
        approval: AskForApproval::Never,
        line: "tee /tmp/project",
        phase: "forbidden",
        matched: Some("tool=file_write path= /tmp/project/ "),
        ..PLAIN
    },
];

#[test]
fn r57_the_ten_tests_hold_but_for_four() {
    for vector in &VECTORS {
        let policy = asks(
            vector.trusted,
            vector.denied,
            vector.asked.map(|ask| ask()).into_iter().collect(),
        );
        let decision = check(&policy, &vector.approval, vector.line);
        assert_eq!(
            decision.requirement.phase(),
            vector.phase,
            "{}",
            vector.name
        );
        assert_eq!(
            decision.matched_rule.as_deref(),
            vector.matched,
            "{}",
            vector.name
        );
        let offered = match &decision.requirement {
            ExecApprovalRequirement::NeedsApproval {
                proposed_execpolicy_amendment,
                proposed_network_policy_amendments,
                ..
            } => {
                assert!(
                    proposed_network_policy_amendments.is_empty(),
                    "{}",
                    vector.name
                );
                proposed_execpolicy_amendment
                    .as_ref()
                    .map(|amendment| amendment.prefixes.join("|"))
            }
            ExecApprovalRequirement::Skip { .. } | ExecApprovalRequirement::Forbidden { .. } => {
                None
            }
        };
        assert_eq!(offered.as_deref(), vector.offered, "{}", vector.name);
        if let Some(matched) = vector.matched.filter(|_| vector.phase == "forbidden") {
            assert!(decision.reason().contains(matched), "{}", decision.reason());
        }
    }
}

/// One of the ten judges two calls, the trusted one of which changed.
#[test]
fn r57_exactly_four_have_a_note() {
    let test_of = |vector: &Vector| vector.name.split(": ").next().unwrap().to_owned();
    let tests: std::collections::BTreeSet<_> = VECTORS.iter().map(test_of).collect();
    let changed = VECTORS.iter().filter(|vector| vector.changed.is_some());
    let changed: std::collections::BTreeSet<_> = changed.map(test_of).collect();
    assert_eq!((tests.len(), changed.len()), (10, 4));
}
