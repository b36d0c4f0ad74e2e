//! Word of questions that leaves the session: to a higher supervisor, and to a program of the user's.
//!
//! The gate starts no program once its session runs, waits for nobody, and is under filters that no control
//! channel takes an answer through. So a process that it starts before, `execward __messenger`, does both, and
//! says what came of it. It runs as whoever started execward, outside the session's filter.

mod message;
mod post;
pub(crate) mod process;
mod program;
mod route;

pub(crate) use message::{FromMessenger, ToMessenger};
pub(crate) use post::Messenger;
pub(crate) use program::{real, trusted};
