//! The text that a shell is given: which commands stand in it, and what of it cannot be told.
//!
//! Nothing rests on it. What a shell starts is judged as it is started, whatever its text says; the
//! text is read to say beforehand what would be refused. It is hostile, and its parser is C: that
//! runs in a process of its own ([`process`]), with limits, and its silence is an answer too. Another
//! ([`keeper`]) starts it again.

mod analyser;
mod analysis;
mod command;
mod directory;
mod document;
pub(crate) mod keeper;
mod meaning;
mod message;
mod parse;
pub(crate) mod process;
mod words;

pub(crate) use analyser::{Analyser, NotAnalysed};
pub(crate) use analysis::{Analysis, Place, Redirect, Segment, Step};
pub(crate) use meaning::{Given, given_text, is_harmless_builtin};
pub(crate) use message::TextId;
