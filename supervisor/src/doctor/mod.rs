//! `execward doctor`: whether what execward promises holds on this machine, found out by doing it.
//!
//! Two scratch sessions are started as anybody's are, and what runs in them ([`inside`]) does what
//! programs do. What it met and what the log says must agree. Nothing is concluded from a version.

mod asking;
mod cgroup;
mod finding;
mod helpers;
mod host;
pub(crate) mod inside;
mod limits;
mod places;
mod probes;
mod report;
mod rights;
mod scratch;
mod session;
mod storm;

use std::io::{self, Write};

use crate::cli::DoctorArgs;
use crate::exit::ExitStatus;
use crate::own_process::hear_of_children;
use crate::places::{Places, temporary};
use finding::{Finding, State};
use report::Report;
use scratch::Scratch;

/// Why nothing was found out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoctorError {
    #[error(
        "cannot make a scratch directory in `{}`: {error}; name another in TMPDIR",
        temporary().display()
    )]
    Scratch { error: io::Error },
    #[error(
        "cannot look at {0}: {1}; is proc mounted, and are there open files left (`ulimit -n`)?"
    )]
    Look(&'static str, #[source] io::Error),
    #[error("cannot write: {0}")]
    Write(#[source] io::Error),
}

/// Finds out what holds here, and says it.
///
/// # Errors
/// If there is no place to try it in, or nobody to be told.
pub(crate) fn examine(args: &DoctorArgs, out: &mut impl Write) -> Result<ExitStatus, DoctorError> {
    // Where it fails the probes say so.
    hear_of_children().ok();
    let report = Report::of(findings(args)?);
    let shown = match args.json {
        true => report.json(out),
        false => report.text(out),
    };
    shown.map_err(DoctorError::Write)?;
    Ok(report.status())
}

fn findings(args: &DoctorArgs) -> Result<Vec<Finding>, DoctorError> {
    let failed = |what| move |error| DoctorError::Look(what, error);
    let mut findings = match Places::find() {
        Ok(places) => in_sessions(args, &places)?,
        Err(error) => vec![Finding::said("session", &error.to_string()).promising(probes::SESSION)],
    };
    findings.extend(host::findings().map_err(failed("this machine"))?);
    findings.extend(limits::findings());
    Ok(findings)
}

/// What is found by sessions and by the files that they need.
fn in_sessions(args: &DoctorArgs, places: &Places) -> Result<Vec<Finding>, DoctorError> {
    let failed = |what| move |error| DoctorError::Look(what, error);
    let scratch = Scratch::new(places).map_err(|error| DoctorError::Scratch { error })?;
    let mut findings = probes::findings(&scratch).map_err(failed("a scratch session"))?;
    let has_started = findings.first().is_some_and(|it| it.state == State::Ok);
    if has_started {
        findings.extend(asking::findings(&scratch, places).map_err(failed("a session that asks"))?);
    }
    let found = places::findings(&args.policy, places);
    findings.extend(found.map_err(failed("the places of files"))?);
    Ok(findings)
}
