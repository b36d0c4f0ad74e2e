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
    /// For a file name without its version, the rules that need an image of such a name.
    by_name: Index,
    /// For a directory, the rules that need an image in it, where they come down to no name.
    by_head: Index,
    /// The positions of the rules that come down to neither, rising.
    others: Vec<usize>,
}

/// Positions of rules, rising.
type Index = HashMap<Vec<u8>, Vec<usize>>;

impl RuleTable {
    pub(crate) fn new(mut rules: Vec<Rule>) -> Self {
        // Not the order of the files: see `Basis::Rule`.
        rules.sort_by(|a, b| (b.layer(), a.id()).cmp(&(a.layer(), b.id())));
        let (mut by_name, mut by_head) = (Index::new(), Index::new());
        let mut others = Vec::new();
        for (position, rule) in rules.iter().enumerate() {
            if let Some(names) = rule.file_names() {
                add(&mut by_name, names.into_iter().map(unversioned), position);
            } else if let Some(heads) = rule.heads() {
                add(&mut by_head, heads.into_iter(), position);
            } else {
                others.push(position);
            }
        }
        Self {
            rules,
            by_name,
            by_head,
            others,
        }
    }

    /// The first rule that `is_meant` for one of `images`. It must hold for no image that
    /// lacks the rule's names.
    pub(crate) fn first<'i, 'r: 'i>(
        &self,
        images: impl IntoIterator<Item = &'i Image<'r>>,
        is_meant: impl Fn(&Rule, &Image<'r>) -> bool,
    ) -> Option<&Rule> {
        if self.rules.is_empty() {
            return None;
        }
        let position = images
            .into_iter()
            .filter_map(|image| self.first_for(image, &is_meant))
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
        let paths = || image.names(Reading::Doubtful);
        let guises = || image.guises();
        let names = paths()
            .map(file_name)
            .chain(guises().map(|guise| guise.name));
        let named = names.filter_map(|name| self.by_name.get(unversioned(name)));
        let heads = paths()
            .chain(guises().filter_map(|guise| guise.path))
            .flat_map(prefixes)
            .filter(|_| !self.by_head.is_empty());
        let headed = heads.filter_map(|head| self.by_head.get(head));
        named
            .chain(headed)
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

fn add<'k>(index: &mut Index, keys: impl Iterator<Item = &'k [u8]>, position: usize) {
    for key in keys {
        let positions = index.entry(key.to_vec()).or_default();
        if positions.last() != Some(&position) {
            positions.push(position);
        }
    }
}

/// A path, and every directory that it lies in but the root.
fn prefixes(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let slashes = path
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, byte)| **byte == b'/');
    let ends = slashes.map(|(at, _)| at).chain(std::iter::once(path.len()));
    ends.filter_map(move |end| path.get(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefixes_of_a_path_are_its_directories_and_itself() {
        let all: Vec<_> = prefixes(b"/usr/bin/git").collect();
        assert_eq!(all, [b"/usr".as_slice(), b"/usr/bin", b"/usr/bin/git"]);
        assert_eq!(prefixes(b"/").collect::<Vec<_>>(), [b"/"]);
        assert!(prefixes(b"").eq([b""]));
    }
}
