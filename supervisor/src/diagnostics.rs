//! execward's own diagnostics: a file in the state directory, and never standard error, which is
//! CMD's once it runs.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// The variable that says how much is written, in tracing's directives. Warnings without it.
const VARIABLE: &str = "EXECWARD_LOG";

/// Sends diagnostics to `path` from here on, a panic's message included.
///
/// # Errors
/// If the file or its directory cannot be made.
pub(crate) fn start(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
    }
    let mut options = OpenOptions::new();
    let file = options
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    let file = file.open(path)?;
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::WARN.into())
        .with_env_var(VARIABLE)
        .from_env()
        .map_err(io::Error::other)?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .try_init()
        .map_err(io::Error::other)?;
    std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a bug")));
    Ok(())
}
