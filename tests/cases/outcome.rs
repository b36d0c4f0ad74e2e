//! What came of the cases, and whether that is what is known of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use execward_tests::skip;

use crate::case::Case;
use crate::known::Known;

/// What came of one case.
#[derive(Debug)]
pub(crate) enum Outcome {
    AsExpected,
    /// What came instead.
    Otherwise(String),
    /// Why it says nothing on this machine.
    LeftOut(String),
}

/// `look` at each case, as many at a time as there are processors.
pub(crate) fn each(cases: &[&Case], look: impl Fn(&Case) -> Outcome + Sync) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(at) else {
                return done;
            };
            done.push((at, look(case)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut outcomes: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|worker| worker.join());
        results.flat_map(|done| done.expect("a worker")).collect()
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

/// A case in `known` must come out otherwise, every other one as expected.
///
/// # Panics
/// If that is not so.
pub(crate) fn settle(cases: &[&Case], outcomes: Vec<Outcome>, known: &[Known]) {
    let mut wrong = Vec::new();
    let mut left_out: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let is_known = |id: &str| known.iter().any(|(known, _)| *known == id);
    for (case, outcome) in cases.iter().zip(outcomes) {
        let id = case.id.as_str();
        match (outcome, is_known(id)) {
            (Outcome::AsExpected, false) | (Outcome::Otherwise(_), true) => {}
            (Outcome::AsExpected, true) => wrong.push(format!("{id}: as expected now")),
            (Outcome::Otherwise(what), false) => wrong.push(format!("{id}: {what}")),
            (Outcome::LeftOut(why), _) => left_out.entry(why).or_default().push(id),
        }
    }
    let is_case = |id: &str| cases.iter().any(|case| case.id == id);
    for (id, _) in known.iter().filter(|(id, _)| !is_case(id)) {
        wrong.push(format!("{id}: no such case"));
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} cases:\n{}", wrong.join("\n"));
    if !left_out.is_empty() {
        let of = |(why, ids): (&String, &Vec<&str>)| format!("{why} ({})", ids.join(", "));
        let reasons: Vec<String> = left_out.iter().map(of).collect();
        skip(&format!("some of the cases: {}", reasons.join("; ")));
    }
}
