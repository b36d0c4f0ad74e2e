//! Rules that hold below another.

use super::*;

/// A call of touch below a process that the rule `a` allowed.
fn child_of_a() -> ExecRequest {
    let ancestor = Ancestor {
        files: vec![ProgramFile::at("/usr/bin/make")],
        allowed_by: Some(RuleKey {
            layer: Layer::User,
            id: "a".to_owned(),
        }),
    };
    ExecRequest {
        lineage: Lineage {
            ancestors: vec![Arc::new(ancestor)],
            is_broken: false,
        },
        ..call(ProgramFile::at("/usr/bin/touch"), &["touch", "x"])
    }
}

#[test]
fn children_end_with_their_rule() {
    let ruleset = policy(
        "[[allow]]\nid = 'a'\nprogram = 'make'\nchildren = 'touch'\nexpires = 2026-01-01T00:00:00Z",
    );
    let at = |time: &str| {
        ruleset
            .decide(&child_of_a(), time.parse().unwrap())
            .decision()
    };
    assert_eq!(at("2025-12-31T23:59:59Z"), Decision::Allow);
    assert_eq!(at("2026-01-01T00:00:00Z"), Decision::Ask);
}
