//! `execward watch`: the approver's screen.
//!
//! ```text
//! terminal ─ keys ─┐                       ┌─ rows ─► terminal
//! gate ─ messages ─┼─► Screen (pure state) ┤
//! signals, clock ──┘                       └─ Effect ─► gate, job control, the end
//! ```
//!
//! Whoever can read the terminal's keys or draw on it could answer in the approver's stead. So the terminal
//! is the screen's alone before the first question is drawn ([`terminal`]), and an answer is taken only with
//! a code that stands below the question as it was drawn afresh for it ([`code`]).

mod card;
mod choice;
mod code;
mod draw;
mod holders;
mod keys;
mod layout;
mod paint;
mod press;
mod signals;
mod state;
mod terminal;
mod watching;

pub(crate) use code::Code;
pub(crate) use watching::{ScreenError, watch};
