//! `execward audit stats`: what a log has, in figures.

mod figures;
mod questions;
mod report;
mod text;

use std::io::Write;

use jiff::Timestamp;

use super::source::each;
use super::{ReadingError, unless_closed};
use crate::audit::ascii_json;
use crate::cli::StatsArgs;
use crate::exit::ExitStatus;
use crate::places::Places;
use crate::policy::LoadedPolicy;
use figures::Figures;
use report::Report;

/// The records that are meant, by their times.
#[derive(Clone, Copy, Debug)]
struct Window {
    since: Option<Timestamp>,
    /// Not that moment itself.
    until: Option<Timestamp>,
}

impl Window {
    /// Whether a record of this time is in it; one of which nobody knows when is where nobody asked for a time.
    fn has(self, time: Option<Timestamp>) -> bool {
        match time {
            Some(time) => {
                self.since.is_none_or(|since| since <= time)
                    && self.until.is_none_or(|until| time < until)
            }
            None => self.since.is_none() && self.until.is_none(),
        }
    }
}

/// Counts what the log has.
///
/// # Errors
/// If the log cannot be read, the policy has faults, or the figures cannot be written.
pub(crate) fn stats(args: &StatsArgs, out: &mut impl Write) -> Result<ExitStatus, ReadingError> {
    unless_closed(count(args, out))
}

fn count(args: &StatsArgs, out: &mut impl Write) -> Result<ExitStatus, ReadingError> {
    let policy = match args.named_policy() {
        Some(named) => Some(LoadedPolicy::load(&named, &Places::find()?)?),
        None => None,
    };
    let log = args.log.meant()?;
    let window = Window {
        since: args.since,
        until: args.until,
    };
    let mut figures = Figures::default();
    let damage = each(&log, |entry, _line| {
        let time = entry.time();
        if window.has(time) {
            figures.take(entry, time);
        }
        Ok(())
    })?;
    let report = Report::of(figures, &log, policy.as_ref(), &damage);
    if args.json {
        let line = ascii_json(&report).map_err(std::io::Error::from)?;
        out.write_all(&line)?;
        writeln!(out)?;
    } else {
        write!(out, "{report}")?;
    }
    out.flush()?;
    Ok(damage.say())
}

#[cfg(test)]
mod tests;
