//! What would have been different, by what changes, by program and by rule.

use std::collections::BTreeMap;
use std::fmt;

use execward_policy::Decision;
use serde::Serialize;

use crate::audit::ExecId;

/// Most execs that a group names.
const IDS_MAX: usize = 3;

/// Two answers to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) before: Decision,
    pub(super) after: Decision,
}

/// What becomes of execs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Change(Change),
    Indeterminate,
}

/// What execs of one group have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Common {
    pub(super) program: String,
    /// The grounds then and now, or what is not known.
    pub(super) why: String,
}

/// The execs of a group.
#[derive(Debug, Default, Serialize)]
pub(super) struct Count {
    #[serde(rename = "count")]
    pub(super) execs: u64,
    /// The first ones.
    pub(super) ids: Vec<ExecId>,
}

/// A group.
type Group<'a> = (&'a Common, &'a Count);

/// All groups, and what is in none.
#[derive(Debug, Default)]
pub(super) struct Changes {
    groups: BTreeMap<Key, BTreeMap<Common, Count>>,
    pub(super) unchanged: u64,
    /// The gate refused on its own account, or there was no file.
    pub(super) not_judged: u64,
    /// Calls of tools: they are not replayed.
    pub(super) tool_calls: u64,
}

/// How many of each.
#[derive(Debug, Serialize)]
pub(super) struct Tally {
    execs: u64,
    changed: u64,
    unchanged: u64,
    indeterminate: u64,
    not_judged: u64,
    tool_calls: u64,
}

impl Key {
    pub(super) fn as_str(self) -> &'static str {
        use Decision::{Allow, Ask, Deny};
        match self {
            Self::Indeterminate => "indeterminate",
            Self::Change(Change { before, after }) => match (before, after) {
                (Allow, Deny) => "allow->deny",
                (Deny, Allow) => "deny->allow",
                (Ask, Allow) => "ask->allow",
                (Allow, Ask) => "allow->ask",
                (Ask, Deny) => "ask->deny",
                (Deny, Ask) => "deny->ask",
                (Allow, Allow) | (Ask, Ask) | (Deny, Deny) => "unchanged",
            },
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.as_str() {
            "ask->allow" => "questions saved, ask -> allow",
            "allow->ask" => "questions added, allow -> ask",
            "allow->deny" => "allow -> deny",
            "deny->allow" => "deny -> allow",
            "ask->deny" => "ask -> deny",
            "deny->ask" => "deny -> ask",
            other => other,
        })
    }
}

impl Changes {
    pub(super) fn add(&mut self, key: Key, common: Common, id: ExecId) {
        let group = self.groups.entry(key).or_default();
        let count = group.entry(common).or_default();
        count.execs += 1;
        if count.ids.len() < IDS_MAX {
            count.ids.push(id);
        }
    }

    /// Whether everything is known to stay as it was.
    pub(super) fn are_none(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups by program and ground, the largest first.
    pub(super) fn groups(&self) -> impl Iterator<Item = (Key, Vec<Group<'_>>)> {
        self.groups.iter().map(|(key, groups)| {
            let mut groups: Vec<_> = groups.iter().collect();
            groups.sort_by_key(|(_, count)| std::cmp::Reverse(count.execs));
            (*key, groups)
        })
    }

    pub(super) fn tally(&self) -> Tally {
        let of = |key: &Key| {
            let groups = self.groups.get(key).into_iter().flat_map(BTreeMap::values);
            groups.map(|count| count.execs).sum::<u64>()
        };
        let changes = self.groups.keys().filter(|key| **key != Key::Indeterminate);
        let (changed, indeterminate) = (changes.map(of).sum(), of(&Key::Indeterminate));
        let (unchanged, not_judged) = (self.unchanged, self.not_judged);
        Tally {
            execs: changed + unchanged + indeterminate + not_judged,
            changed,
            unchanged,
            indeterminate,
            not_judged,
            tool_calls: self.tool_calls,
        }
    }

    pub(super) fn in_words(&self) -> String {
        let Tally {
            execs,
            changed,
            unchanged,
            indeterminate,
            not_judged,
            tool_calls,
        } = self.tally();
        let mut words = format!("{execs} execs: {changed} change, {unchanged} do not");
        for (count, what) in [
            (indeterminate, "indeterminate"),
            (not_judged, "not judged by the policy then"),
        ] {
            if count > 0 {
                words += &format!(", {count} {what}");
            }
        }
        if tool_calls > 0 {
            words += &format!("; {tool_calls} calls of tools are not replayed");
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(program: &str, why: &str) -> Common {
        let (program, why) = (program.to_owned(), why.to_owned());
        Common { program, why }
    }

    #[test]
    fn groups_are_by_change_program_and_ground_and_name_the_first_execs() {
        let mut changes = Changes {
            unchanged: 2,
            ..Changes::default()
        };
        assert!(changes.are_none());
        let deny = Key::Change(Change {
            before: Decision::Allow,
            after: Decision::Deny,
        });
        for id in 0..5 {
            changes.add(deny, common("/a", "x -> y"), ExecId(id));
        }
        changes.add(deny, common("/a", "x -> z"), ExecId(9));
        changes.add(Key::Indeterminate, common("/b", "cut"), ExecId(10));
        let groups: Vec<_> = changes.groups().collect();
        assert_eq!(groups.len(), 2);
        let counts = groups[0]
            .1
            .iter()
            .map(|(_, count)| (count.execs, count.ids.len()));
        assert_eq!(counts.collect::<Vec<_>>(), [(5, 3), (1, 1)]);
        assert_eq!(
            changes.in_words(),
            "9 execs: 6 change, 2 do not, 1 indeterminate"
        );
        assert!(!changes.are_none());
    }
}
