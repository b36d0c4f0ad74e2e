//! What a gate is as a process: which descriptors it keeps, what may stop it, what it may open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{close, dup2_stderr, dup2_stdin, dup2_stdout};

use crate::inherited::open_descriptors;

/// Clears close-on-exec, for a descriptor that the next child is to inherit.
pub(crate) fn keep_on_exec(fd: impl AsFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?)
}

/// Raises what the caller limited, as far as that may be: each exec in flight holds a few descriptors, and
/// neither a session's time nor its log's length is what a limit of CMD's is about. CMD has its own by now.
pub(crate) fn raise_limits() {
    for limit in [
        Resource::RLIMIT_NOFILE,
        Resource::RLIMIT_CPU,
        Resource::RLIMIT_FSIZE,
    ] {
        let raised = getrlimit(limit).and_then(|(_, most)| setrlimit(limit, most, most));
        if let Err(errno) = raised {
            tracing::warn!(%errno, ?limit, "a limit is not raised");
        }
    }
}

/// Has the kernel tell of children that end and tracees that stop. Where a caller ignores SIGCHLD, nobody
/// would be told, and wait(2) would find no child (sigaction(2), "`SA_NOCLDWAIT`"). To be called once
/// whoever is to inherit the caller's way has been started.
pub(crate) fn hear_of_children() -> io::Result<()> {
    if !ignores(Signal::SIGCHLD) {
        return Ok(());
    }
    // Any handler will do: the signal is read from a descriptor, or nobody needs it.
    let nobody_looks = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(libc::SIGCHLD, nobody_looks).map(drop)
}

/// Whether the caller has this process ignore a signal; yes, where nobody can tell.
pub(crate) fn ignores(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & 1 << (signal as i32 - 1) != 0)
}

/// Closes the gate's copies of what is CMD's: a pipe must end when CMD closes it.
pub(crate) fn leave_to_command(callers: &[RawFd]) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(close_each(callers)?)
}

/// Closes what is CMD's in a process that the gate starts, which has no more than its standard
/// descriptors.
pub(crate) fn close_callers() -> io::Result<()> {
    let mut open = open_descriptors().ok_or(io::ErrorKind::NotFound)?;
    open.retain(|fd| *fd > 2);
    Ok(close_each(&open)?)
}

pub(crate) fn close_each(fds: &[RawFd]) -> Result<(), Errno> {
    for fd in fds {
        match close(*fd) {
            Ok(()) | Err(Errno::EBADF) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Blocks what must not stop or end the gate, and reads SIGCHLD and SIGTERM from a descriptor.
/// A blocked SIGPIPE, SIGXFSZ, SIGTTOU … is an errno where it happens.
pub(crate) fn take_signals() -> io::Result<SignalFd> {
    hear_of_children()?;
    let mut read = SigSet::empty();
    read.add(Signal::SIGCHLD);
    read.add(Signal::SIGTERM);
    let mut blocked = read;
    for signal in [
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTSTP,
        Signal::SIGTTIN,
        Signal::SIGTTOU,
        Signal::SIGHUP,
        Signal::SIGPIPE,
        Signal::SIGXFSZ,
    ] {
        blocked.add(signal);
    }
    blocked.thread_block()?;
    Ok(SignalFd::with_flags(
        &read,
        SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
    )?)
}
