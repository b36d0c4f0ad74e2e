//! Sessions of the build that meets faults on order, and what must hold after any fault.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::{Ground, chained, until};

/// The build with the feature `fault-injection`, which scripts/steps makes beside the ordinary one.
#[must_use]
pub fn faulty() -> Option<PathBuf> {
    let path = crate::binary("execward").with_file_name("execward-faulty");
    path.try_exists().unwrap_or(false).then_some(path)
}

/// Leaves a test out that needs it.
#[macro_export]
macro_rules! needs_faults {
    () => {
        if $crate::fault::faulty().is_none() {
            return $crate::skip(
                "there is no execward-faulty beside execward (cargo build --features fault-injection)",
            );
        }
    };
}

/// The session `gated` of the build with faults, which meets `orders`.
///
/// # Panics
/// If there is no such build.
#[must_use]
pub fn with_faults(gated: &Command, orders: &str) -> Command {
    let mut command = Command::new(faulty().expect("a build with faults"));
    command.args(gated.get_args()).env("EXECWARD_FAULT", orders);
    if let Some(directory) = gated.get_current_dir() {
        command.current_dir(directory);
    }
    for (name, value) in gated.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
}

impl Ground {
    /// Waits until no process is left that works in this directory.
    ///
    /// # Panics
    /// If one stays.
    pub fn nothing_is_left(&self) {
        let directory = fs::metadata(self.path("")).expect("a directory");
        until("the end of every process", || {
            working_in(&directory).is_empty().then_some(())
        });
    }

    /// See [`chained`].
    #[must_use]
    pub fn chained(&self) -> (Vec<Value>, Vec<u8>) {
        let files = self.log_files().into_iter();
        let bytes: Vec<_> = files
            .map(|file| fs::read(file).unwrap_or_default())
            .collect();
        chained(&bytes.concat())
    }
}

/// The processes whose working directory that is.
fn working_in(directory: &Metadata) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").expect("proc").flatten();
    let is_here = |path: &PathBuf| {
        let cwd = fs::metadata(path.join("cwd"));
        cwd.is_ok_and(|cwd| (cwd.dev(), cwd.ino()) == (directory.dev(), directory.ino()))
    };
    processes
        .map(|entry| entry.path())
        .filter(is_here)
        .collect()
}
