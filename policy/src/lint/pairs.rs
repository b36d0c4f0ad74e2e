//! Rules that leave nothing to others.

use std::collections::HashMap;

use super::Warning;
use crate::rule::{Action, Rule};
use crate::source::Layer;

/// What is to be said of each rule beside the others.
pub(super) fn warnings(rules: &[&Rule]) -> Vec<Warning> {
    let others = Others::of(rules);
    let mut warnings: Vec<Warning> = duplicates(rules).collect();
    for rule in rules {
        let first = |is_it: &dyn Fn(&Rule) -> bool| {
            let mut covering = others.of_rule(rule).filter(|other| other.expires.is_none());
            covering.find(|other| is_it(other) && other.written.covers(&rule.written))
        };
        let warning = match rule.action() {
            Action::Allow => shadowed(rule, &first).or_else(|| unreachable(rule, &first)),
            Action::Ask => shadowed(rule, &first).or_else(|| lifted(rule, &first)),
            Action::Deny => None,
        };
        warnings.extend(warning);
    }
    warnings
}

type First<'a, 'r> = &'a dyn Fn(&dyn Fn(&Rule) -> bool) -> Option<&'r Rule>;

fn shadowed(rule: &Rule, first: First<'_, '_>) -> Option<Warning> {
    let deny = first(&|other| other.action() == Action::Deny)?;
    let message = format!("{} denies all of it", named(deny));
    let help = "remove it, or narrow the deny: no allow lifts one";
    Some(Warning::of(rule, "shadowed", message, help))
}

/// An allow that leaves its calls to a question all the same.
fn unreachable(rule: &Rule, first: First<'_, '_>) -> Option<Warning> {
    let is_above = |other: &Rule| other.layer() == Layer::Floor || other.layer() >= rule.layer();
    let ask = first(&|other| other.action() == Action::Ask && is_above(other))?;
    let message = format!("{} asks about all of it", named(ask));
    let help = "remove it, or narrow the ask: only an allow of a higher layer lifts one";
    Some(Warning::of(rule, "unreachable", message, help))
}

/// An ask that an allow always answers.
fn lifted(rule: &Rule, first: First<'_, '_>) -> Option<Warning> {
    let allow = first(&|other| other.action() == Action::Allow && other.overrides(rule))?;
    let message = format!("{} answers it always", named(allow));
    let help = "remove it, or narrow the allow";
    Some(Warning::of(rule, "always-lifted", message, help))
}

/// Rules that say what another has said.
fn duplicates<'r>(rules: &'r [&'r Rule]) -> impl Iterator<Item = Warning> + 'r {
    let mut seen: HashMap<_, &Rule> = HashMap::new();
    rules.iter().filter_map(move |rule| {
        let same = (rule.action(), &rule.written, rule.expires, rule.escalates);
        let earlier = seen.insert(same, rule)?;
        // The later one in its file is the one too many.
        let is_later = (rule.source(), rule.line()) > (earlier.source(), earlier.line());
        let (first, second) = if is_later {
            (earlier, *rule)
        } else {
            (*rule, earlier)
        };
        seen.insert(same, first);
        let message = format!("it says what {} says", named(first));
        Some(Warning::of(
            second,
            "duplicate",
            message,
            "remove one of them",
        ))
    })
}

fn named(rule: &Rule) -> String {
    format!("rule {} ({}:{})", rule.id(), rule.source(), rule.line())
}

/// Rules by the commands that they are about.
struct Others<'r> {
    /// By name and first word.
    by_head: HashMap<(&'r str, Option<&'r str>), Vec<&'r Rule>>,
    /// Those that are about any.
    of_any: Vec<&'r Rule>,
}

impl<'r> Others<'r> {
    fn of(rules: &[&'r Rule]) -> Self {
        let mut others = Self {
            by_head: HashMap::new(),
            of_any: Vec::new(),
        };
        for rule in rules {
            match rule.written.heads() {
                None => others.of_any.push(rule),
                Some(heads) => heads
                    .into_iter()
                    .for_each(|head| others.by_head.entry(head).or_default().push(rule)),
            }
        }
        others
    }

    /// Those that may cover `rule`: with its name and word, or with its name alone.
    fn of_rule<'o>(&'o self, rule: &'o Rule) -> impl Iterator<Item = &'r Rule> + 'o {
        let heads = rule.written.heads().into_iter().flatten();
        let heads = heads.flat_map(|(name, word)| {
            let with_word = word.map(|word| (name, Some(word)));
            [Some((name, None)), with_word].into_iter().flatten()
        });
        let by_head = heads.filter_map(|head| self.by_head.get(&head)).flatten();
        let all = by_head.chain(&self.of_any).copied();
        all.filter(move |other| !std::ptr::eq(*other, rule))
    }
}
