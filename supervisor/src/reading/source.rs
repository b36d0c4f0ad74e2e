//! Which log is read, and its records one after the other.

use std::path::Path;

use super::ReadingError;
use super::entry::Entry;
use crate::audit::escaped;
use crate::exit::ExitStatus;
use crate::front;
use crate::recorded::{Lines, READ_MAJOR};

/// Most lines that are no records of which each is said; the others are counted.
const SAID_MAX: usize = 8;

/// What of a log is no record.
#[derive(Debug, Default, serde::Serialize)]
#[serde(transparent)]
pub(super) struct Damage {
    said: Vec<String>,
    #[serde(skip)]
    more: u64,
}

/// Shows `take` each record of `log`, with its line.
///
/// # Errors
/// If the log cannot be read, and what `take` answers. A line that is no record is no error.
pub(super) fn each(
    log: &Path,
    mut take: impl FnMut(&Entry<'_>, &[u8]) -> Result<(), ReadingError>,
) -> Result<Damage, ReadingError> {
    let mut lines = Lines::open(log)?;
    let mut damage = Damage::default();
    while let Some(line) = lines.next()? {
        match serde_json::from_slice::<Entry<'_>>(line.text) {
            Ok(entry) if is_known(&entry.v) => take(&entry, line.text.trim_ascii_end())?,
            // Which line it is, and what is wrong with it, is known where all records are read.
            Ok(_) => damage.add(line.record().err().map(|error| error.to_string())),
            Err(error) => {
                let own = || format!("{} is not as records are: {error}", line.place());
                let said = line.record().err().map(|error| error.to_string());
                damage.add(Some(said.unwrap_or_else(own)));
            }
        }
    }
    Ok(damage)
}

/// Whether the names of a record of this version mean what they are taken for.
fn is_known(version: &str) -> bool {
    version.is_empty() || version.split('.').next() == Some(READ_MAJOR)
}

impl Damage {
    fn add(&mut self, what: Option<String>) {
        match what {
            Some(what) if self.said.len() < SAID_MAX => self.said.push(escaped(&what)),
            Some(_) | None => self.more += 1,
        }
    }

    pub(super) fn is_some(&self) -> bool {
        !self.said.is_empty() || self.more > 0
    }

    /// Says it, and how a command ends that met it.
    pub(super) fn say(&self) -> ExitStatus {
        for what in &self.said {
            front::say(what);
        }
        if self.more > 0 {
            front::say(&format!("{} more lines are no records", self.more));
        }
        match self.is_some() {
            true => ExitStatus::LogDamaged,
            false => ExitStatus::Success,
        }
    }
}
