//! `[tools]`: what calls of a tool get, in place of `[mode]`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::mode::{Ask, Security};
use crate::tool;

/// The keys that `[tools.NAME]` has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ToolMode {
    pub(crate) security: Option<Security>,
    pub(crate) ask: Option<Ask>,
}

/// The tables of one or more sources, by the name of the tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolModes(BTreeMap<String, ToolMode>);

impl ToolModes {
    /// Adds a table; what it has counts in place of what one added before has. Returns whether the
    /// tool had none.
    pub(crate) fn add(&mut self, tool: &str, mode: ToolMode) -> bool {
        let entry = self.0.entry(tool::canonical(tool).to_owned());
        let is_new = matches!(entry, Entry::Vacant(_));
        let own = entry.or_default();
        own.security = mode.security.or(own.security);
        own.ask = mode.ask.or(own.ask);
        is_new
    }

    /// Adds the tables of another source.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (tool, mode) in &other.0 {
            self.add(tool, *mode);
        }
    }

    /// What its tables and the language say of a tool.
    pub(crate) fn of(&self, tool: &str) -> ToolMode {
        let said = self.0.get(tool::canonical(tool));
        let said = said.copied().unwrap_or_default();
        let own = tool::mode(tool);
        ToolMode {
            security: said.security.or(own.map(|(security, _)| security)),
            ask: said.ask.or(own.map(|(_, ask)| ask)),
        }
    }

    /// The tools that a table or the language names.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> = self.0.keys().map(String::as_str).collect();
        for known in tool::known() {
            names.insert(tool::canonical(known));
        }
        names
    }

    /// Whether a table, or the language itself, names the tool.
    pub(crate) fn has(&self, tool: &str) -> bool {
        tool::is_known(tool) || self.0.contains_key(tool)
    }
}
