//! `execward run`, as its user starts it, and as the front starts it again for a gate.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command, RunArgs};
use crate::door::{Door, DoorError};
use crate::exit::ExitStatus;
use crate::expect::{ExpectError, Expectations};
use crate::front::{self, FrontError};
use crate::ptrace::CommandStatus;
use crate::{inherited, policy, session};

/// Why `run` has no status of CMD's.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{0}")]
    Front(#[from] FrontError),
    #[error("{0}")]
    Expect(#[from] ExpectError),
    #[error("{0}")]
    Policy(#[from] policy::PolicyError),
    #[error("{0}")]
    Door(#[from] DoorError),
}

impl RunError {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Door(DoorError::Ended(signal)) => {
                ExitStatus::Command(CommandStatus::Signaled(*signal as i32))
            }
            Self::Front(_) | Self::Expect(_) | Self::Policy(_) | Self::Door(_) => {
                ExitStatus::OwnFailure
            }
        }
    }
}

/// Runs a session, and compares it with what is expected of it.
pub(crate) fn run(args: &RunArgs, arguments: Vec<OsString>) -> Result<ExitStatus, RunError> {
    let expectations = Expectations::of(args)?;
    let awaits_log = expectations.is_some();
    let visitor = args.socket.as_deref();
    let visitor = visitor.map(|socket| visitor_at(socket, args)).transpose()?;
    let prompt = args.prompt();
    let (status, logged) = front::run(arguments, args.quiet, prompt, awaits_log, visitor)?;
    match expectations {
        None => Ok(status),
        Some(expectations) => Ok(expectations.judge(status, logged.as_ref())?),
    }
}

/// Waits for a process that hands itself over to become CMD. A policy with faults is none to wait with.
fn visitor_at(socket: &Path, args: &RunArgs) -> Result<OwnedFd, RunError> {
    policy::check_before(&args.policy, &args.state)?;
    let door = Door::open(socket)?;
    if !args.quiet {
        front::say(&door.in_words());
    }
    Ok(door.wait()?)
}

/// `__gate LINK PULSE TERMINAL VISITOR run …`: see [`session`].
pub(crate) fn gate(name: &OsString, arguments: &[OsString]) -> ExitCode {
    let Some((inherited, rest)) = inherited::take(arguments) else {
        return ExitStatus::OwnFailure.into();
    };
    let given = [name.clone()].into_iter().chain(rest.iter().cloned());
    let Ok(Cli {
        command: Command::Run(run),
    }) = Cli::try_parse_from(given)
    else {
        return ExitStatus::OwnFailure.into();
    };
    if session::run(&run, inherited) {
        ExitStatus::Success
    } else {
        ExitStatus::OwnFailure
    }
    .into()
}
