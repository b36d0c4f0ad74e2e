//! The rules of a policy, arranged so that a call meets only those that may hold for it.

use std::ops::Range;

use crate::image::{Image, Reading};
use crate::name_map::NameMap;
use crate::path::{file_name, steps};
use crate::program::{Needs, Program};
use crate::request::RuleKey;
use crate::rule::{Action, Rule};
use crate::version::unversioned;

/// The rules of every action, each in front of those that it goes before.
#[derive(Debug, Clone)]
pub(crate) struct RuleTable {
    /// Denies, asks that a higher supervisor is to answer, other asks, allows; of each, the
    /// highest layer first, then by id. The order of the files means nothing: see `Basis::Rule`.
    rules: Vec<Rule>,
    /// For a file name without its version, the rules that need an image of such a name.
    by_name: NameMap<Box<[u8]>, Positions>,
    /// The rules that need an image in some directory.
    by_directory: Directory,
    /// The rules that may need neither. Any other is filed under each of its entries.
    others: Positions,
}

/// How deep directories are told apart. A rule for one further down is looked at for all that lies
/// in the directory that is this deep.
const DEPTH_MAX: usize = 16;

/// Where rules stand, rising.
type Positions = Vec<usize>;

/// A directory or file, with what rules need an image to lie in it or to be it.
#[derive(Debug, Clone, Default)]
struct Directory {
    rules: Positions,
    entries: NameMap<Box<[u8]>, Directory>,
}

impl RuleTable {
    pub(crate) fn new(mut rules: Vec<Rule>) -> Self {
        rules.sort_by(|a, b| {
            let rank = |rule: &Rule| (rule.action(), rule.escalates(), rule.layer());
            rank(b).cmp(&rank(a)).then_with(|| a.id().cmp(b.id()))
        });
        let mut table = Self {
            by_name: NameMap::default(),
            by_directory: Directory::default(),
            others: Positions::new(),
            rules: Vec::new(),
        };
        for (position, rule) in rules.iter().enumerate() {
            let needs: Option<Vec<Needs<'_>>> = rule.programs().map(Program::needs).collect();
            match needs.filter(|needs| !needs.is_empty()) {
                Some(needs) => needs.iter().for_each(|needs| table.file(position, needs)),
                None => table.others.push(position),
            }
        }
        Self { rules, ..table }
    }

    /// Puts the rule at `position` where an image with what it needs will meet it.
    fn file(&mut self, position: usize, needs: &Needs<'_>) {
        match needs {
            Needs::Name(names) => {
                for name in names {
                    let positions = self.by_name.entry(unversioned(name).into());
                    push(positions.or_default(), position);
                }
            }
            Needs::Directory(paths) => {
                for path in paths {
                    push(&mut self.by_directory.at(path).rules, position);
                }
            }
        }
    }

    /// The first rule that `is_meant` for one of `images`. It must hold for no image that
    /// lacks the rule's names.
    pub(crate) fn first<'i, 'r: 'i>(
        &self,
        images: impl IntoIterator<Item = &'i Image<'r>>,
        is_meant: impl Fn(&Rule, &Image<'r>) -> bool,
    ) -> Option<&Rule> {
        self.first_in(0..self.rules.len(), images, is_meant)
    }

    /// The first of the rules of one action that `is_meant` for one of `images`, likewise.
    pub(crate) fn first_of<'i, 'r: 'i>(
        &self,
        action: Action,
        images: impl IntoIterator<Item = &'i Image<'r>>,
        is_meant: impl Fn(&Rule, &Image<'r>) -> bool,
    ) -> Option<&Rule> {
        self.first_in(self.span(action), images, is_meant)
    }

