//! Who else has a terminal open.
//!
//! Whoever has could read what is typed and draw on it. The processes above this one have it open by right,
//! a shell first of all. Those of other users cannot be looked at without root's rights; the kernel let
//! them have the terminal only if its owner did.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::unistd::{Pid, getpid, getsid};

/// How often it is looked at before somebody is said to have it.
const LOOKS: u32 = 5;

/// The time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// A process that has it open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pid: i32,
    name: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (process {})", self.name.escape_debug(), self.pid)
    }
}

/// A process that has this process's terminal, a device of that number, open beside it and those above, and
/// keeps it: whoever is started by one of those has it until it execs.
///
/// # Errors
/// If the processes cannot be listed.
pub(super) fn find(device: u64) -> io::Result<Option<Holder>> {
    for _ in 1..LOOKS {
        if look(device)?.is_none() {
            return Ok(None);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    look(device)
}

fn look(device: u64) -> io::Result<Option<Holder>> {
    let own = getpid().as_raw();
    let above = above(own);
    let session = getsid(None)?;
    for entry in fs::read_dir("/proc")? {
        let Ok(name) = entry?.file_name().into_string() else {
            continue;
        };
        let Ok(pid) = name.parse::<i32>() else {
            continue;
        };
        if pid == own || above.contains(&pid) {
            continue;
        }
        if has_open(pid, device, session) {
            let name = fs::read_to_string(format!("/proc/{pid}/comm"));
            let name = name.unwrap_or_default().trim_end().to_owned();
            return Ok(Some(Holder { pid, name }));
        }
    }
    Ok(None)
}

/// Whether one of a process's descriptors is that terminal. Those that end meanwhile have none.
fn has_open(pid: i32, device: u64, session: Pid) -> bool {
    let Ok(fds) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    fds.flatten().any(|fd| {
        let Ok(target) = fs::read_link(fd.path()) else {
            return false;
        };
        // Its own terminal, whatever that is called.
        if target == Path::new("/dev/tty") {
            return getsid(Some(Pid::from_raw(pid))) == Ok(session);
        }
        // Nothing else is looked at: another file system might not answer.
        target.starts_with("/dev") && fs::metadata(fd.path()).is_ok_and(|it| it.rdev() == device)
    })
}

/// The processes above, nearest first.
fn above(pid: i32) -> Vec<i32> {
    let mut above = Vec::new();
    let mut next = parent(pid);
    while let Some(pid) = next.filter(|pid| *pid > 0 && !above.contains(pid)) {
        above.push(pid);
        next = parent(pid);
    }
    above
}

fn parent(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}
