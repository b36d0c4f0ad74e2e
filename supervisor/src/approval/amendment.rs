//! What could be saved of a question, as messages have it.

use execward_policy::{Amendment, Content};
use serde::{Deserialize, Serialize};

/// A rule that could be saved, so that calls like this one are not asked about again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShownAmendment {
    /// `exact`, `flags`, `prefix` or `program`.
    pub(crate) scope: String,
    /// What it covers, in words.
    pub(crate) covers: String,
    /// As it would stand in a policy.
    pub(crate) rule: String,
    /// How far it would have reached, where there are execs to tell by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reach: Option<Reach>,
}

/// How many execs a rule would have covered, whatever their files held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Reach {
    pub(crate) covered: usize,
    /// Of the session's last, this one among them.
    pub(crate) of: usize,
}

impl From<Amendment> for ShownAmendment {
    fn from(amendment: Amendment) -> Self {
        let Amendment {
            scope,
            mut rule,
            covers,
            content,
        } = amendment;
        // Whoever pastes it is to see that a line of it is missing.
        if content != Content::Any {
            rule += "# sha256 = …: saved with the digest of what it holds now\n";
        }
        Self {
            scope: scope.as_str().to_owned(),
            covers,
            rule,
            reach: None,
        }
    }
}
