//! A root directory, and files by their paths below it, whoever's root it is.
//!
//! The paths that rules and execs name lie in the session's file system, which need not be the gate's own
//! (`run --socket`). Whatever looks at one of them does so from here.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::unistd::{AccessFlags, faccessat};
use rustix::fs::{Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use rustix::io::Errno;

use crate::tracee::TaskDir;

/// A root directory. Links below it, absolute ones too, do not lead out of it.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

impl Root {
    /// The calling process's.
    ///
    /// # Errors
    /// What open(2) answers.
    pub(crate) fn own() -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open("/", flags, Mode::empty())?))
    }

    /// A task's.
    ///
    /// # Errors
    /// `EACCES` if the task is not the gate's to look into, `ENOENT` if it is gone.
    pub(crate) fn of(task: &TaskDir) -> Result<Self, Errno> {
        task.follow("root").map(Self)
    }

    /// A copy for a thread with a descriptor table of its own.
    ///
    /// # Errors
    /// If no descriptor is left.
    pub(crate) fn try_clone(&self) -> Result<Self, Errno> {
        rustix::io::fcntl_dupfd_cloexec(&self.0, 3).map(Self)
    }

    /// What `path` leads to, to be looked at alone (`O_PATH`).
    ///
    /// # Errors
    /// What openat2(2) answers.
    pub(crate) fn find(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.open(path, OFlags::empty(), ResolveFlags::empty())
    }

    /// As [`Root::find`], by what the kernel has cached.
    ///
    /// # Errors
    /// Besides, `EAGAIN` if that does not tell.
    pub(crate) fn find_cached(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.open(path, OFlags::empty(), ResolveFlags::CACHED)
    }

    /// As [`Root::find`], and a link at the end is what is found.
    ///
    /// # Errors
    /// As [`Root::find`].
    pub(crate) fn find_link(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.open(path, OFlags::NOFOLLOW, ResolveFlags::empty())
    }

    /// As [`Root::find`], a directory.
    ///
    /// # Errors
    /// Besides, `ENOTDIR` for what is none.
    pub(crate) fn find_directory(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.open(path, OFlags::DIRECTORY, ResolveFlags::empty())
    }

    /// What stat(2) says of `path`.
    ///
    /// # Errors
    /// As [`Root::find`].
    pub(crate) fn stat(&self, path: &[u8]) -> Result<Stat, Errno> {
        fstat(self.find(path)?)
    }

    /// What lstat(2) says of `path`.
    ///
    /// # Errors
    /// As [`Root::find`].
    pub(crate) fn lstat(&self, path: &[u8]) -> Result<Stat, Errno> {
        fstat(self.find_link(path)?)
    }

    /// The first `most` bytes of a regular file at `path`.
    ///
    /// # Errors
    /// As [`Root::find`], what reading answers, and `EINVAL` for what is no regular file.
    pub(crate) fn read(&self, path: &[u8], most: u64) -> std::io::Result<Vec<u8>> {
        // A FIFO would wait for its writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let in_root = ResolveFlags::IN_ROOT;
        let file = File::from(openat2(&self.0, path, flags, Mode::empty(), in_root)?);
        if !file.metadata()?.is_file() {
            return Err(Errno::INVAL.into());
        }
        let mut text = Vec::new();
        file.take(most).read_to_end(&mut text)?;
        Ok(text)
    }

    /// Whether the calling thread may write what is at `path`: faccessat2(2), Linux 5.8.
    ///
    /// # Errors
    /// What the kernel has against it.
    pub(crate) fn check_writable(&self, path: &[u8]) -> Result<(), Errno> {
        let file = self.find(path)?;
        let flags = nix::fcntl::AtFlags::AT_EACCESS | nix::fcntl::AtFlags::AT_EMPTY_PATH;
        let answer = faccessat(&file, c"", AccessFlags::W_OK, flags);
        answer.map_err(|errno| Errno::from_raw_os_error(errno as i32))
    }

    fn open(&self, path: &[u8], flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
        let resolve = resolve | ResolveFlags::IN_ROOT;
        openat2(&self.0, path, flags, Mode::empty(), resolve)
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A root that is a directory of this process's.
    fn root_at(directory: &std::path::Path) -> Root {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Root(rustix::fs::open(directory, flags, Mode::empty()).unwrap())
    }

    #[test]
    fn a_path_lies_below_the_root_whatever_links_are_on_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("etc")).unwrap();
        std::fs::write(at("etc/x"), "text").unwrap();
        symlink("/etc", at("absolute")).unwrap();
        symlink("../../../../../etc/x", at("upward")).unwrap();
        let root = root_at(directory.path());
        for path in ["/etc/x", "/absolute/x", "/upward"] {
            assert_eq!(root.stat(path.as_bytes()).unwrap().st_size, 4, "{path}");
            root.check_writable(path.as_bytes()).unwrap();
        }
        let link = root.lstat(b"/upward").unwrap();
        assert_eq!(link.st_mode & libc::S_IFMT, libc::S_IFLNK);
        // There outside, and not here.
        assert_eq!(root.stat(b"/etc/passwd").unwrap_err(), Errno::NOENT);
        assert_eq!(root.check_writable(b"/proc").unwrap_err(), Errno::NOENT);
        assert!(Root::own().unwrap().stat(b"/etc/passwd").is_ok());
    }
}
