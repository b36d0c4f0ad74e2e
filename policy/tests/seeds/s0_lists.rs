//! The first seed's prefixes: how they are joined, what they hold for, what is reported.

use execward_policy::seed::{AskForApproval, PrefixPolicy, Ruleset};
use proptest::prelude::*;

use crate::*;

const UNLESS_TRUSTED: AskForApproval = AskForApproval::UnlessTrusted;

fn layered(rulesets: &[Ruleset]) -> PrefixPolicy {
    PrefixPolicy::with_rulesets(rulesets.to_vec())
}

fn builtin(trusted: &[&str], denied: &[&str]) -> Ruleset {
    Ruleset {
        trusted_prefixes: strings(trusted),
        denied_prefixes: strings(denied),
        ..Ruleset::builtin_default()
    }
}

fn agent(trusted: &[&str], denied: &[&str]) -> Ruleset {
    Ruleset::agent(strings(trusted), strings(denied))
}

fn user(trusted: &[&str], denied: &[&str]) -> Ruleset {
    Ruleset::user(strings(trusted), strings(denied))
}

#[test]
fn r17_a_policy_without_rules_matches_nothing() {
    let policy = PrefixPolicy::default();
    assert_eq!(policy, lists(&[], &[]));
    for line in ["git status", "/opt/x/y", "rm -rf /"] {
        let decision = check(&policy, &UNLESS_TRUSTED, line);
        assert_eq!(decision.requirement.phase(), "needs_approval", "{line}");
        assert_eq!(decision.matched_rule, None, "{line}");
    }
}

#[test]
fn r18_flat_lists_act_without_layers() {
    let policy = lists(&["git status"], &["git push"]);
    assert_phases(
        &policy,
        &UNLESS_TRUSTED,
        &[
            ("git status", "allowed"),
            ("git push", "forbidden"),
            ("git log", "needs_approval"),
        ],
    );
}

#[test]
fn r19_layers_are_sorted_and_keep_their_order_within() {
    let policy = layered(&[
        user(&["a"], &[]),
        builtin(&[], &[]),
        agent(&["b"], &[]),
        user(&["c"], &[]),
    ]);
    let layers: Vec<_> = policy.rulesets().iter().map(|own| own.layer).collect();
    assert!(layers.is_sorted(), "{layers:?}");
    let trusted = policy
        .rulesets()
        .iter()
        .flat_map(|own| &own.trusted_prefixes);
    assert_eq!(trusted.collect::<Vec<_>>(), ["b", "a", "c"]);
    let lowest_first: Vec<_> = policy
        .translate(&UNLESS_TRUSTED)
        .sources()
        .map(|source| source.layer)
        .collect();
    assert_eq!(lowest_first, [Layer::Agent, Layer::User]);
}

#[test]
fn r20_a_layer_may_come_later_and_flat_lists_stay() {
    let mut policy = lists(&["git status"], &["git push"]);
    policy.add_ruleset(user(&["git log"], &["git push --force"]));
    policy.add_ruleset(agent(&["git diff"], &["git clean"]));
    assert_phases(
        &policy,
        &UNLESS_TRUSTED,
        &[
            ("git status", "allowed"),
            ("git log", "allowed"),
            ("git diff", "allowed"),
            ("git push", "forbidden"),
            ("git clean", "forbidden"),
        ],
    );
    // Last of the user's: of two that hold, the layer's own is named.
    let decision = check(&policy, &UNLESS_TRUSTED, "git push --force");
    assert_eq!(decision.matched_rule.as_deref(), Some("git push --force"));
}

#[test]
fn r21_a_rule_of_each_source_counts() {
    let mut policy = lists(&["git tag"], &["git rebase"]);
    policy.add_ruleset(builtin(&["git status"], &["git push"]));
    policy.add_ruleset(agent(&["git log"], &["git clean"]));
    policy.add_ruleset(user(&["git diff"], &["git reset"]));
    for line in ["git tag", "git status", "git log", "git diff"] {
        assert_eq!(phase(&policy, &UNLESS_TRUSTED, line), "allowed", "{line}");
    }
    for line in ["git rebase", "git push", "git clean", "git reset"] {
        assert_eq!(phase(&policy, &UNLESS_TRUSTED, line), "forbidden", "{line}");
    }
}

#[test]
fn r22_deny_beats_trust_of_any_layer() {
    for trusting in [
        builtin(&["git push"], &[]),
        agent(&["git push"], &[]),
        user(&["git push"], &[]),
    ] {
        for denying in [
            builtin(&[], &["git push"]),
            agent(&[], &["git push"]),
            user(&[], &["git push"]),
        ] {
            let policy = layered(&[trusting.clone(), denying.clone()]);
            let decision = check(&policy, &UNLESS_TRUSTED, "git push");
            assert_eq!(decision.requirement.phase(), "forbidden", "{policy:?}");
        }
    }
}

#[test]
fn r23_deny_holds_in_every_way_of_approving() {
    let policy = lists(&["git push"], &["git push"]);
    for approval in APPROVALS {
        assert_eq!(
            phase(&policy, &approval, "git push"),
            "forbidden",
            "{approval:?}"
        );
    }
}

#[test]
fn r24_deny_compares_words() {
    let policy = lists(&[], &["  git   push  "]);
    assert_phases(
        &policy,
        &AskForApproval::Never,
        &[
            ("git push", "forbidden"),
            ("git push origin main", "forbidden"),
            ("/opt/git push", "forbidden"),
            ("git -C sub push", "forbidden"),
            ("git pushx", "allowed"),
            ("git commit", "allowed"),
            ("gitk push", "allowed"),
        ],
    );
}

