//! What the front leaves open for the gate, by number on the command line.

#![expect(unsafe_code, reason = "inherited descriptors arrive as numbers")]

use std::ffi::OsString;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};

use crate::link::Link;
use crate::session::Inherited;
use crate::watch::Pulse;

/// Takes `__gate LINK PULSE` off `arguments`; `None` if they are not of that form, or the numbers
/// are not descriptors that only the front can have left.
pub(crate) fn take(arguments: &[OsString]) -> Option<(Inherited, &[OsString])> {
    let [_, link, pulse, rest @ ..] = arguments else {
        return None;
    };
    let number = |word: &OsString| word.to_str()?.parse::<RawFd>().ok().filter(|fd| *fd > 2);
    let (link, pulse) = (number(link)?, number(pulse)?);
    let open = open_descriptors()?;
    if link == pulse || !open.contains(&link) || !open.contains(&pulse) {
        return None;
    }
    // SAFETY: the number is open, as just seen, and the front left it for this process to own;
    // nothing else here has been opened by a number.
    let link_fd = unsafe { OwnedFd::from_raw_fd(link) };
    // SAFETY: as above, and it is another number.
    let pulse_fd = unsafe { OwnedFd::from_raw_fd(pulse) };
    for fd in [link_fd.as_fd(), pulse_fd.as_fd()] {
        rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC).ok()?;
    }
    let callers = open
        .into_iter()
        .filter(|fd| *fd > 2 && *fd != link && *fd != pulse)
        .collect();
    let inherited = Inherited {
        link: Link::from_fd(link_fd),
        pulse: Pulse::from_fd(pulse_fd),
        callers,
    };
    Some((inherited, rest))
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
