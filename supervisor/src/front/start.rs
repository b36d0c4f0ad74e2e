//! The front's first steps.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{dup2_stdin, dup2_stdout};

use super::FrontError;
use crate::inherited::NONE;
use crate::link::Link;
use crate::own_process::{hear_of_children, keep_on_exec};
use crate::system::cannot;
use crate::terminal::Guest;
use crate::watch::Pulse;

/// Starts `execward __gate LINK PULSE TERMINAL VISITOR …` in a process group of its own, out of the terminal's way. It
/// leads a session by itself if CMD has a terminal of its own.
pub(super) fn start_gate(
    link: &Link,
    pulse: &Pulse,
    guest: Option<&Guest>,
    visitor: Option<&OwnedFd>,
    arguments: Vec<OsString>,
) -> Result<Child, FrontError> {
    const START: &str = "start the gate";
    keep_on_exec(link).map_err(cannot(START))?;
    keep_on_exec(pulse).map_err(cannot(START))?;
    let number = |fd: RawFd| fd.to_string();
    let mut gate = Command::new("/proc/self/exe");
    gate.arg0("execward")
        .arg("__gate")
        .arg(number(link.as_fd().as_raw_fd()))
        .arg(number(pulse.as_fd().as_raw_fd()));
    match guest {
        None => gate.arg(NONE).process_group(0),
        Some(guest) => {
            keep_on_exec(guest).map_err(cannot(START))?;
            guest.dress(&mut gate).map_err(cannot(START))?;
            // Whoever leads a group can lead no session.
            gate.arg(number(guest.as_fd().as_raw_fd()))
        }
    };
    match visitor {
        None => gate.arg(NONE),
        Some(visitor) => {
            keep_on_exec(visitor).map_err(cannot(START))?;
            gate.arg(number(visitor.as_raw_fd()))
        }
    };
    let child = gate.args(arguments).spawn().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            FrontError::NoExecutable(error)
        } else {
            cannot(START)(error).into()
        }
    })?;
    let closed = rustix::io::fcntl_setfd(pulse, rustix::io::FdFlags::CLOEXEC);
    closed.map_err(cannot(START))?;
    Ok(child)
}

/// Standard output and input are CMD's: a reader must see them end when CMD closes them.
pub(super) fn leave_output_to_command(null: &File) -> nix::Result<()> {
    dup2_stdin(null)?;
    dup2_stdout(null)
}

/// Blocks every signal, so that none ends the front with the terminal as a question left it, and reads them
/// from a descriptor: they are meant for CMD. SIGKILL and SIGSTOP cannot be blocked.
pub(super) fn take_signals() -> io::Result<SignalFd> {
    hear_of_children()?;
    let mut blocked = SigSet::all();
    blocked.remove(Signal::SIGCHLD);
    let mut read = blocked;
    // The front's own: a line that makes a file too large, or that nobody reads, is an errno.
    read.remove(Signal::SIGXFSZ);
    read.remove(Signal::SIGPIPE);
    blocked.thread_block()?;
    Ok(SignalFd::with_flags(
        &read,
        SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
    )?)
}
