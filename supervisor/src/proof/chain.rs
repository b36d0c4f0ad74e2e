//! The records of one session, each held against the one before.

use super::entry::Entry;
use super::fault::Fault;
use crate::audit::{Checkpoint, Place};

/// A chain of one record, whose key nobody has named before.
pub(super) const SEAL: &str = "audit.sealed";

/// What every other one begins with.
const START: &str = "session.start";

/// One session, as far as its lines were read.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) name: String,
    /// `seq` of its first record that is there, and of the last.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) records: u64,
    /// Where the last one is.
    pub(super) place: Place,
    head: String,
    /// Whose the next signature will be; unknown before the first key, and where none is to come.
    key: Option<String>,
    epoch: u64,
    /// Whether records are missing, and with them what the next signature is to be held against.
    is_lost: bool,
    /// `seq` behind the last record that is signed.
    unsigned: u64,
    pub(super) is_over: bool,
    /// Whether it is known that its end is missing.
    pub(super) is_sealed: bool,
    /// `seq` of the last record of which there is a copy elsewhere.
    pub(super) anchored: Option<u64>,
}

impl Chain {
    /// One that begins with `entry`, and what is wrong with that.
    pub(super) fn begun(entry: &Entry<'_>, place: &Place, is_expected: bool) -> (Self, Vec<Fault>) {
        let key = entry.log.as_ref().and_then(|log| log.key.clone());
        let mut chain = Self {
            name: entry.session.name.to_string(),
            first: entry.seq,
            last: entry.seq,
            records: 1,
            place: place.clone(),
            head: entry.hash.to_string(),
            key: key.filter(|_| entry.seq == 0),
            epoch: 0,
            is_lost: entry.seq > 0 || entry.kind == SEAL,
            unsigned: entry.seq,
            is_over: false,
            is_sealed: false,
            anchored: None,
        };
        let mut faults = Vec::new();
        match entry.seq {
            _ if !entry.is_whole => faults.push(Fault::Changed),
            0 if ![START, SEAL].contains(&&*entry.kind) => faults.push(Fault::NoStart),
            0 if entry.prev.bytes().all(|digit| digit == b'0') => {}
            0 => faults.push(Fault::NotNext { seq: 0 }),
            // Of a file before it that is kept no more.
            _ if is_expected => {}
            seq => faults.push(Fault::Missing {
                first: 0,
                last: seq - 1,
            }),
        }
        faults.extend(chain.look_at_signature(entry));
        (chain, faults)
    }

    /// Goes on with `entry`; what is wrong with it. Behind a fault it goes on from there.
    pub(super) fn follow(&mut self, entry: &Entry<'_>, place: &Place) -> Vec<Fault> {
        let mut faults = Vec::new();
        // What is forged may have any number; behind the highest nothing is next.
        let due = self.last.saturating_add(1);
        if !entry.is_whole {
            faults.push(Fault::Changed);
        } else if self.is_over {
            faults.push(Fault::BehindEnd);
        } else if entry.seq > due {
            faults.push(Fault::Missing {
                first: due,
                last: entry.seq - 1,
            });
        } else if entry.seq < due {
            faults.push(Fault::OutOfOrder {
                seq: entry.seq,
                after: self.last,
            });
        } else if entry.prev != self.head {
            faults.push(Fault::NotNext { seq: entry.seq });
        }
        self.is_lost |= entry.seq != due;
        self.last = entry.seq;
        self.head = entry.hash.to_string();
        self.records += 1;
        self.place = place.clone();
        faults.extend(self.look_at_signature(entry));
        faults
    }

    fn look_at_signature(&mut self, entry: &Entry<'_>) -> Option<Fault> {
        let checkpoint = entry.checkpoint.as_ref();
        self.is_over = entry.kind == "session.end" || entry.kind == SEAL;
        let Some(checkpoint) = checkpoint else {
            let (first, last) = (self.unsigned, entry.seq);
            return self.is_over.then_some(Fault::Signature { first, last });
        };
        // What was changed is said already.
        let fault = entry
            .is_whole
            .then(|| self.wrong_with(entry, checkpoint))
            .flatten();
        self.is_lost = false;
        self.key.clone_from(&checkpoint.next);
        self.epoch = checkpoint.epoch.saturating_add(1);
        self.unsigned = entry.seq.saturating_add(1);
        fault
    }

    fn wrong_with(&self, entry: &Entry<'_>, checkpoint: &Checkpoint) -> Option<Fault> {
        let (first, last) = (self.unsigned, entry.seq);
        if self.is_lost {
            let is_signed = entry.is_signed_by(&checkpoint.key);
            return (!is_signed).then_some(Fault::Signature { first, last });
        }
        if checkpoint.epoch > self.epoch {
            let (epoch, due) = (checkpoint.epoch, self.epoch);
            return Some(Fault::NewerKey { epoch, due });
        }
        let is_the_one = |key: &String| *key == checkpoint.key && entry.is_signed_by(key);
        if !self.key.as_ref().is_some_and(is_the_one) {
            return Some(Fault::Signature { first, last });
        }
        let behind = |seq: u64, count: u64| u128::from(seq) + u128::from(count);
        let is_all = checkpoint.first == first
            && behind(checkpoint.first, checkpoint.count) == behind(last, 1);
        let cover = Fault::Cover {
            first: checkpoint.first,
            due: first,
        };
        (!is_all).then_some(cover)
    }

    /// `seq` of its last record that is signed.
    pub(super) fn signed(&self) -> Option<u64> {
        (self.unsigned > self.first).then(|| self.unsigned - 1)
    }
}
