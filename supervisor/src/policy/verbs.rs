//! `execward policy …`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;

use execward_policy::{BUILTIN, Rule, classes, command_table, preset, schema};

use super::{LoadedPolicy, PolicyError, accept, files, import, learn, lint, replay, trial};
use crate::audit::{escaped, quoted};
use crate::cli::{InitArgs, LoadArgs, PolicyArgs, PolicyCommand, ShowArgs};
use crate::control::{self, VerbError};
use crate::exit::ExitStatus;
use crate::front;
use crate::past::Past;
use crate::places::{Places, make_private};

/// What `init` writes.
const FIRST_POLICY: &str = include_str!("first.toml");

/// Does what the command says.
///
/// # Errors
/// If the policy has faults, or something cannot be read or written.
pub(crate) fn obey(command: &PolicyCommand, out: &mut impl Write) -> Result<ExitStatus, VerbError> {
    match command {
        PolicyCommand::Init(args) => init(args, out)?,
        PolicyCommand::Show(args) => show(args, out)?,
        PolicyCommand::Lint(args) => return Ok(lint::lint(args, out)?),
        PolicyCommand::Test(args) => return Ok(trial::test(args, out)?),
        PolicyCommand::Diff(args) => return Ok(trial::diff(args, out)?),
        PolicyCommand::Replay(args) => return Ok(replay::replay(args, out)?),
        PolicyCommand::Learn(args) => return Ok(learn::learn(args, out)?),
        PolicyCommand::Import(args) => return Ok(import::import(args, out)?),
        PolicyCommand::Load(args) => {
            warn_of(args);
            return control::load_policy(args, out);
        }
        PolicyCommand::Accept(args) => accept::accept(args, out)?,
        PolicyCommand::Schema => writeln!(out, "{}", schema())?,
    }
    Ok(ExitStatus::Success)
}

/// Says what is hardly meant of the policy that a session is to have. Its faults the session says.
fn warn_of(args: &LoadArgs) {
    let named = PolicyArgs {
        policy: args.files.clone(),
        preset: args.preset.clone(),
        workspace: None,
    };
    let places = Places::find().map_err(PolicyError::from);
    let policy = places.and_then(|places| LoadedPolicy::load(&named, &places));
    for warning in policy.iter().flat_map(lint::warnings) {
        front::say(&format!("warning: {}", escaped(&warning.to_string())));
    }
}

/// Writes the first policy, and nothing over another.
fn init(args: &InitArgs, out: &mut impl Write) -> Result<(), VerbError> {
    let places = Places::of(&args.state)?;
    let path = args.file.clone().unwrap_or_else(|| places.policy());
    let failed = |error: io::Error| -> PolicyError {
        let path = path.clone();
        if error.kind() == io::ErrorKind::AlreadyExists {
            PolicyError::Exists(path)
        } else {
            PolicyError::Create { path, error }
        }
    };
    if let Some(directory) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        make_private(directory).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let mut file = options.open(&path).map_err(failed)?;
    file.write_all(FIRST_POLICY.as_bytes()).map_err(failed)?;
    writeln!(out, "wrote {}", path.display())?;
    // Known text from outside; a member's is as any other that it writes.
    let past = Past::open(places.state())?;
    if past.judge_outside().is_ok() {
        past.accept(&files::read(&path)?)?;
    }
    Ok(())
}

fn show(args: &ShowArgs, out: &mut impl Write) -> Result<(), PolicyError> {
    if let Some(name) = &args.text {
        let text = preset(name).ok_or_else(|| PolicyError::Preset(name.clone()))?;
        write!(out, "{text}")?;
        return Ok(());
    }
    if let Some(name) = &args.command {
        let table = command_table(name).ok_or_else(|| PolicyError::Command(name.clone()))?;
        write!(out, "{table}")?;
        return Ok(());
    }
    if args.builtin {
        let texts = BUILTIN.map(|(_, _, text)| text);
        write!(out, "{}", texts.join("\n"))?;
        return Ok(());
    }
    if args.classes {
        for (class, members) in classes() {
            writeln!(out, "@{class} {}", members.join(" "))?;
        }
        return Ok(());
    }
    let policy = LoadedPolicy::load(&args.policy, &Places::find()?)?;
    let mode = policy.rules.mode();
    writeln!(out, "files: {}", policy.names())?;
    writeln!(
        out,
        "mode: security = \"{}\", ask = \"{}\", ask_fallback = \"{}\"{}; a question waits {} s",
        mode.security,
        mode.ask,
        mode.ask_fallback,
        mode.approval
            .map_or(String::new(), |approval| format!(", approval = {approval}")),
        policy.rules.ask_timeout().as_secs()
    )?;
    if let Some(to) = policy.rules.escalate_to() {
        writeln!(out, "asks with `escalate` go to {}", escaped(to))?;
    }
    if let Some(notify) = policy.rules.notify() {
        let words = notify.argv.iter().map(|word| quoted(word));
        let words = words.collect::<Vec<_>>().join(" ");
        writeln!(out, "of each question is told: {words}")?;
    }
    for (tool, mode) in policy.rules.tool_modes() {
        let tool = escaped(tool);
        writeln!(
            out,
            "tool {tool}: security = \"{}\", ask = \"{}\"",
            mode.security, mode.ask
        )?;
    }
    for rule in policy.rules.rules() {
        writeln!(out, "{}", in_words(rule))?;
    }
    Ok(())
}

fn in_words(rule: &Rule) -> String {
    let reason = rule
        .reason()
        .map_or(String::new(), |reason| format!(": {}", escaped(reason)));
    format!(
        "{} {} ({}, {}:{}){reason}",
        rule.action(),
        rule.id(),
        rule.layer(),
        escaped(rule.source()),
        rule.line()
    )
}
