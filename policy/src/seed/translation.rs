//! A seed's policy in the language.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostics;
use crate::places::Places;
use crate::request::RuleKey;
use crate::rule::Rule;
use crate::source::{Layer, NoIncludes, Source};

/// The sources that a seed's policy comes to, and what the seed calls their rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Translation {
    sources: Vec<(Layer, String)>,
    labels: BTreeMap<RuleKey, String>,
}

impl Translation {
    /// The texts, each with its layer, from the lowest: what [`Ruleset::load`](crate::Ruleset::load)
    /// takes, beside other sources.
    pub fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        self.sources.iter().map(|(layer, text)| Source {
            name: match layer {
                Layer::Builtin => "seed:builtin_default",
                Layer::Agent => "seed:agent",
                Layer::User => "seed:user",
                Layer::Floor => "seed:floor",
            },
            text: text.as_bytes(),
            layer: *layer,
        })
    }

    /// Loads the policy, alone.
    ///
    /// # Errors
    ///
    /// What the seed took and the language does not: an empty prefix, one with shell syntax in it,
    /// an id that is none or is there twice. Each with its line, and a line holds one entry.
    pub fn load(&self, places: &Places) -> Result<crate::Ruleset, Diagnostics> {
        let sources: Vec<Source<'_>> = self.sources().collect();
        crate::Ruleset::load(&sources, places, &NoIncludes)
    }

    /// What the seed calls a rule: the prefix, the label of an ask, the pattern of an entry, the
    /// name of a tool. `None` if the rule is not of this policy.
    #[must_use]
    pub fn label(&self, rule: &Rule) -> Option<&str> {
        self.labels.get(&rule.key()).map(String::as_str)
    }

    pub(super) fn add_source(&mut self, layer: Layer, text: String) {
        self.sources.push((layer, text));
    }

    pub(super) fn add_label(&mut self, layer: Layer, id: String, label: &str) {
        self.labels.insert(RuleKey { layer, id }, label.to_owned());
    }
}
