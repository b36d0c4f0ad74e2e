//! Records that are handed over together.

use std::time::{Duration, Instant};

use crate::record::Record;

/// Most records of a batch.
pub(crate) const RECORDS_MAX: usize = 512;
/// Bytes of lines from which on a batch is full.
pub(crate) const BYTES_MAX: usize = 256 * 1024;

/// How long a batch waits for more after its first record.
const LINGER: Duration = Duration::from_millis(100);

/// The records.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    records: Vec<Record>,
    bytes: usize,
    begun: Option<Instant>,
}

impl Batch {
    /// Adds one.
    pub(crate) fn push(&mut self, record: Record) {
        self.begun.get_or_insert_with(Instant::now);
        self.bytes += record.line.len();
        self.records.push(record);
    }

    /// Whether it is to be handed over before it gets another line of that length, which may bring a hole with it.
    pub(crate) fn is_full_before(&self, line: usize) -> bool {
        !self.records.is_empty()
            && (self.records.len() + 2 > RECORDS_MAX || self.bytes + line + 1024 > BYTES_MAX)
    }

    /// Until when it waits for more; as long as it takes, while it has none.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.begun.map(|begun| begun + LINGER)
    }

    /// The records in it.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }
}
