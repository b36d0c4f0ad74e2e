//! On what ground an exec was decided. The words are a contract.

use serde::{Deserialize, Serialize};

/// On what ground an exec was allowed or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    /// A rule of the policy.
    Rule,
    /// The policy's mode: no rule holds.
    Default,
    /// The `children` of the rule that allowed an ancestor.
    Children,
    /// No rule, but the call is that of a safe bin: a filter with harmless arguments.
    SafeBin,
    /// No rule, but the program only starts another, which is judged by itself.
    Wrapper,
    /// Neither a rule nor a table names the tool.
    UnknownTool,
    /// CMD, as the operator typed it.
    Operator,
    /// A person said so, for this exec.
    User,
    /// A person said so earlier, and meant calls like it.
    Grant,
    /// A person's answer was to last, and cannot be kept.
    StoreInvalid,
    /// A question, and nobody to answer it.
    NoApprover,
    /// A question that nobody answered in time.
    Timeout,
    /// A signal came for the task that waited: it must not wait any longer.
    Signalled,
    /// The task was gone, or the session ended, before an answer came.
    Withdrawn,
    /// What would run is not what the question was about.
    ChangedSincePrompt,
    /// Too many execs of its process group are held, or they hold too much.
    Overload,
    /// The task's memory or file cannot be read whole.
    Unreadable,
    /// What will be loaded cannot be checked: the task cannot be seized.
    Unverifiable,
    /// A look-up took longer than allowed.
    ReadDeadline,
    /// There is no such file: nothing was judged.
    TargetMissing,
    /// execward itself failed.
    SupError,
}

impl Reason {
    /// As in records.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Default => "default",
            Self::Children => "children",
            Self::SafeBin => "safe_bin",
            Self::Wrapper => "wrapper",
            Self::UnknownTool => "unknown_tool",
            Self::Operator => "operator",
            Self::User => "user",
            Self::Grant => "grant",
            Self::StoreInvalid => "store_invalid",
            Self::NoApprover => "no_approver",
            Self::Timeout => "timeout",
            Self::Signalled => "signalled",
            Self::Withdrawn => "withdrawn",
            Self::ChangedSincePrompt => "changed_since_prompt",
            Self::Overload => "overload",
            Self::Unreadable => "unreadable",
            Self::Unverifiable => "unverifiable",
            Self::ReadDeadline => "read_deadline",
            Self::TargetMissing => "target_missing",
            Self::SupError => "sup_error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_reads_alike_in_records_and_messages() {
        for reason in [Reason::ChangedSincePrompt, Reason::NoApprover, Reason::User] {
            let json = serde_json::to_string(&reason).unwrap();
            assert_eq!(json, format!("\"{}\"", reason.as_str()));
        }
    }
}
