//! `execward policy import`: what another agent's configuration says, as a policy.
//!
//! Never wider where it allows: an allow that cannot be said is left out, and listed. A deny or an ask
//! that cannot be said leaves the policy wider, and is listed as that. Each rule is loaded before it is
//! kept, and the whole once more.

mod claude;
mod claude_path;
mod codex;
mod codex_config;
mod command;
mod draft;
mod gemini;
mod gemini_policy;
mod gemini_tools;
mod json;
mod lines;
mod programs;
mod remark;
mod starlark;
#[cfg(test)]
mod tests;
mod toml_text;
mod toml_value;
mod words;

use std::io::Write;
use std::path::Path;

use execward_policy::SOURCE_MAX_BYTES;

use super::{PolicyError, files};
use crate::cli::ImportArgs;
use crate::exit::ExitStatus;
use crate::front;
use crate::places::Places;
use remark::{LeftOut, Narrowed};

/// Whose configuration is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ImportFrom {
    /// Claude Code: settings.json
    Claude,
    /// Codex: a .rules file or config.toml
    Codex,
    /// Gemini CLI: settings.json or a policy in TOML
    Gemini,
}

/// A policy, and what it does not say.
#[derive(Debug)]
pub(crate) struct Imported {
    /// Its text, which loads.
    pub(crate) policy: String,
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) narrowed: Vec<Narrowed>,
}

/// Why a text is no such configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    /// Its syntax.
    #[error("{line}:{column}: {message}")]
    Syntax {
        line: usize,
        column: usize,
        message: String,
    },
    /// What it holds.
    #[error("1:1: {0}")]
    Shape(String),
    /// Its length, or that of what comes of it.
    #[error("1:1: a configuration and its policy have at most {SOURCE_MAX_BYTES} bytes")]
    TooLong,
    /// How much it says.
    #[error("1:1: there are more than {0} entries")]
    TooMany(usize),
    /// What came of it: a mistake of execward's, and no policy.
    #[error("1:1: what comes of it is no policy: {0}")]
    Faulty(String),
}

/// Where a configuration stands, as far as it means something by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// In a project.
    Project,
    /// In the user's own directory for the agent.
    User,
}

/// Writes the policy that a configuration comes to, and on standard error what it does not say.
///
/// # Errors
/// If the file cannot be read, or is no such configuration.
pub(super) fn import(args: &ImportArgs, out: &mut impl Write) -> Result<ExitStatus, PolicyError> {
    let bytes = files::read_file(&args.file).map_err(|error| PolicyError::ReadImport {
        path: args.file.clone(),
        error,
    })?;
    let imported = text(&bytes)
        .and_then(|text| imported(args.from, &args.file, text, scope(&args.file)))
        .map_err(|error| PolicyError::Import {
            path: args.file.clone(),
            error,
        })?;
    out.write_all(imported.policy.as_bytes())?;
    out.flush()?;
    for left in &imported.left_out {
        front::say(&left.line());
    }
    for narrowed in &imported.narrowed {
        front::say(&narrowed.line());
    }
    Ok(match imported.left_out.is_empty() {
        true => ExitStatus::Success,
        false => ExitStatus::Finding,
    })
}

/// The policy that a text comes to.
fn imported(
    agent: ImportFrom,
    path: &Path,
    text: &str,
    scope: Scope,
) -> Result<Imported, ImportError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match agent {
        ImportFrom::Claude => claude::import(text, scope),
        ImportFrom::Codex => codex::import(&name, text),
        ImportFrom::Gemini => gemini::import(&name, text),
    }
}

/// The text of a file, which is UTF-8 and not too long.
fn text(bytes: &[u8]) -> Result<&str, ImportError> {
    if u64::try_from(bytes.len()).is_ok_and(|len| len > SOURCE_MAX_BYTES) {
        return Err(ImportError::TooLong);
    }
    str::from_utf8(bytes).map_err(|error| {
        let before = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let before = before.get(..error.valid_up_to()).unwrap_or(before);
        syntax_error(before, before.len(), "what is here is no UTF-8")
    })
}

/// What is wrong at byte `at` of `text`.
fn syntax_error(text: &str, at: usize, message: impl Into<String>) -> ImportError {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or(before);
    ImportError::Syntax {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        message: message.into(),
    }
}

fn scope(path: &Path) -> Scope {
    let own = Places::find().map(|places| places.home().join(".claude"));
    let absolute = std::path::absolute(path);
    match (own, absolute) {
        (Ok(own), Ok(path)) if path.parent() == Some(&own) => Scope::User,
        _ => Scope::Project,
    }
}
