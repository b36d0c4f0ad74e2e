//! The watch list: environment variables that change what a program does.
//!
//! An allow that does not name them fails where one of them is not as it was at session start.
//! The list is data, `data/watched.txt`, which says why each is on it; `[env] untrusted` adds to
//! it and takes out.

mod data;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::case::Case;
use crate::escape::EscapeError;
use crate::places::Places;
use crate::word::Word;
use data::{BUILTIN, Entry};

/// The class of the names that a policy adds.
const UNTRUSTED: &str = "untrusted";

/// An entry of `[env] untrusted`.
#[derive(Debug, Clone)]
pub(crate) struct EnvName {
    name: Word,
    /// Whether the entry takes the name out: `"!NAME"`.
    is_exception: bool,
}

impl EnvName {
    /// Reads `NAME` or `!NAME`.
    pub(crate) fn parse(text: &str, places: &Places) -> Result<Self, EscapeError> {
        let exception = text.strip_prefix('!');
        Ok(Self {
            name: Word::parse(exception.unwrap_or(text), places, Case::Exact)?,
            is_exception: exception.is_some(),
        })
    }
}

/// Which variables are watched.
#[derive(Debug, Clone, Default)]
pub(crate) struct WatchList {
    added: Vec<Word>,
    taken_out: Vec<Word>,
}

/// How a watched variable differs from session start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// The session did not start with it.
    New,
    /// It has another value, or another order of values.
    Changed,
    /// It is gone, and what it protected is not protected any more.
    Removed,
}

impl How {
    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Removed => "gone",
        }
    }
}

/// One watched variable that is not as it was at session start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change<'e> {
    /// `NAME=VALUE`, as execve(2) passes it; of a variable that is gone, as it was.
    pub(crate) variable: &'e [u8],
    /// What kind of variable it is, in a word.
    pub(crate) class: &'static str,
    pub(crate) how: How,
}

impl Change<'_> {
    /// What the variable is now: without a value if it is gone.
    pub(crate) fn shown(&self) -> &[u8] {
        match self.how {
            How::New | How::Changed => self.variable,
            How::Removed => self.name(),
        }
    }

    /// The name of the variable, for a message.
    pub(crate) fn name(&self) -> &[u8] {
        name_of(self.variable)
    }
}

impl WatchList {
    /// The builtin list, with what a policy adds and takes out.
    pub(crate) fn new(untrusted: impl IntoIterator<Item = EnvName>) -> Self {
        let mut list = Self::default();
        for EnvName { name, is_exception } in untrusted {
            if is_exception {
                list.taken_out.push(name);
            } else {
                list.added.push(name);
            }
        }
        list
    }

    /// The same with what was taken out.
    pub(crate) fn untrimmed(&self) -> Cow<'_, Self> {
        if self.taken_out.is_empty() {
            return Cow::Borrowed(self);
        }
        let (added, taken_out) = (self.added.clone(), Vec::new());
        Cow::Owned(Self { added, taken_out })
    }

    /// The same with `name` among them.
    pub(crate) fn with(&self, name: &str) -> Self {
        let own = Word::of(name, Case::Exact);
        Self {
            added: self.added.iter().cloned().chain([own]).collect(),
            taken_out: Vec::new(),
        }
    }

    /// Whether a policy adds to it.
    pub(crate) fn has_own(&self) -> bool {
        !self.added.is_empty()
    }

    /// The watched variables in `now` that are not as they were at the `start` of the session,
    /// in order, then those that are missing. Without a `start` all are new.
    ///
    /// A name may stand there several times: getenv(3) takes its first value, bash its last. If
    /// its values, or their order, are not those of the start, each of them counts.
    pub(crate) fn changes<'e>(
        &self,
        start: Option<&'e [Vec<u8>]>,
        now: &'e [Vec<u8>],
    ) -> Vec<Change<'e>> {
        let start = start.unwrap_or_default();
        let differing = self.differing(start, now);
        if differing.is_empty() {
            return Vec::new();
        }
        self.changes_of(differing, start, now)
    }

    /// The watched names whose values are not those of the start.
    fn differing<'e>(
        &self,
        start: &'e [Vec<u8>],
        now: &'e [Vec<u8>],
    ) -> BTreeMap<&'e [u8], Seen<'e>> {
        let (start, now) = without_common_ends(start, now);
        let of = |entries: &'e [Vec<u8>], is_start| {
            let entry = move |entry: &'e Vec<u8>| (name_of(entry), is_start, entry.as_slice());
            entries.iter().map(entry)
        };
        let mut entries: Vec<_> = of(start, true).chain(of(now, false)).collect();
        // Stable: the values of a name stay in their order.
        entries.sort_by_key(|(name, ..)| *name);
        let mut differing = BTreeMap::new();
        for same_name in entries.chunk_by(|(one, ..), (other, ..)| one == other) {
            let [(name, ..), ..] = same_name else {
                continue;
            };
            let values = |at_start| {
                let entries = same_name.iter();
                let side = entries.filter(move |(_, is_start, _)| *is_start == at_start);
                side.map(|(.., entry)| *entry)
            };
            if !values(true).eq(values(false))
                && let Some(watch) = self.watch(name)
            {
                differing.insert(*name, Seen::of(watch));
            }
        }
        differing
    }

    /// What the values of the `differing` names come to.
    fn changes_of<'e>(
        &self,
        mut differing: BTreeMap<&'e [u8], Seen<'e>>,
        start: &'e [Vec<u8>],
        now: &'e [Vec<u8>],
    ) -> Vec<Change<'e>> {
        for entry in start {
            if let Some(seen) = differing.get_mut(name_of(entry)) {
                seen.at_start.get_or_insert(entry);
            }
        }
        let mut changes = Vec::new();
        for entry in now {
            let name = name_of(entry);
            let (Some(seen), Some(watch)) = (differing.get_mut(name), self.watch(name)) else {
                continue;
            };
            seen.is_there = true;
            let (how, counts) = match seen.at_start {
                None => (How::New, watch.is_set_by(entry)),
                Some(_) => (How::Changed, !watch.is_harmless(entry)),
            };
            if counts {
                let class = seen.class;
                changes.push(Change {
                    variable: entry,
                    class,
                    how,
                });
            }
        }
        let gone = differing.values().filter(|seen| !seen.is_there);
        changes.extend(gone.filter(|seen| seen.is_kept).filter_map(|seen| {
            Some(Change {
                variable: seen.at_start?,
                class: seen.class,
                how: How::Removed,
            })
        }));
        changes
    }

    /// Why the variable called `name` is watched, if it is.
    fn watch(&self, name: &[u8]) -> Option<Watch> {
        let is_one_of = |words: &[Word]| words.iter().any(|word| word.matches(name));
        let watch = if is_one_of(&self.added) {
            Watch::Added
        } else {
            Watch::Builtin(BUILTIN.entry(name)?)
        };
        (!is_one_of(&self.taken_out)).then_some(watch)
    }
}

