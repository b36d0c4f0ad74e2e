//! Prometheus: what is counted of the log, to be fetched (`--listen`) or in a file of node_exporter's
//! (`--textfile`).
//!
//! The figures are kept with the position: each record is counted once, also over restarts. They are shown once they
//! are on the disk, so that no figure ever becomes smaller.

mod answer;
mod listen;
mod text;

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::counters::Counters;
use crate::position::beside;
use crate::receiver::{Delivery, Receiver, Refusal};
use crate::record::Record;

use listen::Shown;
use text::text;

/// Where the figures are shown.
#[derive(Debug)]
enum Place {
    Address(Shown),
    File(PathBuf),
}

/// The figures, and where they are shown.
#[derive(Debug)]
pub(crate) struct Metrics {
    counters: Counters,
    place: Place,
}

impl Metrics {
    /// Shows them at `http://ADDRESS/metrics`, going on from `counters`.
    ///
    /// # Errors
    /// If the address is taken, or not this machine's.
    pub(crate) fn listen(address: SocketAddr, counters: Counters) -> io::Result<Self> {
        let place = Place::Address(Shown::at(address, text(&counters))?);
        Ok(Self { counters, place })
    }

    /// Shows them in a file, likewise.
    pub(crate) fn in_file(path: PathBuf, counters: Counters) -> Self {
        let place = Place::File(path);
        Self { counters, place }
    }
}

impl Receiver for Metrics {
    fn deliver(&mut self, records: &[Record]) -> Delivery {
        let now = Timestamp::now();
        for record in records {
            self.counters.add(record, now);
        }
        Delivery::all(records)
    }

    fn counters(&self) -> Option<&Counters> {
        Some(&self.counters)
    }

    fn publish(&mut self) -> Result<(), Refusal> {
        let text = text(&self.counters);
        match &self.place {
            Place::Address(shown) => {
                shown.show(text);
                Ok(())
            }
            Place::File(path) => write(path, &text).map_err(|error| {
                Refusal::of(format!("cannot write `{}`: {error}", path.display()))
            }),
        }
    }
}

/// In one step, for everybody to read: the collector is another user, and nothing of a task is in it. The name that
/// it has until then is none that node_exporter reads.
fn write(path: &std::path::Path, text: &str) -> io::Result<()> {
    let fresh = beside(path, ".new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o644);
    options.custom_flags(libc::O_NOFOLLOW);
    options.open(&fresh)?.write_all(text.as_bytes())?;
    std::fs::rename(fresh, path)
}
