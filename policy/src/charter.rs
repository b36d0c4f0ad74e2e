//! `[charter]`: what an agent may do by itself, in lists of tools and commands. It comes to rules of
//! the agent's layer.
//!
//! Of several charters each may forbid and ask for all, and none may permit what another does not:
//! an entry of `auto_approve` holds where every other charter has one that holds too.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::reader::{DraftRule, Part};
use crate::rule::Action;
use crate::selector::Selectors;
use crate::tool;

/// A list of a charter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CharterList {
    /// Its key.
    pub(crate) name: &'static str,
    /// What its entries come to.
    pub(crate) action: Action,
    /// Whether a higher supervisor is asked.
    pub(crate) escalates: bool,
}

/// Every list.
pub(crate) static LISTS: [CharterList; 4] = [
    CharterList::new("auto_approve", Action::Allow, false),
    CharterList::new("require_confirmation", Action::Ask, false),
    CharterList::new("always_reject", Action::Deny, false),
    CharterList::new("escalate", Action::Ask, true),
];

impl CharterList {
    const fn new(name: &'static str, action: Action, escalates: bool) -> Self {
        Self {
            name,
            action,
            escalates,
        }
    }
}

/// Whether an entry names a tool, and no command: one that the language knows, or one of a server's.
pub(crate) fn is_tool(entry: &str) -> bool {
    tool::is_known(entry) || entry.starts_with("mcp__")
}

/// Gives each rule of a charter its id: the list and its number there, counted through all charters.
pub(crate) fn number(parts: &mut [Part]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for draft in parts.iter_mut().flat_map(|part| &mut part.rules) {
        let Some(CharterList { name, .. }) = draft.charter_list else {
            continue;
        };
        let count = counts.entry(name).or_default();
        *count += 1;
        draft.rule.id = format!("charter.{name}.{count}");
    }
}

/// Binds what each charter approves to what every other does.
pub(crate) fn intersect(parts: &mut [Part]) {
    let is_approval = |draft: &DraftRule| {
        let list = draft.charter_list;
        list.is_some_and(|list| list.action == Action::Allow)
    };
    let approved = |part: &Part| {
        let approvals = part.rules.iter().filter(|draft| is_approval(draft));
        let selectors = approvals.map(|draft| draft.rule.selectors.clone());
        selectors.collect()
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
        for draft in part.rules.iter_mut().filter(|draft| is_approval(draft)) {
            draft.rule.charters.clone_from(&others);
        }
    }
}
