//! What people said of calls, and meant for longer than once: each a rule of the user's layer, with a
//! note of who said it, about which exec, and what came of it.
//!
//! Those for a session are in its gate's memory. Those that outlive it stand in one file, beside the
//! user's own policy, and count in every session of the user.

mod document;
mod granted;
mod note;
mod span;
mod store;
mod verbs;

use execward_policy::Action;
use jiff::Timestamp;

pub(crate) use granted::{Granted, Moved, NotGranted, OfSession};
pub(crate) use note::{Note, Usage};
pub(crate) use span::Span;
pub(crate) use store::{Store, StoreError, Stored};
pub(crate) use verbs::{list, revoke};

/// One thing that somebody said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// That of its rule.
    pub(crate) id: String,
    pub(crate) action: Action,
    /// The rule, as it stands in a file.
    pub(crate) rule: String,
    /// When it ends, if ever: a key of the rule, once more.
    pub(crate) expires: Option<Timestamp>,
    pub(crate) note: Note,
}

/// A name that no grant had before: 8 hexadecimal digits of chance.
pub(crate) fn fresh_name() -> String {
    let chance = uuid::Uuid::new_v4().as_u128();
    format!("g{:08x}", chance >> 96)
}
