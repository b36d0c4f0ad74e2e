//! `execward audit ship`: another program's, which is found beside this one. Nothing that ships is part of the gate.

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::audit::TailError;
use crate::cli::{LogArgs, ShipArgs};
use crate::exit::ExitStatus;

/// The program.
const PROGRAM: &str = "execward-ship";

/// Why it does not ship.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShippingError {
    /// This program's own path.
    #[error("cannot find where execward is: {0}")]
    Own(#[source] io::Error),
    /// The other program.
    #[error("cannot start `{}`, which ships logs: {error}; scripts/install puts it there", path.display())]
    Start {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// Becomes the program that ships, with these arguments. Returns why, if it cannot.
pub(crate) fn ship(args: &ShipArgs) -> ShippingError {
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return ShippingError::Own(error),
    };
    let path = own.with_file_name(PROGRAM);
    let error = Command::new(&path).args(&args.arguments).exec();
    ShippingError::Start { path, error }
}

/// Prints the path of the log that is meant, for that program.
///
/// # Errors
/// If there is none.
pub(crate) fn say_where(args: &LogArgs, out: &mut impl Write) -> Result<ExitStatus, TailError> {
    let path = args.meant()?;
    let line = [path.as_os_str().as_bytes(), b"\n"].concat();
    out.write_all(&line).map_err(TailError::Write)?;
    Ok(ExitStatus::Success)
}
