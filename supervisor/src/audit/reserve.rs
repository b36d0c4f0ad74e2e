//! Room that is set aside behind the log's end, for what must be written when the disk is full.
//!
//! fallocate(2) takes the blocks and leaves the file's length alone; what is appended later fills
//! them. A record of something that is let go on may be written only while the whole reserve lies
//! behind it. So what a full disk leaves is there for refusals, questions, their answers and gaps.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::record::Body;

/// How much, in bytes: some ten thousand records.
const RESERVE_BYTES: u64 = 16 << 20;

/// Less is no reserve.
const LEAST_BYTES: u64 = 16 << 10;

/// How much more is taken at a time, in bytes, where there is room.
const STEP_BYTES: u64 = 64 << 10;

/// Which room a record may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Only as long as the reserve stays whole behind it.
    Plain,
    /// That of the reserve, too.
    Reserve,
}

impl Claim {
    /// Plain is what lets something go on that no person answers for.
    pub(super) fn of(body: &Body) -> Self {
        let is_plain = match body {
            Body::Decision {
                effect, approval, ..
            } => {
                let is_answered = approval.as_ref().is_some_and(|note| note.by.is_some());
                effect.sent == "continue" && !is_answered
            }
            Body::ToolDecision { decision, .. } => decision.verdict == "allow",
            Body::SessionStart(_) => true,
            Body::Held { .. }
            | Body::EscalationHeld { .. }
            | Body::EscalationSettled { .. }
            | Body::ApprovalRefused { .. }
            | Body::GrantAdded { .. }
            | Body::GrantRemoved { .. }
            | Body::PolicyLoaded { .. }
            | Body::PolicyRejected { .. }
            | Body::Outcome { .. }
            | Body::Summary(_)
            | Body::SessionStop { .. }
            | Body::SessionEnd(_)
            | Body::Gap { .. }
            | Body::Checkpoint
            | Body::Close { .. }
            | Body::Open { .. }
            | Body::Sealed { .. }
            | Body::Evicted { .. } => false,
        };
        if is_plain { Self::Plain } else { Self::Reserve }
    }
}

/// What is set aside behind a log.
#[derive(Debug)]
pub(super) struct Reserve {
    bytes: u64,
    /// Up to where the file has its blocks.
    until: u64,
}

impl Reserve {
    /// As much as the disk has room for; `None` if it has none, or its file system cannot do this.
    ///
    /// # Errors
    /// If the file cannot be looked at.
    pub(super) fn set_aside(file: &File) -> io::Result<Option<Self>> {
        let len = file.metadata()?.len();
        let halves = std::iter::successors(Some(RESERVE_BYTES), |bytes| Some(bytes / 2));
        for bytes in halves.take_while(|bytes| *bytes >= LEAST_BYTES) {
            // What takes all there is leaves none for the log itself.
            let more = bytes + STEP_BYTES;
            match fallocate(file, FallocateFlags::KEEP_SIZE, len, more) {
                Ok(()) => {
                    let until = len + more;
                    return Ok(Some(Self { bytes, until }));
                }
                Err(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => {}
                Err(errno) => {
                    tracing::warn!(%errno, "no room can be set aside for a full disk");
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sees to it that the reserve still lies behind `more` bytes at the end of `file`.
    ///
    /// # Errors
    /// What fallocate(2) answers: on a full disk ENOSPC.
    pub(super) fn keep_behind(&mut self, file: &File, more: usize) -> io::Result<()> {
        let needed = file.metadata()?.len() + more as u64 + self.bytes;
        if needed <= self.until {
            return Ok(());
        }
        let up_to = |end: u64| {
            let flags = FallocateFlags::KEEP_SIZE;
            fallocate(file, flags, self.until, end - self.until).map(|()| end)
        };
        self.until = up_to(needed + STEP_BYTES).or_else(|_| up_to(needed))?;
        Ok(())
    }
}
