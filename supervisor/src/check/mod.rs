//! `execward check` and `execward explain`: what the policy says of a call, and why. Nothing runs.

mod call;
mod recorded;
mod shell;
mod shown;
mod tool;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use execward_policy::{Decision, ExecRequest, Scope, ToolCall};
use jiff::Timestamp;

use crate::audit::{TailError, escaped};
use crate::cli::{CheckArgs, ExplainArgs, RuleScope};
use crate::exit::ExitStatus;
use crate::places::Places;
use crate::policy::{LoadedPolicy, PolicyError};
use call::{Call, Caller, Found};
use shown::ShownExec;

/// Why a call was not judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("{0}")]
    Policy(#[from] PolicyError),
    #[error("cannot enter `{}`: {error}", path.display())]
    Directory { path: PathBuf, error: io::Error },
    #[error("the program has no name; write what would be typed behind `--`")]
    NoProgram,
    #[error("deny: wrappers around wrappers, deeper than anybody would follow")]
    TooDeep,
    #[error("cannot find execward's own file: {0}")]
    Own(io::Error),
    #[error("cannot start the parser of shell text: {0}")]
    Parser(io::Error),
    #[error("cannot look the file up: {0}")]
    LookUp(String),
    #[error("cannot read `{}`: {error}", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("no exec.decision record with its `proc`: {0}")]
    NoRecord(String),
    #[error(
        "no rule of scope `{0}` is offered for this call: the policy does not ask about it, its \
         arguments make of the program what it is, or it would be asked about all the same"
    )]
    NotOffered(Scope),
    #[error("no exec in `{}` has an ID that starts with `{id}`", log.display())]
    NoSuch { id: String, log: PathBuf },
    #[error("{0}")]
    Log(#[from] TailError),
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl CheckError {
    /// How `check` and `explain` end then.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::NoSuch { .. } | Self::NotOffered(_) => ExitStatus::Finding,
            // Nobody can say what it comes to, and that is a verdict.
            Self::TooDeep => ExitStatus::WouldDeny,
            Self::Policy(_) | Self::NoRecord(_) | Self::NoProgram | Self::Directory { .. } => {
                ExitStatus::Usage
            }
            Self::Log(TailError::Damaged { .. }) => ExitStatus::LogDamaged,
            Self::Log(_)
            | Self::Places(_)
            | Self::Own(_)
            | Self::Parser(_)
            | Self::LookUp(_)
            | Self::Read { .. }
            | Self::Write(_) => ExitStatus::Io,
        }
    }
}

/// Judges a call that was typed or recorded. The status is that of the verdict.
///
/// # Errors
/// If the policy has faults, or the call cannot be looked at.
pub(crate) fn check(args: &CheckArgs, out: &mut impl Write) -> Result<ExitStatus, CheckError> {
    let places = Places::find()?;
    let policy = LoadedPolicy::load(&args.policy, &places)?;
    if let Some(path) = &args.cwd {
        std::env::set_current_dir(path).map_err(|error| CheckError::Directory {
            path: path.clone(),
            error,
        })?;
    }
    if let Some(text) = &args.shell {
        return shell::judge(text.as_bytes(), args, &policy)?.say(args.json, out);
    }
    if let Some(call) = tool::call_of(args) {
        return say_tool(&policy, call, args, out);
    }
    let call = match &args.request {
        Some(path) => recorded::call_of(&recorded::read(path)?)?,
        None => Call::typed(&args.cmd)?,
    };
    let mut caller = Caller::new(policy.named.clone())?;
    let found = caller.find(&call, &policy.rules, args.missing)?;
    let request = match found {
        Found::Missing(errno) => {
            shown::missing(&errno, args.json, out)?;
            return Ok(ExitStatus::Success);
        }
        Found::Request(mut request) => {
            caller.add_ancestors(&mut request, &args.via, &policy.rules)?;
            // What a record's environment was nobody knows, unless it is said.
            if args.request.is_none() || !args.env.is_empty() {
                let variables = args.env.iter().map(|variable| variable.as_bytes().to_vec());
                request.env = Some(variables.collect());
            }
            request
        }
    };
    let chain = caller.follow(*request, &args.via, &policy.rules)?;
    say(&policy, &mut caller, &chain, args.json, out)
}