/// Why a name is watched.
#[derive(Debug, Clone, Copy)]
enum Watch {
    /// A policy says so: any value counts.
    Added,
    Builtin(Entry),
}

impl Watch {
    fn class(self) -> &'static str {
        match self {
            Self::Added => UNTRUSTED,
            Self::Builtin(entry) => entry.class,
        }
    }

    /// Whether `variable`, of this name, does something where the session did not start with it.
    fn is_set_by(self, variable: &[u8]) -> bool {
        let counts = match self {
            Self::Added => true,
            Self::Builtin(entry) => entry.counts_set,
        };
        counts && !self.is_harmless(variable)
    }

    /// Whether the variable protects, so that it counts when it is gone.
    fn is_kept(self) -> bool {
        match self {
            Self::Added => true,
            Self::Builtin(entry) => entry.counts_kept,
        }
    }

    fn is_harmless(self, variable: &[u8]) -> bool {
        let (Self::Builtin(entry), Some(value)) = (self, value_of(variable)) else {
            return false;
        };
        BUILTIN.is_harmless(name_of(variable), entry, value)
    }
}

/// What is known of a name whose values differ.
#[derive(Debug)]
struct Seen<'e> {
    class: &'static str,
    is_kept: bool,
    /// Its first entry at the start.
    at_start: Option<&'e [u8]>,
    is_there: bool,
}

impl Seen<'_> {
    fn of(watch: Watch) -> Self {
        Self {
            class: watch.class(),
            is_kept: watch.is_kept(),
            at_start: None,
            is_there: false,
        }
    }
}

/// What is left of both without the entries that they begin and end with alike.
fn without_common_ends<'e>(
    start: &'e [Vec<u8>],
    now: &'e [Vec<u8>],
) -> (&'e [Vec<u8>], &'e [Vec<u8>]) {
    let is_same = |(one, other): &(&Vec<u8>, &Vec<u8>)| one == other;
    let head = start.iter().zip(now).take_while(is_same).count();
    let (start, now) = (
        start.get(head..).unwrap_or_default(),
        now.get(head..).unwrap_or_default(),
    );
    let pairs = start.iter().rev().zip(now.iter().rev());
    let tail = pairs.take_while(is_same).count();
    let cut = |entries: &'e [Vec<u8>]| {
        let length = entries.len().saturating_sub(tail);
        entries.get(..length).unwrap_or_default()
    };
    (cut(start), cut(now))
}

/// The name of a variable: what stands before the `=`, or all of it.
fn name_of(variable: &[u8]) -> &[u8] {
    let mut parts = variable.splitn(2, |byte| *byte == b'=');
    parts.next().unwrap_or(variable)
}

/// What stands behind the `=`, if there is one.
fn value_of(variable: &[u8]) -> Option<&[u8]> {
    variable.splitn(2, |byte| *byte == b'=').nth(1)
}

#[cfg(test)]
mod tests;
