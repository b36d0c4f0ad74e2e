//! What the seeds call the things that a request holds.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::mode::AskForApproval;
use super::ruleset::EXEC_SHELL;
use crate::path::file_name;
use crate::request::{ExecRequest, ProgramFile};

/// What the first seed judges, for whoever is used to its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecPolicyContext {
    /// The arguments as one would type them. To be shown: nothing is judged by it.
    pub command: String,
    /// The working directory; empty if it has no path.
    pub cwd: String,
    /// The tool.
    pub tool: Option<String>,
    /// The file of a tool that takes one. An exec names any number, and has none here.
    pub path: Option<String>,
    /// When to ask.
    pub ask_for_approval: AskForApproval,
    /// What the caller calls its confinement, such as `workspace-write`.
    pub sandbox_mode: Option<String>,
}

impl ExecPolicyContext {
    /// The context of an exec.
    #[must_use]
    pub fn of(request: &ExecRequest, ask_for_approval: AskForApproval) -> Self {
        let words: Vec<String> = request.argv.iter().map(|word| shown(word)).collect();
        let command = shlex::try_join(words.iter().map(String::as_str));
        Self {
            command: command.unwrap_or_default(),
            cwd: request.cwd.as_deref().map(shown).unwrap_or_default(),
            tool: Some(EXEC_SHELL.to_owned()),
            path: None,
            ask_for_approval,
            sandbox_mode: None,
        }
    }
}

/// The program of a command, in the second seed's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandResolution {
    /// The path as it was given.
    pub raw_executable: String,
    /// The path of the file itself, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_path: Option<String>,
    /// The file's name: that of the resolved path, else of the given one.
    pub executable_name: String,
}

impl From<&ProgramFile> for CommandResolution {
    fn from(file: &ProgramFile) -> Self {
        let resolved = file.resolved.as_deref();
        Self {
            raw_executable: shown(&file.given),
            resolved_path: resolved.map(shown),
            executable_name: shown(file_name(resolved.unwrap_or(&file.given))),
        }
    }
}

/// Bytes as text; what is no UTF-8 as the language writes it, `\xHH`.
fn shown(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            write!(shown, "\\x{byte:02x}").unwrap_or(());
        }
    }
    shown
}
