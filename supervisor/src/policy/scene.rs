//! Where a policy is to hold: what its places stand for, and below which root its paths lie.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use execward_policy::Places as PolicyPlaces;
use rustix::fs::{Mode, OFlags};

use super::PolicyError;
use crate::cli::PolicyArgs;
use crate::places::{self, Places};
use crate::root::Root;
use crate::tracee::Procfs;

/// Where a policy is to hold.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) places: PolicyPlaces,
    pub(crate) root: Arc<Root>,
}

impl Scene {
    /// That of this process.
    ///
    /// # Errors
    /// If the workspace is none.
    pub(crate) fn here(args: &PolicyArgs, places: &Places) -> Result<Self, PolicyError> {
        let named = args.workspace.as_deref();
        let directory = named.unwrap_or(Path::new("."));
        let failed = |error| PolicyError::Workspace {
            path: directory.to_owned(),
            error,
        };
        let found = real_name(directory).map_err(failed)?;
        let places = PolicyPlaces {
            home: places::bytes(places.home()),
            workspace: found,
            tmp: places::bytes(&places::temporary()),
        };
        let root = Root::own().map_err(PolicyError::Root)?;
        Self::of(places, named, root)
    }

    /// One of which nothing is known yet: any places will do, and no directory is anywhere.
    ///
    /// # Errors
    /// If no descriptor is left.
    pub(super) fn unknown() -> Result<Self, PolicyError> {
        let places = PolicyPlaces {
            home: b"/home/user".to_vec(),
            workspace: b"/home/user/workspace".to_vec(),
            tmp: b"/tmp".to_vec(),
        };
        let root = Root::own().map_err(PolicyError::Root)?;
        Self::of(places, None, root)
    }

    /// With `places` below `root`, whose workspace was `named`.
    ///
    /// # Errors
    /// If that can be none.
    pub(crate) fn of(
        mut places: PolicyPlaces,
        named: Option<&Path>,
        root: Root,
    ) -> Result<Self, PolicyError> {
        if places.workspace == places.home || places.workspace == b"/" {
            if let Some(named) = named {
                return Err(PolicyError::NoWorkspace(named.to_owned()));
            }
            // A rule that names `${workspace}` is a fault then; one that does not is none.
            places.workspace.clear();
        }
        let root = Arc::new(root);
        Ok(Self { places, root })
    }
}

/// A directory as the kernel names it: links in its path would not match what execs resolve to.
fn real_name(directory: &Path) -> std::io::Result<Vec<u8>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(directory, flags, Mode::empty())?;
    Ok(Procfs::open()?.name_of(fd.as_fd())?)
}
