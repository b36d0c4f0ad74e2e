//! Who has a terminal open.

use std::os::fd::RawFd;

use nix::unistd::getsid;
use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};

use crate::tracee::{Procfs, Tid};

/// Longest chain of parents that is followed.
const ANCESTORS_MAX: usize = 4096;

/// `/dev/tty`: whichever terminal controls the process that opened it.
const CONTROLLING: (u32, u32) = (5, 0);

/// Where a process's controlling terminal stands behind its name: proc_pid_stat(5), field 7.
const STAT_TTY: usize = 4;

/// The device of the terminal that controls this process.
pub(super) fn controlling() -> Option<u64> {
    controlling_of("self")
}

fn controlling_of(process: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything, a bracket too.
    let (_, fields) = stat.rsplit_once(')')?;
    let number: i64 = fields.split_whitespace().nth(STAT_TTY)?.parse().ok()?;
    let number = u32::try_from(number).ok().filter(|number| *number != 0)?;
    let major = number >> 8 & 0xfff;
    let minor = number & 0xff | number >> 12 & 0xf_ff00;
    Some(makedev(major, minor))
}

/// Whether descriptor `fd` of `process` is that terminal.
fn is_open_in(process: &str, fd: &str, terminal: u64) -> bool {
    let path = format!("/proc/{process}/fd/{fd}");
    let quietly = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let Ok(seen) = statx(CWD, path, quietly, StatxFlags::TYPE) else {
        return false;
    };
    let device = (seen.stx_rdev_major, seen.stx_rdev_minor);
    makedev(device.0, device.1) == terminal
        || device == CONTROLLING && controlling_of(process) == Some(terminal)
}

/// Which of the calling process's own descriptors are that terminal.
pub(super) fn own(terminal: u64, open: &[RawFd]) -> Vec<RawFd> {
    let is_it = |fd: &&RawFd| is_open_in("self", &fd.to_string(), terminal);
    open.iter().filter(is_it).copied().collect()
}

/// A process that has `terminal` open and is none of those that a person's shell has there: of another
/// session than this process and not above it, or under more filters, as what a session of execward left
/// behind is. What this process may not look into is not seen.
pub(super) fn stranger(terminal: u64, proc: &Procfs) -> Option<Tid> {
    let above = ancestors(proc);
    let own_filters = filters(proc, Tid::own())?;
    let processes = proc.processes().unwrap_or_default();
    processes.into_iter().find(|process| {
        let has_more_filters = || filters(proc, *process).is_some_and(|it| it > own_filters);
        let is_of_another =
            || !above.contains(process) && getsid(Some(process.as_pid())) != getsid(None);
        (is_of_another() || has_more_filters()) && has_open(*process, terminal)
    })
}

fn has_open(process: Tid, terminal: u64) -> bool {
    let process = process.to_string();
    let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    open.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .any(|fd| is_open_in(&process, &fd, terminal))
}

fn filters(proc: &Procfs, process: Tid) -> Option<u32> {
    proc.task(process).ok()?.filters().ok()
}

/// This process, its parent, and so on.
fn ancestors(proc: &Procfs) -> Vec<Tid> {
    let mut chain = vec![Tid::own()];
    while chain.len() < ANCESTORS_MAX
        && let Some(last) = chain.last()
        && let Ok(status) = proc.status(*last)
        && status.ppid.as_u32() != 0
    {
        chain.push(status.ppid);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_no_terminal_and_its_holder_no_stranger() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        assert_eq!(own(makedev(1, 3), &[fd]), [fd]);
        assert!(own(makedev(136, 0), &[fd]).is_empty());
        // No such device.
        assert_eq!(
            stranger(makedev(136, 0xf_ffff), &Procfs::open().unwrap()),
            None
        );
    }
}
