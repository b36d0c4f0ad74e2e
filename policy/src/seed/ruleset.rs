//! Prefix lists and typed asks: what one layer of the first seed says.

use serde::{Deserialize, Serialize};

use crate::source::Layer;

/// On whose behalf a [`Ruleset`] speaks. Ordered from the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RulesetLayer {
    /// What the program brings: [`Layer::Builtin`].
    BuiltinDefault,
    /// An agent's: [`Layer::Agent`].
    Agent,
    /// The user's: [`Layer::User`].
    User,
}

impl RulesetLayer {
    /// Every layer, from the lowest.
    pub const ALL: [Self; 3] = [Self::BuiltinDefault, Self::Agent, Self::User];
}

impl From<RulesetLayer> for Layer {
    fn from(layer: RulesetLayer) -> Self {
        match layer {
            RulesetLayer::BuiltinDefault => Self::Builtin,
            RulesetLayer::Agent => Self::Agent,
            RulesetLayer::User => Self::User,
        }
    }
}

/// What one layer trusts, denies and wants to be asked about.
///
/// A prefix is the leading words of a call as `command` has them; its `*` is the language's, and
/// a last one is how a prefix says that it means a whole family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruleset {
    /// Whose it is.
    pub layer: RulesetLayer,
    /// Commands that run.
    pub trusted_prefixes: Vec<String>,
    /// Commands that do not, whoever trusts them.
    pub denied_prefixes: Vec<String>,
    /// Calls that a person is asked about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask_rules: Vec<ToolAskRule>,
}

impl Ruleset {
    /// The lowest layer, with nothing in it.
    #[must_use]
    pub fn builtin_default() -> Self {
        Self::of(RulesetLayer::BuiltinDefault, Vec::new(), Vec::new())
    }

    /// An agent's lists.
    #[must_use]
    pub fn agent(trusted: Vec<String>, denied: Vec<String>) -> Self {
        Self::of(RulesetLayer::Agent, trusted, denied)
    }

    /// The user's lists.
    #[must_use]
    pub fn user(trusted: Vec<String>, denied: Vec<String>) -> Self {
        Self::of(RulesetLayer::User, trusted, denied)
    }

    fn of(
        layer: RulesetLayer,
        trusted_prefixes: Vec<String>,
        denied_prefixes: Vec<String>,
    ) -> Self {
        let ask_rules = Vec::new();
        Self {
            layer,
            trusted_prefixes,
            denied_prefixes,
            ask_rules,
        }
    }

    /// The same lists with these asks in place of its own.
    #[must_use]
    pub fn with_ask_rules(self, ask_rules: Vec<ToolAskRule>) -> Self {
        Self { ask_rules, ..self }
    }
}

/// An ask about the calls of a tool, perhaps only those of a command or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolAskRule {
    /// The tool, or the class of an exec; `exec_shell` is any exec.
    pub tool: String,
    /// Leading words of the call; any if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A file that the call names; any or none if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The tool that stands for any exec.
pub(super) const EXEC_SHELL: &str = "exec_shell";

impl ToolAskRule {
    /// An ask about every call of a tool.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            command: None,
            path: None,
        }
    }

    /// An ask about a command, whoever starts it.
    #[must_use]
    pub fn exec_shell(command: impl Into<String>) -> Self {
        Self {
            command: Some(command.into()),
            ..Self::new(EXEC_SHELL)
        }
    }

    /// An ask about a tool's calls that name a file.
    #[must_use]
    pub fn file_path(tool: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            path: Some(path.into()),
            ..Self::new(tool)
        }
    }

    /// What the rule is called in messages: its parts as they were written.
    #[must_use]
    pub fn label(&self) -> String {
        let part = |key, value: &Option<String>| match value {
            Some(value) => format!(" {key}={value}"),
            None => String::new(),
        };
        let (command, path) = (part("command", &self.command), part("path", &self.path));
        format!("tool={}{command}{path}", self.tool)
    }

    /// How much the rule says: constrained fields, then words. Of two that hold, the one that says
    /// more is the one that is named.
    pub(super) fn specificity(&self) -> (usize, usize) {
        let fields = [&self.command, &self.path].into_iter().flatten().count();
        let words = self.command.as_deref().map(str::split_whitespace);
        (fields, words.map_or(0, Iterator::count))
    }
}
