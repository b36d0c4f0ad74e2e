//! What records say of calls of tools.

use execward_policy::{Redaction, ToolCall};
use serde::Serialize;

use super::shell::ShellNote;
use super::text::displayed;

/// A call of a tool, as its host described it.
#[derive(Debug, Serialize)]
pub(crate) struct ToolNote {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    urls: Vec<String>,
    /// Its other arguments, `KEY=VALUE` each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Present when the call gives a text to a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<ShellNote>,
}

impl ToolNote {
    /// What a message said is text; nothing of it is lost but what looks like a secret.
    pub(crate) fn of(call: &ToolCall, shell: Option<ShellNote>, redaction: &Redaction) -> Self {
        let shown = |text: &Vec<u8>| displayed(&redaction.text(text).shown());
        let texts = |texts: &[Vec<u8>]| texts.iter().map(shown).collect();
        Self {
            name: call.tool.clone(),
            paths: texts(&call.paths),
            urls: texts(&call.urls),
            args: texts(&call.arguments),
            cwd: call.cwd.as_deref().map(displayed),
            shell,
        }
    }
}
