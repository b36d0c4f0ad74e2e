//! A grant, as messages have it.

use serde::{Deserialize, Serialize};

use crate::grants::{Grant, Note, Span};

/// A grant that counts in the session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShownGrant {
    pub(crate) id: String,
    /// `allow` or `deny`.
    pub(crate) action: String,
    pub(crate) rule: String,
    /// How long it counts.
    pub(crate) duration: Span,
    #[serde(flatten)]
    pub(crate) note: Note,
}

impl ShownGrant {
    /// One that counts for `duration`.
    pub(crate) fn new(grant: Grant, duration: Span) -> Self {
        Self {
            id: grant.id,
            action: grant.action.to_string(),
            rule: grant.rule,
            duration,
            note: grant.note,
        }
    }
}

impl From<Grant> for ShownGrant {
    /// A stored one.
    fn from(grant: Grant) -> Self {
        let duration = grant.expires.map_or(Span::Always, Span::Until);
        Self::new(grant, duration)
    }
}
