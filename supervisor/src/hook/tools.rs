//! The tools of agents by their names, as calls that a policy knows.

use execward_policy::ToolCall;
use serde_json::{Map, Value};

use super::{message, patch};
use crate::check::What;

/// The names by which agents call what execward calls by one.
const NAMES: [(&str, &[&str]); 7] = [
    (
        "bash_execute",
        &[
            "Bash",
            "bash",
            "Shell",
            "shell",
            "run_shell_command",
            "execute_bash",
            "exec_command",
            "local_shell",
            "run_terminal_cmd",
        ],
    ),
    (
        "file_read",
        &["Read", "NotebookRead", "read_file", "read_many_files"],
    ),
    (
        "file_write",
        &[
            "Write",
            "Edit",
            "MultiEdit",
            "NotebookEdit",
            "write_file",
            "replace",
            "edit_file",
            "search_replace",
            "StrReplace",
            "TabWrite",
        ],
    ),
    ("file_delete", &["Delete", "delete_file"]),
    (
        "file_list",
        &["LS", "Glob", "list_directory", "list_dir", "glob"],
    ),
    // What is searched is read.
    (
        SEARCH,
        &["Grep", "grep", "grep_search", "search_file_content"],
    ),
    ("web_fetch", &["WebFetch", "web_fetch"]),
];

const SEARCH: &str = "search";

/// The fields that hold the path of a file, or several.
const PATHS: [&str; 8] = [
    "file_path",
    "absolute_path",
    "path",
    "notebook_path",
    "dir_path",
    "target_file",
    "paths",
    "include",
];

/// The fields that hold the directory in which a shell works.
const DIRECTORIES: [&str; 4] = ["dir_path", "directory", "workdir", "working_directory"];

/// What a message asks about.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) what: What,
    /// The directory that a shell's call names for itself.
    pub(super) directory: Option<String>,
}

/// The call of `tool` with `input`.
///
/// # Errors
/// What the input lacks.
pub(super) fn call(tool: &str, input: &Map<String, Value>) -> Result<Asked, String> {
    Ok(Asked {
        what: what(tool, input)?,
        directory: directory(tool, input)?,
    })
}

fn what(tool: &str, input: &Map<String, Value>) -> Result<What, String> {
    if tool == "apply_patch" {
        return of_patch(input);
    }
    let mut names = NAMES.iter();
    let known = names.find(|(_, names)| names.contains(&tool));
    let Some((name, _)) = known else {
        return Ok(of_server(tool, input));
    };
    let mut call = ToolCall::new(*name);
    match *name {
        "bash_execute" => return of_shell(call, input),
        "web_fetch" => match input.get("url").and_then(Value::as_str) {
            Some(url) => call.urls.push(url.into()),
            // Gemini has the URLs in the text of a prompt.
            None => call.urls = urls(message::text_of(input, "prompt")?),
        },
        "file_list" | SEARCH => {
            let name = if *name == SEARCH { "file_read" } else { name };
            call.is_walked = name != "file_list";
            call.tool = name.to_owned();
            call.paths = paths(input);
            call.paths.extend(
                input
                    .get("pattern")
                    .and_then(Value::as_str)
                    .filter(|_| !call.is_walked)
                    .and_then(listed),
            );
            if call.paths.is_empty() {
                call.paths.push(b".".to_vec());
            }
        }
        _ => {
            call.paths = paths(input);
            if call.paths.is_empty() {
                return Err(format!("`tool_input` of {tool} names no file"));
            }
        }
    }
    Ok(What::Tool(call))
}

fn directory(tool: &str, input: &Map<String, Value>) -> Result<Option<String>, String> {
    let mut names = NAMES.iter();
    let is_shell = names.any(|(name, names)| *name == "bash_execute" && names.contains(&tool));
    let mut values = DIRECTORIES.iter().filter_map(|name| input.get(*name));
    match values.find(|value| !value.is_null()).filter(|_| is_shell) {
        None => Ok(None),
        Some(Value::String(directory)) if !directory.contains('\0') => Ok(Some(directory.clone())),
        Some(_) => Err(format!("the directory of {tool} is no path")),
    }
}

/// What a pattern lists: the directory before its first wildcard.
fn listed(pattern: &str) -> Option<Vec<u8>> {
    let Some(wild) = pattern.find(['*', '?', '[', '{']) else {
        return Some(pattern.as_bytes().to_vec());
    };
    let (directory, _) = pattern.get(..wild)?.rsplit_once('/')?;
    Some(format!("{directory}/").into_bytes())
}

/// A call of a tool that has no other name: of an MCP server.
pub(super) fn other(tool: &str, input: &Map<String, Value>) -> Asked {
    Asked {
        what: of_server(tool, input),
        directory: None,
    }
}

fn of_server(tool: &str, input: &Map<String, Value>) -> What {
    let mut call = ToolCall::new(tool);
    call.arguments = arguments(input);
    What::Tool(call)
}

/// A shell's text, or the words of a program.
fn of_shell(mut call: ToolCall, input: &Map<String, Value>) -> Result<What, String> {
    if let Some(words) = input.get("command").and_then(Value::as_array) {
        let words: Option<Vec<_>> = words
            .iter()
            .map(|word| Some(word.as_str().filter(|word| !word.contains('\0'))?.into()))
            .collect();
        let words = words.filter(|words| !words.is_empty());
        return words
            .map(What::Program)
            .ok_or_else(|| "`command` is no list of words".to_owned());
    }
    let text = message::text_of(input, "command")?;
    call.arguments.push(format!("command={text}").into_bytes());
    Ok(What::Tool(call))
}

/// What a patch writes.
fn of_patch(input: &Map<String, Value>) -> Result<What, String> {
    let mut texts = ["input", "patch", "command"].into_iter();
    let text = texts.find_map(|name| input.get(name).and_then(Value::as_str));
    let text = text.ok_or("`tool_input` of apply_patch has no patch")?;
    let mut call = ToolCall::new("file_write");
    call.paths = patch::paths(text);
    match call.paths.is_empty() {
        true => Err("the patch names no file".to_owned()),
        false => Ok(What::Tool(call)),
    }
}

/// The URLs among the words of a text.
fn urls(text: &str) -> Vec<Vec<u8>> {
    let ends = |c: char| c.is_whitespace() || "\"'`<>()[]{}|".contains(c);
    let words = text.split(ends).filter(|word| word.contains("://"));
    let words = words.map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?']));
    words.map(|word| word.as_bytes().to_vec()).collect()
}

fn paths(input: &Map<String, Value>) -> Vec<Vec<u8>> {
    let values = PATHS.iter().filter_map(|name| input.get(*name));
    let texts = values.flat_map(|value| match value.as_array() {
        Some(values) => values.iter().collect(),
        None => vec![value],
    });
    let texts = texts
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty());
    texts.map(|text| text.as_bytes().to_vec()).collect()
}

/// Every field as `KEY=VALUE`; what is no text is JSON.
fn arguments(input: &Map<String, Value>) -> Vec<Vec<u8>> {
    let argument = |(key, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{key}={text}").into_bytes(),
        None => format!("{key}={value}").into_bytes(),
    };
    input.iter().map(argument).collect()
}
