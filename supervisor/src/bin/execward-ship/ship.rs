//! From the log to the receiver: reads, skips what was taken, hands over, remembers.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use crate::backoff::{Backoff, Complaint, bounded};
use crate::batch::Batch;
use crate::exit::Exit;
use crate::position::{Position, PositionError, Store, Turn};
use crate::receiver::Receiver;
use crate::record::{Place, Record};
use crate::said::say;
use crate::source::Source;
use crate::stop::Stop;
use crate::tail::{Ended, Step, Tail};

/// Why it cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShipError {
    /// What was taken cannot be remembered: going on would send it again and again.
    #[error("{0}")]
    Position(#[from] PositionError),
    /// The process that reads the log.
    #[error("cannot read the log: {0}")]
    Read(#[from] io::Error),
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    GoOn,
    /// Somebody wants it to end.
    End,
}

/// What a log's lines came to.
#[derive(Debug)]
enum Pass {
    Stopped,
    Ended(Ended),
}

/// A log on its way.
#[derive(Debug)]
pub(crate) struct Shipper {
    pub(crate) source: Source,
    pub(crate) receiver: Box<dyn Receiver>,
    pub(crate) stop: Stop,
    pub(crate) store: Store,
    pub(crate) position: Position,
    /// Ends at the log's end.
    pub(crate) is_once: bool,
    pub(crate) reading: Complaint,
    pub(crate) handing: Complaint,
    /// Lines that are no records.
    pub(crate) damaged: u64,
}

impl Shipper {
    /// Ships until the log's end, or until somebody ends it.
    ///
    /// # Errors
    /// If the position cannot be kept, or nothing can be started that reads the log.
    pub(crate) fn ship(&mut self) -> Result<Exit, ShipError> {
        if self.handed_over(&Batch::default())? == Course::End {
            return Ok(Exit::Success);
        }
        let mut backoff = Backoff::default();
        loop {
            let mut seen = BTreeSet::new();
            let ended = match self.pass(&mut seen, &mut backoff)? {
                Pass::Stopped => return Ok(Exit::Success),
                Pass::Ended(ended) => ended,
            };
            if self.is_once {
                return self.at_end(ended, &seen);
            }
            match ended {
                // A log that is followed has no end.
                Ended::Whole => self.reading.failed("`execward audit tail` ended"),
                Ended::Damaged(why) | Ended::Failed(why) => self.reading.failed(&why),
            }
            if self.stop.within(backoff.wait())? {
                return Ok(Exit::Success);
            }
        }
    }

    fn at_end(&mut self, ended: Ended, seen: &BTreeSet<String>) -> Result<Exit, ShipError> {
        match ended {
            Ended::Whole if self.damaged == 0 => {
                self.position.keep_only(seen);
                self.store.write(&self.position)?;
                Ok(Exit::Success)
            }
            Ended::Whole => {
                say(&format!("{} lines of the log are no records", self.damaged));
                Ok(Exit::LogDamaged)
            }
            Ended::Damaged(why) => {
                say(&why);
                Ok(Exit::LogDamaged)
            }
            Ended::Failed(why) => {
                say(&why);
                Ok(Exit::Io)
            }
        }
    }

    /// Reads the log from its start to where its reader ends, and hands over what is new.
    fn pass(
        &mut self,
        seen: &mut BTreeSet<String>,
        backoff: &mut Backoff,
    ) -> Result<Pass, ShipError> {
        let mut tail = Tail::start(&self.source.execward, &self.source.log, !self.is_once)?;
        let mut batch = Batch::default();
        // Where the batch ends, before anybody took it.
        let mut ahead = self.position.clone();
        loop {
            let step = tail.next(&self.stop, batch.due())?;
            let is_due = match &step {
                Step::Line(line) => batch.is_full_before(line.len()),
                Step::Nothing | Step::End | Step::Stopped => true,
            };
            if is_due && self.handed_over(&std::mem::take(&mut batch))? == Course::End {
                return Ok(Pass::Stopped);
            }
            match step {
                Step::Line(line) => {
                    self.reading.is_over();
                    *backoff = Backoff::default();
                    self.add(line, &mut batch, &mut ahead, seen);
                }
                Step::Nothing => {}
                Step::End => return Ok(Pass::Ended(tail.end()?)),
                Step::Stopped => return Ok(Pass::Stopped),
            }
        }
    }

    /// Adds a line's record to the batch, unless it was taken before.
    fn add(
        &mut self,
        line: Vec<u8>,
        batch: &mut Batch,
        ahead: &mut Position,
        seen: &mut BTreeSet<String>,
    ) {
        let Some(place) = Place::of(&line) else {
            self.damaged += 1;
            if self.damaged == 1 && !self.is_once {
                say("a line of the log is no record, and is not shipped");
            }
            return;
        };
        if self.is_once && !seen.contains(&place.chain) {
            seen.insert(place.chain.clone());
        }
        let turn = ahead.turn(&place);
        if turn == Turn::Had {
            return;
        }
        ahead.pass(&place);
        let Some(record) = Record::of(line, place) else {
            self.damaged += 1;
            return;
        };
        if let Turn::Behind(first) = turn {
            batch.push(record.hole_before(first));
        }
        batch.push(record);
    }

    /// Hands a batch over, however long that takes, and remembers it. An empty one has the receiver show what it has.
    fn handed_over(&mut self, batch: &Batch) -> Result<Course, ShipError> {
        let mut left = batch.records();
        let mut backoff = Backoff::default();
        loop {
            let delivery = self.receiver.deliver(left);
            let (taken, rest) = left.split_at_checked(delivery.taken).unwrap_or((left, &[]));
            left = rest;
            if !taken.is_empty() {
                backoff = Backoff::default();
                taken.iter().for_each(|record| self.position.took(record));
                self.position.counters = self.receiver.counters().cloned();
                self.store.write(&self.position)?;
            }
            if let Some((count, why)) = delivery.rejected {
                say(&format!("{count} records are refused for good: {why}"));
            }
            let refusal = delivery.refusal.or_else(|| self.receiver.publish().err());
            let Some(refusal) = refusal else {
                self.handing.is_over();
                // It may take fewer at once than a batch has.
                if left.is_empty() {
                    return Ok(Course::GoOn);
                }
                continue;
            };
            self.handing.failed(&refusal.why);
            let wait = backoff.wait();
            let wait = refusal.after.map_or(wait, bounded);
            if self.stop.within(wait)? {
                return Ok(Course::End);
            }
        }
    }

    /// Remembers all that the log has now as taken.
    ///
    /// # Errors
    /// The same as of shipping. A log that cannot be read to its end is none to go on behind.
    pub(crate) fn pass_over(&mut self) -> Result<Option<Exit>, ShipError> {
        let mut tail = Tail::start(&self.source.execward, &self.source.log, false)?;
        loop {
            match tail.next(&self.stop, None)? {
                Step::Line(line) => {
                    if let Some(place) = Place::of(&line) {
                        self.position.pass(&place);
                    }
                }
                Step::Nothing => {}
                Step::Stopped => return Ok(Some(Exit::Success)),
                Step::End => break,
            }
        }
        match tail.end()? {
            Ended::Whole | Ended::Damaged(_) => {}
            Ended::Failed(why) => {
                say(&why);
                return Ok(Some(Exit::Io));
            }
        }
        self.store.write(&self.position)?;
        Ok(None)
    }
}

/// How long a receiver that is asked over a network may take before that counts as a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
