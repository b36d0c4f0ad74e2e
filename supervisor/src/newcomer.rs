//! A process of a container that hands itself over to become CMD: `run --socket`.
//!
//! The shim in the container says nothing but that it listens. Everything else that a session begins with
//! is looked up from outside: who it is, where its root directory is, what it may do. Whatever its filter and
//! its rights lack, it does not become CMD.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::rc::Rc;

use execward_policy::Places as PolicyPlaces;
use execward_shim::handshake::Version;
use nix::errno::Errno;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::{PeerCredentials, PeerPidfd};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::cmd::{Cmd, Origin};
use crate::container::Surroundings;
use crate::exec::SessionRoot;
use crate::handover::receive_listener;
use crate::kernel::Kernel;
use crate::outsider::Outsider;
use crate::policy::{PolicyError, Scene};
use crate::root::Root;
use crate::sealed;
use crate::seccomp::Listener;
use crate::tracee::{Procfs, ProcfsError, Status, TaskDir, Tid, is_alive};

/// Why it does not become CMD: nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewcomerError {
    #[error("{0}")]
    Shim(String),
    #[error("{0}")]
    Proc(#[from] ProcfsError),
    #[error("cannot tell who connected: {0}")]
    Nobody(Errno),
    #[error(
        "the process that connected has no number here: execward must be in its pid namespace or in one above"
    )]
    Elsewhere,
    #[error(
        "cannot look into the process that connected (process {pid}, uid {uid}): {error}; run execward as \
         that user, or as root (CAP_SYS_PTRACE)"
    )]
    Look {
        pid: Tid,
        uid: u32,
        error: io::Error,
    },
    #[error("what connected (process {0}) is not execward-shim: {1}")]
    NoShim(Tid, &'static str),
    #[error(
        "its root directory is `{0}` of its mount namespace, and must be that itself: names of files would mean \
         others"
    )]
    Chroot(String),
    #[error(
        "it has capabilities by which it could undo the gate; start execward-shim without --keep-caps"
    )]
    Capabilities,
    #[error(
        "it is root, and `{0}` can be written in its container, by which it could undo the gate; let the runtime \
         mount that read-only, as is its default, or start it as a user of its own, or give both sides \
         --keep-caps, and nothing is promised against root"
    )]
    Open(String),
}

/// A process that stands still in its shim, with its filter installed.
#[derive(Debug)]
pub(crate) struct Newcomer {
    socket: OwnedFd,
    listener: Rc<Listener>,
    version: Version,
    peer: Peer,
    task: TaskDir,
    status: Status,
    root: Root,
}

/// Who is at the other end of a socket, held so that its number cannot become another's.
#[derive(Debug)]
struct Peer {
    pid: Tid,
    uid: u32,
    pidfd: OwnedFd,
}

/// What may become CMD, with its listener.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) listener: Rc<Listener>,
    pub(crate) version: Version,
    pub(crate) pid: u32,
    pub(crate) outsider: Outsider,
}

impl Newcomer {
    /// Waits for the listener of whoever is at the other end of `socket`, and looks at who that is. With
    /// `keeps_caps` it may undo the gate.
    ///
    /// # Errors
    /// If it hands over no listener, cannot be looked into, or is not held as a session is.
    pub(crate) fn of(socket: OwnedFd, keeps_caps: bool) -> Result<Self, NewcomerError> {
        let peer = Peer::of(&socket)?;
        let heard = receive_listener(&socket);
        let (listener, version) = heard.map_err(|error| NewcomerError::Shim(error.to_string()))?;
        let proc = Procfs::open()?;
        let task = proc.task(peer.pid).map_err(|errno| peer.unseen(errno))?;
        // While it lives, its number is no other's.
        if !is_alive(peer.pidfd.as_fd()) {
            return Err(peer.unseen(rustix::io::Errno::SRCH));
        }
        let root = Root::of(&task).map_err(|errno| peer.unseen(errno))?;
        // As an exec is met, and its memory read.
        match pidfd_getfd(&peer.pidfd, 0, PidfdGetfdFlags::empty()) {
            Ok(_) | Err(rustix::io::Errno::BADF) => {}
            Err(errno) => return Err(peer.unseen(errno)),
        }
        let status = task.status();
        let newcomer = Self {
            status: status.map_err(|error| peer.unseen(io::Error::other(error)))?,
            socket,
            listener,
            version,
            peer,
            task,
            root,
        };
        newcomer.check_bonds(&proc)?;
        if !keeps_caps {
            newcomer.check_rights()?;
        }
        Ok(newcomer)
    }

    /// Whether it is held as whatever execward-shim becomes is.
    fn check_bonds(&self, proc: &Procfs) -> Result<(), NewcomerError> {
        let no_shim = |why| Err(NewcomerError::NoShim(self.peer.pid, why));
        let unread = |error| self.peer.unseen(io::Error::other(error));
        // It is of the thread alone that installed it: seccomp(2).
        if self.status.threads != 1 {
            return no_shim("it has several threads, and a filter is one's");
        }
        let is_bound = self.task.has_no_new_privs().map_err(unread)?;
        if !is_bound || self.task.filters().map_err(unread)? == 0 {
            return no_shim("it has no filter, or may gain privileges");
        }
        let root = proc.name_of(self.root.as_fd());
        let root = root.map_err(|errno| self.peer.unseen(errno))?;
        match root.as_slice() {
            b"/" => Ok(()),
            root => Err(NewcomerError::Chroot(root.escape_ascii().to_string())),
        }
    }

