//! What is known of a grant beside its rule.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Who said it, about which exec, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Note {
    /// `exact`, `flags`, `prefix` or `program`.
    pub(crate) scope: String,
    /// What the rule covers, in words.
    pub(crate) covers: String,
    /// Who said it.
    pub(crate) by: String,
    /// In which session.
    pub(crate) session: String,
    /// Of which exec of it.
    pub(crate) exec: String,
    pub(crate) at: Timestamp,
    /// Why, in the approver's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(flatten)]
    pub(crate) usage: Usage,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Usage {
    /// How many execs it decided.
    #[serde(default)]
    pub(crate) uses: u64,
    /// The last of them: when, as what, and the file that it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_used: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_path: Option<String>,
}

impl Usage {
    /// Counts what `more` saw, since this was known.
    pub(crate) fn add(&mut self, more: &Self) {
        self.uses = self.uses.saturating_add(more.uses);
        if more.last_used > self.last_used {
            self.last_used = more.last_used;
            self.last_command.clone_from(&more.last_command);
            self.last_path.clone_from(&more.last_path);
        }
    }
}
