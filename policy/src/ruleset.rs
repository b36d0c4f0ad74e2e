//! A loaded policy, and the function that this crate is for.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostics, Fault, Place};
use crate::image::Image;
use crate::mode::{Ask, Mode, Security, State};
use crate::places::Places;
use crate::reader::{Part, read};
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::source::{Layer, Source};
use crate::table::RuleTable;
use crate::verdict::{Basis, Decision, Verdict};

/// The rules and the mode of a policy without a fault. It never changes.
#[derive(Debug, Clone)]
pub struct Ruleset {
    denies: RuleTable,
    asks: RuleTable,
    allows: RuleTable,
    mode: Mode,
}

impl Ruleset {
    /// Reads `sources` as one policy.
    ///
    /// Rules of all sources count together. A key of `[mode]` is taken from the highest
    /// layer that has it, and in a layer from the source named last. Without any, `security`
    /// is `deny` and `ask` is `on-miss`.
    ///
    /// # Errors
    ///
    /// Every fault of every source, if there is one at all: of the encoding, the TOML, the
    /// keys and their values; an id that one layer has twice; rules of the user without a
    /// `security` that says what they are rules in.
    pub fn load(sources: &[Source<'_>], places: &Places) -> Result<Self, Diagnostics> {
        let mut parts: Vec<(Layer, Part)> = sources
            .iter()
            .enumerate()
            .map(|(order, source)| (source.layer, read(source, order, places)))
            .collect();
        let mut faults: Vec<Fault> = parts
            .iter_mut()
            .flat_map(|(_, part)| std::mem::take(&mut part.faults))
            .collect();
        faults.extend(repeated_ids(&parts));
        let security = setting(&parts, |part| part.security);
        if security.is_none() && faults.is_empty() {
            faults.extend(missing_security(&parts));
        }
        Diagnostics::check(faults)?;
        let mode = Mode {
            security: security.unwrap_or(Security::Deny),
            ask: setting(&parts, |part| part.ask).unwrap_or(Ask::OnMiss),
        };
        let rules = parts.into_iter().flat_map(|(_, part)| part.rules);
        Ok(Self::new(rules.map(|(rule, _)| rule).collect(), mode))
    }

    fn new(rules: Vec<Rule>, mode: Mode) -> Self {
        let of = |action| {
            let rules = rules.iter().filter(|rule| rule.action() == action);
            RuleTable::new(rules.cloned().collect())
        };
        Self {
            denies: of(Action::Deny),
            asks: of(Action::Ask),
            allows: of(Action::Allow),
            mode,
        }
    }

    /// Judges one exec.
    ///
    /// A deny that holds decides. Else an ask that holds, an allow that holds, or neither,
    /// goes through the mode. The function is total and depends on nothing but its
    /// arguments. It does not allocate unless the given path has empty, `.` or `..`
    /// components, or a pattern with wildcards is compared.
    ///
    /// [`Decision::Ask`] is the caller's to settle, and so is what it cannot describe: a
    /// call that could not be read whole is no request and is denied without one.
    pub fn decide(&self, request: &ExecRequest) -> Verdict<'_> {
        if let Some(rule) = self.denies.first(Image::all(request), |_| true) {
            return Verdict::new(Decision::Deny, Basis::Rule(rule));
        }
        if let Some(rule) = self.asks.first(Image::all(request), |_| true) {
            return self.judge(State::Asked, Some(rule));
        }
        match self.allowed_by(request) {
            Some(rule) => self.judge(State::Allowed, Some(rule)),
            None => self.judge(State::Unmatched, None),
        }
    }

    /// The rules: denies, asks, allows; of each, the highest layer first, then by id.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.denies
            .rules()
            .chain(self.asks.rules())
            .chain(self.allows.rules())
    }

    /// The mode in force.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The rule that allows the program, provided that its interpreters are allowed too.
    fn allowed_by(&self, request: &ExecRequest) -> Option<&Rule> {
        let program = std::iter::once(Image::of_program(request));
        let rule = self.allows.first(program, |_| true)?;
        let interpreters = Image::of_interpreters(request);
        interpreters
            .into_iter()
            .all(|image| self.allows_interpreter(image))
            .then_some(rule)
    }

    /// Whether a `#!` interpreter may run for an allowed script.
    ///
    /// One in a trusted directory may. Any other needs a rule that allows that file with
    /// any arguments: what it is given is the work of the script, not of the caller.
    fn allows_interpreter(&self, image: Image<'_>) -> bool {
        image.is_trusted()
            || self
                .allows
                .first(std::iter::once(image), Rule::is_of_program)
                .is_some()
    }

    /// Puts what the rules say through the mode.
    fn judge<'r>(&self, state: State, rule: Option<&'r Rule>) -> Verdict<'r> {
        let Mode { security, ask } = self.mode;
        let decision = self.mode.decide(state);
        let is_led_to = match state {
            State::Asked => security != Security::Deny,
            State::Allowed => decision == Decision::Allow,
            State::Unmatched => false,
        };
        let basis = rule
            .filter(|_| is_led_to)
            .map_or(Basis::Default { security, ask }, Basis::Rule);
        Verdict::new(decision, basis)
    }
}

/// The value that `key` has in force: of the highest layer, and there of the last source.
fn setting<T>(parts: &[(Layer, Part)], key: impl Fn(&Part) -> Option<T>) -> Option<T> {
    let values = parts
        .iter()
        .filter_map(|(layer, part)| Some((*layer, key(part)?)));
    values
        .max_by_key(|(layer, _)| *layer)
        .map(|(_, value)| value)
}

/// A fault for each id that its layer has already.
fn repeated_ids(parts: &[(Layer, Part)]) -> Vec<Fault> {
    let mut first_uses: HashMap<(Layer, &str), &Place> = HashMap::new();
    let mut faults = Vec::new();
    for (rule, place) in parts.iter().flat_map(|(_, part)| &part.rules) {
        let first = *first_uses.entry((rule.layer(), rule.id())).or_insert(place);
        if !std::ptr::eq(first, place) {
            let message = format!("the id `{}` is used twice", rule.id().escape_debug());
            faults
                .push(Fault::new(place.clone(), message).related(first.clone(), "first used here"));
        }
    }
    faults
}

/// A fault if the user has rules, and nothing says what is done with the rest.
fn missing_security(parts: &[(Layer, Part)]) -> Option<Fault> {
    let of_user = parts.iter().filter(|(layer, _)| *layer == Layer::User);
    let (_, place) = of_user.flat_map(|(_, part)| &part.rules).next()?;
    let help = "write `[mode]` with `security = \"allowlist\"`, or \"full\" or \"deny\"".to_owned();
    Some(Fault::new(place.clone(), "a policy with rules says its `security`").help(help))
}

#[cfg(test)]
mod tests;
