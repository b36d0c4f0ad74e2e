//! What was executed and not expected, and the other way round.

use std::collections::BTreeMap;
use std::fmt;

use super::learn::normal;
use super::list::{Expected, List};
use super::seen::{Exec, Seen};

/// Most execs that are shown. A report has all.
const SHOWN_MAX: usize = 100;

/// The difference of what was seen from a list.
#[derive(Debug)]
pub(super) struct Difference<'a> {
    pub(super) list: &'a List,
    /// What no entry of the list is of, each kind once.
    pub(super) unexpected: Vec<Unexpected<'a>>,
    /// How often each entry of the list was seen, in its order.
    pub(super) times: Vec<usize>,
    /// What nobody can tell.
    pub(super) gaps: &'a [String],
}

/// Execs that are alike but for what differs from run to run.
#[derive(Debug)]
pub(super) struct Unexpected<'a> {
    pub(super) first: &'a Exec,
    pub(super) times: usize,
}

impl<'a> Difference<'a> {
    pub(super) fn between(list: &'a List, seen: &'a Seen) -> Self {
        let mut times = vec![0; list.execs.len()];
        let mut unexpected: Vec<Unexpected<'a>> = Vec::new();
        let mut known = BTreeMap::new();
        for exec in &seen.execs {
            if let Some(count) = entry_of(exec, list, &times).and_then(|at| times.get_mut(at)) {
                *count += 1;
                continue;
            }
            let at = *known.entry(kind(exec)).or_insert(unexpected.len());
            match unexpected.get_mut(at) {
                Some(alike) => alike.times += 1,
                None => unexpected.push(Unexpected {
                    first: exec,
                    times: 1,
                }),
            }
        }
        Self {
            list,
            unexpected,
            times,
            gaps: &seen.gaps,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        self.unexpected.is_empty() && self.gaps.is_empty() && self.miscounted().next().is_none()
    }

    /// Entries that were to be seen another number of times, with that in words.
    pub(super) fn miscounted(&self) -> impl Iterator<Item = (&'a Expected, String)> {
        self.entries().filter_map(|(expected, times)| {
            let count = expected.count?;
            (count != times).then(|| (expected, format!("{times} instead of {count} times")))
        })
    }

    /// Each entry of the list, and how often it was seen.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a Expected, usize)> {
        self.list.execs.iter().zip(self.times.iter().copied())
    }
}

/// Which entry counts the exec, of those that fit: what says just this; else the first that is to come more
/// often; else the first.
fn entry_of(exec: &Exec, list: &List, times: &[usize]) -> Option<usize> {
    let fitting: Vec<_> = list
        .execs
        .iter()
        .enumerate()
        .filter(|(_, it)| it.matches(exec))
        .collect();
    let (program, argv) = normal(exec);
    let exact = fitting
        .iter()
        .find(|(_, it)| it.is_exactly(&program, &argv));
    let wanting = || {
        let mut wanting = fitting.iter();
        wanting.find(|(at, it)| {
            it.count
                .is_none_or(|count| times.get(*at).is_some_and(|seen| *seen < count))
        })
    };
    let found = exact.or_else(wanting).or_else(|| fitting.first());
    found.map(|(at, _)| *at)
}

/// What execs that are alike have in common.
fn kind(exec: &Exec) -> impl Ord + '_ {
    let what_ran = (exec.interpreter.as_deref(), exec.oddity.as_deref());
    (normal(exec), what_ran, exec.fate.as_str())
}

impl Unexpected<'_> {
    /// What became of it, and how often.
    pub(super) fn in_words(&self) -> String {
        let fate = &self.first.fate;
        match self.times {
            1 => fate.clone(),
            times => format!("{fate}, {times} times"),
        }
    }
}

impl fmt::Display for Difference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, seen) = (&self.list.name, self.times.iter().sum::<usize>());
        if self.is_none() {
            return writeln!(f, "every exec is expected: {seen}, by {name}");
        }
        writeln!(f, "what was executed is not what {name} expects:")?;
        for found in self.unexpected.iter().take(SHOWN_MAX) {
            let (words, id) = (found.first.in_words(), &found.first.id);
            writeln!(f, "+ {words}  [{id}] {}", found.in_words())?;
        }
        if let Some(more @ 1..) = self.unexpected.len().checked_sub(SHOWN_MAX) {
            writeln!(f, "+ and {more} others")?;
        }
        for (expected, why) in self.miscounted() {
            writeln!(f, "~ {}  {why}", expected.in_words())?;
        }
        for (expected, _) in self
            .entries()
            .filter(|(it, times)| it.count.is_none() && *times == 0)
        {
            writeln!(f, "  {}  never, which is no failure", expected.in_words())?;
        }
        for gap in self.gaps {
            writeln!(f, "! {gap}: what was executed is not all known")?;
        }
        Ok(())
    }
}
