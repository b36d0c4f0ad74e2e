//! `execward audit tree`: the execs of a session, each below what started it.
//!
//! ```text
//! Entry ──► Session ─ Processes ─ Exec ──► Shapes ──► text, page
//!                                   └──► Flat (JSON)
//! ```

mod drawn;
mod flat;
mod fold;
mod html;
mod processes;
mod session;
mod text;

use std::io::{self, Write};
use std::path::Path;

use super::source::each;
use super::{ReadingError, unless_closed};
use crate::audit::ascii_json;
use crate::cli::TreeArgs;
use crate::exit::ExitStatus;
use crate::places::log_meant;
use crate::regular;
use drawn::Drawn;
use flat::Flat;
use fold::Shapes;
use session::Meant;

/// Draws a session's tree.
///
/// # Errors
/// If the log cannot be read, or has no such session, or the tree cannot be written.
pub(crate) fn tree(args: &TreeArgs, out: &mut impl Write) -> Result<ExitStatus, ReadingError> {
    unless_closed(draw(args, out))
}

fn draw(args: &TreeArgs, out: &mut impl Write) -> Result<ExitStatus, ReadingError> {
    let name = args.session.as_deref();
    let log = log_meant(args.log.as_deref(), name)?;
    let mut meant = Meant::called(name);
    let damage = each(&log, |entry, _line| {
        meant.take(entry);
        Ok(())
    })?;
    let found = meant.found();
    let (session, others) = match found {
        Some(found) => found,
        // What it was may stand in a line that is none.
        None if damage.is_some() => return Ok(damage.say()),
        None => return Err(ReadingError::NoSession(log)),
    };
    if args.json {
        let line = ascii_json(&Flat::of(&session, others)).map_err(io::Error::from)?;
        out.write_all(&line)?;
        writeln!(out)?;
    } else {
        let drawn = Drawn {
            shapes: Shapes::of(&session.processes),
            session: &session,
            others,
        };
        match &args.html {
            Some(path) => {
                let page = html::page(&drawn).map_err(io::Error::other)?;
                create(path, &page)?;
                writeln!(out, "wrote {}", path.display())?;
            }
            None => write!(out, "{drawn}")?,
        }
    }
    out.flush()?;
    Ok(damage.say())
}

/// Over no other file.
fn create(path: &Path, text: &str) -> Result<(), ReadingError> {
    regular::create(path, text).map_err(|error| ReadingError::of_output(path, error))
}

#[cfg(test)]
mod tests;
