//! What the gate knows the kernel's world by: proc, the session's root, its own rights.

use execward_policy::Destination;

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
        /// `CAP_SYS_PTRACE` of linux/capability.h.
        const SYS_PTRACE: u64 = 1 << 19;
        self.own.effective & SYS_PTRACE != 0
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
