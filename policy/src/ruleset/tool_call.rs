//! What a policy says of a call of a tool.

use jiff::Timestamp;

use super::Ruleset;
use crate::approval::Category;
use crate::explain::{Explanation, Hit, Miss};
use crate::mode::State;
use crate::rule::{Action, Rule};
use crate::tool_call::{Seen, ToolCall};
use crate::verdict::{Basis, Decision, Verdict};

impl Ruleset {
    /// Judges one call of a tool at the time `now`.
    ///
    /// As [`Ruleset::decide`] does an exec, by the rules that are about the tool; only, `[tools]`
    /// stands in place of `[mode]`, and a tool that neither a rule nor a table names is denied.
    /// What [`Decision::Ask`] comes to is the host's to settle, or whoever it asks.
    pub fn decide_tool(&self, call: &ToolCall, now: Timestamp) -> Verdict<'_> {
        let seen = Seen::of(call);
        let held = |action| {
            let mut rules = self.table.of(action).iter();
            rules.find(|rule| self.bears_on_tool(rule, &seen, now))
        };
        if let Some(rule) = held(Action::Deny) {
            return Verdict::of_rule(Decision::Deny, rule);
        }
        let (state, basis) = match (held(Action::Ask), held(Action::Allow)) {
            (Some(rule), _) if rule.escalates() => return Verdict::of_rule(Decision::Deny, rule),
            (Some(rule), _) => (State::Asked, Some(Basis::Rule(rule))),
            (None, Some(rule)) => (State::Allowed, Some(Basis::Rule(rule))),
            (None, None) if !self.names_tool(&call.tool) => {
                return Verdict::new(Decision::Deny, Basis::UnknownTool, Decision::Deny);
            }
            (None, None) => (State::Unmatched, None),
        };
        let modes = self.modes.of_tool(self.tools.of(&call.tool));
        modes.judge(state, Category::Tool, basis)
    }

    /// Judges one call of a tool as [`Ruleset::decide_tool`] does, and says why.
    #[must_use]
    pub fn explain_tool(&self, call: &ToolCall, now: Timestamp) -> Explanation<'_> {
        let seen = Seen::of(call);
        let (mut hits, mut misses) = (Vec::new(), Vec::new());
        for rule in self.rules() {
            match rule.failing_tool_call(&seen, now) {
                None => {
                    let is_lifted =
                        rule.action() == Action::Ask && self.is_tool_lifted(rule, &seen, now);
                    hits.push(Hit { rule, is_lifted });
                }
                Some(key) if rule.is_about_tool(&call.tool) => misses.push(Miss { rule, key }),
                Some(_) => {}
            }
        }
        Explanation {
            verdict: self.decide_tool(call, now),
            hits,
            misses,
            objection: None,
        }
    }

    /// Whether a rule that comes first would settle the call.
    fn bears_on_tool(&self, rule: &Rule, seen: &Seen<'_>, now: Timestamp) -> bool {
        let is_lifted = || rule.action() == Action::Ask && self.is_tool_lifted(rule, seen, now);
        rule.failing_tool_call(seen, now).is_none() && !is_lifted()
    }

    /// Whether an allow of a higher layer has the question in view and answers it.
    fn is_tool_lifted(&self, ask: &Rule, seen: &Seen<'_>, now: Timestamp) -> bool {
        let mut allows = self.table.of(Action::Allow).iter();
        allows.any(|allow| allow.failing_tool_call(seen, now).is_none() && allow.overrides(ask))
    }

    /// Whether a table, the language itself, or a rule that does not forbid names the tool.
    fn names_tool(&self, name: &str) -> bool {
        let mut rules = self.rules().filter(|rule| rule.action() != Action::Deny);
        self.tools.has(name) || rules.any(|rule| rule.names_tool(name))
    }
}
