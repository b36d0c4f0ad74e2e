//! What the front leaves open for the gate, by number on the command line.

#![expect(unsafe_code, reason = "inherited descriptors arrive as numbers")]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};

use crate::link::Link;
use crate::own_process::close_each;
use crate::plan::Plan;
use crate::system::{SystemError, cannot};
use crate::watch::Pulse;

/// What the front handed over, and which descriptors are the caller's.
#[derive(Debug)]
pub(crate) struct Inherited {
    pub(crate) link: Link,
    pub(crate) pulse: Pulse,
    /// CMD's terminal, if the front asks on the user's.
    pub(crate) terminal: Option<OwnedFd>,
    /// The connection of a process that hands itself over to become CMD.
    pub(crate) visitor: Option<OwnedFd>,
    /// Descriptors above 2 that are CMD's to inherit and not the gate's to keep.
    pub(crate) callers: Vec<RawFd>,
}

/// The word for a descriptor where there is none.
pub(crate) const NONE: &str = "-";

/// Takes `__gate LINK PULSE TERMINAL VISITOR` off `arguments`; `None` if they are not of that form, or the numbers
/// are not descriptors that only the front can have left.
pub(crate) fn take(arguments: &[OsString]) -> Option<(Inherited, &[OsString])> {
    let [_, link, pulse, terminal, visitor, rest @ ..] = arguments else {
        return None;
    };
    let number = |word: &OsString| word.to_str()?.parse::<RawFd>().ok().filter(|fd| *fd > 2);
    let (link, pulse) = (number(link)?, number(pulse)?);
    let number_if_any = |word: &OsString| match word.to_str() {
        Some(NONE) => Some(None),
        _ => number(word).map(Some),
    };
    let (terminal, visitor) = (number_if_any(terminal)?, number_if_any(visitor)?);
    let open = open_descriptors()?;
    let handed_over = [link, pulse].into_iter().chain(terminal).chain(visitor);
    let handed_over: Vec<_> = handed_over.collect();
    let numbers: BTreeSet<_> = handed_over.iter().collect();
    if numbers.len() != handed_over.len() || !handed_over.iter().all(|fd| open.contains(fd)) {
        return None;
    }
    // SAFETY: the number is open, as just seen, and the front left it for this process to own;
    // nothing else here has been opened by a number.
    let link_fd = unsafe { OwnedFd::from_raw_fd(link) };
    // SAFETY: as above, and it is another number.
    let pulse_fd = unsafe { OwnedFd::from_raw_fd(pulse) };
    // SAFETY: as above, and it is a third number.
    let terminal_fd = terminal.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    // SAFETY: as above, and it is a fourth number.
    let visitor_fd = visitor.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    let fds = [link_fd.as_fd(), pulse_fd.as_fd()];
    let optional = [&terminal_fd, &visitor_fd].into_iter().flatten();
    for fd in fds.into_iter().chain(optional.map(AsFd::as_fd)) {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC).ok()?;
    }
    let callers = open
        .into_iter()
        .filter(|fd| *fd > 2 && !handed_over.contains(fd))
        .collect();
    let inherited = Inherited {
        link: Link::from_fd(link_fd),
        pulse: Pulse::from_fd(pulse_fd),
        terminal: terminal_fd,
        visitor: visitor_fd,
        callers,
    };
    Some((inherited, rest))
}

/// Which of the caller's descriptors above 2 CMD gets.
pub(crate) fn commands_own<'c>(
    callers: &'c [RawFd],
    plan: &Plan<'_>,
) -> Result<&'c [RawFd], SystemError> {
    if plan.cmd.has_callers_descriptors() {
        return Ok(callers);
    }
    close_each(callers).map_err(cannot("close the caller's descriptors"))?;
    Ok(&[])
}

/// Every open descriptor but that of the directory they are read from.
pub(crate) fn open_descriptors() -> Option<Vec<RawFd>> {
    let numbers: Vec<RawFd> = std::fs::read_dir("/proc/self/fd")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    let is_open = |fd: &RawFd| nix::fcntl::fcntl(borrow(*fd), nix::fcntl::F_GETFD).is_ok();
    Some(numbers.into_iter().filter(is_open).collect())
}

fn borrow(fd: RawFd) -> std::os::fd::BorrowedFd<'static> {
    // SAFETY: used for one F_GETFD, which is defined for any number and answers EBADF for one that
    // is not open; -1 does not occur among names of proc.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) }
}
