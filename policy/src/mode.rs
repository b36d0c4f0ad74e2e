//! The mode of a policy: what a call gets once it is known which rules hold for it.

use std::fmt;

use crate::approval::{Approval, Category};
use crate::verdict::Decision;

/// `security`: what runs. Ordered from the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Security {
    /// Nothing runs.
    Deny,
    /// What is allowed runs.
    Allowlist,
    /// What is neither denied nor asked about runs.
    Full,
}

/// `ask`: when a person is asked. Ordered from the fewest questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// Never; what would be a question is denied.
    Off,
    /// For what an ask rule holds for, and for what `allowlist` does not list.
    OnMiss,
    /// For everything that is not denied.
    Always,
}

impl Security {
    /// Every value, with [`Security::as_str`] as its spelling.
    pub const ALL: [Self; 3] = [Self::Deny, Self::Allowlist, Self::Full];

    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Allowlist => "allowlist",
            Self::Full => "full",
        }
    }
}

impl Ask {
    /// Every value, with [`Ask::as_str`] as its spelling.
    pub const ALL: [Self; 3] = [Self::Off, Self::OnMiss, Self::Always];

    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OnMiss => "on-miss",
            Self::Always => "always",
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The settings that turn rules into decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mode {
    /// What runs.
    pub security: Security,
    /// When a person is asked.
    pub ask: Ask,
    /// What a call that no ask rule holds for gets when nobody answers, as if `security` were
    /// this; never looser than `security`.
    pub ask_fallback: Security,
    /// A second opinion, in the words of another engine; the stricter of the two counts.
    pub approval: Option<Approval>,
}

/// What the rules say of a call that no deny holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// An ask holds.
    Asked,
    /// No ask holds, and an allow does.
    Allowed,
    /// Neither holds.
    Unmatched,
}

impl Mode {
    /// The decision for a call that no deny holds for, as far as it is about `category`.
    pub(crate) fn decide(self, state: State, category: Category) -> Decision {
        let opinion = self
            .approval
            .map_or(Decision::Allow, |approval| approval.decide(state, category));
        let decision = self.by_security(state).max(opinion);
        if self.never_asks() && decision == Decision::Ask {
            return Decision::Deny;
        }
        decision
    }

    /// Whether what would be a question is a refusal.
    pub(crate) fn never_asks(self) -> bool {
        self.ask == Ask::Off || self.approval == Some(Approval::Never)
    }

    /// What becomes of the call if it is asked about and nobody answers.
    pub(crate) fn unanswered(self, state: State, category: Category) -> Decision {
        match (self.decide(state, category), state) {
            (Decision::Ask, State::Asked) => Decision::Deny,
            (Decision::Ask, State::Allowed | State::Unmatched) => {
                let security = self.ask_fallback.min(self.security);
                let is_let = match security {
                    Security::Deny => false,
                    Security::Allowlist => state == State::Allowed,
                    Security::Full => true,
                };
                if is_let {
                    Decision::Allow
                } else {
                    Decision::Deny
                }
            }
            (decision, _) => decision,
        }
    }

    fn by_security(self, state: State) -> Decision {
        match (self.security, self.ask, state) {
            (Security::Deny, _, _) => Decision::Deny,
            (_, Ask::Always, _) => Decision::Ask,
            (_, _, State::Allowed) => Decision::Allow,
            (Security::Full, _, State::Unmatched) => Decision::Allow,
            (_, Ask::OnMiss, State::Asked | State::Unmatched) => Decision::Ask,
            (_, Ask::Off, State::Asked | State::Unmatched) => Decision::Deny,
        }
    }
}

#[cfg(test)]
mod tests;
