//! What kind of file system a file lies on, without asking that file system.
//!
//! fstatfs(2) may block on a file server that does not answer (tried), so the type is read from the
//! task's mount table and kept by the mount's number, which the kernel never uses again.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Statx, StatxFlags, statx};
use rustix::io::Errno;

use crate::tracee::TaskDir;

/// Whether a file's identity and content are the kernel's own to vouch for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filesystem {
    /// Memory or a block device of this machine.
    Local,
    /// Proc: links on it mean other files to other tasks.
    Proc,
    /// A server chooses inode numbers and bytes, or the type is not known: FUSE, 9p, network.
    Unstable,
}

/// Types that keep inode numbers and content by themselves. What is not listed is unstable.
const LOCAL_TYPES: &[&str] = &[
    "bcachefs", "btrfs", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "iso9660",
    "overlay", "ramfs", "rootfs", "squashfs", "tmpfs", "vfat", "xfs", "zfs",
];

/// Mounts seen so far.
#[derive(Debug, Default)]
pub(crate) struct Filesystems {
    by_mount: HashMap<u64, Filesystem>,
}

/// Most mounts remembered; a session that makes more starts the memory afresh.
const MOUNTS_MAX: usize = 4096;

/// `STATX_MNT_ID_UNIQUE` of linux/stat.h (Linux 6.8): a mount number that is never used again.
pub(super) const UNIQUE_MOUNT: StatxFlags = StatxFlags::from_bits_retain(0x4000);

/// `STATX_ATTR_*` aside, what every look asks: nothing that makes a server answer.
pub(super) const QUIETLY: AtFlags = AtFlags::EMPTY_PATH.union(AtFlags::STATX_DONT_SYNC);

impl Filesystems {
    /// The kind of file system that `file` lies on, as `task` has it mounted.
    ///
    /// # Errors
    /// What statx(2) or the task's mount table answer.
    pub(crate) fn of(&mut self, file: BorrowedFd<'_>, task: &TaskDir) -> Result<Filesystem, Errno> {
        let seen = statx(file, "", QUIETLY, UNIQUE_MOUNT)?;
        self.of_seen(file, &seen, task)
    }

    /// As [`Filesystems::of`], for a file that was looked at with [`UNIQUE_MOUNT`].
    pub(super) fn of_seen(
        &mut self,
        file: BorrowedFd<'_>,
        seen: &Statx,
        task: &TaskDir,
    ) -> Result<Filesystem, Errno> {
        let lasting = (seen.stx_mask & UNIQUE_MOUNT.bits() != 0).then_some(seen.stx_mnt_id);
        if let Some(known) = lasting.and_then(|mount| self.by_mount.get(&mount)) {
            return Ok(*known);
        }
        let mount = statx(file, "", QUIETLY, StatxFlags::MNT_ID)?.stx_mnt_id;
        let kind = kind_of(mount, &task.read("mountinfo")?);
        if let Some(mount) = lasting {
            if self.by_mount.len() >= MOUNTS_MAX {
                self.by_mount.clear();
            }
            self.by_mount.insert(mount, kind);
        }
        Ok(kind)
    }
}

/// Looks `mount` up in the text of a mountinfo file, proc_pid_mountinfo(5).
fn kind_of(mount: u64, table: &[u8]) -> Filesystem {
    let number = format!("{mount} ");
    let kind = table
        .split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(number.as_bytes()))
        .and_then(|line| {
            let dash = line.windows(3).position(|window| window == b" - ")?;
            let kind = line.get(dash + 3..)?.split(|byte| *byte == b' ').next()?;
            str::from_utf8(kind).ok()
        });
    match kind {
        Some("proc") => Filesystem::Proc,
        Some(kind) if LOCAL_TYPES.contains(&kind) => Filesystem::Local,
        // Not in the table: an internal mount (memfd), or one of another namespace.
        Some(_) | None => Filesystem::Unstable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracee::{Procfs, Tid};
    use std::os::fd::AsFd;

    const TABLE: &[u8] = b"21 1 8:1 / / rw - ext4 /dev/vda rw\n\
        121 21 0:22 / /proc rw shared:3 - proc proc rw\n\
        5 21 0:40 / /a\\040-\\040b rw master:1 propagate_from:2 - fuse.sshfs x rw\n";

    #[test]
    fn a_mount_is_found_by_its_whole_number() {
        assert_eq!(kind_of(21, TABLE), Filesystem::Local);
        assert_eq!(kind_of(121, TABLE), Filesystem::Proc);
        assert_eq!(kind_of(5, TABLE), Filesystem::Unstable);
    }

    #[test]
    fn an_unknown_mount_is_unstable() {
        assert_eq!(kind_of(1, TABLE), Filesystem::Unstable);
        assert_eq!(kind_of(21, b""), Filesystem::Unstable);
    }

    #[test]
    fn proc_and_a_temporary_file_are_told_apart() {
        let proc = Procfs::open().unwrap();
        let task = proc.task(Tid::own()).unwrap();
        let mut seen = Filesystems::default();
        for _again in 0..2 {
            let file = std::fs::File::open("/proc/self/status").unwrap();
            assert_eq!(seen.of(file.as_fd(), &task), Ok(Filesystem::Proc));
            let file = tempfile::tempfile().unwrap();
            assert_eq!(seen.of(file.as_fd(), &task), Ok(Filesystem::Local));
        }
    }
}
