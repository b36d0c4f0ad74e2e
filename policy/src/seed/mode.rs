//! The words in which the seeds say when to ask, and the mode that they come to.

use serde::{Deserialize, Serialize};

use crate::mode::{Ask, Security};

/// When the first seed asks: `[mode] approval`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AskForApproval {
    /// About what is not trusted.
    UnlessTrusted,
    /// About what failed in its confinement. Refused when it is loaded: there is no confined first
    /// run yet.
    OnFailure,
    /// About every call.
    OnRequest,
    /// About the rest, while some questions are refusals.
    Reject {
        /// Those for rights beyond the session's.
        sandbox_approval: bool,
        /// Those that an ask or a miss raises.
        rules: bool,
        /// Those of tools.
        mcp_elicitations: bool,
    },
    /// About nothing; a question is a refusal.
    Never,
}

impl AskForApproval {
    /// The mode in which this way of approving does by itself what the seed did by it.
    ///
    /// What a miss gets is for `security` to say, under `never` too; `full` is what the seed did.
    #[must_use]
    pub fn preset(&self) -> ExecPolicy {
        let (security, ask) = match self {
            Self::UnlessTrusted | Self::Reject { .. } => (ExecSecurity::Allowlist, ExecAsk::OnMiss),
            Self::OnRequest => (ExecSecurity::Allowlist, ExecAsk::Always),
            Self::OnFailure => (ExecSecurity::Full, ExecAsk::OnMiss),
            Self::Never => (ExecSecurity::Full, ExecAsk::Off),
        };
        ExecPolicy {
            security,
            ask,
            ask_fallback: ExecSecurity::Deny,
        }
    }

    /// The value of `approval`, as the language writes it.
    pub(super) fn written(&self) -> String {
        match self {
            Self::UnlessTrusted => "\"unless_trusted\"".to_owned(),
            Self::OnFailure => "\"on_failure\"".to_owned(),
            Self::OnRequest => "\"on_request\"".to_owned(),
            Self::Never => "\"never\"".to_owned(),
            Self::Reject {
                sandbox_approval,
                rules,
                mcp_elicitations,
            } => {
                // What is false is what the language takes for granted.
                let others = [
                    ("sandbox_approval", sandbox_approval),
                    ("mcp_elicitations", mcp_elicitations),
                ];
                let others = others.into_iter().filter(|(_, is_set)| **is_set);
                let others: String = others.map(|(name, _)| format!(", {name} = true")).collect();
                format!("{{ reject = {{ rules = {rules}{others} }} }}")
            }
        }
    }
}

/// What runs, in the second seed's words: `[mode] security`. Ordered from the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecSecurity {
    /// Nothing.
    Deny,
    /// What is allowed.
    Allowlist,
    /// What is neither denied nor asked about.
    Full,
}

impl From<ExecSecurity> for Security {
    fn from(security: ExecSecurity) -> Self {
        match security {
            ExecSecurity::Deny => Self::Deny,
            ExecSecurity::Allowlist => Self::Allowlist,
            ExecSecurity::Full => Self::Full,
        }
    }
}

/// When a person is asked, in the second seed's words: `[mode] ask`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecAsk {
    /// Never.
    Off,
    /// For what is not allowed.
    OnMiss,
    /// For everything that is not denied.
    Always,
}

impl From<ExecAsk> for Ask {
    fn from(ask: ExecAsk) -> Self {
        match ask {
            ExecAsk::Off => Self::Off,
            ExecAsk::OnMiss => Self::OnMiss,
            ExecAsk::Always => Self::Always,
        }
    }
}

/// A person's answer, in the second seed's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecApprovalDecision {
    /// This call runs.
    AllowOnce,
    /// This call runs, and such calls run until the session ends.
    AllowAlways,
    /// This call does not run.
    Deny,
}

/// `[mode]` in the second seed's words. The default lets nothing run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExecPolicy {
    /// What runs.
    pub security: ExecSecurity,
    /// When a person is asked.
    pub ask: ExecAsk,
    /// What a call gets as `security` when nobody can answer.
    pub ask_fallback: ExecSecurity,
}

impl Default for ExecPolicy {
    fn default() -> Self {
        Self {
            security: ExecSecurity::Deny,
            ask: ExecAsk::OnMiss,
            ask_fallback: ExecSecurity::Deny,
        }
    }
}
