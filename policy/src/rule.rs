//! A rule: what it does, when it holds, and where it was written.

use std::fmt;
use std::sync::Arc;

use crate::image::{Image, Reading};
use crate::selector::Selectors;
use crate::source::Layer;

/// What a rule does with the calls that it holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// `[[allow]]`.
    Allow,
    /// `[[ask]]`.
    Ask,
    /// `[[deny]]`.
    Deny,
}

impl Action {
    /// The word of the language, also the name of the table that holds such rules.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// How a rule of this action reads what is in doubt.
    fn reading(self) -> Reading {
        match self {
            Self::Allow => Reading::Strict,
            Self::Ask | Self::Deny => Reading::Doubtful,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One rule of a loaded policy.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) id: String,
    pub(crate) action: Action,
    pub(crate) layer: Layer,
    pub(crate) source: Arc<str>,
    pub(crate) line: usize,
    pub(crate) selectors: Selectors,
    pub(crate) reason: Option<String>,
    pub(crate) instead: Option<String>,
}

impl Rule {
    /// The name of the rule, unique in its layer.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What the rule does.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// On whose behalf the rule was written.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The name of the source that holds the rule, as the caller gave it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The line on which the rule begins, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Why the rule exists, in its author's words.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// What to do instead of the denied call. Only a deny has it.
    #[must_use]
    pub fn instead(&self) -> Option<&str> {
        self.instead.as_deref()
    }

    /// Whether the rule holds for one image of a call.
    pub(crate) fn holds(&self, image: &Image<'_>) -> bool {
        self.selectors.hold(image, self.action.reading())
    }

    /// File names of which every image that the rule can hold for has at least one, or
    /// `None` if it does not come down to names.
    pub(crate) fn file_names(&self) -> Option<Vec<&[u8]>> {
        self.selectors.file_names()
    }

    /// Whether the rule selects files alone, whatever their arguments.
    pub(crate) fn is_of_program(&self) -> bool {
        matches!(self.selectors, Selectors::Program(_))
    }
}
