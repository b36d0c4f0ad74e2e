//! The prefix that is offered for the trusted list when a call is asked about.

use jiff::Timestamp;

use super::mode::AskForApproval;
use super::prefix::PrefixPolicy;
use super::requirement::ExecPolicyAmendment;
use crate::amendment::{CommandName, said};
use crate::places::Places;
use crate::request::ExecRequest;
use crate::verdict::Decision;

impl ExecPolicyAmendment {
    /// The prefix by which such calls would be trusted: the program and as many words as name the
    /// command. `None` for programs that run other programs or code, for words that no prefix
    /// says, and wherever trusting the prefix would not let this very call run: with a library
    /// preloaded, or with an environment that nobody read.
    #[must_use]
    pub fn proposed(request: &ExecRequest, now: Timestamp) -> Option<Self> {
        let CommandName { path, name, words } = CommandName::of(request)?;
        // By its name if that means this file, else by its path.
        let mut prefixes = [name, path].into_iter().filter_map(said).map(|program| {
            let words = std::iter::once(&program).chain(&words);
            words.copied().collect::<Vec<_>>().join(" ")
        });
        let prefix = prefixes.find(|prefix| trusts(prefix, request, now))?;
        Some(Self {
            prefixes: vec![prefix],
        })
    }
}

/// Whether a policy that trusts `prefix` and nothing else lets the call run.
fn trusts(prefix: &str, request: &ExecRequest, now: Timestamp) -> bool {
    let policy = PrefixPolicy::new(vec![prefix.to_owned()], Vec::new());
    let places = Places {
        home: Vec::new(),
        workspace: Vec::new(),
        tmp: Vec::new(),
    };
    let ruleset = policy
        .translate(&AskForApproval::UnlessTrusted)
        .load(&places);
    ruleset.is_ok_and(|ruleset| ruleset.decide(request, now).decision() == Decision::Allow)
}
