//! Verdicts in the words of the first seed.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::translation::Translation;
use crate::amendment::told_hosts;
use crate::approval::Category;
use crate::host::Host;
use crate::image::{Image, Images};
use crate::mode::Security;
use crate::request::ExecRequest;
use crate::rule::{Action, Rule};
use crate::ruleset::Ruleset;
use crate::verdict::{Basis, Decision};

/// Prefixes that are offered for the trusted list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecPolicyAmendment {
    /// What is to be trusted.
    pub prefixes: Vec<String>,
}

/// What is to be done about a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkPolicyRuleAction {
    /// It may be reached.
    Allow,
    /// It may not.
    Deny,
}

/// A host that is offered for a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkPolicyAmendment {
    /// The host.
    pub host: String,
    /// Which list.
    pub action: NetworkPolicyRuleAction,
}

impl NetworkPolicyAmendment {
    /// Offers the hosts that a call names, if every one can be told. A name of one label may be
    /// that of a remote, or an alias of the client's, and is none.
    fn proposed(program: &Image<'_>) -> Vec<Self> {
        let name = |host: &Host| Some(host.name()).filter(|name| name.contains(['.', ':']));
        let allowed = |host| Self {
            host,
            action: NetworkPolicyRuleAction::Allow,
        };
        told_hosts(program, name).into_iter().map(allowed).collect()
    }
}

/// What a call needs before it runs. There is no fourth outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ExecApprovalRequirement {
    /// Nothing: [`Decision::Allow`].
    Skip {
        /// Whether it runs outside the session's confinement. Never: execward has none to leave.
        bypass_sandbox: bool,
        /// Always `None`: what runs unasked needs no more trust.
        proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
    },
    /// A person's word: [`Decision::Ask`].
    NeedsApproval {
        /// Why it is asked about.
        reason: String,
        /// What would make it trusted, if a prefix would.
        proposed_execpolicy_amendment: Option<ExecPolicyAmendment>,
        /// The hosts that the call names, to be let in on their own: letting the call run is no
        /// consent to them. None where one of them cannot be told.
        proposed_network_policy_amendments: Vec<NetworkPolicyAmendment>,
    },
    /// It does not run: [`Decision::Deny`].
    Forbidden {
        /// Why not.
        reason: String,
    },
}

impl ExecApprovalRequirement {
    /// Why the outcome is what it is.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Skip { .. } => "permitted by policy",
            Self::NeedsApproval { reason, .. } | Self::Forbidden { reason } => reason,
        }
    }

    /// The outcome as one word.
    #[must_use]
    pub fn phase(&self) -> &'static str {
        match self {
            Self::Skip { .. } => "allowed",
            Self::NeedsApproval { .. } => "needs_approval",
            Self::Forbidden { .. } => "forbidden",
        }
    }
}

/// A verdict as the first seed has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecPolicyDecision {
    /// Whether the call runs, *once it is approved* if it needs that. Whoever looks at this alone
    /// runs what was to be asked about; [`ExecApprovalRequirement`] cannot be read so.
    pub allow: bool,
    /// Whether a person is to be asked first.
    pub requires_approval: bool,
    /// The same, with its reason.
    pub requirement: ExecApprovalRequirement,
    /// What decided, or else the trusted prefix that holds.
    pub matched_rule: Option<String>,
}

impl ExecPolicyDecision {
    /// Why the outcome is what it is.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.requirement.reason()
    }

    fn new(requirement: ExecApprovalRequirement, matched_rule: Option<String>) -> Self {
        let (allow, requires_approval) = match requirement {
            ExecApprovalRequirement::Skip { .. } => (true, false),
            ExecApprovalRequirement::NeedsApproval { .. } => (true, true),
            ExecApprovalRequirement::Forbidden { .. } => (false, false),
        };
        Self {
            allow,
            requires_approval,
            requirement,
            matched_rule,
        }
    }

    /// What `ruleset` says of a call, in the seed's words; rules of `translation` go by what the
    /// seed calls them, others by their id.
    #[must_use]
    pub fn of(
        ruleset: &Ruleset,
        translation: &Translation,
        request: &ExecRequest,
        now: Timestamp,
    ) -> Self {
        let verdict = ruleset.decide(request, now);
        let name = |rule: &Rule| translation.label(rule).unwrap_or(rule.id()).to_owned();
        let images = Images::of(request, &ruleset.trust);
        let allowing = ruleset.allowing(&images, now);
        let requirement = match (verdict.decision(), verdict.basis()) {
            (Decision::Allow, _) => ExecApprovalRequirement::Skip {
                bypass_sandbox: false,
                proposed_execpolicy_amendment: None,
            },
            (Decision::Ask, basis) => {
                let reason = match (basis.rule(), allowing) {
                    (Some(rule), _) => format!("`{}` asks", name(rule)),
                    (None, Some(_)) => "the mode asks".to_owned(),
                    (None, None) => "no trusted prefix matches".to_owned(),
                };
                let is_unmatched = basis.rule().is_none() && allowing.is_none();
                let amendment = || ExecPolicyAmendment::proposed(request, now);
                ExecApprovalRequirement::NeedsApproval {
                    reason,
                    proposed_execpolicy_amendment: is_unmatched.then(amendment).flatten(),
                    proposed_network_policy_amendments: NetworkPolicyAmendment::proposed(
                        &images.program,
                    ),
                }
            }
            (Decision::Deny, basis) => ExecApprovalRequirement::Forbidden {
                reason: refusal(ruleset, basis, name),
            },
        };
        let allowing = allowing.and_then(|basis| basis.rule());
        let matched = verdict.rule().or(allowing).map(name);
        Self::new(requirement, matched)
    }
}

/// Why a call does not run.
fn refusal(ruleset: &Ruleset, basis: Basis<'_>, name: impl Fn(&Rule) -> String) -> String {
    let rejects = |category| {
        let approval = ruleset.mode().approval;
        approval.is_some_and(|approval| approval.rejects(category))
    };
    match basis {
        Basis::Rule(rule) | Basis::Children(rule) => match rule.action() {
            Action::Ask if rule.escalates() && ruleset.escalate_to().is_none() => {
                format!(
                    "`{}` asks a higher supervisor, and there is none",
                    name(rule)
                )
            }
            Action::Ask if rejects(rule.category()) && !ruleset.never_asks() => {
                let refused = match rule.category() {
                    Category::Rules => "exceptions to rules",
                    Category::Sandbox => "rights that the session lacks",
                    Category::Tool => "questions about tools",
                };
                format!("`{}` asks, and the mode refuses {refused}", name(rule))
            }
            Action::Ask => format!("`{}` asks, and the mode never does", name(rule)),
            Action::Deny | Action::Allow => match rule.reason() {
                Some(reason) => format!("denied by `{}`: {reason}", name(rule)),
                None => format!("denied by `{}`", name(rule)),
            },
        },
        Basis::Default {
            security: Security::Deny,
            ..
        } => "the mode runs nothing".to_owned(),
        Basis::UnknownTool => "neither a rule nor a table names the tool".to_owned(),
        Basis::Default { .. } | Basis::SafeBin | Basis::Wrapper => match rejects(Category::Rules) {
            true => {
                "no trusted prefix matches, and the mode refuses exceptions to rules".to_owned()
            }
            false => "no trusted prefix matches, and the mode never asks".to_owned(),
        },
    }
}
