//! The task's view of the file system, beside the session's.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Statx, StatxFlags, statx};
use rustix::io::Errno;

use crate::exec::file::FileId;
use crate::exec::filesystem::QUIETLY;
use crate::root::Root;
use crate::tracee::{Procfs, Status, TaskDir, Tid};

/// The root directory and mount namespace that CMD starts in. Paths mean what they mean here; the
/// same text in another root or namespace proves nothing.
#[derive(Debug)]
pub(crate) struct SessionRoot {
    root: Root,
    here: Standing,
    /// Where the session was started from, if that is another mount namespace: the same files are there.
    outside: Option<Standing>,
}

/// A root directory in a mount namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    root: Place,
    mount_namespace: Vec<u8>,
}

/// A directory, by the mount and the inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    device: (u32, u32),
    inode: u64,
    mount: u64,
}

/// What one task sees.
#[derive(Debug)]
pub(crate) struct View {
    task: TaskDir,
    status: Status,
    /// Its root directory, where that is not the session's.
    root: Option<OwnedFd>,
    root_place: Place,
    is_foreign: bool,
}

impl SessionRoot {
    /// The gate's own root, which CMD inherits.
    ///
    /// # Errors
    /// If the root or the gate's own proc directory cannot be opened.
    pub(crate) fn own(proc: &Procfs) -> Result<Self, Errno> {
        Ok(Self {
            root: Root::own()?,
            here: Standing::own(proc)?,
            outside: None,
        })
    }

    /// That of a task which has none of the gate's to inherit.
    ///
    /// # Errors
    /// `EACCES` if the task is not the gate's to look into, `ENOENT` if it is gone.
    pub(crate) fn of(task: &TaskDir) -> Result<Self, Errno> {
        Ok(Self {
            root: Root::of(task)?,
            here: Standing::of(task)?,
            outside: None,
        })
    }

    /// The directory itself.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// What stands at `outside` sees the same files.
    pub(crate) fn is_seen_from(&mut self, outside: Standing) {
        self.outside = Some(outside);
    }

    /// The file that `path` leads to here, by what the kernel has cached.
    pub(crate) fn file_at(&self, path: &[u8]) -> Option<FileId> {
        let file = self.root.find_cached(path).ok()?;
        let wanted = StatxFlags::INO;
        statx(&file, "", QUIETLY, wanted)
            .ok()
            .map(|seen| FileId::of(&seen))
    }

    /// The file that `path` leads to here, with the kernel's own name for it.
    pub(crate) fn named_file_at(&self, path: &[u8], proc: &Procfs) -> Option<(FileId, Vec<u8>)> {
        let file = self.root.find(path).ok()?;
        let seen = statx(&file, "", QUIETLY, StatxFlags::INO).ok()?;
        Some((FileId::of(&seen), proc.name_of(file.as_fd()).ok()?))
    }

    /// A copy for a reader thread, whose descriptors are its own.
    ///
    /// # Errors
    /// If no descriptor is left.
    pub(crate) fn try_clone(&self) -> Result<Self, Errno> {
        Ok(Self {
            root: self.root.try_clone()?,
            here: self.here.clone(),
            outside: self.outside.clone(),
        })
    }
}

impl AsFd for SessionRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

impl View {
    /// The view of the task behind `task`, which the gate holds still.
    ///
    /// # Errors
    /// `ENOENT` if it is gone, `EACCES` if the gate may not look into it.
    pub(crate) fn of(task: TaskDir, status: Status, session: &SessionRoot) -> Result<Self, Errno> {
        let standing = Standing::of(&task)?;
        let is_here = standing == session.here;
        let is_foreign = !is_here && session.outside.as_ref() != Some(&standing);
        let mut root_place = standing.root;
        let root = if is_here {
            None
        } else {
            Some(task.follow("root")?)
        };
        if let Some(root) = &root {
            root_place = Place::of(root.as_fd())?;
        }
        Ok(Self {
            task,
            status,
            root,
            root_place,
            is_foreign,
        })
    }

    pub(crate) fn task(&self) -> &TaskDir {
        &self.task
    }

    /// Its proc directory, for later.
    pub(crate) fn into_task(self) -> TaskDir {
        self.task
    }

    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    /// Its root directory.
    pub(crate) fn root<'a>(&'a self, session: &'a SessionRoot) -> BorrowedFd<'a> {
        self.root.as_ref().map_or(session.as_fd(), AsFd::as_fd)
    }

    /// Whether its root or mount namespace is not the session's.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Whether `directory` is its root, above which `..` does not lead.
    pub(super) fn is_root(&self, directory: BorrowedFd<'_>) -> bool {
        Place::of(directory).is_ok_and(|place| place == self.root_place)
    }
}

impl Standing {
    /// The calling process's.
    ///
    /// # Errors
    /// If its own proc directory cannot be read.
    pub(crate) fn own(proc: &Procfs) -> Result<Self, Errno> {
        Self::of(&proc.task(Tid::own())?)
    }

    fn of(task: &TaskDir) -> Result<Self, Errno> {
        Ok(Self {
            root: Place::seen(&task.stat("root", Place::WANTED)?),
            mount_namespace: task.link_text("ns/mnt")?,
        })
    }
}

impl Place {
    const WANTED: StatxFlags = StatxFlags::INO.union(StatxFlags::MNT_ID);

    fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        Ok(Self::seen(&statx(fd, "", QUIETLY, Self::WANTED)?))
    }

    fn seen(seen: &Statx) -> Self {
        Self {
            device: (seen.stx_dev_major, seen.stx_dev_minor),
            inode: seen.stx_ino,
            mount: seen.stx_mnt_id,
        }
    }
}
