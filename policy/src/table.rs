//! The rules of one action, arranged so that a call meets only those that may hold for it.

use std::collections::HashMap;

use crate::image::{Image, Reading};
use crate::pattern::file_name;
use crate::request::RuleKey;
use crate::rule::Rule;
use crate::version::unversioned;

/// Rules of one action, the one to name first in front.
#[derive(Debug, Clone)]
pub(crate) struct RuleTable {
    rules: Vec<Rule>,
    /// For a file name without its version, the positions of the rules that need an image of
    /// such a name, rising.
    by_name: HashMap<Vec<u8>, Vec<usize>>,
    /// The positions of the rules that come down to no name, rising.
    others: Vec<usize>,
}

impl RuleTable {
    pub(crate) fn new(mut rules: Vec<Rule>) -> Self {
        // Not the order of the files: see `Basis::Rule`.
        rules.sort_by(|a, b| (b.layer(), a.id()).cmp(&(a.layer(), b.id())));
        let mut by_name: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        let mut others = Vec::new();
        for (position, rule) in rules.iter().enumerate() {
            let Some(names) = rule.file_names() else {
                others.push(position);
                continue;
            };
            for name in names {
                let positions = by_name.entry(unversioned(name).to_vec()).or_default();
                if positions.last() != Some(&position) {
                    positions.push(position);
                }
            }
        }
        Self {
            rules,
            by_name,
            others,
        }
    }

    /// The first rule that may hold for one of `images` and that `is_meant` for it.
    pub(crate) fn first<'r>(
        &self,
        images: impl Iterator<Item = Image<'r>>,
        is_meant: impl Fn(&Rule, &Image<'r>) -> bool,
    ) -> Option<&Rule> {
        let position = images
            .filter_map(|image| self.first_for(&image, &is_meant))
            .min()?;
        self.rules.get(position)
    }

    fn first_for<'r>(
        &self,
        image: &Image<'r>,
        is_meant: impl Fn(&Rule, &Image<'r>) -> bool,
    ) -> Option<usize> {
        let holds = |position: &usize| {
            let rule = self.rules.get(*position);
            rule.is_some_and(|rule| is_meant(rule, image))
        };
        // Every name, whatever the action: an index by fewer would miss rules.
        let names = image.names(Reading::Doubtful).map(file_name);
        let guises = image.guises().map(|guise| guise.name);
        let named = names
            .chain(guises)
            .filter_map(|name| self.by_name.get(unversioned(name)));
        named
            .chain(std::iter::once(&self.others))
            .filter_map(|positions| positions.iter().copied().find(holds))
            .min()
    }

    /// The rule of that layer and id.
    pub(crate) fn get(&self, key: &RuleKey) -> Option<&Rule> {
        let wanted = (key.layer, key.id.as_str());
        let found = self.rules.binary_search_by(|rule| {
            let layers = wanted.0.cmp(&rule.layer());
            layers.then_with(|| rule.id().cmp(wanted.1))
        });
        found.ok().and_then(|position| self.rules.get(position))
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }
}
