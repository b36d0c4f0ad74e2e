//! The policies of two other engines, in this language.
//!
//! execward continues two designs. The first, an engine of command prefixes, has lists of trusted
//! and denied prefixes in three layers, typed asks and a way of approving ([`PrefixPolicy`]). The
//! second, a gate with an allowlist, has programs, tools with restrictions and a mode
//! ([`AllowlistPolicy`]). Their types are here with the words that they have on the wire; an
//! unknown field or word is an error. None of them matches anything: a policy of theirs is
//! translated ([`Translation`]), loaded and judged as any other, and [`ExecPolicyDecision::of`]
//! says the verdict in the first one's words.
//!
//! ```
//! use execward_policy::seed::{AskForApproval, ExecPolicyDecision, PrefixPolicy, Ruleset};
//! use execward_policy::{ExecRequest, Places, ProgramFile};
//! use jiff::Timestamp;
//!
//! let user: Ruleset = serde_json::from_str(
//!     r#"{"layer": "user", "trusted_prefixes": ["git status"], "denied_prefixes": ["git push"]}"#,
//! )?;
//! let policy = PrefixPolicy::with_rulesets(vec![user]);
//! let translation = policy.translate(&AskForApproval::UnlessTrusted);
//! let places = Places {
//!     home: b"/home/ada".to_vec(),
//!     workspace: b"/home/ada/engine".to_vec(),
//!     tmp: b"/tmp".to_vec(),
//! };
//! let ruleset = translation.load(&places)?;
//!
//! let phase = |words: &[&str]| {
//!     let argv = words.iter().map(|word| word.as_bytes().to_vec()).collect();
//!     let request = ExecRequest::new(ProgramFile::at("/usr/bin/git"), argv);
//!     let now = Timestamp::UNIX_EPOCH;
//!     let decision = ExecPolicyDecision::of(&ruleset, &translation, &request, now);
//!     decision.requirement.phase()
//! };
//! assert_eq!(phase(&["git", "status", "--short"]), "allowed");
//! assert_eq!(phase(&["git", "-C", "sub", "push"]), "forbidden");
//! assert_eq!(phase(&["git", "commit"]), "needs_approval");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("../SEEDS.md")]

mod allowlist;
mod amendment;
mod charter;
mod context;
mod mode;
mod prefix;
mod requirement;
mod ruleset;
mod text;
mod translation;

pub use allowlist::{AllowlistEntry, AllowlistPolicy, SeedError, ToolPolicy};
pub use charter::Charter;
pub use context::{CommandResolution, ExecPolicyContext};
pub use mode::{AskForApproval, ExecApprovalDecision, ExecAsk, ExecPolicy, ExecSecurity};
pub use prefix::PrefixPolicy;
pub use requirement::{
    ExecApprovalRequirement, ExecPolicyAmendment, ExecPolicyDecision, NetworkPolicyAmendment,
    NetworkPolicyRuleAction,
};
pub use ruleset::{Ruleset, RulesetLayer, ToolAskRule};
pub use translation::Translation;
