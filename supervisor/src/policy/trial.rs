//! `execward policy test` and `diff`: what policies say of cases.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cases::{self, Case};
use super::{LoadedPolicy, PolicyError};
use crate::audit::escaped;
use crate::cli::{DiffArgs, PolicyArgs, TestArgs};
use crate::exit::ExitStatus;
use crate::places::Places;

/// What a policy says of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Said {
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

/// One case of `test`, as JSON has it.
#[derive(Serialize)]
struct Tried<'a> {
    case: &'a str,
    call: String,
    expect: &'static str,
    #[serde(flatten)]
    said: &'a Said,
    ok: bool,
}

/// One case of `diff`, likewise.
#[derive(Serialize)]
struct Compared<'a> {
    case: &'a str,
    call: String,
    before: &'a Said,
    after: &'a Said,
}

impl Said {
    fn in_words(&self) -> String {
        let rule = self.rule.as_ref();
        let rule = rule.map_or(String::new(), |rule| format!(" (rule {})", escaped(rule)));
        format!("{}{rule}", self.verdict)
    }
}

/// Tries each case, and says which get another verdict than they expect.
///
/// # Errors
/// If the policy or the cases have faults, or a call cannot be looked at.
pub(super) fn test(args: &TestArgs, out: &mut impl Write) -> Result<ExitStatus, PolicyError> {
    let policy = LoadedPolicy::load(&args.policy, &Places::find()?)?;
    let cases = cases::read(&args.files, true)?;
    let trial = Trial::begin()?;
    let mut failed = 0;
    for case in &cases {
        let said = trial.say(case, &policy)?;
        let expected = case.expected().map_or("", |expected| expected.as_str());
        let has_rule = case
            .rule()
            .is_none_or(|rule| said.rule.as_deref() == Some(rule));
        let is_met = said.verdict == expected && has_rule;
        failed += usize::from(!is_met);
        if args.json {
            write_json(
                out,
                &Tried {
                    case: &case.at,
                    call: case.call(),
                    expect: expected,
                    said: &said,
                    ok: is_met,
                },
            )?;
        } else if !is_met {
            let rule = case.rule();
            let rule = rule.map_or(String::new(), |rule| format!(" (rule {})", escaped(rule)));
            let (at, call) = (escaped(&case.at), escaped(&case.call()));
            writeln!(
                out,
                "{at}: expected {expected}{rule}, got {}: {call}",
                said.in_words()
            )?;
        }
    }
    if !args.json {
        writeln!(out, "{} cases, {failed} failed", cases.len())?;
    }
    Ok(finding(failed > 0))
}

/// Says of which cases two policies say different things.
///
/// # Errors
/// As [`test()`].
pub(super) fn diff(args: &DiffArgs, out: &mut impl Write) -> Result<ExitStatus, PolicyError> {
    let places = Places::find()?;
    let load = |name: &PathBuf| LoadedPolicy::load(&named(name, args), &places);
    let (before, after) = (load(&args.before)?, load(&args.after)?);
    let cases = cases::read(&args.cases, false)?;
    let trial = Trial::begin()?;
    let mut differing = 0;
    for case in &cases {
        let (first, second) = (trial.say(case, &before)?, trial.say(case, &after)?);
        if first.verdict == second.verdict {
            continue;
        }
        differing += 1;
        if args.json {
            write_json(
                out,
                &Compared {
                    case: &case.at,
                    call: case.call(),
                    before: &first,
                    after: &second,
                },
            )?;
        } else {
            let (at, call) = (escaped(&case.at), escaped(&case.call()));
            let (first, second) = (first.in_words(), second.in_words());
            writeln!(out, "{at}: {first} -> {second}: {call}")?;
        }
    }
    if !args.json {
        writeln!(out, "{} cases, {differing} differ", cases.len())?;
    }
    Ok(finding(differing > 0))
}

/// The policy that is called so: a preset by `preset:NAME`, else a file.
fn named(name: &Path, args: &DiffArgs) -> PolicyArgs {
    let preset = name.to_str().and_then(|name| name.strip_prefix("preset:"));
    PolicyArgs {
        policy: preset
            .is_none()
            .then(|| name.to_owned())
            .into_iter()
            .collect(),
        preset: preset.map(str::to_owned).into_iter().collect(),
        workspace: args.workspace.clone(),
    }
}

fn finding(is_one: bool) -> ExitStatus {
    match is_one {
        true => ExitStatus::Finding,
        false => ExitStatus::Success,
    }
}

fn write_json(out: &mut impl Write, line: &impl Serialize) -> Result<(), PolicyError> {
    let line = serde_json::to_string(line).map_err(io::Error::other)?;
    Ok(writeln!(out, "{line}")?)
}

/// Where cases are tried: each anew, for a call is looked at where it is made.
struct Trial {
    start: PathBuf,
}

impl Trial {
    fn begin() -> Result<Self, PolicyError> {
        let start = std::env::current_dir()?;
        Ok(Self { start })
    }

    fn say(&self, case: &Case, policy: &LoadedPolicy) -> Result<Said, PolicyError> {
        std::env::set_current_dir(&self.start)?;
        let answer = case.question(&policy.scene.places).answer(policy);
        let answer = answer.map_err(|error| PolicyError::Case(case.at.clone(), Box::new(error)))?;
        Ok(Said {
            verdict: answer
                .decision()
                .map_or("none", |decision| decision.as_str()),
            rule: answer.rule().map(str::to_owned),
        })
    }
}
