//! A loaded policy, and the function that this crate is for.

mod unlisted;

use std::time::Duration;

use jiff::Timestamp;

use crate::diagnostic::Diagnostics;
use crate::dispatch;
use crate::image::{Image, Images};
use crate::load::{Loaded, load};
use crate::mode::{Mode, Security, State};
use crate::operand::{self, Part};
use crate::path::absolute;
use crate::places::Places;
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::safe_bin::SafeBins;
use crate::settings::Modes;
use crate::source::{Includes, Source};
use crate::table::RuleTable;
use crate::trust::Trust;
use crate::verdict::{Basis, Decision, Verdict};
use crate::wrapper;
pub(crate) use unlisted::NotSafe;

/// The rules and the modes of a policy without a fault. It never changes.
#[derive(Debug, Clone)]
pub struct Ruleset {
    pub(crate) table: RuleTable,
    pub(crate) trust: Trust,
    modes: Modes,
    pub(crate) safe_bins: SafeBins,
    wants: Wants,
    trusts_operator: bool,
}

/// What some rule looks at that is dear to have.
#[expect(clippy::struct_excessive_bools, reason = "each is dear by itself")]
#[derive(Debug, Clone, Copy)]
struct Wants {
    digests: bool,
    lineage: bool,
    env: bool,
    paths: bool,
    places: bool,
    streams: bool,
}

impl Ruleset {
    /// Reads `sources`, and what they include, as one policy.
    ///
    /// Rules of all sources count together. A key of `[mode]` is the user's, else the one that
    /// execward brings; in a layer the source named last counts. What an agent's file or a
    /// floor says of the mode is held beside it, and the stricter counts; where one of them never
    /// asks, a question of another is a refusal.
    ///
    /// # Errors
    ///
    /// Every fault of every source, if there is one at all: of the encoding, the TOML, the
    /// keys and their values; an include that cannot be read; an id that one layer has twice;
    /// rules of the user without a `security` that says what they are rules in; an example
    /// that its rule does not bear out.
    pub fn load(
        sources: &[Source<'_>],
        places: &Places,
        includes: &dyn Includes,
    ) -> Result<Self, Diagnostics> {
        let Loaded {
            rules,
            modes,
            trust,
            safe_bins,
            trusts_operator,
        } = load(sources, places, includes)?;
        let wants = Wants {
            digests: rules.iter().any(Rule::is_of_digest),
            lineage: rules.iter().any(Rule::is_of_lineage),
            env: rules
                .iter()
                .any(|rule| rule.is_of_env() || rule.action() == Action::Allow),
            paths: rules.iter().any(Rule::is_of_paths),
            places: rules.iter().any(Rule::is_of_places),
            streams: rules.iter().any(Rule::is_of_files),
        };
        Ok(Self {
            table: RuleTable::new(rules),
            trust,
            modes,
            safe_bins,
            wants,
            trusts_operator,
        })
    }

    /// Judges one exec at the time `now`.
    ///
    /// A deny that holds decides, and so does an ask that is to be put to a higher supervisor,
    /// since there is none: it denies. Else an ask that holds and that no allow of a higher layer
    /// lifts, an allow that holds, a program among the `children` of an ancestor's rule, or
    /// none of these, goes through the modes. The function is total and depends on nothing but
    /// its arguments. It does not allocate unless the given path has empty, `.` or `..`
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
        if let Some(rule) = of(Action::Ask) {
            return match rule.escalates() {
                true => Verdict::of_rule(Decision::Deny, rule),
                false => self.judge(State::Asked, Some(Basis::Rule(rule))),
            };
        }
        match self.allowed(of(Action::Allow), &images, now) {
            Some(basis) => self.judge(State::Allowed, Some(basis)),
            None => self.judge(State::Unmatched, None),
        }
    }

