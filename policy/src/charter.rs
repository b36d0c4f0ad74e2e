//! `[charter]`: what an agent may do by itself, in lists of tools and commands. It comes to rules of
//! the agent's layer.
//!
//! Of several charters each may forbid and ask for all, and none may permit what another does not:
//! an entry of `auto_approve` holds where every other charter has one that holds too.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::reader::Part;
use crate::rule::Action;
use crate::selector::Selectors;
use crate::tool;

/// The lists, what each comes to, and whether a higher supervisor is asked.
pub(crate) const LISTS: [(&str, Action, bool); 4] = [
    ("auto_approve", Action::Allow, false),
    ("require_confirmation", Action::Ask, false),
    ("always_reject", Action::Deny, false),
    ("escalate", Action::Ask, true),
];

/// Which entry of a charter a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The list.
    pub(crate) list: &'static str,
}

/// Whether an entry names a tool, and no command: one that the language knows, or one of a server's.
pub(crate) fn is_tool(entry: &str) -> bool {
    tool::is_known(entry) || entry.starts_with("mcp__")
}

/// Gives each rule of a charter its id: the list and its number there, counted through all charters.
pub(crate) fn number(parts: &mut [Part]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for draft in parts.iter_mut().flat_map(|part| &mut part.rules) {
        let Some(Entry { list }) = draft.entry else {
            continue;
        };
        let count = counts.entry(list).or_default();
        *count += 1;
        draft.rule.id = format!("charter.{list}.{count}");
    }
}

/// Binds what each charter approves to what every other does.
pub(crate) fn intersect(parts: &mut [Part]) {
    let approved = |part: &Part| {
        let drafts = part.rules.iter();
        let allows =
            drafts.filter(|draft| draft.entry.is_some() && draft.rule.action() == Action::Allow);
        allows.map(|draft| draft.rule.selectors.clone()).collect()
    };
    let charters = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| part.has_charter);
    let lists: Vec<(usize, Arc<[Selectors]>)> = charters
        .map(|(number, part)| (number, approved(part)))
        .collect();
    for (number, part) in parts.iter_mut().enumerate() {
        let others = lists.iter().filter(|(other, _)| *other != number);
        let others: Vec<_> = others.map(|(_, list)| Arc::clone(list)).collect();
        let drafts = part.rules.iter_mut();
        for draft in drafts.filter(|draft| draft.entry.is_some()) {
            if draft.rule.action() == Action::Allow {
                draft.rule.charters.clone_from(&others);
            }
        }
    }
}