    fn first_in<'i, 'r: 'i>(
        &self,
        span: Range<usize>,
        images: impl IntoIterator<Item = &'i Image<'r>>,
        is_meant: impl Fn(&Rule, &Image<'r>) -> bool,
    ) -> Option<&Rule> {
        // Only what goes before the rule found so far is of interest.
        let mut found = None;
        let mut end = span.end;
        for image in images {
            for positions in self.positions(image) {
                let before = positions.partition_point(|position| *position < span.start);
                let positions = positions.iter().skip(before).copied();
                let mut rules = positions
                    .take_while(|position| *position < end)
                    .filter_map(|position| Some((position, self.rules.get(position)?)));
                if let Some((position, rule)) = rules.find(|(_, rule)| is_meant(rule, image)) {
                    (end, found) = (position, Some(rule));
                }
            }
        }
        found
    }

    /// The positions of all rules that may hold for `image`, by what they need of it.
    fn positions<'t>(&'t self, image: &'t Image<'_>) -> impl Iterator<Item = &'t [usize]> {
        // Every name, whatever the action: an index by fewer would miss rules.
        let paths = image.names(Reading::Doubtful);
        let named = paths.map(|path| (file_name(path), Some(path)));
        let guises = image.guises().map(|guise| (guise.name, guise.path));
        let found = named.chain(guises).flat_map(|(name, path)| {
            let by_name = self.by_name.get(unversioned(name));
            let by_directory = path.into_iter().flat_map(|path| self.by_directory.on(path));
            by_name.into_iter().chain(by_directory)
        });
        found.chain([&self.others]).map(Vec::as_slice)
    }

    /// The allow of that layer and id.
    pub(crate) fn allow(&self, key: &RuleKey) -> Option<&Rule> {
        let allows = self.of(Action::Allow);
        let wanted = (key.layer, key.id.as_str());
        let found = allows.binary_search_by(|rule| {
            let layers = wanted.0.cmp(&rule.layer());
            layers.then_with(|| rule.id().cmp(wanted.1))
        });
        found.ok().and_then(|position| allows.get(position))
    }

    /// The rules of one action.
    pub(crate) fn of(&self, action: Action) -> &[Rule] {
        self.rules.get(self.span(action)).unwrap_or_default()
    }

    /// All rules.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn span(&self, action: Action) -> Range<usize> {
        let start = self.rules.partition_point(|rule| rule.action() > action);
        let end = self.rules.partition_point(|rule| rule.action() >= action);
        start..end
    }
}

impl Directory {
    /// The place of `path`, or of what it lies in; made if it is not there.
    fn at(&mut self, path: &[u8]) -> &mut Self {
        steps(path).take(DEPTH_MAX).fold(self, |directory, step| {
            directory.entries.entry(step.into()).or_default()
        })
    }

    /// The rules of each directory that `path` lies in, and of `path` itself.
    fn on(&self, path: &[u8]) -> impl Iterator<Item = &Positions> {
        let places = steps(path).scan(self, |directory, step| {
            *directory = directory.entries.get(step)?;
            Some(*directory)
        });
        places.map(|directory| &directory.rules)
    }
}

fn push(positions: &mut Positions, position: usize) {
    if positions.last() != Some(&position) {
        positions.push(position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_meets_the_rules_of_its_directories_and_its_own() {
        let mut root = Directory::default();
        for (position, head) in ["/usr", "/usr/bin", "/usr/bin/git", "/usr/lib", "/us"]
            .iter()
            .enumerate()
        {
            root.at(head.as_bytes()).rules.push(position);
        }
        let met = |path: &str| {
            root.on(path.as_bytes())
                .flatten()
                .copied()
                .collect::<Vec<_>>()
        };
        assert_eq!(met("/usr/bin/git"), [0, 1, 2]);
        assert_eq!(met("/usr/bin/x/y"), [0, 1]);
        assert_eq!(met("/usr/libx"), [0]);
        assert_eq!(met("/opt"), [0; 0]);
        assert_eq!(met("/"), [0; 0]);
        assert_eq!(met(""), [0; 0]);
    }
}
