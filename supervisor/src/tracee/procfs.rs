//! The gate's own view of proc, through one descriptor.
//!
//! Text below `/proc` is never used: a session with enough rights may mount a forged directory
//! over `/proc/<pid>` (tried). A detached instance is out of its reach; where the kernel does not
//! allow one, the host's is walked with `RESOLVE_NO_XDEV`, which sees the overmount.

use std::ffi::CString;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Mode, OFlags, ResolveFlags, Statx, StatxFlags, fstatfs, open, openat2, readlinkat,
    statx,
};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::status::{deliverable_signals, no_new_privs, permitted, seccomp_filters};
use super::{Status, StatusError, Tid};

/// A proc file system, held open.
#[derive(Debug)]
pub(crate) struct Procfs {
    root: OwnedFd,
}

/// The directory of one thread. Pins the thread's identity: once it is gone, every read through
/// this fails, whoever owns its number then.
#[derive(Debug)]
pub(crate) struct TaskDir {
    tid: Tid,
    fd: OwnedFd,
}

/// Why there is no trustworthy proc.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcfsError {
    /// `/proc` cannot be opened.
    #[error("cannot open `/proc`: {0}; mount a proc file system there")]
    Open(#[source] Errno),
    /// Something else is mounted there.
    #[error("`/proc` is not a proc file system; mount one there")]
    NotProc,
}

impl Procfs {
    /// A detached instance where allowed (CAP_SYS_ADMIN in a user namespace that may mount proc),
    /// else the host's `/proc` once its type is checked.
    ///
    /// # Errors
    /// If there is no proc at all.
    pub(crate) fn open() -> Result<Self, ProcfsError> {
        let root = match detached() {
            Ok(root) => root,
            Err(errno) => {
                tracing::debug!(%errno, "no detached proc; using the host's");
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                open("/proc", flags, Mode::empty()).map_err(ProcfsError::Open)?
            }
        };
        let kind = fstatfs(&root).map_err(ProcfsError::Open)?.f_type;
        if kind != libc::PROC_SUPER_MAGIC {
            return Err(ProcfsError::NotProc);
        }
        Ok(Self { root })
    }

    /// A copy for another thread's descriptor table.
    ///
    /// # Errors
    /// If no descriptor is left.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            root: self.root.try_clone()?,
        })
    }

    /// The directory of thread `tid`, which need not be a leader.
    ///
    /// # Errors
    /// `ENOENT`: gone. `EXDEV`: something is mounted over it.
    pub(crate) fn task(&self, tid: Tid) -> Result<TaskDir, Errno> {
        let fd = self.open_path(&tid.to_string(), OFlags::PATH | OFlags::DIRECTORY)?;
        Ok(TaskDir { tid, fd })
    }

    /// The name by which the kernel knows the file behind one of the gate's own descriptors.
    ///
    /// As seen from the gate's root, with ` (deleted)` behind names that no longer lead there.
    ///
    /// # Errors
    /// What readlink(2) answers.
    pub(crate) fn name_of(&self, fd: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
        let link = own_fd(fd);
        readlinkat(&self.root, link, Vec::new()).map(CString::into_bytes)
    }

    /// A second description of the file behind one of the gate's own descriptors.
    ///
    /// # Errors
    /// What open(2) answers.
    pub(crate) fn reopen(&self, fd: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd, Errno> {
        let link = own_fd(fd);
        rustix::fs::openat(&self.root, link, flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// The status of any task, whatever it is doing: the one file that does not block while its
    /// task is inside an exec.
    ///
    /// # Errors
    /// If it is gone, or the kernel's text is not understood.
    pub(crate) fn status(&self, tid: Tid) -> Result<Status, StatusError> {
        self.task(tid).map_err(StatusError::Read)?.status()
    }

    /// Every process that proc shows.
    ///
    /// # Errors
    /// What reading a directory answers.
    pub(crate) fn processes(&self) -> Result<Vec<Tid>, Errno> {
        let directory = self.reopen_root()?;
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_str().ok();
            found.extend(name.and_then(|name| name.parse().ok()).map(Tid::new));
        }
        Ok(found)
    }

    /// Opens `path` below this proc without crossing a mount or following a link.
    pub(crate) fn open_path(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        open_below(self.root.as_fd(), path, flags)
    }

    fn reopen_root(&self) -> Result<OwnedFd, Errno> {
        self.open_path(".", OFlags::RDONLY | OFlags::DIRECTORY)
    }
}

impl AsFd for Procfs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }
}

impl TaskDir {
    pub(crate) fn tid(&self) -> Tid {
        self.tid
    }

    /// See [`Procfs::status`].
    ///
    /// # Errors
    /// If the task is gone, or the kernel's text is not understood.
    pub(crate) fn status(&self) -> Result<Status, StatusError> {
        self.with_status(Status::parse)
    }

    /// The signals that wait for the task and would act on it now; bit N-1 is signal N.
    ///
    /// # Errors
    /// As [`TaskDir::status`].
    pub(crate) fn deliverable_signals(&self) -> Result<u64, StatusError> {
        self.with_status(deliverable_signals)
    }

