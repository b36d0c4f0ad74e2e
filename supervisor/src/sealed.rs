//! The kernel's own files, closed to a session of root.
//!
//! User 0 may write most of `/proc/sys` and `/sys` by owning it, without a capability: what it names
//! as `core_pattern` the kernel starts outside every filter (tried). So the gate moves into a mount
//! namespace in which these directories are read-only, and whoever it starts is in there with it.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount_bind_recursive, mount_change, mount_remount,
};

use crate::exec::Standing;
use crate::hidden::HideError;
use crate::kernel::Kernel;
use crate::pid_namespace::PidNamespaceError;
use crate::plan::Plan;
use crate::session::SessionError;
use crate::system::cannot;
use crate::tracee::Procfs;

/// The directories.
const SEALED: [&str; 3] = ["/proc/sys", "/sys/kernel", "/sys/fs/cgroup"];

/// Why they are not closed.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot make `{directory}` read-only for a session of root ({error}), which could then undo the \
     gate; run execward as a user of its own, or with --keep-caps, and nothing is promised against root"
)]
pub(crate) struct SealError {
    directory: &'static str,
    error: io::Error,
}

/// The kernel as CMD is to see it: with these directories closed, if they need to be.
///
/// # Errors
/// If they cannot be closed, or proc or the root directory cannot be looked at.
pub(crate) fn kernel(plan: &Plan<'_>) -> Result<Kernel, SessionError> {
    const LOOK: &str = "look at proc and at the root directory";
    if !plan.needs_namespace() {
        return Ok(Kernel::open().map_err(cannot(LOOK))?);
    }
    let proc = Procfs::open().map_err(cannot(LOOK))?;
    let outside = Standing::own(&proc).map_err(cannot(LOOK))?;
    let own = own_namespace();
    if plan.closes_kernel() {
        seal(&own)?;
    }
    match own {
        Err(error) if plan.args.hide_state => return Err(HideError::Namespace(error).into()),
        Err(error) if plan.args.pid_namespace => {
            return Err(PidNamespaceError::NotRoot(error).into());
        }
        Ok(()) | Err(_) => {}
    }
    let mut kernel = Kernel::open().map_err(cannot(LOOK))?;
    kernel.session.is_seen_from(outside);
    Ok(kernel)
}

/// Closes them, in a mount namespace of the session's own.
///
/// # Errors
/// If one of them can still be written.
fn seal(own: &io::Result<()>) -> Result<(), SealError> {
    for directory in SEALED {
        let sealed = match own {
            Ok(()) => close(directory),
            Err(error) => Err(io::Error::from(error.kind())),
        };
        if let Err(error) = sealed
            && !is_read_only(directory)
        {
            return Err(SealError { directory, error });
        }
    }
    Ok(())
}

/// A mount namespace in which later mounts of the outside appear, and none of it outside. The calling
/// thread must be the only one.
fn own_namespace() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let downstream = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    Ok(mount_change("/", downstream)?)
}

/// Makes a directory and every mount below it read-only.
pub(crate) fn close(directory: &str) -> io::Result<()> {
    mount_bind_recursive(directory, directory)?;
    for (point, flags) in mounts_below(directory)? {
        mount_remount(point, flags | MountFlags::BIND | MountFlags::RDONLY, "")?;
    }
    Ok(())
}

/// Where something is mounted at `directory` or below, and how.
pub(crate) fn mounts_below(directory: &str) -> io::Result<Vec<(String, MountFlags)>> {
    let table = fs::read_to_string("/proc/self/mountinfo")?;
    let mounts = table.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        let (point, options) = (unescaped(fields.next()?), fields.next()?);
        is_below(&point, directory).then(|| (point, flags_of(options)))
    });
    Ok(mounts.collect())
}

/// Whether `path` is `directory` or lies in it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The flags of a mount, which a remount must name again: proc_pid_mountinfo(5).
fn flags_of(options: &str) -> MountFlags {
    let flag = |option| match option {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    options.split(',').map(flag).collect()
}

/// The path that the table shows, where a space is `\040`.
fn unescaped(point: &str) -> String {
    let spaced = point.replace("\\040", " ").replace("\\011", "\t");
    spaced.replace("\\012", "\n").replace("\\134", "\\")
}

fn is_read_only(directory: &str) -> bool {
    match statvfs(directory) {
        Ok(seen) => seen.flags().contains(FsFlags::ST_RDONLY),
        // What is not there cannot be written.
        Err(errno) => errno == nix::errno::Errno::ENOENT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remount_names_the_flags_that_were() {
        let flags = flags_of("rw,nosuid,noexec,relatime");
        let expected = MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::RELATIME;
        assert_eq!(flags, expected);
        assert_eq!(unescaped("/sys/a\\040b"), "/sys/a b");
    }
}
