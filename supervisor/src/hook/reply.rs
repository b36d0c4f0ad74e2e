//! What each agent is told, in the fields that it documents.

use execward_policy::Decision;
use serde_json::{Value, json};

use super::Agent;
use crate::check::Advice;

/// What is thought of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opinion {
    /// Nothing: the agent's own permissions decide.
    None,
    /// A person is to be asked, for this reason.
    Ask(String),
    /// It is not to be made, for this reason.
    Deny(String),
}

impl Opinion {
    /// The same with another reason.
    pub(super) fn with(self, reason: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::None => Self::None,
            Self::Ask(own) => Self::Ask(reason(own)),
            Self::Deny(own) => Self::Deny(reason(own)),
        }
    }
}

impl From<Advice> for Opinion {
    fn from(Advice { decision, because }: Advice) -> Self {
        match decision {
            Decision::Deny => Self::Deny(because),
            Decision::Ask => Self::Ask(because),
            Decision::Allow => Self::None,
        }
    }
}

/// The reply to a message about `event`, or to one of which that is not known.
pub(super) fn of(agent: Agent, event: Option<&str>, opinion: &Opinion) -> Value {
    match agent {
        Agent::Claude | Agent::Codex => of_claude(agent, event.unwrap_or("PreToolUse"), opinion),
        Agent::Gemini => match opinion {
            Opinion::None => json!({}),
            // It has no word for that; the gate asks.
            Opinion::Ask(reason) => json!({"systemMessage": reason}),
            Opinion::Deny(reason) => json!({"decision": "deny", "reason": reason}),
        },
        Agent::Cursor => match opinion {
            Opinion::None => json!({}),
            Opinion::Ask(reason) => of_cursor("ask", reason),
            Opinion::Deny(reason) => of_cursor("deny", reason),
        },
    }
}

/// Codex speaks as Claude Code does, but for a question: it takes one for a failure.
fn of_claude(agent: Agent, event: &str, opinion: &Opinion) -> Value {
    let is_request = event == "PermissionRequest";
    let output = match opinion {
        Opinion::Deny(reason) if is_request => json!({
            "hookEventName": event,
            "decision": {"behavior": "deny", "message": reason},
        }),
        Opinion::Deny(reason) => json!({
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }),
        // Where a person is being asked already there is nothing to add.
        Opinion::Ask(reason) if !is_request && agent == Agent::Claude => json!({
            "hookEventName": event,
            "permissionDecision": "ask",
            "permissionDecisionReason": reason,
        }),
        Opinion::Ask(_) | Opinion::None => return json!({}),
    };
    json!({"hookSpecificOutput": output})
}

fn of_cursor(permission: &str, reason: &str) -> Value {
    json!({"permission": permission, "user_message": reason, "agent_message": reason})
}
