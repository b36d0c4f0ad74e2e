//! `execward audit expect`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ExpectError;
use super::difference::Difference;
use super::learn::learned;
use super::list::List;
use super::run::Output;
use super::seen::{Seen, Whose};
use crate::cli::ExpectArgs;
use crate::exit::ExitStatus;
use crate::front;
use crate::places::log_meant;
use crate::regular;

/// Learns a list from logs, or compares logs with one.
///
/// # Errors
/// If a log or the list cannot be read, the list has faults, or the output cannot be written.
pub(crate) fn expect(args: &ExpectArgs, out: &mut impl Write) -> Result<ExitStatus, ExpectError> {
    let list = args.against.as_deref().map(List::read).transpose()?;
    let logs = logs(args)?;
    let mut junit = match &args.junit {
        Some(junit) => Some(Output::open(junit, logs.iter().chain(&args.against))?),
        None => None,
    };
    let mut seen = Seen::default();
    for log in &logs {
        seen.read(log, Whose::All)?;
    }
    let Some(list) = list else {
        return learn(args, &seen, out);
    };
    let difference = Difference::between(&list, &seen);
    write!(out, "{difference}")?;
    if let Some(junit) = &mut junit {
        junit.write(&difference)?;
    }
    Ok(match (seen.gaps.is_empty(), difference.is_none()) {
        (false, _) => ExitStatus::LogDamaged,
        (true, true) => ExitStatus::Success,
        (true, false) => ExitStatus::Finding,
    })
}

fn learn(args: &ExpectArgs, seen: &Seen, out: &mut impl Write) -> Result<ExitStatus, ExpectError> {
    let text = learned(seen, args.counts);
    match &args.output {
        None => out.write_all(text.as_bytes())?,
        Some(path) => {
            create(path, &text)?;
            writeln!(out, "wrote {}", path.display())?;
        }
    }
    for gap in &seen.gaps {
        front::say(gap);
    }
    Ok(match seen.gaps.is_empty() {
        true => ExitStatus::Success,
        false => ExitStatus::LogDamaged,
    })
}

/// Over no other file.
fn create(path: &Path, text: &str) -> Result<(), ExpectError> {
    let failed = |error: io::Error| {
        let path = path.to_owned();
        if error.kind() == io::ErrorKind::AlreadyExists {
            ExpectError::Exists(path)
        } else {
            ExpectError::Write { path, error }
        }
    };
    regular::create(path, text).map_err(failed)
}

fn logs(args: &ExpectArgs) -> Result<Vec<PathBuf>, ExpectError> {
    if !args.logs.is_empty() {
        return Ok(args.logs.clone());
    }
    Ok(vec![log_meant(None, args.session.as_deref())?])
}
