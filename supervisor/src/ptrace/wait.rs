//! Raw wait statuses into events: the only decoder.
//!
//! nix's own refuses statuses that name a real-time signal, and loses the pid with them.

use nix::errno::Errno;
use rustix::process::{WaitOptions, wait};

use super::stop::{ExecStop, Stopped};
use crate::tracee::Tid;

/// How a process ended, or that it stands still: what its parent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum CommandStatus {
    /// It called exit with this code.
    Exited(u8),
    /// This signal ended it.
    Signaled(i32),
    /// It has ended, and this kernel does not tell how: it was no child of the gate's.
    Unseen,
}

impl CommandStatus {
    /// What a wait status says of an end; `None` if it is none.
    pub(crate) fn of_end(status: i32) -> Option<Self> {
        if libc::WIFEXITED(status) {
            let code = u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX);
            return Some(Self::Exited(code));
        }
        libc::WIFSIGNALED(status).then(|| Self::Signaled(libc::WTERMSIG(status)))
    }
}

/// One answer of waitpid(2).
#[derive(Debug)]
pub(crate) enum WaitEvent {
    /// A child or tracee is gone and reaped.
    Ended { tid: Tid, status: CommandStatus },
    /// A child that is not traced was stopped by this signal.
    Paused { tid: Tid, signal: i32 },
    /// A child that was stopped runs again.
    Resumed,
    /// A tracee has loaded its new image and has not run an instruction of it.
    Exec(ExecStop),
    /// A tracee stands still for another reason: its exec, if any, has returned.
    Stopped(Stopped),
}

/// `__WALL`: children of every kind, tracees that are not children included. rustix names no
/// Linux-only option.
const ALL_KINDS: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL.cast_unsigned());

/// The next event, if there is one.
///
/// `waitpid(-1, __WALL | WNOHANG | WUNTRACED | WCONTINUED)`. Only the main thread may call this:
/// it collects whatever child or tracee comes first.
///
/// # Errors
/// What waitpid(2) answers; without any child there is no event and no error.
pub(crate) fn next_event() -> Result<Option<WaitEvent>, Errno> {
    let options = ALL_KINDS | WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
    match wait(options) {
        Ok(Some((pid, status))) => {
            let tid = Tid::from_wait(pid);
            Ok(Some(decode(tid, status.as_raw())))
        }
        Ok(None) | Err(rustix::io::Errno::CHILD) => Ok(None),
        Err(errno) => Err(Errno::from_raw(errno.raw_os_error())),
    }
}

fn decode(tid: Tid, status: i32) -> WaitEvent {
    if let Some(status) = CommandStatus::of_end(status) {
        return WaitEvent::Ended { tid, status };
    }
    if libc::WIFCONTINUED(status) {
        return WaitEvent::Resumed;
    }
    // ptrace(2): the event is in the bits above the stop signal.
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        libc::PTRACE_EVENT_EXEC => WaitEvent::Exec(ExecStop::new(tid)),
        // A group-stop of a tracee: it goes on standing still without us.
        libc::PTRACE_EVENT_STOP => WaitEvent::Stopped(Stopped::at_event(tid)),
        0 => WaitEvent::Paused { tid, signal },
        _ => WaitEvent::Stopped(Stopped::at_event(tid)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(status: i32) -> WaitEvent {
        decode(Tid::new(7), status)
    }

    #[test]
    fn exits_and_signals_are_told_apart() {
        assert!(matches!(
            at(3 << 8),
            WaitEvent::Ended {
                status: CommandStatus::Exited(3),
                ..
            }
        ));
        assert!(matches!(
            at(9),
            WaitEvent::Ended {
                status: CommandStatus::Signaled(9),
                ..
            }
        ));
        let real_time_with_core = 0x80 | 40;
        assert!(matches!(
            at(real_time_with_core),
            WaitEvent::Ended {
                status: CommandStatus::Signaled(40),
                ..
            }
        ));
    }

    #[test]
    fn stops_are_told_apart() {
        let stop = |signal: i32, event: i32| event << 16 | signal << 8 | 0x7f;
        let exec = at(stop(libc::SIGTRAP, libc::PTRACE_EVENT_EXEC));
        assert!(matches!(exec, WaitEvent::Exec(_)));
        let group = at(stop(libc::SIGTSTP, libc::PTRACE_EVENT_STOP));
        assert!(matches!(group, WaitEvent::Stopped(_)));
        assert!(matches!(
            at(stop(40, 0)),
            WaitEvent::Paused { signal: 40, .. }
        ));
        assert!(matches!(at(0xffff), WaitEvent::Resumed));
    }
}
