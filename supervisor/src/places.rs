//! Where execward keeps its files: the XDG directories of a user, the system's of root.

use std::env;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

use crate::audit::TailError;
use crate::cli::StateArgs;

/// The directories of whoever runs execward.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    home: PathBuf,
    logs: PathBuf,
    state: PathBuf,
    config: PathBuf,
    sockets: PathBuf,
}

/// Why there are none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlacesError {
    /// Neither HOME nor the password file names a home.
    #[error("uid {0} has no home directory; set HOME to an absolute path")]
    NoHome(Uid),
    /// The state directory is no path.
    #[error("`{}` cannot be the state directory; name an absolute path with --state", .0.display())]
    NoState(PathBuf),
}

/// The log's name in a session's directory.
const LOG: &str = "audit.jsonl";
/// execward's own diagnostics, likewise.
const DIAGNOSTICS: &str = "execward.log";

impl Places {
    /// # Errors
    /// If the user has no home.
    pub(crate) fn find() -> Result<Self, PlacesError> {
        let uid = Uid::effective();
        let home = absolute("HOME")
            .or_else(|| User::from_uid(uid).ok().flatten().map(|user| user.dir))
            .filter(|home| home.is_absolute())
            .ok_or(PlacesError::NoHome(uid))?;
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let config = config.join("execward");
        if uid.is_root() {
            let (logs, state) = ("/var/log/execward".into(), "/var/lib/execward".into());
            return Ok(Self {
                home,
                logs,
                state,
                config,
                sockets: "/run/execward".into(),
            });
        }
        let sockets = match absolute("XDG_RUNTIME_DIR") {
            Some(runtime) => runtime.join("execward"),
            None => format!("/tmp/execward-{uid}").into(),
        };
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        let state = state.join("execward");
        Ok(Self {
            home,
            logs: state.clone(),
            state,
            config,
            sockets,
        })
    }

    /// The same with the home of the user that CMD runs as; what execward keeps stays where it is.
    pub(crate) fn with_home(self, home: &Path) -> Self {
        let home = home.to_owned();
        Self { home, ..self }
    }

    /// The same, with the state directory that `args` name, if they name one.
    ///
    /// # Errors
    /// Besides, if that is relative to a directory that is gone.
    pub(crate) fn of(args: &StateArgs) -> Result<Self, PlacesError> {
        let mut places = Self::find()?;
        if let Some(named) = &args.state {
            let absolute = std::path::absolute(named);
            places.state = absolute.map_err(|_| PlacesError::NoState(named.clone()))?;
        }
        Ok(places)
    }

    /// What is remembered beyond a session.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// The user's own policy, which need not exist.
    pub(crate) fn policy(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// Where what people said for longer than a session is, which need not exist either.
    pub(crate) fn config(&self) -> &Path {
        &self.config
    }

    /// The log of session `name`.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(name).join(LOG)
    }

    /// Where session `name` keeps execward's own diagnostics.
    pub(crate) fn diagnostics(&self, name: &str) -> PathBuf {
        self.state.join(name).join(DIAGNOSTICS)
    }

    /// The log that was written to last.
    ///
    /// # Errors
    /// What reading the directory answers; `NotFound` if there is no log.
    pub(crate) fn newest_log(&self) -> std::io::Result<PathBuf> {
        let mut newest = None;
        for entry in std::fs::read_dir(&self.logs)? {
            let path = entry?.path().join(LOG);
            if let Ok(written) = std::fs::metadata(&path).and_then(|seen| seen.modified()) {
                newest = newest.max(Some((written, path)));
            }
        }
        newest
            .map(|(_, path)| path)
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }

    /// The log of session `name`, or without a name the one that was written to last.
    ///
    /// # Errors
    /// As [`Places::newest_log`].
    pub(crate) fn log_of(&self, name: Option<&str>) -> std::io::Result<PathBuf> {
        name.map_or_else(|| self.newest_log(), |name| Ok(self.log(name)))
    }

    pub(crate) fn logs(&self) -> &Path {
        &self.logs
    }

    /// The directories of what execward keeps: settings, logs, state, sockets.
    pub(crate) fn kept(&self) -> Vec<PathBuf> {
        let kept = [&self.config, &self.logs, &self.state, &self.sockets];
        kept.map(Clone::clone).into()
    }

    /// The directory of the sessions' control sockets, each in one of its own.
    pub(crate) fn sockets(&self) -> &Path {
        &self.sockets
    }
}

/// The log that is meant: the one that is named, the session's, or the one that was written to last.
///
/// # Errors
/// If there is none.
pub(crate) fn log_meant(log: Option<&Path>, session: Option<&str>) -> Result<PathBuf, TailError> {
    if let Some(log) = log {
        return Ok(log.to_owned());
    }
    let failed = |path: &Path, error| TailError::Read {
        path: path.to_owned(),
        error,
    };
    let places =
        Places::find().map_err(|error| failed(Path::new(""), std::io::Error::other(error)))?;
    let log = places.log_of(session);
    log.map_err(|error| failed(places.logs(), error))
}

/// Makes `directory`, and those above that are missing, for its user alone. One that is there stays as
/// it is.
///
/// # Errors
/// What mkdir(2) answers.
pub(crate) fn make_private(directory: &Path) -> std::io::Result<()> {
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700).create(directory)
}

/// `$TMPDIR`, else `/tmp`.
pub(crate) fn temporary() -> PathBuf {
    absolute("TMPDIR").unwrap_or_else(|| "/tmp".into())
}

/// A path as bytes, for the policy.
pub(crate) fn bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// XDG: a relative value is to be ignored.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value: &OsString| !value.is_empty())
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
