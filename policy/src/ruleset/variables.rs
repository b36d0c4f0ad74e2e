//! Which variables of a call's environment tell, without their values.

use super::Ruleset;
use crate::request::ExecRequest;
use crate::rule::Rule;
use crate::variable::Variable;
use crate::watch::How;

/// A value that none of the builtin list's harmless ones is, and no author writes.
const OTHER_VALUE: &[u8] = b"=\xff";

/// The variables of a call that a policy looks at, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// Watched, and not as they were when the session began.
    pub changed: Vec<Vec<u8>>,
    /// Watched, and there no more.
    pub gone: Vec<Vec<u8>>,
    /// There, and named by a rule's `env`, whatever their values.
    pub named: Vec<Vec<u8>>,
}

impl Variables {
    /// Puts these into `request` as its environment and the session's, with values that say nothing.
    pub fn put_into(&self, request: &mut ExecRequest) {
        let assigned = |name: &Vec<u8>, value: &[u8]| [name, value].concat();
        let (changed, gone) = (self.changed.iter(), self.gone.iter());
        let same = || self.named.iter().map(|name| assigned(name, OTHER_VALUE));
        let started = changed.clone().chain(gone).map(|name| assigned(name, b"="));
        request.start_env = Some(started.chain(same()).collect());
        let now = changed.map(|name| assigned(name, OTHER_VALUE));
        request.env = Some(now.chain(same()).collect());
    }
}

impl Ruleset {
    /// The variables of `request` that this policy looks at, and those that any would that names none
    /// itself.
    #[must_use]
    pub fn variables(&self, request: &ExecRequest) -> Variables {
        let (start, now) = (request.start_env.as_deref(), request.env.as_deref());
        let now = now.unwrap_or_default();
        let mut variables = Variables::default();
        for change in self.trust.watch.untrimmed().changes(start, now) {
            let name = change.name().to_vec();
            match change.how {
                How::New | How::Changed => variables.changed.push(name),
                How::Removed => variables.gone.push(name),
            }
        }
        if self.wants.variables {
            let names = now
                .iter()
                .filter_map(|it| it.split(|byte| *byte == b'=').next());
            let is_named = |name: &&[u8]| self.entries_of(name).next().is_some();
            let is_other = |name: &&[u8]| !variables.changed.iter().any(|it| it == name);
            let named = names.filter(is_other).filter(is_named).map(<[u8]>::to_vec);
            variables.named = named.collect();
        }
        variables
    }

    /// Whether it watches variables that another policy may not.
    #[must_use]
    pub fn watches_others(&self) -> bool {
        self.trust.watch.has_own()
    }

    /// Whether a deny or an ask names variables: of others than those that are watched another policy
    /// may not tell.
    #[must_use]
    pub fn names_variables(&self) -> bool {
        self.wants.variables && self.rules().any(Rule::names_any_variable)
    }

    /// Whether a rule looks at the value of one of them.
    #[must_use]
    pub fn wants_values(&self, variables: &Variables) -> bool {
        let mut names = variables.changed.iter().chain(&variables.named);
        self.wants.variables && names.any(|name| self.entries_of(name).any(Variable::has_value))
    }

    /// The entries of `env` that may mean a variable of that name.
    fn entries_of<'n>(&'n self, name: &'n [u8]) -> impl Iterator<Item = &'n Variable> {
        let entries = self.rules().flat_map(Rule::variables);
        entries.filter(move |entry| entry.is_of_name(name))
    }
}
