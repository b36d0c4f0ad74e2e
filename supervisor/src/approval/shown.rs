//! What a question shows beside the exec's own record, as messages have it.

use execward_policy::Variables;
use serde::{Deserialize, Serialize};

use crate::audit::{ExactBytes, text};
use crate::exec::FileFacts;

/// Most names of either kind.
const NAMES_MAX: usize = 64;

/// Longest name, in bytes.
const NAME_MAX_BYTES: usize = 256;

/// How a script begins, as seen: its interpreter opens it again later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShownScript {
    pub(crate) head: String,
    /// Whether it is longer.
    #[serde(default, rename = "cut", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_cut: bool,
    /// Of all that it holds, if somebody read it whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
}

/// Names of variables that are not as when the session began; a value may be a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ShownVariables {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changed: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gone: Vec<String>,
    /// How many of them are too long, or too many, to be shown.
    #[serde(default, skip_serializing_if = "is_none")]
    pub(crate) others: usize,
}

impl ShownScript {
    /// Of the file that `facts` are about, if it is a script that the task may read.
    pub(crate) fn of(facts: &FileFacts, exact: &mut ExactBytes) -> Option<Self> {
        let head = facts.head.as_ref()?;
        Some(Self {
            head: text(head, || "/script/head".into(), exact),
            is_cut: u64::try_from(head.len()).is_ok_and(|len| len < facts.size),
            sha256: facts.sha256.as_ref().map(ToString::to_string),
        })
    }
}

impl ShownVariables {
    /// What the policy was told of the environment.
    pub(crate) fn of(variables: &Variables, exact: &mut ExactBytes) -> Self {
        let mut others = 0;
        let mut shown = |key: &str, names: &[Vec<u8>]| {
            let (short, long): (Vec<_>, Vec<_>) =
                names.iter().partition(|it| it.len() <= NAME_MAX_BYTES);
            others += long.len() + short.len().saturating_sub(NAMES_MAX);
            let short = short.into_iter().take(NAMES_MAX).enumerate();
            let short =
                short.map(|(at, name)| text(name, || format!("/environment/{key}/{at}"), exact));
            short.collect()
        };
        Self {
            changed: shown("changed", &variables.changed),
            gone: shown("gone", &variables.gone),
            others,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_or_counted() {
        let mut exact = ExactBytes::new();
        let variables = Variables {
            changed: vec![b"PATH".to_vec(), vec![b'x'; 300], b"\xffA".to_vec()],
            gone: (0..70)
                .map(|n| format!("BASH_FUNC_{n}").into_bytes())
                .collect(),
            named: vec![b"OTHER".to_vec()],
        };
        let shown = ShownVariables::of(&variables, &mut exact);
        assert_eq!(shown.changed, ["PATH", "\u{fffd}A"]);
        assert_eq!((shown.gone.len(), shown.others), (64, 7));
        assert_eq!(exact.keys().collect::<Vec<_>>(), ["/environment/changed/1"]);
    }
}
