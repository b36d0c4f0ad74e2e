//! What a person who approved calls could have saved: the narrowest rules that cover them all.
//!
//! A call that was seen alone gets a rule of its own. Several of one command get one rule for the command
//! with their flags, or none, and for its ordinary use only where their flags cannot be told, unless that
//! would let run what a person refused. Where a rule
//! is bound to what a file holds, each content has its own.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{Amendment, Named, NoRule, UseOf};
use crate::digest::Digest;
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
    /// No person said anything of them, and no policy let them run.
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
    /// Which of the others it would have let run too, if their files held the same.
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

/// An approved call.
struct Call<'r> {
    /// Which one.
    at: usize,
    named: Named<'r>,
    images: Images<'r>,
    /// Of what its rule is bound to.
    digest: Option<Digest>,
}

/// What approved calls have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Class {
    use_of: Option<UseOf>,
    /// Without words for the command, its file is one.
    path: Vec<u8>,
    digest: Option<Digest>,
}

impl Ruleset {
    /// The narrowest rules that would have let the approved calls run unasked at `now`, called
    /// `prefix-1-SCOPE`, `prefix-2-SCOPE` …
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
        let mut classes: BTreeMap<Class, Vec<Call<'_>>> = BTreeMap::new();
        for (at, request) in evidence.approved.iter().enumerate() {
            match self.call(at, request, now) {
                Ok(call) => classes.entry(call.class()).or_default().push(call),
                Err(why) => learner.lessons.untaught.push((at, why)),
            }
        }
        for (class, calls) in &classes {
            learner.study(class, calls);
        }
        learner.lessons
    }

    fn call<'r>(
        &'r self,
        at: usize,
        request: &'r ExecRequest,
        now: Timestamp,
    ) -> Result<Call<'r>, NoRule> {
        let images = Images::of(request, &self.trust);
        let named = self.named(request, &images, now)?;
        let digest = named.content(&images.program).digest(request)?;
        Ok(Call {
            at,
            named,
            images,
            digest,
        })
    }
}

impl Call<'_> {
    fn class(&self) -> Class {
        let use_of = self.named.use_of(&self.images.program);
        let path = use_of.as_ref().map_or(self.named.path(), |_| b"").to_vec();
        Class {
            use_of,
            path,
            digest: self.digest,
        }
    }

    fn request(&self) -> &ExecRequest {
        self.images.program.request
    }

    /// Whether a rule for its file means that by its own path.
    fn is_by_own_path(&self) -> bool {
        self.request().program.resolved.as_deref() == Some(self.named.path())
    }
}

/// One who goes through the evidence.
struct Learner<'e> {
    rules: &'e Ruleset,
    evidence: Evidence<'e>,
    prefix: &'e str,
    now: Timestamp,
    lessons: Lessons,
    /// Those of the lessons, in their order: what each lets run of files whatever they hold, and the digest
    /// that it is bound to.
    rules_of_lessons: Vec<(Rule, Option<Digest>)>,
}

impl Learner<'_> {
    /// Makes the rules for calls of one command.
    fn study(&mut self, class: &Class, calls: &[Call<'_>]) {
        let argvs = calls.iter().map(|call| call.request().argv.get(1..));
        let argvs: BTreeSet<&[Vec<u8>]> = argvs.map(Option::unwrap_or_default).collect();
        let mut is_narrowed = false;
        if let Some(use_of) = class.use_of.as_ref().filter(|_| argvs.len() > 1) {
            for amendment in wide(use_of, &self.next_name(), calls) {
                let Some(rule) = amendment.offered_rule() else {
                    continue;
                };
                let lets = |call: &Call<'_>| self.rules.would_let(&rule, &call.images, self.now);
                if !calls.iter().all(lets) {
                    continue;
                }
                if self.lets_any(&rule, self.evidence.refused) {
                    is_narrowed = true;
                    continue;
                }
                let lesson = Lesson {
                    calls: calls.iter().map(|call| call.at).collect(),
                    ..Lesson::of(amendment, &rule, class.digest)
                };
                return self.add(lesson, rule, class.digest);
            }
        }
        // A rule for a file by its own path covers it by other names too.
        let (own, other): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.is_by_own_path());
        for call in own.into_iter().chain(other) {
            self.study_alone(call, is_narrowed);
        }
    }

    /// Makes a rule for one call alone.
    fn study_alone(&mut self, call: &Call<'_>, is_narrowed: bool) {
        let Call { at, images, .. } = call;
        let would_let = |rule: &Rule| self.rules.would_let(rule, images, self.now);
        let mut known = self.rules_of_lessons.iter().zip(&mut self.lessons.lessons);
        let covering = known.find(|((rule, digest), _)| *digest == call.digest && would_let(rule));
        if let Some((_, lesson)) = covering {
            return lesson.calls.push(*at);
        }
        let name = self.next_name();
        let amendment = call.named.exact(call.request(), &name, &images.program);
        match amendment.offered_rule().filter(would_let) {
            _ if self.rules.tells_secret(&amendment, call.request()) => {
                self.lessons.untaught.push((*at, NoRule::Secret));
            }
            None => self.lessons.untaught.push((*at, NoRule::NoHelp)),
            Some(rule) if self.lets_any(&rule, self.evidence.refused) => {
                self.lessons.untaught.push((*at, NoRule::Refused));
            }
            Some(rule) => {
                let lesson = Lesson {
                    calls: vec![*at],
                    is_narrowed,
                    ..Lesson::of(amendment, &rule, call.digest)
                };
                self.add(lesson, rule, call.digest);
            }
        }
    }

    fn add(&mut self, mut lesson: Lesson, rule: Rule, digest: Option<Digest>) {
        let others = self.evidence.others.iter().enumerate();
        let others = others.filter(|(_, request)| self.lets(&rule, request));
        lesson.others = others.map(|(at, _)| at).collect();
        self.lessons.lessons.push(lesson);
        self.rules_of_lessons.push((rule, digest));
    }

    /// What the next rule is called, but for its scope.
    fn next_name(&self) -> String {
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

impl Lesson {
    fn of(amendment: Amendment, rule: &Rule, digest: Option<Digest>) -> Self {
        Self {
            id: rule.id().to_owned(),
            amendment: amendment.bound_to(digest),
            calls: Vec::new(),
            others: Vec::new(),
            is_narrowed: false,
        }
    }
}

/// The rules that may cover all calls of a command, from the narrowest.
fn wide(use_of: &UseOf, name: &str, calls: &[Call<'_>]) -> Vec<Amendment> {
    let flags = calls.iter().map(|call| call.named.flags(call.request()));
    let flags: Option<Vec<Vec<String>>> = flags.collect();
    let with_flags = flags.and_then(|flags| {
        let flags: BTreeSet<String> = flags.into_iter().flatten().collect();
        use_of.with_flags(name, &Vec::from_iter(flags))
    });
    with_flags
        .into_iter()
        .chain([use_of.ordinary(name)])
        .collect()
}

#[cfg(test)]
mod tests;
