//! Questions to a person: which are open, what each is about, what was said for the session.
//! No clocks and no I/O.

mod amendment;
mod facts;
mod pending;
mod prompt;
mod refused;
mod shown;
mod waiting;

pub(crate) use amendment::{Reach, ShownAmendment};
pub(crate) use facts::{CallDigest, FactsDigest};
pub(crate) use pending::{NotAnswered, Pending, Release};
pub(crate) use prompt::{Approvers, Prompt, Seat, in_words};
pub(crate) use refused::Refused;
pub(crate) use shown::{ShownScript, ShownVariables};
pub(crate) use waiting::Waiting;
