//! Faults on order, by which the tests see what a gate leaves behind that dies or stands still in the
//! middle of an exec, and that a clock that is set there changes nothing.
//!
//! Only a build with the feature `fault-injection` has them, and no release can: elsewhere all of this
//! is nothing.

#[cfg(feature = "fault-injection")]
mod armed;

#[cfg(feature = "fault-injection")]
pub(crate) use armed::{at, stepped, while_recording};

#[cfg(all(feature = "fault-injection", not(debug_assertions)))]
compile_error!("`fault-injection` is for the tests alone: build it without --release");

/// Where an exec is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The kernel has a question, which the gate has not taken.
    BeforeReceive,
    /// It waits for a person.
    Parked,
    /// Its task is traced, and nothing else is done about it.
    AfterSeize,
    /// The kernel goes on with it.
    AfterContinue,
    /// Its image is loaded, and nobody has looked at that.
    AtStop,
    /// A line of the log is being written.
    #[cfg(feature = "fault-injection")]
    WhileRecording,
}

/// Has the gate meet what is ordered for this phase.
#[cfg(not(feature = "fault-injection"))]
#[inline]
pub(crate) fn at(_phase: Phase) {}

/// The same as `line` is about to be written to `log`.
#[cfg(not(feature = "fault-injection"))]
#[inline]
pub(crate) fn while_recording(_log: &std::fs::File, _line: &[u8]) {}

/// What the wall clock shows, which an order may have set by an hour.
#[cfg(not(feature = "fault-injection"))]
#[inline]
pub(crate) fn stepped(now: jiff::Timestamp) -> jiff::Timestamp {
    now
}