/// Says why a recorded exec gets its verdict from the policy as it is now.
///
/// # Errors
/// As [`check`], and if there is no such record.
pub(crate) fn explain(args: &ExplainArgs, out: &mut impl Write) -> Result<ExitStatus, CheckError> {
    let places = Places::find()?;
    let log = log_path(args, &places)?;
    let record = recorded::find(&log, &args.id)?;
    let call = recorded::call_of(&record)?;
    if matches!(args.rule, Some(RuleScope::Exact)) {
        if let Some(rule) = recorded::denying_rule(&record) {
            let rule = escaped(rule);
            writeln!(
                out,
                "# Rule {rule} denies this, and no allow lifts a deny: change that rule."
            )?;
        }
        write!(out, "{}", shown::rule(&args.id, &call))?;
        return Ok(ExitStatus::Success);
    }
    let policy = LoadedPolicy::load(&args.policy, &places)?;
    if !args.json && args.rule.is_none() {
        writeln!(out, "{}", recorded::verdict_in_words(&record))?;
    }
    let mut caller = Caller::new(policy.named.clone())?;
    let Found::Request(request) = caller.find(&call, &policy.rules, false)? else {
        return Ok(ExitStatus::Finding);
    };
    if let Some(scope) = args.rule {
        let id = format!("allow-{}", args.id.to_ascii_lowercase());
        let offered = policy.rules.amendments(&request, &id, Timestamp::now());
        let amendment = offered.into_iter().find(|it| it.scope == scope.into());
        let amendment = amendment.ok_or(CheckError::NotOffered(scope.into()))?;
        writeln!(
            out,
            "# {}\n{}",
            escaped(&amendment.covers),
            amendment.rule.trim_end()
        )?;
        return Ok(ExitStatus::Success);
    }
    say(&policy, &mut caller, &[*request], args.json, out)?;
    Ok(ExitStatus::Success)
}

fn log_path(args: &ExplainArgs, places: &Places) -> Result<PathBuf, CheckError> {
    if let Some(path) = &args.log {
        return Ok(path.clone());
    }
    if let Some(name) = &args.session {
        return Ok(places.log(name));
    }
    let failed = |error| CheckError::Read {
        path: Path::to_owned(places.logs()),
        error,
    };
    places.newest_log().map_err(failed)
}

/// Says the strictest verdict of a call, of those that wrappers make of it in turn, and of the text that
/// the last of them gives to a shell.
fn say(
    policy: &LoadedPolicy,
    caller: &mut Caller,
    chain: &[ExecRequest],
    is_json: bool,
    out: &mut impl Write,
) -> Result<ExitStatus, CheckError> {
    let now = Timestamp::now();
    let explained = chain
        .iter()
        .map(|request| (request, policy.rules.explain(request, now)));
    let strictest = explained.reduce(|strictest, next| {
        if next.1.verdict.decision() > strictest.1.verdict.decision() {
            next
        } else {
            strictest
        }
    });
    let (Some((mut request, mut explanation)), Some(last)) = (strictest, chain.last()) else {
        return Err(CheckError::NoProgram);
    };
    let mut within = None;
    if explanation.verdict.decision() != Decision::Deny
        && let Some((verdict, part)) = caller.denied_in_text(last, &policy.rules)?
    {
        (request, explanation.verdict, within) = (last, verdict, Some(part));
    }
    let outer = chain
        .iter()
        .take_while(|outer| !std::ptr::eq(*outer, request));
    let outer: Vec<&ExecRequest> = outer.collect();
    let amendments = policy.rules.amendments(request, "saved", now);
    if is_json {
        let call = ShownExec::of(request, &outer, within, amendments);
        let line = shown::json(call, &explanation).map_err(io::Error::other)?;
        writeln!(out, "{line}")?;
    } else {
        let outer = outer.into_iter().map(shown::command_line);
        let outer = outer.map(|outer| format!("started by: {outer}"));
        let about: Vec<_> = outer
            .chain(within.map(|it| format!("its text: {it}")))
            .collect();
        let call = shown::command_line(request);
        write!(out, "{}", shown::text(&call, &explanation, &about))?;
        write!(out, "{}", shown::amendments(&amendments))?;
    }
    Ok(status(explanation.verdict.decision()))
}

/// The same of a call of a tool. One that gives a text to a shell is judged by that, but for what
/// rules say of the tool itself.
fn say_tool(
    policy: &LoadedPolicy,
    mut call: ToolCall,
    args: &CheckArgs,
    out: &mut impl Write,
) -> Result<ExitStatus, CheckError> {
    let mut caller = Caller::new(policy.named.clone())?;
    let explanation = tool::explained(&mut call, &mut caller, policy)?;
    if let Some(text) = call.shell_text() {
        let judged = shell::judge(text, args, policy)?;
        let own = explanation.verdict.decision_of_rules();
        if own < Some(judged.decision) {
            return judged.say(args.json, out);
        }
    }
    if args.json {
        let line = tool::json(&call, &explanation).map_err(io::Error::other)?;
        writeln!(out, "{line}")?;
    } else {
        write!(out, "{}", tool::text(&call, &explanation))?;
    }
    Ok(status(explanation.verdict.decision()))
}

fn status(decision: Decision) -> ExitStatus {
    match decision {
        Decision::Allow => ExitStatus::Success,
        Decision::Ask => ExitStatus::WouldAsk,
        Decision::Deny => ExitStatus::WouldDeny,
    }
}
