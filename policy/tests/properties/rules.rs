//! What a rule more or less does, and what the order of rules does not.

use execward_policy::{Action, Decision, ExecRequest, Explanation, Hit, Layer, Rule};
use proptest::prelude::*;

use crate::calls::{call, calls, many_calls};
use crate::draft::{DraftFile, DraftPolicy, DraftRule};
use crate::draw;

/// The same rules, each in a file of its own, in any order. The files that say something of
/// the mode keep theirs: of those, the last counts.
fn shuffled(policy: DraftPolicy) -> impl Strategy<Value = DraftPolicy> {
    let mut others = Vec::new();
    let mut modes = policy.files;
    for file in &mut modes {
        let layer = file.layer;
        others.extend(file.rules.drain(..).map(|rule| DraftFile {
            rules: vec![rule],
            ..DraftFile::of(layer)
        }));
        if file.trusted_dirs.is_some() {
            others.push(DraftFile {
                trusted_dirs: file.trusted_dirs.take(),
                ..DraftFile::of(layer)
            });
        }
    }
    (Just(modes), Just(others).prop_shuffle(), any::<bool>()).prop_map(
        |(modes, others, are_first)| DraftPolicy {
            files: if are_first {
                [modes, others].concat()
            } else {
                [others, modes].concat()
            },
        },
    )
}

/// Whether a verdict may be what the rules that hold for `request` lead to.
fn follows(request: &ExecRequest, explanation: &Explanation<'_>) -> bool {
    let verdict = &explanation.verdict;
    let first = |action, may_be_lifted| {
        let mut hits = explanation.hits.iter();
        hits.find(|hit| hit.rule.action() == action && (may_be_lifted || !hit.is_lifted))
    };
    let rule = verdict.rule().map(Rule::key);
    if let Some(deny) = first(Action::Deny, false) {
        return verdict.decision() == Decision::Deny && rule == Some(deny.rule.key());
    }
    if let Some(ask) = first(Action::Ask, false) {
        // What asks about rights goes apart from what else asks, and the stricter of the two is taken.
        let interpreters = request.interpreters.iter().map(|it| &it.file);
        let mut files = interpreters.chain([&request.program]);
        let is_ask = |hit: &&Hit<'_>| hit.rule.action() == Action::Ask && !hit.is_lifted;
        let others = files
            .any(|file| file.gains_rights)
            .then_some(&explanation.hits);
        let mut asks = others.into_iter().flatten().filter(is_ask).chain([ask]);
        return verdict.unanswered() == Decision::Deny
            && rule.is_none_or(|rule| asks.any(|ask| ask.rule.key() == rule));
    }
    // An allow that holds for the program may still want its interpreters allowed.
    let allow = first(Action::Allow, true);
    verdict.rule().is_none_or(|rule| {
        rule.action() == Action::Allow
            && (rule.has_children() || allow.is_some_and(|allow| allow.rule.key() == rule.key()))
    })
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn adding_a_deny_never_loosens(
        policy in draw::policy(), (layer, rule) in draw::added(Action::Deny), calls in calls(),
    ) {
        let before = policy.decide(&calls);
        let after = policy.with_rule(layer, rule).decide(&calls);
        for (before, after) in before.iter().zip(after) {
            let is_unchanged =
                (after.decision, after.unanswered) == (before.decision, before.unanswered);
            prop_assert!(is_unchanged || after.decision == Decision::Deny);
            prop_assert!(after.is_no_looser_than(before));
        }
    }

    #[test]
    fn adding_an_ask_never_loosens(
        policy in draw::policy(), (layer, rule) in draw::added(Action::Ask), calls in calls(),
    ) {
        let before = policy.decide(&calls);
        let after = policy.with_rule(layer, rule).decide(&calls);
        for (before, after) in before.iter().zip(after) {
            prop_assert!(after.is_no_looser_than(before), "{before:?} {after:?}");
        }
    }

    #[test]
    fn an_ask_of_the_floor_that_holds_is_never_lifted(
        policy in draw::policy(), rule in draw::rule_of(Action::Ask), calls in calls(),
    ) {
        let id = "added".to_owned();
        let ruleset = policy.with_rule(Layer::Floor, DraftRule { id, ..rule }).load();
        for call in &calls {
            let explanation = ruleset.explain(&call.request, call.now);
            let of_floor = |hit: &&Hit<'_>| hit.rule.layer() == Layer::Floor;
            if explanation.hits.iter().any(|hit| of_floor(&hit)) {
                prop_assert_ne!(explanation.verdict.decision(), Decision::Allow);
                prop_assert_eq!(explanation.verdict.unanswered(), Decision::Deny);
            }
            prop_assert!(explanation.hits.iter().filter(of_floor).all(|hit| !hit.is_lifted));
        }
    }

    #[test]
    fn removing_an_allow_never_loosens(
        policy in draw::policy(), (layer, rule) in draw::added(Action::Allow), calls in calls(),
        name in 0..4,
    ) {
        // Under the name of a rule that may have allowed an ancestor.
        let id = format!("r{name}");
        let mut without = policy;
        for file in &mut without.files {
            file.rules.retain(|rule| rule.id != id);
        }
        let with = without.with_rule(layer, DraftRule { id, ..rule });
        for (after, before) in without.decide(&calls).iter().zip(with.decide(&calls)) {
            prop_assert!(after.is_no_looser_than(&before), "{before:?} {after:?}");
        }
    }

    #[test]
    fn the_order_of_rules_and_of_their_files_is_irrelevant(
        (policy, shuffled) in draw::policy().prop_flat_map(|policy| {
            (Just(policy.clone()), shuffled(policy))
        }),
        calls in calls(),
    ) {
        prop_assert_eq!(policy.decide(&calls), shuffled.decide(&calls));
    }

    #[test]
    fn an_ended_rule_is_no_rule(
        policy in draw::policy(), rule in draw::rule(), calls in calls(),
    ) {
        let id = "added".to_owned();
        let rule = DraftRule { id, expires: Some(draw::ENDED), ..rule };
        let with = policy.with_rule(Layer::Builtin, rule);
        prop_assert_eq!(policy.decide(&calls), with.decide(&calls));
    }

    #[test]
    fn a_verdict_follows_from_the_rules_that_hold(
        policy in draw::policy(), calls in many_calls(),
    ) {
        let ruleset = policy.load();
        for call in &calls {
            let explanation = ruleset.explain(&call.request, call.now);
            prop_assert!(follows(&call.request, &explanation), "{explanation:?}");
            for hit in explanation.hits.iter().filter(|hit| hit.is_lifted) {
                let is_higher = |rule: &Rule| rule.layer() > hit.rule.layer();
                let mut others = ruleset.rules();
                prop_assert!(others.any(|rule| rule.action() == Action::Allow && is_higher(rule)));
            }
        }
    }

    #[test]
    fn a_verdict_depends_on_nothing_else(policy in draw::policy(), call in call()) {
        let ruleset = policy.load();
        let seen = call.decide(&ruleset);
        prop_assert_eq!(&seen, &call.decide(&ruleset));
        prop_assert_eq!(&seen, &call.decide(&ruleset.clone()));
        prop_assert_eq!(&seen, &call.decide(&policy.load()));
    }
}
