//! From a path to a file, as the task would get there.
//!
//! Never by the gate's own view of a path: `/proc/self`, a chroot, a mount namespace or a working
//! directory of the task's would then lead elsewhere (each tried). A path without links is one
//! openat2(2) below the task's root or directory; any other is walked component by component, which
//! also tells the links that were crossed.
//!
//! A look-up is no boundary. The kernel looks up again when the exec goes on, and what it found is
//! compared at the exec-stop.

mod destination;
mod view;
mod walk;

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::file::KnownElves;
use super::filesystem::Filesystems;
use crate::tracee::Procfs;

pub(crate) use destination::Destinations;
pub(crate) use view::{SessionRoot, Standing, View};
use walk::Walk;

/// Whether a look-up may wait for a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Only what the kernel has cached: the gate's own thread.
    Cached,
    /// As long as it takes: a reader thread.
    Waiting,
}

/// Why a path led to no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LookupError {
    /// The kernel's own answer to the task.
    #[error("{0}")]
    Kernel(Errno),
    /// There is something, and the kernel loads no such thing: `EACCES`.
    #[error("no executable file")]
    NotExecutable,
    /// It cannot be told without waiting. Only with [`Patience::Cached`].
    #[error("not cached")]
    WouldWait,
    /// Its first bytes are under a lease that its holder has not given up.
    #[error("under a lease")]
    Leased,
    /// A link of proc whose owner cannot be told from here.
    #[error("a link on a part of proc that cannot be placed")]
    Unplaced,
}

/// A file, and the path of each link that stood for it. Links among the directories on the way are
/// not names of the file.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) file: OwnedFd,
    /// Its own path, where the look-up tells it: no link and no `.` or `..` was on the last leg.
    pub(super) path: Option<Vec<u8>>,
    pub(super) links: Vec<Vec<u8>>,
}

/// What a look-up works with.
#[derive(Debug)]
pub(crate) struct Lookup<'a> {
    pub(crate) view: &'a View,
    pub(crate) session: &'a SessionRoot,
    pub(crate) proc: &'a Procfs,
    pub(crate) filesystems: &'a mut Filesystems,
    pub(crate) elves: &'a mut KnownElves,
    pub(crate) patience: Patience,
}

impl Lookup<'_> {
    /// Looks `path` up, from `start` if it is relative.
    pub(super) fn locate(
        &mut self,
        start: BorrowedFd<'_>,
        path: &[u8],
        may_end_at_link: bool,
    ) -> Result<Located, LookupError> {
        if path.is_empty() {
            return Err(LookupError::Kernel(Errno::NOENT));
        }
        let base = if path.starts_with(b"/") {
            self.view.root(self.session)
        } else {
            start
        };
        match self.straight(base, path) {
            // A link or something else that one call does not do.
            Err(Errno::LOOP | Errno::XDEV) => {}
            Err(Errno::AGAIN) if self.patience == Patience::Cached => {
                return Err(LookupError::WouldWait);
            }
            Err(Errno::AGAIN) => {}
            Err(errno) => return Err(LookupError::Kernel(errno)),
            Ok(file) => {
                let path = own_path(path).filter(|_| !self.view.is_foreign());
                return Ok(Located {
                    file,
                    path,
                    links: Vec::new(),
                });
            }
        }
        let here = base
            .try_clone_to_owned()
            .map_err(|_| LookupError::Kernel(Errno::MFILE))?;
        let mut walk = Walk::new(self, here, path, may_end_at_link)?;
        while walk.step()? {}
        walk.finish()
    }

    /// The whole path at once, if no link and no `..` is on it.
    fn straight(&self, base: BorrowedFd<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
        if path
            .split(|byte| *byte == b'/')
            .any(|component| component == b"..")
        {
            return Err(Errno::LOOP);
        }
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | self.cached();
        openat2(
            base,
            path,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        )
    }

    fn cached(&self) -> ResolveFlags {
        match self.patience {
            Patience::Cached => ResolveFlags::CACHED,
            Patience::Waiting => ResolveFlags::empty(),
        }
    }

    fn refuse(&self, errno: Errno) -> LookupError {
        match errno {
            Errno::AGAIN if self.patience == Patience::Cached => LookupError::WouldWait,
            errno => LookupError::Kernel(errno),
        }
    }
}

/// `path` as the kernel would name the file that it leads to without crossing a link.
fn own_path(path: &[u8]) -> Option<Vec<u8>> {
    let rest = path.strip_prefix(b"/")?;
    let is_plain = |part: &[u8]| !part.is_empty() && part != b"." && part != b"..";
    rest.split(|byte| *byte == b'/')
        .all(is_plain)
        .then(|| path.to_vec())
}

#[cfg(test)]
mod tests;
