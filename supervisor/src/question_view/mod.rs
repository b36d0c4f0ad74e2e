//! A question as a person sees it, row by row: pure, for the screen and for the terminal prompt.
//!
//! Every row is printable ASCII, one column a character. What a task made up stands behind its own margin,
//! which it cannot write into, and whatever in it is hidden or misleads is spelled out. Nothing is left out
//! silently: what cannot be shown whole is named in [`QuestionView::gaps`], and such a question is to be
//! denied or left, not allowed.

mod facts;
mod rows;
mod visible;

pub(crate) use facts::{amendment_in_words, time_left};
pub(crate) use rows::{QuestionView, Row, Tone};
pub(crate) use visible::{in_ascii, word};

#[cfg(test)]
mod tests;