#[test]
fn r25_a_refusal_names_the_denied_prefix() {
    let decision = check(&lists(&[], &["git  push"]), &UNLESS_TRUSTED, "git push");
    assert_eq!(decision.requirement.phase(), "forbidden");
    assert_eq!(decision.matched_rule.as_deref(), Some("git  push"));
    assert!(
        decision.reason().contains("`git  push` is a denied prefix"),
        "{}",
        decision.reason()
    );
}

#[test]
fn r26_the_first_hit_is_reported_and_the_others_are_listed() {
    let policy = lists(&[], &["git push", "git push origin", "git"]);
    let first = check(&policy, &UNLESS_TRUSTED, "git push origin");
    assert_eq!(first.matched_rule.as_deref(), Some("git push"));
    // Across layers the highest is first, which the seed told in three ways (O20).
    let policy = layered(&[agent(&[], &["git push"]), user(&[], &["git push origin"])]);
    let translation = policy.translate(&UNLESS_TRUSTED);
    let ruleset = load_translation(&translation);
    let request = call("git push origin");
    let explanation = ruleset.explain(&request, NOW);
    let hits: Vec<_> = explanation
        .hits
        .iter()
        .map(|hit| translation.label(hit.rule))
        .collect();
    assert_eq!(hits, [Some("git push origin"), Some("git push")]);
    assert_eq!(
        explanation
            .verdict
            .rule()
            .and_then(|rule| translation.label(rule)),
        Some("git push origin")
    );
}

#[test]
fn r27_trust_covers_the_command_and_not_its_siblings() {
    assert_phases(
        &lists(&["git status"], &[]),
        &UNLESS_TRUSTED,
        &[
            ("git status", "allowed"),
            ("git status --porcelain", "allowed"),
            ("git status -s src", "allowed"),
            ("git push", "needs_approval"),
            ("git", "needs_approval"),
        ],
    );
}

#[test]
fn r28_a_word_ends_where_a_blank_does() {
    assert_phases(
        &lists(&["ls", "frobnicate it"], &[]),
        &UNLESS_TRUSTED,
        &[
            ("ls", "allowed"),
            ("ls -la", "allowed"),
            ("lsof", "needs_approval"),
            ("frobnicate it all", "allowed"),
            ("frobnicate items", "needs_approval"),
        ],
    );
}

#[test]
fn r29_runs_of_blanks_are_one() {
    let policy = lists(&[" git \t  status "], &[]);
    assert_eq!(phase(&policy, &UNLESS_TRUSTED, "git status"), "allowed");
    // In a call there are none: two words are two arguments, however they were typed.
    let ruleset = load_translation(&policy.translate(&UNLESS_TRUSTED));
    let one = decision(&ruleset, &argv(&["git", "status "]));
    assert_eq!(one, Decision::Ask);
}

#[test]
fn r30_the_trusted_prefix_is_reported_even_where_the_mode_decides() {
    let policy = lists(&["git status", "git"], &[]);
    for approval in APPROVALS {
        let decision = check(&policy, &approval, "git status");
        assert_eq!(
            decision.matched_rule.as_deref(),
            Some("git status"),
            "{approval:?}"
        );
    }
}

#[test]
fn r56_the_arity_of_a_command_says_how_far_a_prefix_reaches() {
    let dev = lists(&["npm run dev", "make all"], &[]);
    assert_phases(
        &dev,
        &UNLESS_TRUSTED,
        &[
            ("npm run dev", "allowed"),
            ("npm run dev -- --port 1", "allowed"),
            ("npm run deploy", "needs_approval"),
            ("make all", "allowed"),
            ("make install", "needs_approval"),
        ],
    );
    let short = lists(&["npm run"], &[]);
    assert_eq!(phase(&short, &UNLESS_TRUSTED, "npm run"), "allowed");
    assert_eq!(
        phase(&short, &UNLESS_TRUSTED, "npm run dev"),
        "needs_approval"
    );
    // An empty prefix names no command at all.
    assert!(faults(&lists(&[""], &[]).translate(&UNLESS_TRUSTED)).contains("no words"));
}

/// What ends a string, a line or a list in TOML, and what has a meaning in the language.
const TRICKY: &str = "\"'\\#=[]{},\n\r\t\u{0}\u{7f}\u{85} !@$~*?-a/";

fn entry() -> impl Strategy<Value = String> {
    let tricky: Vec<char> = TRICKY.chars().collect();
    let tricky = prop::collection::vec(prop::sample::select(tricky), 0..10);
    prop_oneof![any::<String>(), tricky.prop_map(String::from_iter)]
}

proptest! {
    /// A translation that loads has a rule for each entry, and of one that does not the fault is
    /// in the line of an entry and never in the syntax of the file.
    #[test]
    fn no_entry_speaks_for_another(entry in entry()) {
        let policy = lists(&["git status", &entry], &["git push", &entry]);
        let translation = policy.translate(&UNLESS_TRUSTED);
        match translation.load(&places()) {
            Ok(ruleset) => {
                prop_assert_eq!(decide(&ruleset, "git push"), Decision::Deny);
                let labels = ruleset.rules().filter_map(|rule| translation.label(rule));
                let labels: Vec<_> = labels.collect();
                prop_assert_eq!(labels, ["git push", &entry, "git status", &entry]);
            }
            Err(faults) => {
                let lines = faults.faults().iter().map(|fault| fault.place().line());
                let is_of_entry = |line| line == 16 || line == 25;
                prop_assert!(lines.into_iter().all(is_of_entry), "{}", faults);
            }
        }
    }
}
