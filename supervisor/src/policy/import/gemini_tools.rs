//! Gemini CLI's tools, by the names that they have in rules and had in settings.

use execward_policy::Action;

use super::command::{self, End};
use super::draft::{Keys, Translated};
use super::toml_text::literal;
use super::words::{Stars, split};

/// Whether the tool runs commands.
pub(super) fn is_shell(tool: &str) -> bool {
    matches!(tool, "run_shell_command" | "ShellTool" | "Shell")
}

/// What a command that begins with `prefix` comes to; an empty one is every command.
///
/// # Errors
/// If no rule says it.
pub(super) fn commands(prefix: &str, action: Action) -> Result<Translated, String> {
    command::translate(&split(prefix, Stars::Shell)?, End::Open, action)
}

/// What the calls of a tool come to, by its name or a pattern of names.
///
/// # Errors
/// If no rule says it.
pub(super) fn tool(name: &str, action: Action) -> Result<Translated, String> {
    if is_shell(name) {
        return command::translate(&[], End::Open, action);
    }
    let is_allow = action == Action::Allow;
    let (tools, is_of_files): (&[&str], bool) = match name {
        "read_file" | "ReadFileTool" | "ReadFile" => (&["file_read"], true),
        "read_many_files" | "ReadManyFilesTool" | "ReadManyFiles" => (&["file_read"], true),
        "search_file_content" | "grep_search" | "GrepTool" | "SearchText" => (&["file_read"], true),
        "write_file" | "WriteFileTool" | "WriteFile" | "replace" | "EditTool" | "Edit" => {
            match is_allow {
                true => (&["file_write"], true),
                false => (&["file_write", "file_delete"], true),
            }
        }
        "list_directory" | "LSTool" | "ReadFolder" | "glob" | "GlobTool" | "FindFiles" => {
            (&["file_list"], true)
        }
        "web_fetch" | "WebFetchTool" | "WebFetch" => (&["web_fetch"], false),
        "WebSearchTool" | "GoogleSearch" => (&["google_web_search"], false),
        "MemoryTool" | "SaveMemory" => (&["save_memory"], false),
        _ => return named(name, is_allow),
    };
    let keys = Keys::default().with("tool", tools.iter().map(|&tool| tool.to_owned()).collect());
    Ok(match is_of_files && is_allow {
        // Its file tools reach no further than its workspace.
        true => keys.with("path", vec!["${workspace}/".to_owned()]).into(),
        false => keys.into(),
    })
}

/// A tool that the language does not know.
fn named(name: &str, is_allow: bool) -> Result<Translated, String> {
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == '\0') {
        return Err("it names no tool".to_owned());
    }
    if is_allow && name.contains('*') && !name.starts_with("mcp_") {
        return Err("it allows every tool, and an allow here says which".to_owned());
    }
    let written = name.chars().map(|character| match character {
        '*' => "*".to_owned(),
        other => literal(other),
    });
    Ok(Keys::default().with("tool", vec![written.collect()]).into())
}
