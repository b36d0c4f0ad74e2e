//! The text that a shell is given: which commands stand in it, and what of it cannot be told.
//!
//! Nothing rests on it. What a shell starts is judged as it is started, whatever its text says; the
//! text is read to say beforehand what would be refused. It is hostile, and its parser is C: that
//! runs in a process of its own ([`process`]), with limits, and its silence is an answer too.

mod analyser;
mod analysis;
mod meaning;
mod parse;
pub(crate) mod process;
mod words;

pub(crate) use analyser::Analyser;
pub(crate) use analysis::{Analysis, Redirect, Segment};
