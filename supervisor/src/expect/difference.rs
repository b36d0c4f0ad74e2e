//! What was executed and not expected, and the other way round.

use std::collections::BTreeMap;
use std::fmt;

use super::list::{Expected, List};
use super::normal::generalised;
use super::seen::{Exec, Seen};

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
            let mut entries = list.execs.iter().zip(&mut times);
            if let Some((_, count)) = entries.find(|(expected, _)| expected.matches(exec)) {
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

/// What execs that are alike have in common.
fn kind(exec: &Exec) -> (String, Option<Vec<String>>, &Option<String>) {
    let general = |word: &Vec<u8>| generalised(word, exec.cwd.as_deref());
    let argv = exec.argv.as_ref();
    (
        general(&exec.program),
        argv.map(|argv| argv.iter().map(general).collect()),
        &exec.refused,
    )
}

impl Unexpected<'_> {
    /// What became of it, and how often.
    pub(super) fn in_words(&self) -> String {
        let fate = match &self.first.refused {
            Some(why) => format!("refused ({why})"),
            None => "ran".to_owned(),
        };
        match self.times {
            1 => fate,
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
        for found in &self.unexpected {
            let (words, id) = (found.first.in_words(), &found.first.id);
            writeln!(f, "+ {words}  [{id}] {}", found.in_words())?;
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
