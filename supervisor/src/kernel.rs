//! What the gate knows the kernel's world by: proc, the session's root, its own rights.

use std::os::fd::{AsFd, AsRawFd, RawFd};

use execward_policy::Destination;
use rustix::io::Errno;

use crate::exec::{
    Destinations, Filesystems, Image, KnownElves, Lookup, LookupError, Patience, SessionRoot,
    SystemLoaders, Target, View,
};
use crate::tracee::{Credentials, Procfs, Tid};

/// Most paths of one call that the gate's own thread follows; a reader has more time.
const PATHS_AT_ONCE: usize = 64;

/// Opened once, before the session starts.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) proc: Procfs,
    pub(crate) session: SessionRoot,
    pub(crate) own: Credentials,
    pub(crate) filesystems: Filesystems,
    elves: KnownElves,
    /// The ELF interpreters that programs may have unasked.
    pub(crate) loaders: SystemLoaders,
}

impl Kernel {
    /// # Errors
    /// If there is no proc, or the gate's own root or status cannot be read.
    pub(crate) fn open() -> std::io::Result<Self> {
        let proc = Procfs::open()?;
        let session = SessionRoot::own(&proc)?;
        Self::of(proc, session)
    }

    /// The same for a session that has another root than the gate.
    ///
    /// # Errors
    /// As [`Kernel::open`].
    pub(crate) fn of(proc: Procfs, session: SessionRoot) -> std::io::Result<Self> {
        let own = proc
            .status(Tid::own())
            .map_err(std::io::Error::other)?
            .credentials;
        let loaders = SystemLoaders::find(&session, &proc);
        Ok(Self {
            proc,
            session,
            own,
            filesystems: Filesystems::default(),
            elves: KnownElves::default(),
            loaders,
        })
    }

    /// A copy for a thread with a descriptor table of its own.
    ///
    /// # Errors
    /// If no descriptor is left.
    pub(crate) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self {
            proc: self.proc.try_clone()?,
            session: self.session.try_clone()?,
            own: self.own.clone(),
            filesystems: Filesystems::default(),
            elves: KnownElves::default(),
            loaders: self.loaders.clone(),
        })
    }

    /// The numbers of the descriptors that it holds.
    pub(crate) fn descriptors(&self) -> [RawFd; 2] {
        [self.proc.as_fd(), self.session.as_fd()].map(|fd| fd.as_raw_fd())
    }

    /// What the task sees.
    ///
    /// # Errors
    /// `ENOENT` or `ESRCH` if it is gone, `EACCES` if the gate may not look into it.
    pub(crate) fn view(&self, of: Tid) -> Result<View, Errno> {
        let task = self.proc.task(of)?;
        let status = task.status().map_err(|_| Errno::SRCH)?;
        View::of(task, status, &self.session)
    }

    /// Finds the file that `target` names for the task of `view`.
    pub(crate) fn find(
        &mut self,
        view: &View,
        target: Target<'_>,
        patience: Patience,
    ) -> Result<Image, LookupError> {
        let (mut lookup, own) = self.lookup(view, patience);
        Image::find(&mut lookup, target, own)
    }

    /// Where each of `paths`, absolute, leads for the task of `view`. Those of which nobody can tell
    /// are left out.
    ///
    /// # Errors
    /// [`LookupError::WouldWait`], and no other.
    pub(crate) fn destinations(
        &mut self,
        view: &View,
        paths: &[Vec<u8>],
        patience: Patience,
    ) -> Result<Destinations, LookupError> {
        if patience == Patience::Cached && paths.len() > PATHS_AT_ONCE {
            return Err(LookupError::WouldWait);
        }
        self.lookup(view, patience).0.destinations(paths)
    }

    /// Where `path`, absolute, leads for the task of `view`, with the digest of the file there;
    /// `None` if it leads to no file that the task may read.
    ///
    /// # Errors
    /// [`LookupError::WouldWait`], and no other.
    pub(crate) fn digested(
        &mut self,
        view: &View,
        path: &[u8],
        patience: Patience,
    ) -> Result<Option<Destination>, LookupError> {
        let (mut lookup, own) = self.lookup(view, patience);
        lookup.digested(path, own)
    }

    /// The file that the task of `view`, at its exec-stop, has loaded.
    pub(crate) fn find_loaded(&mut self, view: &View) -> Result<Image, LookupError> {
        let (mut lookup, own) = self.lookup(view, Patience::Cached);
        Image::loaded(&mut lookup, own)
    }

    /// Whether the gate can look into programs that may be executed and not read.
    pub(crate) fn is_privileged(&self) -> bool {
        self.own.may_trace_others()
    }

    fn lookup<'a>(
        &'a mut self,
        view: &'a View,
        patience: Patience,
    ) -> (Lookup<'a>, &'a Credentials) {
        let lookup = Lookup {
            view,
            session: &self.session,
            proc: &self.proc,
            filesystems: &mut self.filesystems,
            elves: &mut self.elves,
            patience,
        };
        (lookup, &self.own)
    }
}
