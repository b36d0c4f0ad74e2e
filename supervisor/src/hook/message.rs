//! What an agent says of the call that it is about to make.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Agent;
use super::tools::{self, Asked};
use crate::check::Question;

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    /// As it names it.
    pub(super) event: String,
    /// What it asks about; nothing if it only tells.
    pub(super) question: Option<Question>,
}

/// The events of Claude Code, Codex and Gemini at which a call is still to be made.
const BEFORE: [&str; 3] = ["PreToolUse", "PermissionRequest", "BeforeTool"];

impl Message {
    /// # Errors
    /// What it is not, or lacks.
    pub(super) fn read(agent: Agent, text: &[u8]) -> Result<Self, String> {
        let message: Value = serde_json::from_slice(text)
            .map_err(|error| format!("the message is no JSON: {error}"))?;
        let fields = message.as_object().ok_or("the message is no object")?;
        let event = text_of(fields, "hook_event_name")?.to_owned();
        let asked = match agent {
            Agent::Cursor => of_cursor(&event, fields)?,
            Agent::Claude | Agent::Codex | Agent::Gemini if BEFORE.contains(&event.as_str()) => {
                let tool = text_of(fields, "tool_name")?;
                let input = fields.get("tool_input").and_then(Value::as_object);
                let input = input.ok_or("the message has no object `tool_input`")?;
                Some(tools::call(tool, input)?)
            }
            Agent::Claude | Agent::Codex | Agent::Gemini => None,
        };
        let question = match asked {
            Some(Asked { what, directory }) => Some(Question {
                cwd: directory_of(cwd(agent, fields)?, directory),
                ..Question::about(what)
            }),
            None => None,
        };
        Ok(Self { event, question })
    }
}

fn of_cursor(event: &str, fields: &Map<String, Value>) -> Result<Option<Asked>, String> {
    let asked = match event {
        "beforeShellExecution" => tools::call("Shell", fields)?,
        "beforeReadFile" => tools::call("Read", fields)?,
        "preToolUse" | "beforeMCPExecution" => {
            let tool = text_of(fields, "tool_name")?;
            let input = match fields.get("tool_input") {
                Some(Value::Object(input)) => input.clone(),
                // It is JSON within a text there.
                Some(Value::String(text)) => serde_json::from_str(text)
                    .map_err(|error| format!("`tool_input` is no JSON object: {error}"))?,
                _ => return Err("the message has no `tool_input`".to_owned()),
            };
            match event {
                "beforeMCPExecution" => tools::other(tool, &input),
                _ => tools::call(tool, &input)?,
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(asked))
}

/// Where the call is made. Cursor may leave it out, and works where its hooks do then.
fn cwd(agent: Agent, fields: &Map<String, Value>) -> Result<Option<String>, String> {
    let cwd = match fields.get("cwd") {
        Some(Value::String(cwd)) => cwd.as_str(),
        None | Some(Value::Null) if agent == Agent::Cursor => "",
        _ => return Err("the message has no text `cwd`".to_owned()),
    };
    match cwd {
        "" if agent == Agent::Cursor => Ok(None),
        cwd if cwd.starts_with('/') && !cwd.contains('\0') => Ok(Some(cwd.to_owned())),
        _ => Err("`cwd` is no absolute path".to_owned()),
    }
}

/// The directory `named`, from `cwd` if it is relative.
fn directory_of(cwd: Option<String>, named: Option<String>) -> Option<PathBuf> {
    match (cwd, named) {
        (Some(cwd), Some(named)) => Some(Path::new(&cwd).join(named)),
        (cwd, named) => cwd.or(named).map(PathBuf::from),
    }
}

/// The text at `name`.
pub(super) fn text_of<'m>(fields: &'m Map<String, Value>, name: &str) -> Result<&'m str, String> {
    let text = fields.get(name).and_then(Value::as_str);
    let text = text.filter(|text| !text.is_empty() && !text.contains('\0'));
    text.ok_or_else(|| format!("the message has no text `{name}`"))
}

#[cfg(test)]
mod tests;
