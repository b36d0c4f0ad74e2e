//! The function that this crate is for.

use jiff::Timestamp;

use super::Ruleset;
use crate::approval::Category;
use crate::image::{Image, Images};
use crate::mode::State;
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::verdict::{Basis, Decision, Verdict};
use crate::wrapper;

impl Ruleset {
    /// Judges one exec at the time `now`.
    ///
    /// A deny that holds decides, and so does an ask that is to be put to a higher supervisor where no
    /// policy names one: it denies. Where one does, it is the ask that counts. Else an ask that holds and that no allow of a higher layer
    /// lifts, an allow that holds, a program among the `children` of an ancestor's rule, or
    /// none of these, goes through the modes. Of a file that brings rights, what asks about those and
    /// what else the rules say go through them apart, and the stricter verdict is taken. The function
    /// is total and depends on nothing but its arguments. It does not allocate unless the given path has empty, `.` or `..`
    /// components, the file is a script or starts what its arguments name, a path pattern with
    /// wildcards is compared, a command with wildcards among its words allows, a watched variable
    /// changed, or a rule looks at the files or hosts that a call names.
    ///
    /// [`Decision::Ask`] is the caller's to settle, and so is what it cannot describe: a
    /// call that could not be read whole is no request and is denied without one.
    pub fn decide(&self, request: &ExecRequest, now: Timestamp) -> Verdict<'_> {
        let images = Images::of(request, &self.trust);
        let bears_on = |rule: &Rule, image: &Image<'_>| self.bears_on(rule, image, now);
        let first = self.table.first(images.all(), bears_on);
        let of = |action| first.filter(|rule| rule.action() == action);
        let deny = of(Action::Deny).or_else(|| self.denied_payload(&images.program, now));
        if let Some(rule) = deny {
            return Verdict::of_rule(Decision::Deny, rule);
        }
        let asked = of(Action::Ask);
        let escalating = asked.filter(|rule| rule.escalates());
        if let (Some(rule), None) = (escalating, self.escalate_to()) {
            return Verdict::of_rule(Decision::Deny, rule);
        }
        if !images.all().any(Image::gains_rights) {
            return match asked {
                Some(rule) => self.asked(rule),
                None => self.unasked(of(Action::Allow), &images, now),
            };
        }
        // Rights are a matter of their own, beside all else that the rules say of the call.
        let about = |category| {
            let is_about = |rule: &Rule, image: &Image<'_>| {
                rule.category() == category && self.bears_on(rule, image, now)
            };
            self.table.first_of(Action::Ask, images.all(), is_about)
        };
        let by_rules = match escalating.or_else(|| about(Category::Rules)) {
            Some(rule) => self.asked(rule),
            None => self.unasked(self.allow(&images, now), &images, now),
        };
        match about(Category::Sandbox) {
            Some(rule) => by_rules.stricter(self.asked(rule)),
            None => by_rules,
        }
    }

    /// The verdict where `rule` asks.
    fn asked<'r>(&self, rule: &'r Rule) -> Verdict<'r> {
        let basis = Some(Basis::Rule(rule));
        self.modes.judge(State::Asked, rule.category(), basis)
    }

    /// The verdict where nothing denies or asks, and `rule` is the first allow that holds for the
    /// program.
    fn unasked<'r>(
        &'r self,
        rule: Option<&'r Rule>,
        images: &Images<'_>,
        now: Timestamp,
    ) -> Verdict<'r> {
        let basis = self.allowed(rule, images, now);
        let state = match basis {
            Some(_) => State::Allowed,
            None => State::Unmatched,
        };
        self.modes.judge(state, Category::Rules, basis)
    }

    /// What allows the call, whatever denies and asks say of it.
    pub(crate) fn allowing(&self, images: &Images<'_>, now: Timestamp) -> Option<Basis<'_>> {
        self.allowed(self.allow(images, now), images, now)
    }

    /// The first allow that holds for the program.
    fn allow(&self, images: &Images<'_>, now: Timestamp) -> Option<&Rule> {
        let holds = |rule: &Rule, image: &Image<'_>| rule.holds(image, now);
        self.table.first_of(Action::Allow, [&images.program], holds)
    }

    /// What allows the call, of whose program `rule` is the first allow that holds.
    fn allowed<'r>(
        &'r self,
        rule: Option<&'r Rule>,
        images: &Images<'_>,
        now: Timestamp,
    ) -> Option<Basis<'r>> {
        let by_rule = rule.filter(|_| self.allows_interpreters(images, now));
        let is_safe_bin = || self.is_safe_bin(&images.program, now);
        let by_child = || self.child_of(images, now).map(Basis::Children);
        let is_wrapper =
            || wrapper::is_light(&images.program) && images.program.changes().is_empty();
        by_rule
            .map(Basis::Rule)
            .or_else(|| is_safe_bin().then_some(Basis::SafeBin))
            .or_else(by_child)
            .or_else(|| is_wrapper().then_some(Basis::Wrapper))
    }

    /// Whether a rule that comes first would settle the call: it holds for one of the images, of
    /// an allow for the program itself, and if it asks, no allow answers it.
    fn bears_on(&self, rule: &Rule, image: &Image<'_>, now: Timestamp) -> bool {
        match rule.action() {
            Action::Deny => rule.holds(image, now),
            Action::Ask => rule.holds(image, now) && !self.is_lifted(rule, image, now),
            Action::Allow => image.is_program() && rule.holds(image, now),
        }
    }

    /// Whether every `#!` interpreter may run for an allowed script.
    pub(crate) fn allows_interpreters(&self, images: &Images<'_>, now: Timestamp) -> bool {
        let mut interpreters = images.interpreters.iter();
        interpreters.all(|image| self.allows_interpreter(image, now))
    }

    /// Whether a `#!` interpreter may run for an allowed script.
    ///
    /// One in a trusted directory may. Any other needs a rule that allows that file with
    /// any arguments: what it is given is the work of the script, not of the caller.
    fn allows_interpreter(&self, image: &Image<'_>, now: Timestamp) -> bool {
        let is_of_it =
            |rule: &Rule, image: &Image<'_>| rule.is_of_program() && rule.holds(image, now);
        image.is_trusted()
            || self
                .table
                .first_of(Action::Allow, [image], is_of_it)
                .is_some()
    }

    /// Whether an allow of a higher layer has the question in view and answers it.
    pub(crate) fn is_lifted(&self, ask: &Rule, image: &Image<'_>, now: Timestamp) -> bool {
        let answers = |allow: &Rule, image: &Image<'_>| {
            allow.holds(image, now) && allow.outweighs(ask, image)
        };
        self.table
            .first_of(Action::Allow, [image], answers)
            .is_some()
    }

    /// The rule of an ancestor whose `children` the program and its interpreters are.
    fn child_of(&self, images: &Images<'_>, now: Timestamp) -> Option<&Rule> {
        let lineage = &images.program.request.lineage;
        if lineage.is_broken {
            return None;
        }
        let ancestors = lineage.ancestors.iter();
        let keys = ancestors.filter_map(|ancestor| ancestor.allowed_by.as_ref());
        let rules = keys.filter_map(|key| self.table.allow(key));
        let covers = |rule: &&Rule| {
            let mut interpreters = images.interpreters.iter();
            rule.covers_child(&images.program)
                && interpreters.all(|image| image.is_trusted() || rule.covers_child(image))
        };
        rules.filter(|rule| !rule.has_expired(now)).find(covers)
    }
}
