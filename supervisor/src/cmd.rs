//! CMD as it is to be, before it runs: what it is called with, where, and whose it is.

use std::ffi::OsString;

use nix::unistd::Uid;

use crate::cli::RunArgs;
use crate::container::Surroundings;
use crate::places;
use crate::user::{AnotherUser, UserError};

/// The command of a session.
#[derive(Debug)]
pub(crate) struct Cmd {
    /// Its program and arguments, as whoever starts it says.
    pub(crate) words: Vec<OsString>,
    /// Its directory; empty if that is gone.
    pub(crate) cwd: Vec<u8>,
    pub(crate) surroundings: Surroundings,
    pub(crate) origin: Origin,
}

/// How it comes below the gate.
#[derive(Debug)]
pub(crate) enum Origin {
    /// A child of the gate's, of the user who starts execward.
    Own,
    /// The same, of another user: `--user`.
    Lent(AnotherUser),
    /// A process of a container that hands itself over: `--socket`.
    HandedOver { pid: u32, uid: u32 },
}

impl Cmd {
    /// A child of the gate's.
    ///
    /// # Errors
    /// If there is no such user as is to run it.
    pub(crate) fn of_gate(args: &RunArgs) -> Result<Self, UserError> {
        let user = args.user.as_deref().map(AnotherUser::find).transpose()?;
        Ok(Self {
            words: args.cmd.clone(),
            cwd: places::bytes(&std::env::current_dir().unwrap_or_default()),
            surroundings: Surroundings::seen(),
            origin: user.map_or(Origin::Own, Origin::Lent),
        })
    }

    /// As whom it runs, if the gate starts it as another than who starts execward.
    pub(crate) fn user(&self) -> Option<&AnotherUser> {
        match &self.origin {
            Origin::Lent(user) => Some(user),
            Origin::Own | Origin::HandedOver { .. } => None,
        }
    }

    /// Its user's number, where that need not be who starts execward.
    pub(crate) fn uid(&self) -> Option<u32> {
        match &self.origin {
            Origin::Own => None,
            Origin::Lent(user) => Some(user.uid()),
            Origin::HandedOver { uid, .. } => Some(*uid),
        }
    }

    pub(crate) fn is_root(&self) -> bool {
        self.uid().map_or(Uid::effective(), Uid::from_raw).is_root()
    }

    /// Which process of a container it was, if it hands itself over.
    pub(crate) fn handed_over(&self) -> Option<u32> {
        match &self.origin {
            Origin::Own | Origin::Lent(_) => None,
            Origin::HandedOver { pid, .. } => Some(*pid),
        }
    }

    /// Whether it begins with the descriptors of whoever starts execward: another user has no right to them,
    /// and a process of a container has its own.
    pub(crate) fn has_callers_descriptors(&self) -> bool {
        matches!(self.origin, Origin::Own)
    }
}
