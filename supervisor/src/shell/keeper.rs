//! The process that keeps a parser: `execward __shell`, which starts one when a text comes, and again
//! when a text was its end.
//!
//! The gate starts no programs once its session runs: their ends would be mixed with those of the
//! session's own processes. So this one does, over the same socket, and says when a parser died.

use std::io::{self, stdin};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use rustix::net::SendFlags;

use super::message::{Answer, TextId};
use super::process;
use crate::fdpass;
use crate::own_process::{close_callers, hear_of_children};

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__shell";

/// Keeps a parser until the other end of the socket is closed.
pub(crate) fn main() -> ExitCode {
    match keep(stdin()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn keep(socket: impl AsFd) -> io::Result<()> {
    close_callers()?;
    prctl::set_dumpable(false)?;
    hear_of_children()?;
    loop {
        await_text(&socket)?;
        let ended = Command::new("/proc/self/exe")
            .arg0("execward")
            .arg(process::ARGUMENT)
            .env_clear()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        match ended.code() {
            // Nobody asks any more.
            Some(0) => return Ok(()),
            // It cannot work here, and another could not either.
            Some(_) => return Err(io::Error::other("the parser gave up")),
            None => {
                let died = Answer::NotAnalysed("the parser died of it".to_owned());
                let packet = died.encode(TextId::CURRENT)?;
                fdpass::send(socket.as_fd(), &packet, &[], SendFlags::empty())?;
            }
        }
    }
}

/// Waits for a text, or for the end.
fn await_text(socket: &impl AsFd) -> io::Result<()> {
    loop {
        let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            polled => return polled.map(drop).map_err(io::Error::from),
        }
    }
}
