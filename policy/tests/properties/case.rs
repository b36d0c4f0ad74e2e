//! What `ignore_case` does to a rule.

use execward_policy::{Action, Decision, ExecRequest};
use proptest::prelude::*;

use crate::calls::calls;
use crate::draft::{Call, DraftPolicy, DraftRule};
use crate::draw;

/// The rule alone, with its case ignored and not; both are denies or asks of nobody, or the only
/// allow.
fn both(rule: DraftRule) -> [DraftPolicy; 2] {
    let security = match rule.action {
        Action::Allow => "allowlist",
        Action::Ask | Action::Deny => "full",
    };
    [true, false].map(|ignores_case| {
        let id = "r".to_owned();
        let rule = DraftRule {
            id,
            ignores_case,
            ..rule.clone()
        };
        DraftPolicy::of_user(security, "off", &[rule])
    })
}

/// The entries without `!`: what is excepted in letters of either case is less than it was.
fn without_exceptions(mut rule: DraftRule) -> DraftRule {
    for (_, list) in &mut rule.lists {
        list.retain(|entry| !entry.starts_with('!'));
    }
    rule.lists.retain(|(_, list)| !list.is_empty());
    rule
}

/// The call with some letters of its text in the other case: of its words, its variables and its
/// directory, as far as a rule may ignore it. Letters of flags stay, and so do the names of files:
/// what a program is known to do is known by its name.
fn recased(request: &ExecRequest, mask: u64) -> ExecRequest {
    let mut turn = mask;
    let mut flip = |text: &mut Vec<u8>| {
        let is_cluster = text.starts_with(b"-") && !text.starts_with(b"--");
        let letters = text.iter_mut().filter(|_| !is_cluster);
        for letter in letters {
            turn = turn.rotate_left(1);
            if turn & 1 == 1 {
                *letter ^= 0x20 * u8::from(letter.is_ascii_alphabetic());
            }
        }
    };
    let mut request = request.clone();
    request.argv.iter_mut().skip(1).for_each(&mut flip);
    request.cwd.iter_mut().for_each(&mut flip);
    if let Some(env) = &request.env {
        let mut env = env.to_vec();
        env.iter_mut().for_each(&mut flip);
        request.env = Some(env.into());
    }
    request
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_prohibition_that_ignores_case_holds_wherever_the_exact_one_does(
        rule in prop_oneof![draw::rule_of(Action::Deny), draw::rule_of(Action::Ask)],
        calls in calls(),
        mask in any::<u64>(),
    ) {
        let rule = without_exceptions(rule);
        prop_assume!(!rule.lists.is_empty());
        let has_argv = rule.has("argv");
        let [folded, exact] = both(rule).map(|policy| policy.load());
        for call in calls {
            if call.decide(&exact).decision != Decision::Deny {
                continue;
            }
            prop_assert_eq!(call.decide(&folded).decision, Decision::Deny);
            // Tables know verbs in their own letters, and by the verb the operands that are flags.
            let is_flag = |word: &Vec<u8>| word.starts_with(b"+") || word.starts_with(b":");
            if !has_argv && !call.request.argv.iter().any(is_flag) {
                let request = recased(&call.request, mask);
                let recased = Call { request, ..call };
                prop_assert_eq!(recased.decide(&folded).decision, Decision::Deny, "{:?}", recased);
            }
        }
    }

    /// In letters of one case there is nothing to ignore.
    #[test]
    fn a_rule_that_ignores_case_is_the_exact_one_for_what_is_in_small_letters(
        rule in draw::rule(), calls in calls(),
    ) {
        prop_assume!(!rule.has("env"));
        let [folded, exact] = both(rule);
        prop_assert_eq!(folded.decide(&calls), exact.decide(&calls));
    }

    #[test]
    fn a_permission_that_ignores_case_holds_for_no_other_flags(
        rule in draw::rule_of(Action::Allow), calls in calls(),
    ) {
        let [folded, exact] = both(rule).map(|policy| policy.load());
        for mut call in calls {
            // Every letter of a flag is another flag.
            for argument in call.request.argv.iter_mut().skip(1) {
                if argument.starts_with(b"-") && !argument.starts_with(b"--") {
                    argument.make_ascii_uppercase();
                }
            }
            let [folded, exact] = [&folded, &exact].map(|rules| call.decide(rules).decision);
            prop_assert_eq!(folded, exact);
        }
    }
}
