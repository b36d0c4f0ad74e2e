//! What people said of calls, and meant for longer than once: each a rule of the user's layer, with a
//! note of who said it, about which exec, and what came of it.
//!
//! Those for a session are in its gate's memory. Those that outlive it stand in one file, beside the
//! user's own policy, and count in every session of the user.

mod document;
mod granted;
mod hindsight;
mod note;
mod span;
mod store;
mod verbs;

use execward_policy::Action;
use jiff::Timestamp;

use crate::control::ShownGrant;

pub(crate) use granted::{Granted, Moved, NotGranted, OfSession};
pub(crate) use hindsight::{NoHindsight, answer as answer_for_next_time, is_for_next_time};
pub(crate) use note::{Note, Usage};
pub(crate) use span::Span;
pub(crate) use store::{Patience, Store, StoreError, Stored};
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

impl TryFrom<ShownGrant> for Grant {
    type Error = NotGranted;

    /// One that a client makes.
    fn try_from(shown: ShownGrant) -> Result<Self, NotGranted> {
        if matches!(shown.duration, Span::Once | Span::Subtree) {
            return Err(NotGranted::NoProcess);
        }
        let not_one = |why: &str| NotGranted::NotOne(why.to_owned());
        let actions = [Action::Allow, Action::Deny];
        let action = actions.into_iter().find(|it| it.as_str() == shown.action);
        let grant = Self {
            action: action.ok_or_else(|| not_one("it neither allows nor denies"))?,
            id: shown.id,
            rule: shown.rule,
            expires: shown.duration.end(),
            note: shown.note,
        };
        match document::alone(&grant) {
            Ok(read) if read.id == grant.id && read.expires == grant.expires => Ok(grant),
            Ok(_) => Err(not_one("the rule has another")),
            Err(why) => Err(NotGranted::NotOne(why)),
        }
    }
}

/// A name that no grant had before: 8 hexadecimal digits of chance.
pub(crate) fn fresh_name() -> String {
    let chance = uuid::Uuid::new_v4().as_u128();
    format!("g{:08x}", chance >> 96)
}
