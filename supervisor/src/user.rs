//! As whom CMD runs: as whoever starts it, or as the user of `--user`, who can then reach neither the
//! gate nor what it keeps.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use execward_shim::{Ids, Rights};
use nix::unistd::{User, getgrouplist};
use rustix::fs::{Mode, OFlags, open};

use crate::changeable;
use crate::kernel::Kernel;
use crate::tracee::{Credentials, Procfs, Tid};

/// What tells of the caller's own session, and leads to files of the caller's.
const CALLERS: [&str; 7] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "MAIL",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Another user than the one who starts the session.
#[derive(Clone, Debug)]
pub(crate) struct AnotherUser {
    name: String,
    ids: Ids,
    home: PathBuf,
    shell: PathBuf,
}

/// Why CMD cannot run as that user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UserError {
    #[error("there is no user `{0}`; `useradd --create-home {0}` makes one")]
    Unknown(String),
    #[error("cannot look the user `{name}` up: {error}")]
    LookUp { name: String, error: nix::Error },
    #[error("`{0}` is user 0, and --user is for others; without it CMD runs as root")]
    Root(String),
    #[error(
        "`{}` is to be out of the reach of {user}, who can change `{}`: put it where only root may write",
        path.display(), at.display()
    )]
    Reach {
        path: PathBuf,
        at: PathBuf,
        user: String,
    },
    #[error("cannot read own rights: {0}")]
    Own(String),
    #[error("only root can run CMD as another user; put `sudo` before execward")]
    NotRoot,
    #[error(
        "--user needs CAP_SYS_PTRACE: without it the gate cannot look into another user's processes; \
         give the container that capability (`--cap-add SYS_PTRACE`)"
    )]
    NoTrace,
}

impl AnotherUser {
    /// The user of that name or number.
    ///
    /// # Errors
    /// If there is none, it is root, or this process may not supervise it.
    pub(crate) fn find(name: &str) -> Result<Self, UserError> {
        let own = own_credentials()?;
        if own.uids[1] != 0 {
            return Err(UserError::NotRoot);
        }
        if !own.may_trace_others() {
            return Err(UserError::NoTrace);
        }
        let failed = |error| UserError::LookUp {
            name: name.to_owned(),
            error,
        };
        let mut found = User::from_name(name).map_err(failed)?;
        if let (None, Ok(uid)) = (&found, name.parse::<u32>()) {
            found = User::from_uid(uid.into()).map_err(failed)?;
        }
        let user = found.ok_or_else(|| UserError::Unknown(name.to_owned()))?;
        if user.uid.is_root() {
            return Err(UserError::Root(user.name));
        }
        let login = CString::new(user.name.as_str()).map_err(|_| failed(nix::Error::EINVAL))?;
        let groups = getgrouplist(&login, user.gid).map_err(failed)?;
        Ok(Self {
            ids: Ids {
                uid: user.uid.as_raw(),
                gid: user.gid.as_raw(),
                groups: groups.into_iter().map(nix::unistd::Gid::as_raw).collect(),
            },
            name: user.name,
            home: user.dir,
            shell: user.shell,
        })
    }

    pub(crate) fn uid(&self) -> u32 {
        self.ids.uid
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) fn rights(&self) -> Rights {
        Rights::User(self.ids.clone())
    }

    /// Which of `path`, what it leads to and the directories above this user can change, if any.
    pub(crate) fn may_change(&self, path: &Path, kernel: &Kernel) -> Option<PathBuf> {
        let rights = self.credentials();
        let changes = |path: &[u8]| {
            let at = changeable::by_session(&rights, &kernel.own, kernel.session.root(), path)?;
            Some(PathBuf::from(OsStr::from_bytes(at)))
        };
        let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        changes(named.as_os_str().as_bytes()).or_else(|| {
            let file = open(&named, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
            changes(&kernel.proc.name_of(file.as_fd()).ok()?)
        })
    }

    fn credentials(&self) -> Credentials {
        let Ids { uid, gid, groups } = self.ids.clone();
        Credentials {
            uids: [uid; 3],
            gids: [gid; 3],
            fsuid: uid,
            fsgid: gid,
            groups,
            effective: 0,
        }
    }

    /// Name and number.
    pub(crate) fn in_words(&self) -> String {
        format!("{} (uid {})", self.name, self.ids.uid)
    }
}

fn own_credentials() -> Result<Credentials, UserError> {
    let failed = |error: &dyn std::fmt::Display| UserError::Own(error.to_string());
    let proc = Procfs::open().map_err(|error| failed(&error))?;
    let status = proc.status(Tid::own()).map_err(|error| failed(&error))?;
    Ok(status.credentials)
}

/// The environment that CMD begins with: the caller's, and as another user that one's home, name and
/// shell, without what tells of the caller's session.
pub(crate) fn environment(user: Option<&AnotherUser>) -> Vec<(OsString, OsString)> {
    let Some(user) = user else {
        return env::vars_os().collect();
    };
    let own = [
        ("HOME", user.home.clone().into_os_string()),
        ("USER", user.name.clone().into()),
        ("LOGNAME", user.name.clone().into()),
        ("SHELL", user.shell.clone().into_os_string()),
    ];
    let is_kept = |name: &OsString| {
        let mut left = CALLERS.iter().chain(own.iter().map(|(name, _)| name));
        !left.any(|left| name == left)
    };
    let kept = env::vars_os().filter(|(name, _)| is_kept(name));
    let mut variables: Vec<_> = kept.collect();
    variables.extend(own.map(|(name, value)| (name.into(), value)));
    variables
}

/// Variables as a program has them, `NAME=VALUE` each.
pub(crate) fn in_environ(variables: Vec<(OsString, OsString)>) -> Vec<Vec<u8>> {
    let joined = variables.into_iter().map(|(name, value)| {
        let (name, value) = (name.into_vec(), value.into_vec());
        [&name, b"=".as_slice(), &value].concat()
    });
    joined.collect()
}
