//! What a person who approved calls could have saved: the narrowest rules that cover them all.
//!
//! A call that was seen alone gets a rule of its own. Several of one command get one rule for the command
//! with their flags, or for its ordinary use, unless that would let run what a person refused.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Amendment, CommandName, NoRule, Scope, UseOf, rule_of, text};
use crate::image::Images;
use crate::request::ExecRequest;
use crate::rule::Rule;
use crate::ruleset::Ruleset;
use crate::verdict::Decision;

/// What became of calls that were asked about or denied.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// A person let them run.
    pub approved: &'a [ExecRequest],
    /// A person did not.
    pub refused: &'a [ExecRequest],
    /// Nobody said anything of them, and they did not run.
    pub others: &'a [ExecRequest],
}

/// A rule, and the calls that it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The rule's id.
    pub id: String,
    /// The rule, and what it covers in words.
    pub amendment: Amendment,
    /// Which of the approved calls it covers.
    pub calls: Vec<usize>,
    /// Which of the others it would have let run too.
    pub others: Vec<usize>,
    /// Whether a rule for the whole command would have let run what a person refused.
    pub is_narrowed: bool,
}

/// What is learned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lessons {
    /// The rules.
    pub lessons: Vec<Lesson>,
    /// The approved calls of which no rule is made.
    pub untaught: Vec<(usize, NoRule)>,
}

/// Approved calls of one command.
struct Class<'r> {
    calls: Vec<(usize, CommandName<'r>, Images<'r>)>,
}

impl Ruleset {
    /// The narrowest rules that would have let the approved calls run unasked at `now`, called
    /// `prefix-1`, `prefix-2` …, from the first `number` on.
    #[must_use]
    pub fn learn(&self, evidence: Evidence<'_>, prefix: &str, now: Timestamp) -> Lessons {
        let mut learner = Learner {
            rules: self,
            evidence,
            prefix,
            now,
            lessons: Lessons::default(),
            rules_of_lessons: Vec::new(),
        };
        let mut classes: BTreeMap<(Option<UseOf>, Vec<u8>), Class<'_>> = BTreeMap::new();
        for (at, request) in evidence.approved.iter().enumerate() {
            let images = Images::of(request, &self.trust);
            match self.name_of(request, &images, now) {
                Ok(name) => {
                    let command = name.command(&images.program);
                    let use_of = command.map(|command| UseOf::of(command, &images.program));
                    // Without words for the command, its file is one.
                    let path = use_of.as_ref().map_or(name.path, |_| b"");
                    let path = path.to_vec();
                    let class = classes.entry((use_of, path));
                    let class = class.or_insert_with(|| Class { calls: Vec::new() });
                    class.calls.push((at, name, images));
                }
                Err(why) => learner.lessons.untaught.push((at, why)),
            }
        }
        for ((use_of, _), class) in &classes {
            learner.study(use_of.as_ref(), class);
        }
        learner.lessons
    }
}

/// One who goes through the evidence.
struct Learner<'e> {
    rules: &'e Ruleset,
    evidence: Evidence<'e>,
    prefix: &'e str,
    now: Timestamp,
    lessons: Lessons,
    /// Those of the lessons, in their order.
    rules_of_lessons: Vec<Rule>,
}

