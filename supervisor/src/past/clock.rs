//! The wall clock, as file systems stamp changes with it.
//!
//! A stamp is the time of the last tick, or since Linux 6.13 on some file systems the exact time: it is
//! never before the last tick and never after now. So a span begins at the last tick and ends now, and
//! what is stamped in it is within it. Whoever sets the clock back hides a change: that needs root.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Longer than a tick of any kernel (`CONFIG_HZ=100`).
const TICK_MAX: Duration = Duration::from_millis(20);

/// The last tick: nothing is stamped earlier from here on.
pub(super) fn last_tick() -> Timestamp {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    stamp(now.tv_sec, now.tv_nsec)
}

/// Now: nothing was stamped later so far.
pub(super) fn now() -> Timestamp {
    let now = clock_gettime(ClockId::Realtime);
    stamp(now.tv_sec, now.tv_nsec)
}

/// A time of the kernel's. What is out of range is later than everything.
pub(crate) fn stamp(seconds: i64, nanoseconds: i64) -> Timestamp {
    let nanoseconds = i32::try_from(nanoseconds).unwrap_or(0);
    Timestamp::new(seconds, nanoseconds).unwrap_or(Timestamp::MAX)
}

/// Waits until whatever is stamped is stamped later than `time`: a tick at most.
pub(super) fn pass(time: Timestamp) {
    let start = Instant::now();
    while last_tick() <= time && start.elapsed() < TICK_MAX {
        std::thread::sleep(Duration::from_micros(200));
    }
}
