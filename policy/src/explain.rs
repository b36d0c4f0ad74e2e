//! Why a call gets its verdict: each rule that holds, and of the others the key that fails.

use std::fmt;

use jiff::Timestamp;

use crate::image::{Image, Images};
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::ruleset::{NotSafe, Ruleset};
use crate::verdict::Verdict;
use crate::watch::Change;
use crate::wrapper;

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
    /// What alone keeps the call from being allowed.
    pub objection: Option<Objection>,
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

/// What alone keeps a call from being allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objection {
    /// A watched variable that is not as it was when the session began.
    Variable {
        /// Its name.
        name: Vec<u8>,
        /// What kind of variable it is, in a word: `loader`, `interpreter`.
        class: &'static str,
        /// What became of it, in a word: `new`, `changed`, `gone`.
        how: &'static str,
        /// The rule that would allow the call; a safe bin needs none.
        rule: Option<String>,
    },
    /// A safe bin is called in a way that is not safe.
    SafeBin {
        /// The bin.
        name: Vec<u8>,
        /// Why, as the end of a sentence about the call.
        why: String,
    },
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable {
                name,
                class,
                how,
                rule,
            } => {
                let name = name.escape_ascii();
                write!(f, "{name} ({class}) is {how} since the session began")?;
                rule.as_ref().map_or(Ok(()), |rule| {
                    write!(f, ", and rule {rule} does not name it")
                })
            }
            Self::SafeBin { name, why } => {
                let name = name.escape_ascii();
                write!(f, "{name} is a safe bin, but {why}")
            }
        }
    }
}

impl Objection {
    fn of(change: &Change<'_>, rule: Option<&Rule>) -> Self {
        Self::Variable {
            name: change.name().to_vec(),
            class: change.class,
            how: change.how.as_str(),
            rule: rule.map(|rule| rule.id().to_owned()),
        }
    }
}

impl Ruleset {
    /// What alone keeps a call from being allowed, if there is one such thing.
    #[must_use]
    pub fn objection(&self, request: &ExecRequest, now: Timestamp) -> Option<Objection> {
        let image = Image::of_program(request, &self.trust);
        let is_held_back = |rule: &Rule, image: &Image<'_>| rule.failing(image, now) == Some("env");
        let rule = self.table.first_of(Action::Allow, [&image], is_held_back);
        if let Some(rule) = rule {
            let changes = image.changes();
            let change = changes.iter().find(|change| !rule.passes_over(change))?;
            return Some(Objection::of(change, Some(rule)));
        }
        if wrapper::is_light(&image) {
            let changes = image.changes();
            return changes.first().map(|change| Objection::of(change, None));
        }
        let name = self.safe_name(&image)?;
        match self.unsafe_bin(&image, now)? {
            NotSafe::Change(change) => Some(Objection::of(&change, None)),
            NotSafe::Arguments(why) => {
                let (name, why) = (name.to_vec(), why.to_string());
                Some(Objection::SafeBin { name, why })
            }
            NotSafe::Stream(number) => {
                let what = if number == 0 { "read" } else { "write" };
                let why = format!("no rule lets it {what} the file on descriptor {number}");
                let name = name.to_vec();
                Some(Objection::SafeBin { name, why })
            }
        }
    }

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
            objection: self.objection(request, now),
        }
    }
}