    /// Whether [`Ruleset::decide`] could say something else of `request` if the digests of its
    /// files were there, and those of [`Ruleset::pinned_scripts`]. Taking them is dear, and few
    /// policies ask for any.
    #[must_use]
    pub fn wants_digests(&self, request: &ExecRequest, now: Timestamp) -> bool {
        let waits = |rule: &Rule, image: &Image<'_>| {
            rule.lacks_digest(image) && matches!(rule.failing(image, now), None | Some("sha256"))
        };
        if !self.wants.digests {
            return false;
        }
        let images = Images::of(request, &self.trust);
        self.table.first(images.all(), waits).is_some()
    }

    /// Those of [`Ruleset::named_paths`] that are scripts, where a rule looks at their digests: see
    /// [`Ruleset::wants_digests`].
    #[must_use]
    pub fn pinned_scripts(&self, request: &ExecRequest) -> Vec<Vec<u8>> {
        if !self.rules().any(Rule::is_of_script_digest) {
            return Vec::new();
        }
        let images = Images::of(request, &self.trust);
        let scripts = |image| operand::paths(image, |part| part == Part::Script);
        let mut paths: Vec<_> = images.all().flat_map(scripts).collect();
        paths.retain(|path| path.starts_with(b"/"));
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Whether the command that the operator typed may run once where no rule says so. Not
    /// under the presets `strict` and `ci`.
    #[must_use]
    pub fn trusts_operator(&self) -> bool {
        self.trusts_operator
    }

    /// Whether any rule looks at the history of a call.
    #[must_use]
    pub fn wants_lineage(&self) -> bool {
        self.wants.lineage
    }

    /// Whether anything of the policy looks at the environment of a call. Every allow does.
    #[must_use]
    pub fn wants_env(&self) -> bool {
        self.wants.env
    }

    /// Whether anything of the policy looks at the standard descriptors of a call.
    #[must_use]
    pub fn wants_streams(&self, request: &ExecRequest) -> bool {
        let program = || Image::of_program(request, &self.trust);
        self.wants.streams || self.safe_name(&program()).is_some()
    }

    /// The absolute paths of the files that a call names, as it has them, where a rule looks at
    /// where they lead; see [`ExecRequest::destinations`].
    #[must_use]
    pub fn named_paths(&self, request: &ExecRequest) -> Vec<Vec<u8>> {
        let mut paths = Vec::new();
        let images = Images::of(request, &self.trust);
        images
            .all()
            .for_each(|image| self.add_paths(image, &mut paths));
        for payload in wrapper::payloads(&images.program) {
            self.add_paths(&Image::of_program(&payload, &self.trust), &mut paths);
            paths.push(payload.program.given);
        }
        paths.retain(|path| path.starts_with(b"/"));
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// The paths, without wildcards, of files that are denied or asked about. A bare name has
    /// one in each directory of every system.
    ///
    /// Such a file keeps its device and inode under another name; see
    /// [`ProgramFile::aliases`](crate::ProgramFile::aliases).
    pub fn named_files(&self) -> impl Iterator<Item = Vec<u8>> {
        let rules = [Action::Deny, Action::Ask].into_iter();
        rules
            .flat_map(|action| self.table.of(action))
            .flat_map(Rule::named_files)
    }

    /// The rules: denies, asks with `escalate`, other asks, allows; of each, the highest layer
    /// first, then by id.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.table.rules().iter()
    }

    /// The mode in force, without what stands beside it.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.modes.base
    }

    /// Whether no call is ever asked about: some mode in force forbids it, and then what an
    /// ask holds for is refused.
    #[must_use]
    pub fn never_asks(&self) -> bool {
        self.modes.all().any(Mode::never_asks)
    }

    /// How long a question waits for its answer.
    #[must_use]
    pub fn ask_timeout(&self) -> Duration {
        self.modes.ask_timeout
    }

    fn add_paths(&self, image: &Image<'_>, paths: &mut Vec<Vec<u8>>) {
        if self.wants.paths || self.wants.places {
            let is_meant = |part| self.wants.paths || part == Part::Place;
            paths.extend(operand::paths(image, is_meant));
        }
        // What a dynamic linker starts is the program.
        let loaded = dispatch::loaded_operand(image);
        let cwd = image.request.cwd.as_deref();
        paths.extend(loaded.and_then(|(program, _)| absolute(program, cwd)));
    }

    /// What allows the call, whatever denies and asks say of it.
    pub(crate) fn allowing(&self, images: &Images<'_>, now: Timestamp) -> Option<Basis<'_>> {
        let holds = |rule: &Rule, image: &Image<'_>| rule.holds(image, now);
        let rule = self.table.first_of(Action::Allow, [&images.program], holds);
        self.allowed(rule, images, now)
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
    fn allows_interpreters(&self, images: &Images<'_>, now: Timestamp) -> bool {
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

    /// Puts what the rules say through the modes.
    fn judge<'r>(&self, state: State, basis: Option<Basis<'r>>) -> Verdict<'r> {
        let strictest = |decide: fn(Mode, State) -> Decision| {
            self.modes
                .all()
                .map(|mode| (decide(mode, state), mode))
                .reduce(|strictest, other| {
                    if other.0 > strictest.0 {
                        other
                    } else {
                        strictest
                    }
                })
        };
        let (decision, mode) = strictest(Mode::decide).unwrap_or((Decision::Deny, self.modes.base));
        // Where one never asks, what another would ask is a refusal.
        let mut silent = self.modes.all().filter(|mode| mode.never_asks());
        let (decision, mode) = match (decision, silent.next()) {
            (Decision::Ask, Some(silent)) => (Decision::Deny, silent),
            _ => (decision, mode),
        };
        let unanswered = match decision {
            Decision::Ask => strictest(Mode::unanswered).map_or(Decision::Deny, |(of, _)| of),
            Decision::Allow | Decision::Deny => decision,
        };
        let is_led_to = match state {
            State::Asked => mode.security != Security::Deny,
            State::Allowed => decision == Decision::Allow,
            State::Unmatched => false,
        };
        let (security, ask) = (mode.security, mode.ask);
        let default = Basis::Default { security, ask };
        Verdict::new(
            decision,
            basis.filter(|_| is_led_to).unwrap_or(default),
            unanswered,
        )
    }
}

#[cfg(test)]
mod tests;
