//! The prompt on the user's own terminal.
//!
//! ```text
//! user's terminal, raw, TIOCEXCL        a terminal of CMD's own
//!         ▲  │ keys                          ▲  │
//!         │  ▼                               │  ▼
//!        front ── bytes, unless it asks ── master ── slave ── CMD and all below it
//!          ▲
//!          └── questions, answers: the control channel of its gate, as any client
//! ```
//!
//! Nothing of the session can open the user's terminal, so nothing but a question can draw over all of it or
//! read what is typed at one.

mod asking;
mod console;
mod dialog;
mod guest;
mod holders;
mod own;
mod page;
mod pty;
mod relay;
mod screen;

pub(crate) use console::Console;
pub(crate) use guest::Guest;
pub(crate) use pty::{give, lead};

use std::io;

use rustix::io::Errno;

use crate::tracee::Tid;

/// Why nobody can be asked on the terminal. Its text is shown behind `execward: `.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalError {
    #[error("--prompt tty needs a terminal, and this process has none; {ELSEWHERE}")]
    None,
    #[error("the terminal cannot be closed to others: {0}; {ELSEWHERE}")]
    Closed(Errno),
    #[error(
        "process {0} has this terminal open, and could read what you answer or draw over what you are \
         asked: end it, or use another terminal; {ELSEWHERE}"
    )]
    Stranger(Tid),
    #[error("cannot make a terminal for CMD: {0}; {ELSEWHERE}")]
    Pty(io::Error),
}

/// What to do without.
const ELSEWHERE: &str = "with --prompt socket, `execward allow ID` answers from elsewhere";

/// Whether standard input and output both lead to the terminal that controls this process: then no other
/// program of a pipeline has it.
pub(crate) fn is_all_ours() -> bool {
    let open = [0, 1];
    holders::controlling().is_some_and(|terminal| holders::own(terminal, &open) == open)
}
