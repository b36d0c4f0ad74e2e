//! `execward check` and `execward explain`: what the policy says of a call, and why. Nothing runs.

mod again;
mod answer;
mod call;
mod question;
mod shell;
mod shown;
mod tool;

use std::io::{self, Write};
use std::path::PathBuf;

use execward_policy::{Decision, MASK};

use crate::approval::ShownAmendment;
use crate::audit::{TailError, escaped, is_standard_input};
use crate::cli::{CheckArgs, ExplainArgs};
use crate::clock;
use crate::control::Scope;
use crate::exit::ExitStatus;
use crate::places::{Places, log_meant};
use crate::policy::{InForce, Kept, PolicyError};
use crate::recorded::{self, Record};
use again::Again;
pub(crate) use answer::Advice;
use call::{Call, Caller, Found};
use question::strictest;
pub(crate) use question::{Question, What};

/// Why a call was not judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("{0}")]
    Policy(#[from] PolicyError),
    #[error("{0}")]
    Kept(#[from] crate::policy::KeptError),
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
    NotOffered(execward_policy::Scope),
    #[error(
        "the log has `***` where the call has what looks like a secret, and a rule of exactly this call would hold \
         that; see `--rule=flags` or `--rule=prefix`"
    )]
    Masked,
    #[error("no exec in `{}` has the ID `{id}`, all of it", log.display())]
    NoSuch { id: String, log: PathBuf },
    #[error("policies are kept beside a log: name its file with --log, and not `-`")]
    NoPlace,
    #[error("{0}")]
    Log(#[from] TailError),
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl CheckError {
    /// How `check` and `explain` end then.
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::NoSuch { .. } | Self::NotOffered(_) | Self::Masked => ExitStatus::Finding,
            // Nobody can say what it comes to, and that is a verdict.
            Self::TooDeep => ExitStatus::WouldDeny,
            Self::Policy(_)
            | Self::NoRecord(_)
            | Self::NoProgram
            | Self::NoPlace
            | Self::Directory { .. } => ExitStatus::Usage,
            Self::Log(TailError::Damaged { .. }) => ExitStatus::LogDamaged,
            Self::Kept(_)
            | Self::Log(_)
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
    let policy = InForce::load(&args.policy, &Places::find()?)?.policy;
    Question::of(args).answer(&policy)?.say(args.json, out)
}

/// Says why a recorded exec gets its verdict from the policy as it is now.
///
/// # Errors
/// As [`check`], and if there is no such record.
pub(crate) fn explain(args: &ExplainArgs, out: &mut impl Write) -> Result<ExitStatus, CheckError> {
    let places = Places::find()?;
    let log = log_meant(args.log.as_deref(), args.session.as_deref())?;
    let has_place = !is_standard_input(&log);
    let Some(id) = &args.id else {
        return match has_place {
            true => Ok(Again::of(&log)?.show(args.json, out)?),
            false => Err(CheckError::NoPlace),
        };
    };
    let found = recorded::find(&log, id)?;
    let record = recorded_in(&found.line)?;
    let call = called(&record)?;
    if matches!(args.rule, Some(Scope::Exact)) {
        return print_exact_rule(id, &record, &call, out);
    }
    let kept = found
        .kept
        .as_deref()
        .filter(|_| has_place && !args.policy.is_named());
    let (policy, by) = match kept {
        Some(name) => (Kept::load(&log, name)?, "the policy of then"),
        None => {
            let policy = InForce::load(&args.policy, &places)?.policy;
            (policy, "the policy as it is now")
        }
    };
    if !args.json && args.rule.is_none() {
        writeln!(out, "{}", record.verdict_in_words(by))?;
    }
    let mut caller = Caller::new(policy.named.clone())?;
    let Found::Request(request) = caller.find(&call, &policy.rules, false)? else {
        return Ok(ExitStatus::Finding);
    };
    if let Some(scope) = args.rule {
        let id = format!("allow-{}", id.to_ascii_lowercase());
        let offered = policy.rules.amendments(&request, &id, clock::now());
        let amendment = offered.into_iter().find(|it| it.scope == scope.into());
        let amendment = amendment.ok_or(CheckError::NotOffered(scope.into()))?;
        let amendment = ShownAmendment::from(amendment);
        writeln!(
            out,
            "# {}\n{}",
            escaped(&amendment.covers),
            amendment.rule.trim_end()
        )?;
        return Ok(ExitStatus::Success);
    }
    strictest(&policy, &mut caller, vec![*request])?.say(args.json, out)?;
    if let Some(name) = kept.filter(|_| !args.json) {
        let last = Again::of_exec(&log, id, &record, (name, policy))?;
        let last = escaped(&last);
        writeln!(out, "decided again, from the record alone: {last}")?;
    }
    Ok(ExitStatus::Success)
}

/// Prints a rule that allows exactly this call.
fn print_exact_rule(
    id: &str,
    record: &Record<'_>,
    call: &Call,
    out: &mut impl Write,
) -> Result<ExitStatus, CheckError> {
    if let Some(rule) = record.denying_rule() {
        let rule = escaped(rule);
        writeln!(
            out,
            "# Rule {rule} denies this, and no allow lifts a deny: change that rule."
        )?;
    }
    let is_masked = |word: &Vec<u8>| word.windows(MASK.len()).any(|part| part == MASK);
    if call.argv.iter().any(is_masked) {
        return Err(CheckError::Masked);
    }
    write!(out, "{}", shown::rule(id, call))?;
    Ok(ExitStatus::Success)
}

fn recorded_in(line: &[u8]) -> Result<Record<'_>, CheckError> {
    Record::parse(line).map_err(|error| CheckError::NoRecord(error.to_string()))
}

fn called(record: &Record<'_>) -> Result<Call, CheckError> {
    let call = record.call();
    call.map(Call::from)
        .map_err(|lack| CheckError::NoRecord(lack.to_string()))
}

fn status(decision: Decision) -> ExitStatus {
    match decision {
        Decision::Allow => ExitStatus::Success,
        Decision::Ask => ExitStatus::WouldAsk,
        Decision::Deny => ExitStatus::WouldDeny,
    }
}
