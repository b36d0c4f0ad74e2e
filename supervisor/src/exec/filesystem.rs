//! What kind of file system a file lies on, without asking that file system.
//!
//! fstatfs(2) may block on a file server that does not answer (tried), so the type is read from the
//! task's mount table and kept by the mount's number, which the kernel never uses again.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Statx, StatxFlags, statx};
use rustix::io::Errno;

use crate::tracee::{TaskDir, whole_lines};

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
    let kind = whole_lines(table)
        .find_map(|line| line.strip_prefix(number.as_bytes()))
        .and_then(|line| {
            // Five fields more, some that may be left out, and a dash.
            let mut fields = line.split(|byte| *byte == b' ').skip(5);
            fields.find(|field| field == b"-")?;
            str::from_utf8(fields.next()?).ok()
        });
    match kind {
        Some("proc") => Filesystem::Proc,
        Some(kind) if LOCAL_TYPES.contains(&kind) => Filesystem::Local,
        // Not in the table: an internal mount (memfd), or one of another namespace.
        Some(_) | None => Filesystem::Unstable,
    }
}

#[cfg(test)]
mod tests;