impl Learner<'_> {
    /// Makes the rules for calls of one command.
    fn study(&mut self, use_of: Option<&UseOf>, class: &Class<'_>) {
        let calls = || class.calls.iter().map(|(at, _, _)| *at);
        let argvs = calls().filter_map(|at| self.evidence.approved.get(at));
        let argvs: BTreeSet<&[Vec<u8>]> = argvs
            .map(|it| it.argv.get(1..).unwrap_or_default())
            .collect();
        let mut is_narrowed = false;
        if let Some(use_of) = use_of.filter(|_| argvs.len() > 1) {
            let id = self.next_id();
            for amendment in wide(use_of, &id, class) {
                let Some(rule) = rule_of(&amendment.rule) else {
                    continue;
                };
                let mut images = class.calls.iter().map(|(_, _, images)| images);
                if !images.all(|images| self.rules.would_let(&rule, images, self.now)) {
                    continue;
                }
                if self.lets_any(&rule, self.evidence.refused) {
                    is_narrowed = true;
                    continue;
                }
                return self.add(id, amendment, rule, calls().collect(), false);
            }
        }
        // A rule for a file by its own path covers it by other names too.
        let is_own = |(_, name, images): &&(usize, CommandName<'_>, Images<'_>)| {
            images.program.request.program.resolved.as_deref() == Some(name.path)
        };
        let (own, other): (Vec<_>, Vec<_>) = class.calls.iter().partition(is_own);
        for (at, name, images) in own.into_iter().chain(other) {
            self.study_alone(*at, name, images, is_narrowed);
        }
    }

    /// Makes a rule for one call alone.
    fn study_alone(
        &mut self,
        at: usize,
        name: &CommandName<'_>,
        images: &Images<'_>,
        is_narrowed: bool,
    ) {
        let mut known = self.rules_of_lessons.iter().zip(&mut self.lessons.lessons);
        let covering = known.find(|(rule, _)| self.rules.would_let(rule, images, self.now));
        if let Some((_, lesson)) = covering {
            return lesson.calls.push(at);
        }
        let id = self.next_id();
        let amendment = name.exact(images.program.request, &id);
        let rule = rule_of(&amendment.rule);
        let rule = rule.filter(|rule| self.rules.would_let(rule, images, self.now));
        match rule {
            None => self.lessons.untaught.push((at, NoRule::NoHelp)),
            Some(rule) if self.lets_any(&rule, self.evidence.refused) => {
                self.lessons.untaught.push((at, NoRule::Refused));
            }
            Some(rule) => self.add(id, amendment, rule, vec![at], is_narrowed),
        }
    }

    fn add(
        &mut self,
        id: String,
        amendment: Amendment,
        rule: Rule,
        calls: Vec<usize>,
        is_narrowed: bool,
    ) {
        let others = self.evidence.others.iter().enumerate();
        let others = others.filter(|(_, request)| self.lets(&rule, request));
        let lesson = Lesson {
            id,
            amendment,
            calls,
            others: others.map(|(at, _)| at).collect(),
            is_narrowed,
        };
        self.lessons.lessons.push(lesson);
        self.rules_of_lessons.push(rule);
    }

    fn next_id(&self) -> String {
        format!("{}-{}", self.prefix, self.lessons.lessons.len() + 1)
    }

    fn lets_any(&self, rule: &Rule, requests: &[ExecRequest]) -> bool {
        requests.iter().any(|request| self.lets(rule, request))
    }

    /// Whether a call that is asked about would run unasked by the rule.
    fn lets(&self, rule: &Rule, request: &ExecRequest) -> bool {
        let images = Images::of(request, &self.rules.trust);
        rule.holds(&images.program, self.now)
            && self.rules.decide(request, self.now).decision() == Decision::Ask
            && self.rules.would_let(rule, &images, self.now)
    }
}

/// The rules that may cover all calls of a command, from the narrowest.
fn wide(use_of: &UseOf, id: &str, class: &Class<'_>) -> Vec<Amendment> {
    let calls = class.calls.iter();
    let flags = calls.map(|(_, name, images)| name.flags(images.program.request));
    let flags: Option<Vec<Vec<String>>> = flags.collect();
    let flags: BTreeSet<String> = flags.into_iter().flatten().flatten().collect();
    let flags: Vec<String> = flags.into_iter().collect();
    let with_flags = (!flags.is_empty()).then(|| use_of.with_flags(id, &flags));
    with_flags
        .into_iter()
        .chain([use_of.ordinary(id)])
        .collect()
}

impl CommandName<'_> {
    /// The amendment called `id` for this call alone.
    pub(super) fn exact(&self, request: &ExecRequest, id: &str) -> Amendment {
        let cwd = request.cwd.as_deref();
        let place = cwd.map_or(String::new(), |cwd| format!(" in {}", cwd.escape_ascii()));
        Amendment {
            scope: Scope::Exact,
            rule: text::exact(id, self.path, request),
            covers: format!("this call{place}, and no other"),
        }
    }
}

#[cfg(test)]
mod tests;
