//! `approval`: when to ask, in the words that other engines use for it.

use std::fmt;

use crate::mode::State;
use crate::verdict::Decision;

/// A way of approving. It is held beside `security` and `ask`, and the stricter counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Approval {
    /// What is not allowed by a rule is asked about.
    UnlessTrusted,
    /// Every call is asked about.
    OnRequest,
    /// Nothing is asked: a question is a refusal.
    Never,
    /// Some questions are refusals.
    Reject {
        /// Those that a rule or a miss raises.
        rules: bool,
        /// Those about rights that the session does not have.
        sandbox_approval: bool,
        /// Those about calls of tools.
        mcp_elicitations: bool,
    },
}

/// What a question is about, as far as [`Approval::Reject`] tells questions apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    /// What the rules say, or do not say.
    Rules,
    /// Rights that the session does not have.
    Sandbox,
    /// A call of a tool, whatever rules and mode say of it.
    Tool,
}

/// As the language writes it.
impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnlessTrusted => f.write_str("\"unless_trusted\""),
            Self::OnRequest => f.write_str("\"on_request\""),
            Self::Never => f.write_str("\"never\""),
            Self::Reject {
                rules,
                sandbox_approval,
                mcp_elicitations,
            } => {
                let flags = [
                    ("rules", rules),
                    ("sandbox_approval", sandbox_approval),
                    ("mcp_elicitations", mcp_elicitations),
                ];
                let flags = flags.map(|(name, is_set)| format!("{name} = {is_set}"));
                write!(f, "{{ reject = {{ {} }} }}", flags.join(", "))
            }
        }
    }
}

impl Approval {
    /// Whether a question of that category is a refusal, and others are not.
    pub(crate) fn rejects(self, category: Category) -> bool {
        let Self::Reject {
            rules,
            sandbox_approval,
            mcp_elicitations,
        } = self
        else {
            return false;
        };
        match category {
            Category::Rules => rules,
            Category::Sandbox => sandbox_approval,
            Category::Tool => mcp_elicitations,
        }
    }

    /// The decision for a call that no deny holds for, as far as it is about `category`.
    pub(crate) fn decide(self, state: State, category: Category) -> Decision {
        match (self, state) {
            (Self::OnRequest, _) => Decision::Ask,
            (Self::Never, State::Asked) => Decision::Deny,
            (Self::Never, State::Allowed | State::Unmatched) => Decision::Allow,
            (Self::UnlessTrusted | Self::Reject { .. }, State::Allowed) => Decision::Allow,
            (Self::Reject { .. }, _) if self.rejects(category) => Decision::Deny,
            (Self::UnlessTrusted | Self::Reject { .. }, _) => Decision::Ask,
        }
    }
}
