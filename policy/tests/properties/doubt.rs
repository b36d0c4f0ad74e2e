//! What is not known of a call never loosens.

use std::sync::Arc;

use execward_policy::{Action, Ancestor, ExecRequest, Lineage, Origin, ProgramFile};
use proptest::prelude::*;
use proptest::sample::select;

use crate::calls::{calls, cwd, digest, env, interpreter, lineage, many_calls};
use crate::draft::{Call, DraftPolicy};
use crate::draw;

/// The same calls with `change` made to each.
fn changed(calls: &[Call], change: impl Fn(&mut ExecRequest)) -> Vec<Call> {
    let mut calls = calls.to_vec();
    calls.iter_mut().for_each(|call| change(&mut call.request));
    calls
}

fn files(request: &mut ExecRequest) -> impl Iterator<Item = &mut ProgramFile> {
    let interpreters = request.interpreters.iter_mut();
    std::iter::once(&mut request.program).chain(interpreters.map(|level| &mut level.file))
}

/// Compares `doubtful` with `known`, call by call.
fn assert_no_looser(
    policy: &DraftPolicy,
    doubtful: &[Call],
    known: &[Call],
) -> Result<(), TestCaseError> {
    for (doubtful, known) in policy.decide(doubtful).iter().zip(policy.decide(known)) {
        prop_assert!(doubtful.is_no_looser_than(&known), "{doubtful:?} {known:?}");
    }
    Ok(())
}

/// The ancestors that are left of a history, nearest first.
fn cut(lineage: &Lineage, left: usize) -> Vec<Arc<Ancestor>> {
    lineage.ancestors.iter().take(left).cloned().collect()
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn a_broken_history_never_loosens(
        policy in draw::policy(), calls in calls(), whole in lineage(), left in 0usize..4,
    ) {
        let broken = changed(&calls, |request| {
            let ancestors = cut(&whole, left);
            request.lineage = Lineage { ancestors, is_broken: true };
        });
        let intact = changed(&calls, |request| {
            request.lineage = Lineage { is_broken: false, ..whole.clone() };
        });
        assert_no_looser(&policy, &broken, &intact)?;
    }

    #[test]
    fn a_broken_history_is_as_bad_as_any(
        policy in draw::policy(), calls in calls(), lineage in lineage(),
    ) {
        let broken = changed(&calls, |request| request.lineage.is_broken = true);
        let other = changed(&calls, |request| {
            request.lineage = Lineage { is_broken: true, ..lineage.clone() };
        });
        prop_assert_eq!(policy.decide(&broken), policy.decide(&other));
    }

    #[test]
    fn a_digest_that_nobody_took_never_loosens(
        policy in draw::policy(), calls in calls(), digest in digest(),
    ) {
        let without = changed(&calls, |request| {
            files(request).for_each(|file| file.sha256 = None);
        });
        let with = changed(&calls, |request| {
            files(request).for_each(|file| file.sha256 = digest);
        });
        assert_no_looser(&policy, &without, &with)?;
    }

    #[test]
    fn a_working_directory_without_a_path_never_loosens(
        policy in draw::policy(), calls in calls(), cwd in cwd(),
    ) {
        let without = changed(&calls, |request| request.cwd = None);
        let with = changed(&calls, |request| request.cwd.clone_from(&cwd));
        assert_no_looser(&policy, &without, &with)?;
    }

    #[test]
    fn an_environment_that_nobody_read_never_loosens(
        policy in draw::policy(), calls in calls(), env in env(),
    ) {
        let without = changed(&calls, |request| request.env = None);
        let with = changed(&calls, |request| request.env.clone_from(&env));
        assert_no_looser(&policy, &without, &with)?;
    }

    #[test]
    fn a_file_whose_names_prove_nothing_never_loosens(
        policy in draw::policy(),
        calls in calls(),
        origin in select(&[Origin::Foreign, Origin::Anonymous, Origin::Unstable][..]),
    ) {
        let unprovable = changed(&calls, |request| {
            files(request).for_each(|file| file.origin = origin);
        });
        let provable = changed(&calls, |request| {
            files(request).for_each(|file| file.origin = Origin::Session);
        });
        assert_no_looser(&policy, &unprovable, &provable)?;
    }

    #[test]
    fn a_file_that_the_session_may_have_put_there_never_loosens(
        policy in draw::policy(), calls in calls(),
    ) {
        let [unsettled, settled] = [false, true].map(|is_settled| changed(&calls, |request| {
            files(request).for_each(|file| file.is_settled = is_settled);
        }));
        assert_no_looser(&policy, &unsettled, &settled)?;
    }

    #[test]
    fn a_file_that_brings_rights_never_loosens(policy in draw::policy(), calls in calls()) {
        let [bringing, plain] = [true, false].map(|gains_rights| changed(&calls, |request| {
            files(request).for_each(|file| file.gains_rights = gains_rights);
        }));
        assert_no_looser(&policy, &bringing, &plain)?;
    }

    #[test]
    fn an_interpreter_more_never_loosens(
        policy in draw::policy(), calls in calls(), interpreter in interpreter(),
    ) {
        let more = changed(&calls, |request| request.interpreters.push(interpreter.clone()));
        assert_no_looser(&policy, &more, &calls)?;
    }

    /// Nobody knows whether it takes the next argument for its value.
    #[test]
    fn an_unknown_flag_in_front_never_loosens(policy in draw::policy(), calls in many_calls()) {
        let mut policy = policy;
        for file in &mut policy.files {
            // `argv` is the whole vector, and one with a flag more is another.
            file.rules.retain(|rule| rule.action == Action::Allow || !rule.has("argv"));
        }
        let calls: Vec<Call> =
            calls.into_iter().filter(|call| !call.request.argv.is_empty()).collect();
        let more = changed(&calls, |request| request.argv.insert(1, "--zz".into()));
        assert_no_looser(&policy, &more, &calls)?;
    }

    #[test]
    fn the_first_element_identifies_nothing(policy in draw::policy(), calls in calls()) {
        let called_otherwise = changed(&calls, |request| {
            if let Some(first) = request.argv.first_mut() {
                *first = "push".into();
            }
        });
        prop_assert_eq!(policy.decide(&calls), policy.decide(&called_otherwise));
    }

    #[test]
    fn what_is_not_wanted_changes_nothing(
        policy in draw::policy(), calls in calls(), digest in digest(), lineage in lineage(),
    ) {
        let ruleset = policy.load();
        for call in &calls {
            let mut call = call.clone();
            files(&mut call.request).for_each(|file| file.sha256 = None);
            let wants_digests = ruleset.wants_digests(&call.request, call.now);
            let seen = call.decide(&ruleset);
            files(&mut call.request).for_each(|file| file.sha256 = digest);
            prop_assert!(wants_digests || seen == call.decide(&ruleset), "{seen:?}");

            let seen = call.decide(&ruleset);
            call.request.lineage = lineage.clone();
            prop_assert!(ruleset.wants_lineage() || seen == call.decide(&ruleset), "{seen:?}");
        }
    }
}
