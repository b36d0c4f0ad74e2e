//! The clocks. The wall clock dates records and what a rule is good until, and anybody with the right may
//! set it; what comes first, and how long something waits, goes by clocks that nobody sets.

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

use crate::fault;

/// The wall clock. What is held against the stamps of files is read where that is done.
pub(crate) fn now() -> Timestamp {
    fault::stepped(Timestamp::now())
}

/// Nanoseconds of `CLOCK_BOOTTIME`.
pub(crate) fn boot_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let nanoseconds = now.tv_sec.saturating_mul(1_000_000_000) + now.tv_nsec;
    u64::try_from(nanoseconds).unwrap_or(0)
}
