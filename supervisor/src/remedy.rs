//! What a refusal says to do where there was nobody to ask: the rule that would have allowed the call.

use execward_policy::{Amendment, Content, ExecRequest, Ruleset, Scope};

use crate::clock;
use crate::grants::fresh_name;

/// Scopes in the order in which their rules are proposed: what a person would type, then what is as narrow
/// as can be.
const PROPOSED: [Scope; 3] = [Scope::Prefix, Scope::Flags, Scope::Exact];

/// The rule, as it would stand in a policy; none where none that could be saved would help.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remedy(Option<String>);

impl Remedy {
    /// Of a call that was asked about.
    pub(crate) fn of(rules: &Ruleset, request: &ExecRequest) -> Self {
        let offered = rules.amendments(request, &fresh_name(), clock::now());
        // A digest is to be taken first, and that is no line of text.
        let is_whole = |it: &&Amendment| it.content == Content::Any;
        let of_scope = |scope| offered.iter().filter(is_whole).find(|it| it.scope == scope);
        let proposed = PROPOSED.into_iter().find_map(of_scope);
        Self(proposed.map(|it| it.rule.clone()))
    }

    #[cfg(test)]
    pub(crate) fn of_rule(rule: Option<String>) -> Self {
        Self(rule)
    }

    /// For the record.
    pub(crate) fn rule(&self) -> Option<String> {
        self.0.clone()
    }

    /// For the refusal line of the exec `id`: with the rule, and without.
    pub(crate) fn in_words(&self, id: &str) -> [String; 2] {
        let Some(rule) = &self.0 else {
            let why = format!("execward explain {id} says why");
            return [why.clone(), why];
        };
        let short = format!("execward explain {id} --rule prints a rule");
        let keys = rule
            .lines()
            .filter(|it| !it.starts_with("id = ") && *it != "[[allow]]");
        match keys.collect::<Vec<_>>()[..] {
            [one] => [format!("To allow: {one}"), short],
            _ => [short.clone(), short],
        }
    }
}
