//! execward's own diagnostics: a file in the state directory, and never standard error, which is
//! CMD's once it runs.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nix::unistd::Uid;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FromEnvError, LevelFilter};
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::places::make_private;

/// The variable that says how much is written, in tracing's directives. Warnings without it.
const VARIABLE: &str = "EXECWARD_LOG";

/// Why there are none: no session starts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiagnosticsError {
    #[error(
        "cannot open execward's own diagnostics `{}`: {error}; make its directory one that you may \
         write to{}", path.display(), elsewhere()
    )]
    Open { path: PathBuf, error: io::Error },
    #[error("{VARIABLE} is not understood: {0}; unset it, or name a level such as `debug`")]
    Directives(#[from] FromEnvError),
    #[error("cannot start execward's own diagnostics: {0}")]
    Start(#[from] TryInitError),
}

/// Root's place for them is none of a user's.
fn elsewhere() -> &'static str {
    match Uid::effective().is_root() {
        true => ", or name another with --state",
        false => ", or name another in XDG_STATE_HOME",
    }
}

/// Sends diagnostics to `path` from here on, a panic's message included.
///
/// # Errors
/// If the file or its directory cannot be made, or the environment asks for what does not exist.
pub(crate) fn start(path: &Path) -> Result<(), DiagnosticsError> {
    let file = open(path).map_err(|error| DiagnosticsError::Open {
        path: path.to_owned(),
        error,
    })?;
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .with_env_var(VARIABLE)
        .from_env()?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish()
        .try_init()?;
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a bug")));
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        make_private(directory)?;
    }
    let mut options = OpenOptions::new();
    let file = options
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    file.open(path)
}
