//! The second seed's charter.

use serde::{Deserialize, Serialize};

use super::text::PolicyText;
use super::translation::Translation;
use crate::source::Layer;

/// What an agent may do by itself, as patterns: names of tools, or words of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Charter {
    /// What runs unasked.
    pub auto_approve: Vec<String>,
    /// What is asked about.
    pub require_confirmation: Vec<String>,
    /// What never runs.
    pub always_reject: Vec<String>,
    /// What a higher supervisor is asked about.
    pub escalate: Vec<String>,
}

impl Charter {
    /// The charter in the language, without a mode. The ids of its rules are the list's name and the
    /// entry's number.
    #[must_use]
    pub fn translate(&self) -> Translation {
        let mut text = PolicyText::new();
        let lists = [
            ("auto_approve", &self.auto_approve),
            ("require_confirmation", &self.require_confirmation),
            ("always_reject", &self.always_reject),
            ("escalate", &self.escalate),
        ];
        text.table("[charter]");
        // An empty list is none.
        for (key, entries) in lists.into_iter().filter(|(_, entries)| !entries.is_empty()) {
            text.list(key, entries);
        }
        let mut translation = Translation::default();
        translation.add_source(Layer::Agent, text.finish());
        translation
    }
}
