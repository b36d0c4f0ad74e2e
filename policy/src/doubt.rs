//! What a policy says of a call of which something is not known.
//!
//! The answer lies between two: as if each rule that looks at what is not known held the call back,
//! and as if each let it go. Where they are one, it is the answer, whatever is not known.

use std::sync::Arc;

use crate::request::{Ancestor, ExecRequest, Lineage, Stream};
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::selector::{List, Selectors};
use crate::table::RuleTable;
use crate::variable::Variable;

/// A watched variable of which no rule knows.
const OTHER_VARIABLE: &str = "?";

/// What is not known of a call.
#[expect(clippy::struct_excessive_bools, reason = "each is unknown by itself")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Gaps {
    /// Which watched variables changed.
    pub env: bool,
    /// Which of the variables that rules name are there, and their values.
    pub variables: bool,
    /// Where the paths lead that it names.
    pub paths: bool,
    /// Digests of its files.
    pub digests: bool,
    /// What its standard descriptors are.
    pub streams: bool,
    /// The execs that led to it.
    pub lineage: bool,
}

impl Gaps {
    /// Whether everything is known.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// What is not known, in words.
    #[must_use]
    pub fn in_words(self) -> String {
        let words = [
            (self.env, "its environment"),
            (self.variables, "its variables"),
            (self.paths, "where its paths lead"),
            (self.digests, "the digests of its files"),
            (self.streams, "its standard descriptors"),
            (self.lineage, "what started it"),
        ];
        let words = words
            .into_iter()
            .filter_map(|(is_gap, word)| is_gap.then_some(word));
        words.collect::<Vec<_>>().join(", ")
    }

    /// Whether a rule of that action looks at it.
    fn is_looked_at(self, selectors: &Selectors, action: Action) -> bool {
        // An allow looks at what is watched, of which the names are known.
        let mut entries = selectors.env.iter().flat_map(List::entries);
        let is_of_values = action != Action::Allow || entries.any(Variable::has_value);
        selectors.env.is_some() && (self.env || self.variables && is_of_values)
            || self.paths
                && (selectors.path.is_some()
                    || selectors.script.is_some()
                    || selectors.cwd.is_some())
            || self.digests && selectors.sha256.is_some()
            || self.lineage && selectors.via.is_some()
    }

    /// Takes away what looks at it, of a rule of that action.
    fn widen(self, selectors: &mut Selectors, action: Action) {
        if self.env || self.variables {
            // An allow that names none passes over none.
            selectors.env = (action == Action::Allow).then(List::of_all);
        }
        if self.paths {
            (selectors.path, selectors.script, selectors.cwd) = (None, None, None);
        }
        if self.digests {
            selectors.sha256 = None;
        }
        if self.lineage {
            selectors.via = None;
        }
    }
}

/// A policy at its strictest and at its loosest, where something is not known.
#[derive(Debug)]
pub struct Doubt {
    gaps: Gaps,
    strictest: Ruleset,
    loosest: Ruleset,
    /// Whoever might have started the call.
    ancestors: Vec<Arc<Ancestor>>,
}

impl Doubt {
    /// What `rules` say where there are `gaps`.
    #[must_use]
    pub fn of(rules: &Ruleset, gaps: Gaps) -> Self {
        let holds_back = |rule: &Rule| rule.action() != Action::Allow;
        let mut strictest = rules.clone();
        // What else is not known every rule reads in that way.
        if gaps.env || gaps.variables {
            let gaps = Gaps {
                env: gaps.env,
                variables: gaps.variables,
                ..Gaps::default()
            };
            strictest.table = gaps.resolved(rules, holds_back);
        }
        if gaps.env {
            strictest.trust.watch = rules.trust.watch.with(OTHER_VARIABLE);
        }
        let mut loosest = rules.clone();
        loosest.table = gaps.resolved(rules, |rule| !holds_back(rule));
        let with_children = rules.rules().filter(|rule| rule.has_children());
        let ancestors = with_children.map(|rule| {
            let (files, allowed_by) = (Vec::new(), Some(rule.key()));
            Arc::new(Ancestor { files, allowed_by })
        });
        Self {
            gaps,
            strictest,
            loosest,
            ancestors: ancestors.collect(),
        }
    }

    /// The policy at its strictest and at its loosest, each with the question to put to it: `request`,
    /// of which the gaps are not filled.
    #[must_use]
    pub fn sides(&self, request: &ExecRequest) -> [(&Ruleset, ExecRequest); 2] {
        let mut strict = request.clone();
        let mut loose = request.clone();
        if self.gaps.env {
            strict.start_env = None;
            strict.env = Some([format!("{OTHER_VARIABLE}=").into()].into());
            (loose.start_env, loose.env) = (None, Some(Arc::default()));
        }
        if self.gaps.streams {
            strict.streams = Default::default();
            loose.streams = [Stream::Plain, Stream::Plain, Stream::Plain];
        }
        if self.gaps.lineage {
            strict.lineage = Lineage {
                ancestors: Vec::new(),
                is_broken: true,
            };
            loose.lineage = Lineage {
                ancestors: self.ancestors.clone(),
                is_broken: false,
            };
        }
        [(&self.strictest, strict), (&self.loosest, loose)]
    }
}

impl Gaps {
    /// The rules as if those that look at a gap held where they are `believed`, and no others did.
    fn resolved(self, rules: &Ruleset, is_believed: impl Fn(&Rule) -> bool) -> RuleTable {
        let resolved = rules.rules().filter_map(|rule| {
            let mut rule = rule.clone();
            let lists = rule.charters.iter().flat_map(|list| list.iter());
            let looks = |selectors: &Selectors| self.is_looked_at(selectors, rule.action);
            if !looks(&rule.selectors) && !lists.clone().any(looks) {
                return Some(rule);
            }
            if !is_believed(&rule) {
                return None;
            }
            self.widen(&mut rule.selectors, rule.action);
            for list in &mut rule.charters {
                let mut entries = list.to_vec();
                entries
                    .iter_mut()
                    .for_each(|entry| self.widen(entry, rule.action));
                *list = entries.into();
            }
            Some(rule)
        });
        RuleTable::new(resolved.collect())
    }
}

#[cfg(test)]
mod tests;
