//! The mode of a policy: what a call gets once it is known which rules hold for it.

use std::fmt;

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

/// The two settings that turn rules into decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mode {
    /// What runs.
    pub security: Security,
    /// When a person is asked.
    pub ask: Ask,
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
    /// The decision for a call that no deny holds for.
    pub(crate) fn decide(self, state: State) -> Decision {
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
mod tests {
    use super::*;

    /// The whole function, in the order asked, allowed, unmatched.
    #[rustfmt::skip]
    const TABLE: [(Security, Ask, [Decision; 3]); 9] = {
        use Decision::{Allow, Ask as Question, Deny};
        [
            (Security::Deny,      Ask::Off,    [Deny,     Deny,     Deny]),
            (Security::Deny,      Ask::OnMiss, [Deny,     Deny,     Deny]),
            (Security::Deny,      Ask::Always, [Deny,     Deny,     Deny]),
            (Security::Allowlist, Ask::Off,    [Deny,     Allow,    Deny]),
            (Security::Allowlist, Ask::OnMiss, [Question, Allow,    Question]),
            (Security::Allowlist, Ask::Always, [Question, Question, Question]),
            (Security::Full,      Ask::Off,    [Deny,     Allow,    Allow]),
            (Security::Full,      Ask::OnMiss, [Question, Allow,    Allow]),
            (Security::Full,      Ask::Always, [Question, Question, Question]),
        ]
    };

    const STATES: [State; 3] = [State::Asked, State::Allowed, State::Unmatched];

    #[test]
    fn every_cell_is_as_the_language_has_it() {
        for (security, ask, row) in TABLE {
            for (state, decision) in STATES.into_iter().zip(row) {
                let mode = Mode { security, ask };
                assert_eq!(mode.decide(state), decision, "{mode:?} {state:?}");
            }
        }
    }

    #[test]
    fn the_table_has_every_mode_once() {
        let modes: std::collections::HashSet<_> = TABLE
            .iter()
            .map(|(security, ask, _)| (security, ask))
            .collect();
        assert_eq!(modes.len(), Security::ALL.len() * Ask::ALL.len());
    }

    #[test]
    fn more_questions_never_add_a_silent_permission() {
        for security in Security::ALL {
            for state in STATES {
                let silent =
                    Ask::ALL.map(|ask| Mode { security, ask }.decide(state) == Decision::Allow);
                assert!(
                    silent.is_sorted_by(|fewer, more| fewer >= more),
                    "{security} {state:?}"
                );
            }
        }
    }
}
