//! `execward hook install` and `uninstall`: an agent's own settings, changed in one place and shown.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use similar::TextDiff;

use super::Agent;
use super::settings::{SettingsFile, value_of};
use crate::audit::escaped;
use crate::cli::{InstallArgs, PolicyArgs};
use crate::exit::ExitStatus;
use crate::front;
use crate::places::Places;

/// Why an agent's settings are as they were.
#[derive(Debug, thiserror::Error)]
enum InstallError {
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("cannot find execward's own file: {0}")]
    Own(io::Error),
    #[error("a path that is no text cannot stand in settings: `{}`", .0.display())]
    NoText(PathBuf),
    #[error("`{}`: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("`{}` is no JSON that can be changed ({why}); nothing is changed", path.display())]
    NoSettings { path: PathBuf, why: String },
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl InstallError {
    fn status(&self) -> ExitStatus {
        match self {
            Self::NoSettings { .. } | Self::NoText(_) => ExitStatus::Usage,
            Self::Places(_) | Self::Own(_) | Self::File { .. } | Self::Write(_) => ExitStatus::Io,
        }
    }
}

/// Has the agent ask execward before it uses a tool.
pub(super) fn install(args: &InstallArgs, out: &mut impl Write) -> ExitStatus {
    said(command(args.agent, &args.policy).and_then(|command| change(args, Some(&command), out)))
}

/// Has it ask no longer.
pub(super) fn uninstall(args: &InstallArgs, out: &mut impl Write) -> ExitStatus {
    said(change(args, None, out))
}

fn said(done: Result<(), InstallError>) -> ExitStatus {
    match done {
        Ok(()) => ExitStatus::Success,
        Err(error) => {
            front::say(&error.to_string());
            error.status()
        }
    }
}

/// The command line of the hook, with absolute paths: agents run it wherever they work.
fn command(agent: Agent, policy: &PolicyArgs) -> Result<String, InstallError> {
    let own = std::env::current_exe().map_err(InstallError::Own)?;
    let mut words = vec![text(&own)?, "hook".to_owned(), agent.as_str().to_owned()];
    for file in &policy.policy {
        words.extend(["--policy".to_owned(), absolute(file)?]);
    }
    for preset in &policy.preset {
        words.extend(["--preset".to_owned(), preset.clone()]);
    }
    if let Some(workspace) = &policy.workspace {
        words.extend(["--workspace".to_owned(), absolute(workspace)?]);
    }
    let words = words.iter().map(String::as_str);
    shlex::try_join(words).map_err(|_| InstallError::NoText(own))
}

fn absolute(path: &Path) -> Result<String, InstallError> {
    let failed = |error| InstallError::File {
        path: path.to_owned(),
        error,
    };
    text(&std::path::absolute(path).map_err(failed)?)
}

fn text(path: &Path) -> Result<String, InstallError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| InstallError::NoText(path.to_owned()))
}

/// Puts `command` in place of whatever hook of execward the settings have, and shows what changes.
fn change(
    args: &InstallArgs,
    command: Option<&str>,
    out: &mut impl Write,
) -> Result<(), InstallError> {
    let base = match args.project {
        true => std::env::current_dir()?,
        false => Places::find()?.home().to_owned(),
    };
    let path = args.agent.settings(&base);
    let file = SettingsFile::read(&path).map_err(|error| InstallError::File { path, error })?;
    let (path, before) = (file.path.clone(), &file.text);
    let no_settings = |why: String| InstallError::NoSettings {
        path: path.clone(),
        why,
    };
    let after = changed(args.agent, before, command).map_err(no_settings)?;
    let shown = path.display().to_string();
    if after == *before {
        writeln!(out, "{}: nothing to change", escaped(&shown))?;
        return Ok(());
    }
    let diff = TextDiff::from_lines(before, &after);
    write!(out, "{}", diff.unified_diff().header(&shown, &shown))?;
    if !args.dry_run {
        file.replace(&after)
            .map_err(|error| InstallError::File { path, error })?;
    }
    Ok(())
}

/// The settings with `command` as the hook of execward, or without any.
///
/// # Errors
/// Why they are no settings.
fn changed(agent: Agent, before: &str, command: Option<&str>) -> Result<String, String> {
    let mut settings = match before.trim() {
        "" => json!({}),
        _ => value_of(before)?,
    };
    let unchanged = settings.clone();
    let fields = settings.as_object_mut().ok_or("it is no object")?;
    if agent == Agent::Cursor && command.is_some() && !fields.contains_key("version") {
        fields.insert("version".to_owned(), json!(1));
    }
    let had_none = fields.get("hooks").and_then(Value::as_object);
    let had_none = had_none.is_some_and(Map::is_empty);
    let hooks = fields.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` is no object")?;
    for event in agent.events() {
        let list = hooks.entry(*event).or_insert_with(|| json!([]));
        let list = list
            .as_array_mut()
            .ok_or_else(|| format!("`hooks.{event}` is no list"))?;
        let is_there = command.is_some_and(|command| list.contains(&entry(agent, command)));
        if !is_there {
            remove(agent, list);
            list.extend(command.map(|command| entry(agent, command)));
        }
        if list.is_empty() {
            hooks.shift_remove(*event);
        }
    }
    if hooks.is_empty() && !had_none {
        fields.shift_remove("hooks");
    }
    if settings == unchanged {
        return Ok(before.to_owned());
    }
    let text = serde_json::to_string_pretty(&settings).map_err(|error| error.to_string())?;
    Ok(text + "\n")
}

/// What stands in the list of an event.
fn entry(agent: Agent, command: &str) -> Value {
    match agent {
        // Without an answer it would go on.
        Agent::Cursor => json!({"command": command, "failClosed": true}),
        Agent::Claude | Agent::Codex | Agent::Gemini => {
            let mut hook = json!({"type": "command", "command": command});
            if agent == Agent::Gemini
                && let Some(hook) = hook.as_object_mut()
            {
                hook.insert("name".to_owned(), json!("execward"));
            }
            json!({"matcher": agent.matcher(), "hooks": [hook]})
        }
    }
}

/// Takes every hook of execward out of the list of an event, and what is left empty by that.
fn remove(agent: Agent, list: &mut Vec<Value>) {
    list.retain_mut(|entry| {
        if is_own(agent, entry.as_object()) {
            return false;
        }
        let Some(hooks) = entry.get_mut("hooks").and_then(Value::as_array_mut) else {
            return true;
        };
        let count = hooks.len();
        hooks.retain(|hook| !is_own(agent, hook.as_object()));
        count == hooks.len() || !hooks.is_empty()
    });
}

/// Whether the hook is a command line of execward's for that agent, wherever it lies.
fn is_own(agent: Agent, hook: Option<&Map<String, Value>>) -> bool {
    let command = hook
        .and_then(|hook| hook.get("command"))
        .and_then(Value::as_str);
    let words = command.and_then(shlex::split).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [program, "hook", name, ..] => {
            *name == agent.as_str() && Path::new(program).file_name() == Some("execward".as_ref())
        }
        _ => false,
    }
}