    /// Whether it has no rights to undo the gate.
    fn check_rights(&self) -> Result<(), NewcomerError> {
        let permitted = self.task.permitted();
        let permitted = permitted.map_err(|error| self.peer.unseen(io::Error::other(error)))?;
        if permitted & execward_shim::DROPPED.bits() != 0 {
            return Err(NewcomerError::Capabilities);
        }
        if !self.status.credentials.uids.contains(&0) {
            return Ok(());
        }
        let mounts = self.task.read("mountinfo");
        let mounts = mounts.map_err(|errno| self.peer.unseen(errno))?;
        match sealed::first_open(&self.root, &mounts) {
            None => Ok(()),
            Some(place) => Err(NewcomerError::Open(place.escape_ascii().to_string())),
        }
    }

    /// The kernel as it sees it.
    ///
    /// # Errors
    /// If it is gone.
    pub(crate) fn kernel(&self) -> io::Result<Kernel> {
        let proc = Procfs::open()?;
        let session = SessionRoot::of(&self.task)?;
        Kernel::of(proc, session)
    }

    /// Where a policy is to hold: in its container, by its environment and its directory. The workspace, if it is
    /// `named`, is a directory there.
    ///
    /// # Errors
    /// If there is no such directory.
    pub(crate) fn scene(&self, named: Option<&Path>) -> Result<Scene, PolicyError> {
        let failed = |error| PolicyError::Workspace {
            path: named.unwrap_or(Path::new(".")).to_owned(),
            error,
        };
        let directory = match named {
            Some(path) => self.root.find_directory(path.as_os_str().as_bytes()),
            None => self.task.follow("cwd"),
        };
        let directory = directory.map_err(|errno| failed(errno.into()))?;
        let proc = Procfs::open().map_err(|error| failed(error.into()))?;
        let workspace = proc.name_of(directory.as_fd());
        let variable = |name: &[u8]| {
            let variables = self.environment().ok()?;
            let mut values = variables.iter().filter_map(|it| it.strip_prefix(name));
            let value = values.next()?.strip_prefix(b"=")?.to_vec();
            Some(value).filter(|value| value.starts_with(b"/"))
        };
        let places = PolicyPlaces {
            home: variable(b"HOME").unwrap_or_else(|| b"/".to_vec()),
            workspace: workspace.map_err(|errno| failed(errno.into()))?,
            tmp: variable(b"TMPDIR").unwrap_or_else(|| b"/tmp".to_vec()),
        };
        let root = self
            .root
            .try_clone()
            .map_err(|errno| failed(errno.into()))?;
        Scene::of(places, named, root)
    }

    /// `NAME=VALUE`, one an element, as CMD will have it.
    ///
    /// # Errors
    /// If it is gone.
    pub(crate) fn environment(&self) -> io::Result<Vec<Vec<u8>>> {
        Ok(strings(&self.task.read("environ")?))
    }

    /// What it is to be: called with the words that its shim was told.
    ///
    /// # Errors
    /// If it is gone.
    pub(crate) fn cmd(&self) -> io::Result<Cmd> {
        let words = strings(&self.task.read("cmdline")?);
        let words = words.into_iter().skip_while(|word| word != b"--").skip(1);
        Ok(Cmd {
            words: words.map(OsString::from_vec).collect(),
            cwd: self.task.link_text("cwd")?,
            surroundings: Surroundings::of(&self.task, &self.root),
            origin: Origin::HandedOver {
                pid: self.peer.pid.as_u32(),
                uid: self.peer.uid,
            },
        })
    }

    /// The socket by which it is told, and what goes on from it.
    pub(crate) fn into_arrived(self) -> (OwnedFd, Arrived) {
        let arrived = Arrived {
            listener: self.listener,
            version: self.version,
            pid: self.peer.pid.as_u32(),
            outsider: Outsider::new(self.peer.pidfd, self.task),
        };
        (self.socket, arrived)
    }
}

impl Peer {
    /// By `SO_PEERPIDFD`; before Linux 6.5 by a number, which is looked at again.
    fn of(socket: &OwnedFd) -> Result<Self, NewcomerError> {
        let seen = getsockopt(socket, PeerCredentials).map_err(NewcomerError::Nobody)?;
        let pid = Tid::new(seen.pid().cast_unsigned());
        let number = pid.as_rustix().ok_or(NewcomerError::Elsewhere)?;
        let pidfd = match getsockopt(socket, PeerPidfd) {
            Err(Errno::ENOPROTOOPT) => {
                let opened = pidfd_open(number, PidfdFlags::empty());
                opened.map_err(|errno| Errno::from_raw(errno.raw_os_error()))
            }
            pidfd => pidfd,
        };
        Ok(Self {
            pid,
            uid: seen.uid(),
            pidfd: pidfd.map_err(NewcomerError::Nobody)?,
        })
    }

    /// It cannot be looked into.
    fn unseen(&self, error: impl Into<io::Error>) -> NewcomerError {
        NewcomerError::Look {
            pid: self.pid,
            uid: self.uid,
            error: error.into(),
        }
    }
}

/// The strings of a proc file in which each ends with a zero byte.
fn strings(text: &[u8]) -> Vec<Vec<u8>> {
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let strings = text.split(|byte| *byte == 0);
    strings.map(<[u8]>::to_vec).collect()
}
