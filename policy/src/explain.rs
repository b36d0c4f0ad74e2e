//! Why a call gets its verdict: each rule that holds, and of the others the key that fails.

use jiff::Timestamp;

use crate::image::{Image, Images};
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::verdict::Verdict;

/// A verdict with everything that was weighed for it.
#[derive(Debug, Clone)]
pub struct Explanation<'r> {
    /// What [`Ruleset::decide`] says.
    pub verdict: Verdict<'r>,
    /// The rules that hold, those that do not decide included: denies, asks that no allow lifts,
    /// other asks, allows; of each, the highest layer first, then by id.
    pub hits: Vec<Hit<'r>>,
    /// The rules that are about the program and do not hold, in the same order.
    pub misses: Vec<Miss<'r>>,
}

/// A rule that holds.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// Whether an allow of a higher layer lifts it; only an ask is lifted.
    pub is_lifted: bool,
}

/// A rule that does not hold.
#[derive(Debug, Clone, Copy)]
pub struct Miss<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The first of its keys that does not hold.
    pub key: &'static str,
}

impl Ruleset {
    /// Judges one exec as [`Ruleset::decide`] does, and says why. Every rule is looked at.
    #[must_use]
    pub fn explain(&self, request: &ExecRequest, now: Timestamp) -> Explanation<'_> {
        let images = Images::of(request, &self.trust);
        let every: Vec<&Image<'_>> = images.all().collect();
        let (mut hits, mut misses) = (Vec::new(), Vec::new());
        for rule in self.rules() {
            // What is allowed is the program; a deny or an ask is about any image.
            let of_rule = match rule.action() {
                Action::Allow => every.get(..1).unwrap_or_default(),
                Action::Ask | Action::Deny => every.as_slice(),
            };
            let mut held = of_rule.iter().filter(|image| rule.holds(image, now));
            if let Some(first) = held.next() {
                // An image for which it is not lifted is enough for it to ask.
                let is_lifted = rule.action() == Action::Ask
                    && std::iter::once(first)
                        .chain(held)
                        .all(|image| self.is_lifted(rule, image, now));
                hits.push(Hit { rule, is_lifted });
            } else if let Some(key) = of_rule.iter().find_map(|image| rule.near_miss(image, now)) {
                misses.push(Miss { rule, key });
            }
        }
        Explanation {
            verdict: self.decide(request, now),
            hits,
            misses,
        }
    }
}
