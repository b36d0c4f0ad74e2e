//! ptrace between CONTINUE and the exec-stop: seize, meet the stop, let go.
//!
//! The tracer is the thread that seized, so everything here belongs to the gate's main thread.

mod stop;
mod sys;
mod wait;

pub(crate) use stop::{ExecStop, Stopped, interrupt, seize};
pub(crate) use wait::{CommandStatus, WaitEvent, next_event};
