//! The text that a shell is given: which commands stand in it, and what of it cannot be told.
//!
//! Nothing rests on it. What a shell starts is judged as it is started, whatever its text says; the
//! text is read to say beforehand what would be refused. It is hostile, and its parser is C: that
//! runs in a process of its own ([`helper`]), with limits, and its silence is an answer too.

mod analysis;
mod command;
pub(crate) mod helper;
mod parse;
mod reader;
mod words;

pub(crate) use analysis::{Analysis, Redirect};
pub(crate) use reader::Reader;
