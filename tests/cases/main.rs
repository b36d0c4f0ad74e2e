//! Public reports of ways around gates like this one, and of harmless calls that such gates refuse:
//! what `check` says of each, and what becomes of it under `run`. README.md says what they are.

mod case;
mod case_policies;
mod known;
mod outcome;
mod run;
mod scene;

use case::{Case, Expect};
use case_policies::CasePolicies;
use outcome::{Outcome, each, settle};
use scene::Scene;

/// Asks `check` about the execs that the case is about.
fn judge(case: &Case, policies: &CasePolicies) -> Outcome {
    if let Some(reason) = case.unlike_here() {
        return Outcome::LeftOut(reason);
    }
    let scene = Scene::lay_out(case, policies);
    for exec in case.judged() {
        let (code, said) = scene.check(case, exec);
        let verdict = match code {
            Some(0) => Some(Expect::Allow),
            Some(3) => Some(Expect::Ask),
            Some(4) => Some(Expect::Deny),
            _ => None,
        };
        if verdict != Some(case.expect) {
            let expected = case.expect;
            return Outcome::Otherwise(format!("{exec:?}: not {expected:?} but {said}"));
        }
    }
    Outcome::AsExpected
}

#[test]
fn every_wording_is_one_policy() {
    let cases = Case::all();
    let policies = CasePolicies::all();
    let mut wordings: Vec<&str> = cases.iter().map(|case| case.policy.as_str()).collect();
    wordings.sort_unstable();
    wordings.dedup();
    assert_eq!(policies.wordings(), wordings);
    assert_eq!((cases.len(), wordings.len()), (217, 132));
}

#[test]
fn check_says_what_each_case_expects() {
    let cases = Case::all();
    let policies = CasePolicies::all();
    let cases: Vec<&Case> = cases.iter().collect();
    let outcomes = each(&cases, |case| judge(case, &policies));
    settle(&cases, outcomes, known::CHECK);
}

#[test]
fn what_gets_past_other_gates_does_not_get_past_this_one_and_the_harmless_does() {
    let cases = Case::all();
    let policies = CasePolicies::all();
    let cases: Vec<&Case> = cases.iter().filter(|case| case.command.is_some()).collect();
    let outcomes = each(&cases, |case| run::under_the_gate(case, &policies));
    settle(&cases, outcomes, known::RUN);
}
