//! The answer: what is to happen with a call, and on what ground.

use std::fmt;

use crate::mode::{Ask, Security};
use crate::rule::Rule;

/// What is to happen with a call. Ordered from the loosest.
#[must_use]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked. Without an answer it does not run.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// The word for it, in the language and everywhere it is shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a decision rests on.
#[derive(Debug, Clone, Copy)]
pub enum Basis<'r> {
    /// A rule that holds for the call and whose action led here. An ask rule is the ground
    /// of a deny too, where `ask = "off"`.
    ///
    /// If several rules would do, this is the one of the highest layer, and in a layer the
    /// one whose id sorts first: the order of rules in a file shows nowhere.
    Rule(&'r Rule),
    /// No rule holds, but the program is among the `children` of the rule that allowed an
    /// ancestor.
    Children(&'r Rule),
    /// No rule holds, but the call is that of a safe bin, which only filters.
    SafeBin,
    /// No rule holds, but the program only starts another, which is judged by itself.
    Wrapper,
    /// Of a call of a tool: no rule and no table names the tool.
    UnknownTool,
    /// The mode: no rule holds, or the mode is stricter than the rule that does.
    Default {
        /// The mode's `security`.
        security: Security,
        /// The mode's `ask`.
        ask: Ask,
    },
}

impl<'r> Basis<'r> {
    /// The rule, if it is one.
    pub(crate) fn rule(self) -> Option<&'r Rule> {
        match self {
            Self::Rule(rule) | Self::Children(rule) => Some(rule),
            Self::SafeBin | Self::Wrapper | Self::UnknownTool | Self::Default { .. } => None,
        }
    }
}

/// A decision with its ground.
#[must_use]
#[derive(Debug, Clone, Copy)]
pub struct Verdict<'r> {
    decision: Decision,
    basis: Basis<'r>,
    unanswered: Decision,
}

impl<'r> Verdict<'r> {
    pub(crate) fn new(decision: Decision, basis: Basis<'r>, unanswered: Decision) -> Self {
        Self {
            decision,
            basis,
            unanswered,
        }
    }

    /// The stricter of two opinions of one call; where they agree, the one that rests on a rule, and
    /// of two such this. A fallback takes both.
    pub(crate) fn stricter(self, other: Self) -> Self {
        let rank = |verdict: &Self| (verdict.decision, verdict.basis.rule().is_some());
        let unanswered = self.unanswered.max(other.unanswered);
        let stricter = if rank(&other) > rank(&self) {
            other
        } else {
            self
        };
        Self {
            unanswered,
            ..stricter
        }
    }

    /// What a rule decides by itself.
    pub(crate) fn of_rule(decision: Decision, rule: &'r Rule) -> Self {
        Self::new(decision, Basis::Rule(rule), decision)
    }

    /// What is to happen with the call.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// What is to happen by what rules say, or because nothing may; `None` where the call is left to
    /// its mode.
    #[must_use]
    pub fn decision_of_rules(&self) -> Option<Decision> {
        let is_left = match self.basis {
            Basis::Default { security, .. } => security != Security::Deny,
            Basis::Rule(_) | Basis::Children(_) | Basis::SafeBin => false,
            Basis::Wrapper | Basis::UnknownTool => false,
        };
        (!is_left).then_some(self.decision)
    }

    /// What is to happen if the decision is [`Decision::Ask`] and nobody answers: `Allow` where
    /// `ask_fallback` says so, else `Deny`. The decision itself if it is no question.
    pub fn unanswered(&self) -> Decision {
        self.unanswered
    }

    /// What the decision rests on.
    #[must_use]
    pub fn basis(&self) -> Basis<'r> {
        self.basis
    }

    /// The rule that the decision rests on, if it rests on one.
    #[must_use]
    pub fn rule(&self) -> Option<&'r Rule> {
        self.basis.rule()
    }
}
