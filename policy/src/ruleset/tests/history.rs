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
fn an_exception_among_children_is_read_in_doubt() {
    let ruleset =
        policy("[[allow]]\nid = 'a'\nprogram = 'make'\nchildren = ['/usr/bin/*', '!pip', '!git']");
    let decide = |path: &str, argv: &[&str]| {
        let request = ExecRequest {
            lineage: child_of_a().lineage,
            ..call(ProgramFile::at(path), argv)
        };
        let verdict = ruleset.decide(&request, Timestamp::UNIX_EPOCH);
        verdict.decision()
    };
    let python = "/usr/bin/python3";
    assert_eq!(decide(python, &["python3", "x.py"]), Decision::Allow);
    assert_eq!(decide(python, &["python3", "-m", "pip"]), Decision::Ask);
    assert_eq!(decide("/usr/bin/git", &["git"]), Decision::Ask);
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
