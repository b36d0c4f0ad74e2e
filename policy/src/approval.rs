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
    },
}

/// As the language writes it.
impl fmt::Display for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnlessTrusted => f.write_str("\"unless_trusted\""),
            Self::OnRequest => f.write_str("\"on_request\""),
            Self::Never => f.write_str("\"never\""),
            Self::Reject { rules } => write!(f, "{{ reject = {{ rules = {rules} }} }}"),
        }
    }
}

impl Approval {
    /// The decision for a call that no deny holds for.
    pub(crate) fn decide(self, state: State) -> Decision {
        match (self, state) {
            (Self::OnRequest, _) => Decision::Ask,
            (Self::Never, State::Asked) => Decision::Deny,
            (Self::Never, State::Allowed | State::Unmatched) => Decision::Allow,
            (Self::UnlessTrusted | Self::Reject { .. }, State::Allowed) => Decision::Allow,
            (Self::Reject { rules: true }, State::Asked | State::Unmatched) => Decision::Deny,
            (Self::UnlessTrusted | Self::Reject { rules: false }, _) => Decision::Ask,
        }
    }
}
