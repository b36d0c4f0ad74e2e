//! What people said of calls, kept: rules of the user's layer that stand in a file of their own.
//!
//! Such a file has denies and allows, and to each, in `[grants.ID]`, a note of who said it and what came
//! of it. The notes are execward's, and are no part of what is judged.

use jiff::Timestamp;

use crate::amendment::{self, Amendment, CommandName, Content};
use crate::diagnostic::{Diagnostics, Fault};
use crate::image::Images;
use crate::load::{Standing, repeated_ids};
use crate::places::Places;
use crate::reader::read;
use crate::request::{ExecRequest, Origin};
use crate::rule::Action;
use crate::ruleset::Ruleset;
use crate::source::{Includes, Layer, Source};

/// What may run below a process that somebody allowed with all that it starts: nothing that reaches the
/// network, hands work to another process, has no path, or is another program by its arguments.
const BELOW: &str =
    r#"["/**", "!@network", "!@brokers", "!@anonymous", "!@loaders", "!@multicall"]"#;

/// The rule `id` by which unmatched calls below one process run: see [`Rule::key`](crate::Rule::key) and
/// [`Ancestor::allowed_by`](crate::Ancestor::allowed_by). A deny or an ask holds all the same, and a program
/// that is fed its own program as text is asked about.
#[must_use]
pub fn subtree_rule(id: &str) -> String {
    format!("[[subtree]]\nid = \"{id}\"\nchildren = {BELOW}\n")
}

impl Ruleset {
    /// This policy with the rules of `grants` among the user's. Where what an operator types needs a
    /// rule, no allow is taken: such a policy leaves nothing to what somebody said.
    ///
    /// # Errors
    ///
    /// Every fault of every source, also an id that the user's rules have already.
    pub fn with_grants(
        &self,
        grants: &[Source<'_>],
        places: &Places,
        includes: &dyn Includes,
    ) -> Result<Self, Diagnostics> {
        let parts = grants.iter().enumerate();
        let mut parts: Vec<_> = parts
            .map(|(order, source)| read(source, Standing::Grants, order, places))
            .collect();
        let mut faults: Vec<_> = parts
            .iter_mut()
            .flat_map(|it| it.faults.drain(..))
            .collect();
        faults.extend(repeated_ids(&parts));
        let is_of_user = |id: &str| {
            let mut own = self.rules().filter(|rule| rule.layer() == Layer::User);
            own.any(|rule| rule.id() == id)
        };
        let resolve = |directory: &[u8]| includes.resolve(directory);
        let mut rules = self.table.rules().to_vec();
        for mut draft in parts.into_iter().flat_map(|part| part.rules) {
            if is_of_user(draft.rule.id()) {
                let message = format!("a rule of the policy has the id `{}`", draft.rule.id());
                faults.push(Fault::new(draft.place, message));
                continue;
            }
            draft.rule.resolve_heads(&resolve);
            if self.trusts_operator() || draft.rule.action() == Action::Deny {
                rules.push(draft.rule);
            }
        }
        Diagnostics::check(faults)?;
        Ok(self.with_rules(rules))
    }

    /// What could be saved of a call that is asked about, as denies called `id`, from the least that is
    /// covered: any call can be refused for good, also one that no allow is offered for.
    #[must_use]
    pub fn refusals(&self, request: &ExecRequest, id: &str, now: Timestamp) -> Vec<Amendment> {
        if request.program.origin != Origin::Session {
            return Vec::new();
        }
        let images = Images::of(request, &self.trust);
        let refusals = match (CommandName::of(request), &request.program.resolved) {
            (Some(name), _) => name.amendments(Action::Deny, request, id, &images.program),
            (None, Some(path)) => vec![amendment::exact(
                Action::Deny,
                path,
                request,
                id,
                Content::Any,
            )],
            (None, None) => Vec::new(),
        };
        let holds = |it: &Amendment| {
            let rule = amendment::rule_of(&it.rule);
            rule.is_some_and(|rule| images.all().any(|image| rule.holds(image, now)))
        };
        let refusals = refusals.into_iter().filter(Amendment::is_short);
        let refusals = refusals.filter(|it| !self.tells_secret(it, request));
        refusals.filter(holds).collect()
    }
}

#[cfg(test)]
mod tests;
