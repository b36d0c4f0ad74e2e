//! `execward audit export`: a log in the forms that others take.
//!
//! Each form is a table in a file of its own. What a record does not say has no field, whatever a schema would
//! like; no record says on which machine it was written.

mod csv;
mod ecs;
mod event;
mod joined;
mod junit;
mod ocsf;
mod table;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::Value;

use super::source::{Damage, each};
use super::{ReadingError, unless_closed};
use crate::audit::{ascii_json, escaped};
use crate::cli::ExportArgs;
use crate::exit::ExitStatus;
use crate::recorded::Lines;
use crate::regular;
use event::Sessions;
use joined::Waiting;
use junit::Suites;

/// A form of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// Elastic Common Schema 8.11: a line of JSON a record
    Ecs,
    /// OCSF 1.6 Process Activity: a line of JSON for each record of an exec
    Ocsf,
    /// A table for a spreadsheet: a line an exec
    Csv,
    /// A JUnit report: a test case an exec, a failure where one was refused
    Junit,
}

/// Writes a log in another form.
///
/// # Errors
/// If the log cannot be read, or the form cannot be written.
pub(crate) fn export(args: &ExportArgs, out: &mut impl Write) -> Result<ExitStatus, ReadingError> {
    let log = args.log.meant()?;
    let host = args.host.as_deref();
    let Some(path) = &args.output else {
        let done = write(&log, args.form, host, out);
        return unless_closed(done.map(|damage| damage.say()));
    };
    let failed = |error| ReadingError::of_output(path, error);
    // Where there is nothing to read, nothing is left behind.
    drop(Lines::open(&log)?);
    let mut file = BufWriter::new(regular::create_new(path).map_err(failed)?);
    let damage = match write(&log, args.form, host, &mut file) {
        Ok(damage) => damage,
        Err(ReadingError::Out(error)) => return Err(failed(error)),
        Err(other) => return Err(other),
    };
    file.into_inner()
        .map_err(|error| failed(error.into_error()))
        .map(|_: File| damage.say())
}

fn write(
    log: &Path,
    form: Form,
    host: Option<&str>,
    out: &mut impl Write,
) -> Result<Damage, ReadingError> {
    let damage = match form {
        Form::Ecs => events(log, host, out, |event| Some(ecs::event(event)))?,
        Form::Ocsf => events(log, host, out, ocsf::event)?,
        Form::Csv => csv(log, out)?,
        Form::Junit => junit(log, out)?,
    };
    out.flush()?;
    Ok(damage)
}

/// A line of JSON a record, where `map` makes something of it.
fn events(
    log: &Path,
    host: Option<&str>,
    out: &mut impl Write,
    map: impl Fn(&event::Event<'_>) -> Option<Value>,
) -> Result<Damage, ReadingError> {
    let mut sessions = Sessions::default();
    each(log, |_entry, line| {
        let record: Value = serde_json::from_slice(line).map_err(io::Error::from)?;
        sessions.note(&record);
        if let Some(event) = map(&sessions.event(&record, host)) {
            let mut line = ascii_json(&event).map_err(io::Error::from)?;
            line.push(b'\n');
            out.write_all(&line)?;
        }
        sessions.forget(&record);
        Ok(())
    })
}

fn csv(log: &Path, out: &mut impl Write) -> Result<Damage, ReadingError> {
    csv::heading(out)?;
    let mut waiting = Waiting::default();
    let damage = each(log, |entry, _line| {
        waiting.take(entry, |joined| Ok(csv::row(out, joined)?))
    })?;
    waiting.end(|joined| Ok(csv::row(out, joined)?))?;
    Ok(damage)
}

fn junit(log: &Path, out: &mut impl Write) -> Result<Damage, ReadingError> {
    let (mut waiting, mut suites) = (Waiting::default(), Suites::default());
    let damage = each(log, |entry, _line| {
        if let Some(gap) = entry.gap.filter(|_| entry.kind == "audit.gap") {
            let [name, id] = [&entry.session.name, &entry.session.id].map(|it| escaped(it));
            suites.add_gap(&name, &id, gap.count);
        }
        waiting.take(entry, |joined| {
            suites.add(joined);
            Ok(())
        })
    })?;
    waiting.end(|joined| {
        suites.add(joined);
        Ok(())
    })?;
    let report = suites.report().map_err(io::Error::other)?;
    out.write_all(report.as_bytes())?;
    Ok(damage)
}

#[cfg(test)]
mod tests;
