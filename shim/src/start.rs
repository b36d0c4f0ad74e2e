//! The shim's one act, top to bottom.

use std::ffi::OsString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nix::errno::Errno;
use nix::fcntl::{F_GETFD, F_SETFD, FdFlag, fcntl};

use crate::handshake::{self, Answer, Stage};
use crate::rights::Rights;
use crate::{filter, install};

/// Exit status when the shim itself failed: CMD never ran.
pub const OWN_FAILURE: u8 = 125;
/// Exit status when CMD was found and could not be executed, or was refused.
pub const CANNOT_EXEC: u8 = 126;
/// Exit status when CMD was not found.
pub const NOT_FOUND: u8 = 127;

/// Runs the shim with the arguments `SOCKET RIGHTS CMD [ARG]...` and returns only if CMD does not run.
///
/// `SOCKET` is the number of an inherited end of a `SOCK_SEQPACKET` pair, `RIGHTS` a word of [`Rights`].
/// Nothing is printed: the gate learns of every failure over the socket, and says it to whoever is to know.
pub fn main(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Some((socket, rights, command)) = parse(arguments) else {
        return ExitCode::from(OWN_FAILURE);
    };
    match become_command(&socket, &rights, command) {
        Ok(never) => match never {},
        Err(failure) => failure.exit_code(),
    }
}

/// Why CMD does not run.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A step failed, and the gate has been told so, if it is there.
    Step { stage: Stage, errno: Errno },
    /// The gate says why.
    Refused(String),
    /// The gate said nothing, or what this shim does not understand.
    NoAnswer(io::Error),
}

impl Failure {
    fn at(stage: Stage) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Step {
            stage,
            errno: error
                .raw_os_error()
                .map_or(Errno::UnknownErrno, Errno::from_raw),
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Step {
                stage: Stage::Exec,
                errno: Errno::ENOENT | Errno::ENOTDIR,
            } => NOT_FOUND,
            Self::Step {
                stage: Stage::Exec, ..
            } => CANNOT_EXEC,
            Self::Step { .. } | Self::Refused(_) | Self::NoAnswer(_) => OWN_FAILURE,
        })
    }
}

/// A type without values: [`become_command`] does not return when it succeeds.
pub(crate) enum Never {}

/// Takes on `rights`, hands the listener over by `socket`, and executes `command` when the gate says so.
///
/// # Errors
/// If CMD does not run, as the gate is told.
pub(crate) fn become_command(
    socket: &OwnedFd,
    rights: &Rights,
    command: Command,
) -> Result<Never, Failure> {
    let supervised = take_filter(socket, rights);
    let failure = match supervised.and_then(|()| exec_if_told(socket, command)) {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    if let Failure::Step { stage, errno } = failure {
        // A gate that is gone cannot be told, and its listener is gone with it.
        drop(handshake::send_failure(socket, stage, errno));
    }
    Err(failure)
}

fn take_filter(socket: &OwnedFd, rights: &Rights) -> Result<(), Failure> {
    nix::sys::prctl::set_no_new_privs().map_err(|errno| Failure::Step {
        stage: Stage::NoNewPrivs,
        errno,
    })?;
    rights.take_on().map_err(Failure::at(Stage::Rights))?;
    let program = filter::program().map_err(|_| Failure::Step {
        stage: Stage::Compile,
        errno: Errno::EINVAL,
    })?;

    // Last of all: from here on, any exec of this process waits for the gate.
    let listener = install::install(&program).map_err(Failure::at(Stage::Install))?;
    handshake::send_listener(socket, &listener).map_err(Failure::NoAnswer)
}

fn exec_if_told(socket: &OwnedFd, mut command: Command) -> Result<Never, Failure> {
    match handshake::await_answer(socket).map_err(Failure::NoAnswer)? {
        Answer::Refused(why) => Err(Failure::Refused(why)),
        // Searches PATH as execvp(3) does, and gives CMD the default SIGPIPE that Rust's start-up took.
        Answer::Go => Err(Failure::at(Stage::Exec)(command.exec())),
    }
}

fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<(OwnedFd, Rights, Command)> {
    let socket: RawFd = arguments.next()?.to_str()?.parse().ok()?;
    let socket = adopt(socket)?;
    let rights = arguments.next()?.to_str()?.parse().ok()?;
    let mut command = Command::new(arguments.next()?);
    command.args(arguments);
    Some((socket, rights, command))
}

/// Takes the inherited socket over and makes it close-on-exec, so that CMD never sees it.
#[expect(unsafe_code, reason = "an inherited descriptor arrives as a number")]
fn adopt(raw: RawFd) -> Option<OwnedFd> {
    if raw <= 2 {
        return None;
    }
    // SAFETY: `raw` was named on the command line by the gate, which left it open for this
    // process; nothing else here opens or owns it, and the check below fails if it is not open.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    let flags = match fcntl(&socket, F_GETFD) {
        Ok(bits) => FdFlag::from_bits_retain(bits) | FdFlag::FD_CLOEXEC,
        Err(_) => {
            // Not open: forget the number instead of closing what is not ours.
            std::mem::forget(socket);
            return None;
        }
    };
    fcntl(&socket, F_SETFD(flags)).ok()?;
    Some(socket)
}
