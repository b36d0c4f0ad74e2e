//! What the modes make of what the rules say.

use execward_policy::{Action, Decision, Layer};
use proptest::prelude::*;
use proptest::sample::select;

use crate::calls::calls;
use crate::draft::{DraftFile, DraftMode, DraftPolicy};
use crate::draw::{self, APPROVAL, ASK, SECURITY};

fn security(security: &'static str) -> DraftMode {
    DraftMode {
        security: Some(security),
        ..DraftMode::default()
    }
}

fn ask(ask: &'static str) -> DraftMode {
    DraftMode {
        ask: Some(ask),
        ..DraftMode::default()
    }
}

fn fallback(security: &'static str) -> DraftMode {
    DraftMode {
        ask_fallback: Some(security),
        ..DraftMode::default()
    }
}

/// A policy in which the user need not say what runs.
fn policy() -> impl Strategy<Value = DraftPolicy> {
    prop_oneof![3 => draw::policy(), 1 => draw::policy_of_others()]
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn lowering_security_never_loosens(policy in policy(), calls in calls()) {
        let [deny, allowlist, full] =
            SECURITY.map(|word| policy.with_mode(security(word)).decide(&calls));
        for ((deny, allowlist), full) in deny.iter().zip(allowlist).zip(full) {
            prop_assert_eq!(deny.decision, Decision::Deny);
            prop_assert!(deny.is_no_looser_than(&allowlist), "{deny:?} {allowlist:?}");
            prop_assert!(allowlist.is_no_looser_than(&full), "{allowlist:?} {full:?}");
        }
    }

    #[test]
    fn raising_ask_never_makes_a_silent_allow(policy in policy(), calls in calls()) {
        let [off, on_miss, always] = ASK.map(|word| policy.with_mode(ask(word)).decide(&calls));
        for ((off, on_miss), always) in off.iter().zip(on_miss).zip(always) {
            prop_assert!(on_miss.decision != Decision::Allow || off.decision == Decision::Allow);
            prop_assert_ne!(always.decision, Decision::Allow);
        }
    }

    #[test]
    fn where_anybody_says_ask_off_nobody_is_asked(
        policy in policy(),
        layer in select(&[Layer::Agent, Layer::User, Layer::User, Layer::Floor][..]),
        word in prop::bool::weighted(0.7),
        calls in calls(),
    ) {
        let mode = if word {
            ask("off")
        } else {
            DraftMode { approval: Some("'never'"), ..DraftMode::default() }
        };
        let silent = policy.with_file(DraftFile { mode, ..DraftFile::of(layer) });
        for seen in silent.decide(&calls) {
            prop_assert_ne!(seen.decision, Decision::Ask);
        }
    }

    #[test]
    fn an_approval_never_loosens(
        policy in policy(), approval in select(&APPROVAL[..]), calls in calls(),
    ) {
        let mut without = policy;
        for file in without.files.iter_mut().filter(|file| file.is_base()) {
            file.mode.approval = None;
        }
        let mode = DraftMode { approval: Some(approval), ..DraftMode::default() };
        let with = without.with_mode(mode);
        for (before, after) in without.decide(&calls).iter().zip(with.decide(&calls)) {
            // A question more may be answered by `ask_fallback`, a refusal may not.
            prop_assert!(after.decision >= before.decision, "{before:?} {after:?}");
            prop_assert!(after.unanswered >= before.unanswered || after.decision == Decision::Ask);
        }
    }

    #[test]
    fn a_mode_beside_never_loosens(
        policy in policy(),
        layer in select(&[Layer::Agent, Layer::Floor][..]),
        mode in draw::mode(),
        calls in calls(),
    ) {
        // Where nobody else says what runs, an agent's file does.
        prop_assume!(policy.has_security());
        let with = policy.with_file(DraftFile { mode, ..DraftFile::of(layer) });
        for (before, after) in policy.decide(&calls).iter().zip(with.decide(&calls)) {
            prop_assert!(after.decision >= before.decision, "{before:?} {after:?}");
            prop_assert!(after.unanswered >= before.unanswered, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_floor_never_loosens(
        policy in draw::policy(), floor in draw::file(Layer::Floor), calls in calls(),
    ) {
        let mut floor = floor;
        for (number, rule) in floor.rules.iter_mut().enumerate() {
            rule.id = format!("added{number}");
        }
        let with = policy.with_file(floor);
        for (before, after) in policy.decide(&calls).iter().zip(with.decide(&calls)) {
            prop_assert!(after.is_no_looser_than(before), "{before:?} {after:?}");
        }
    }

    #[test]
    fn lowering_the_fallback_never_loosens(policy in policy(), calls in calls()) {
        let seen = SECURITY.map(|word| policy.with_mode(fallback(word)).decide(&calls));
        let [deny, allowlist, full] = seen;
        for ((deny, allowlist), full) in deny.iter().zip(allowlist).zip(full) {
            prop_assert_eq!(deny.decision, full.decision);
            prop_assert!(deny.is_no_looser_than(&allowlist), "{deny:?} {allowlist:?}");
            prop_assert!(allowlist.is_no_looser_than(&full), "{allowlist:?} {full:?}");
        }
    }

    /// What runs without an answer would have run without a question, in that mode and in the
    /// policy's own.
    #[test]
    fn a_fallback_is_no_looser_than_the_mode_that_it_names_nor_than_the_own(
        policy in policy(), word in select(&SECURITY[..]), calls in calls(),
    ) {
        let mut policy = policy;
        for file in &mut policy.files {
            file.mode.approval = None;
            file.mode.ask_fallback = None;
        }
        let falling = policy.with_mode(fallback(word)).decide(&calls);
        // Without the questions of the modes beside, then without those modes.
        let mut quiet = policy.clone();
        quiet.files.iter_mut().for_each(|file| file.mode.ask = None);
        let quiet = quiet.with_mode(ask("off")).decide(&calls);
        for file in policy.files.iter_mut().filter(|file| !file.is_base()) {
            file.mode = DraftMode::default();
        }
        let named = policy.with_mode(security(word)).with_mode(ask("off")).decide(&calls);
        for ((seen, own), named) in falling.iter().zip(quiet).zip(named) {
            let is_question = seen.decision == Decision::Ask;
            prop_assert!(is_question || seen.unanswered == seen.decision);
            if is_question && seen.unanswered == Decision::Allow {
                prop_assert_eq!(named.decision, Decision::Allow);
                prop_assert_eq!(own.decision, Decision::Allow);
            }
        }
    }

    #[test]
    fn what_an_ask_rule_asks_never_falls_open(policy in policy(), calls in calls()) {
        let ruleset = policy.with_mode(fallback("full")).load();
        for call in &calls {
            let explanation = ruleset.explain(&call.request, call.now);
            let is_asked = explanation.hits.iter().any(|hit| {
                hit.rule.action() == Action::Ask && !hit.is_lifted
            });
            prop_assert_ne!(explanation.verdict.unanswered(), Decision::Ask);
            if is_asked && explanation.verdict.decision() != Decision::Allow {
                prop_assert_eq!(explanation.verdict.unanswered(), Decision::Deny);
            }
        }
    }
}
