//! The draws are worth something: rules and calls meet, and every key turns both ways.

use std::collections::HashMap;

use execward_policy::{Action, Basis, Decision, Layer, RuleKey};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::calls::calls;
use crate::draft::DraftRule;
use crate::draw::{KEYS, LAYERS, policy};

/// How many policies are drawn, each with a few calls. The draws are the same in every run.
const POLICIES: usize = 600;

/// How often something was seen.
#[derive(Default)]
struct Counts {
    calls: usize,
    /// By what was seen.
    seen: HashMap<String, usize>,
}

impl Counts {
    fn note(&mut self, what: String) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// Asserts that `what` was seen in at least so many of a thousand calls.
    #[track_caller]
    fn assert(&self, what: &str, per_mille: usize) {
        let seen = self.seen.get(what).copied().unwrap_or(0);
        assert!(
            seen * 1000 >= self.calls * per_mille,
            "{what}: {seen} of {} calls",
            self.calls
        );
    }
}

fn count() -> Counts {
    let mut runner = TestRunner::deterministic();
    let mut counts = Counts::default();
    for _ in 0..POLICIES {
        let mut draw = || (policy(), calls()).new_tree(&mut runner);
        let (policy, calls) = draw().expect("nothing is filtered out for ever").current();
        let ruleset = policy.load();
        let rules: HashMap<RuleKey, &DraftRule> = policy
            .rules()
            .map(|(layer, rule)| {
                let id = rule.id.clone();
                (RuleKey { layer, id }, rule)
            })
            .collect();
        for call in calls {
            counts.calls += 1;
            let explanation = ruleset.explain(&call.request, call.now);
            counts.note(format!("decision {}", explanation.verdict.decision()));
            if explanation.verdict.decision() == Decision::Ask {
                counts.note(format!("unanswered {}", explanation.verdict.unanswered()));
            }
            if let Basis::Children(_) = explanation.verdict.basis() {
                counts.note("by children".to_owned());
            }
            let mut notes: Vec<String> = Vec::new();
            for hit in explanation.hits {
                let action = hit.rule.action();
                notes.push(format!("{action} of {}", hit.rule.layer()));
                notes.extend(hit.is_lifted.then(|| "lifted".to_owned()));
                let Some(rule) = rules.get(&hit.rule.key()) else {
                    continue;
                };
                let keys = KEYS.iter().filter(|key| rule.has(key));
                notes.extend(keys.map(|key| format!("{action} by {key}")));
            }
            for miss in explanation.misses {
                notes.push(format!("{} fails by {}", miss.rule.action(), miss.key));
            }
            notes.sort();
            notes.dedup();
            notes.into_iter().for_each(|note| counts.note(note));
        }
    }
    counts
}

#[test]
fn every_key_and_every_layer_decides_calls_both_ways() {
    let counts = count();
    for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
        counts.assert(&format!("decision {decision}"), 150);
    }
    counts.assert("unanswered allow", 7);
    counts.assert("lifted", 7);
    counts.assert("by children", 6);
    for action in [Action::Allow, Action::Ask, Action::Deny] {
        for layer in LAYERS {
            if (layer, action) != (Layer::Floor, Action::Allow) {
                counts.assert(&format!("{action} of {layer}"), 10);
            }
        }
        for key in KEYS {
            if key != "children" && (action, key) != (Action::Allow, "env") {
                counts.assert(&format!("{action} by {key}"), 5);
                counts.assert(&format!("{action} fails by {key}"), 3);
            }
        }
    }
}