    /// How many seccomp filters the task is under.
    ///
    /// # Errors
    /// As [`TaskDir::status`].
    pub(crate) fn filters(&self) -> Result<u32, StatusError> {
        self.with_status(seccomp_filters)
    }

    /// Whether no exec of the task gains rights.
    ///
    /// # Errors
    /// As [`TaskDir::status`].
    pub(crate) fn has_no_new_privs(&self) -> Result<bool, StatusError> {
        self.with_status(no_new_privs)
    }

    /// The capabilities that the task may make effective, one a bit.
    ///
    /// # Errors
    /// As [`TaskDir::status`].
    pub(crate) fn permitted(&self) -> Result<u64, StatusError> {
        self.with_status(permitted)
    }

    fn with_status<T>(
        &self,
        parse: impl FnOnce(&[u8]) -> Result<T, StatusError>,
    ) -> Result<T, StatusError> {
        let fd =
            open_below(self.fd.as_fd(), "status", OFlags::RDONLY).map_err(StatusError::Read)?;
        // The kernel writes this file in one piece; a longer one would lack a line and be refused.
        let mut text = [0; STATUS_MAX_BYTES];
        let len = rustix::io::read(&fd, &mut text[..]).map_err(StatusError::Read)?;
        parse(text.get(..len).unwrap_or_default())
    }

    /// The whole of one of the task's small text files.
    ///
    /// # Errors
    /// What open(2) or read(2) answer.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, Errno> {
        let fd = open_below(self.fd.as_fd(), name, OFlags::RDONLY)?;
        let mut text = Vec::with_capacity(2048);
        let mut file = std::fs::File::from(fd);
        let read = (&mut file).take(PROC_FILE_MAX_BYTES).read_to_end(&mut text);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(text)
    }

    /// Follows one of the task's magic links (`exe`, `cwd`, `root`, `fd/N`) to its file.
    ///
    /// # Errors
    /// `EACCES` if the task is not the gate's to look into, `ENOENT` if the link leads nowhere.
    pub(crate) fn follow(&self, link: &str) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(
            &self.fd,
            link,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
        )
    }

    /// What is behind one of the task's magic links, without opening it.
    ///
    /// # Errors
    /// As [`TaskDir::follow`].
    pub(crate) fn stat(&self, link: &str, wanted: StatxFlags) -> Result<Statx, Errno> {
        statx(&self.fd, link, AtFlags::STATX_DONT_SYNC, wanted)
    }

    /// What one of the task's magic links is called. Display only: never an identity.
    ///
    /// # Errors
    /// As [`TaskDir::follow`].
    pub(crate) fn link_text(&self, link: &str) -> Result<Vec<u8>, Errno> {
        readlinkat(&self.fd, link, Vec::new()).map(CString::into_bytes)
    }
}

/// The status of thread `tid` as the proc file system at `root`, which need not be the gate's,
/// tells it.
///
/// # Errors
/// As [`TaskDir::status`].
pub(crate) fn status_below(root: BorrowedFd<'_>, tid: Tid) -> Result<Status, StatusError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let fd = open_below(root, &tid.to_string(), flags).map_err(StatusError::Read)?;
    TaskDir { tid, fd }.status()
}

impl AsFd for TaskDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Most bytes of a status: with the kernel's limit of groups (65,536) it can be longer, and is then
/// refused for the lines that are missing.
const STATUS_MAX_BYTES: usize = 8 << 10;

/// Most bytes read of one proc file. A status is under 4 KiB, a mount table of a thousand mounts
/// under 256 KiB; what is longer is cut, and its parser refuses what it then lacks.
const PROC_FILE_MAX_BYTES: u64 = 1 << 20;

fn detached() -> Result<OwnedFd, Errno> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn open_below(directory: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_XDEV | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
    openat2(
        directory,
        path,
        flags | OFlags::CLOEXEC,
        Mode::empty(),
        resolve,
    )
}

/// `thread-self`, not `self`: a reader thread has a descriptor table of its own.
fn own_fd(fd: BorrowedFd<'_>) -> String {
    use std::os::fd::AsRawFd;
    format!("thread-self/fd/{}", fd.as_raw_fd())
}

/// How reads of proc fail, for callers that speak of std's errors.
impl From<ProcfsError> for io::Error {
    fn from(error: ProcfsError) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_task_reads_its_status_and_links() {
        let proc = Procfs::open().unwrap();
        let task = proc.task(Tid::own()).unwrap();
        assert_eq!(task.status().unwrap().tgid, Tid::own());
        let exe = task.follow("exe").unwrap();
        assert_eq!(
            proc.name_of(exe.as_fd()).unwrap(),
            task.link_text("exe").unwrap()
        );
        assert!(proc.processes().unwrap().contains(&Tid::own()));
    }

    #[test]
    fn a_number_that_nobody_has_is_not_found() {
        let proc = Procfs::open().unwrap();
        assert_eq!(proc.task(Tid::new(0x7fff_fff0)).unwrap_err(), Errno::NOENT);
    }
}
