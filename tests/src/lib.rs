//! The harness: one session of the real binary, in directories of its own, under a deadline.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

mod asking;
mod chain;
pub mod container;
pub mod drill;
pub mod fault;
pub mod fuse;
mod ground;
pub mod outside;
mod process;
mod ran;
pub mod random;
mod screen;
mod terminal;
pub mod volatile;

pub use asking::{Asking, Question};
pub use chain::chained;
pub use ground::{Ground, said};
pub use process::{DEADLINE, Lines, end_of, finish, rest_of_stderr, until};
pub use ran::Ran;
pub use screen::Screen;
pub use terminal::Terminal;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
use serde_json::Value;

/// `gated` started by `words`, which end by executing what follows them.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn under(words: &[&str], gated: &Command) -> Command {
    let (first, rest) = words.split_first().expect("a program");
    let mut command = Command::new(first);
    command
        .args(rest)
        .arg(gated.get_program())
        .args(gated.get_args())
        .stdin(Stdio::null());
    if let Some(directory) = gated.get_current_dir() {
        command.current_dir(directory);
    }
    for (name, value) in gated.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// `command` without its environment, as it is typed.
///
/// # Panics
/// If a word is no UTF-8.
#[must_use]
pub fn typed(command: &Command) -> String {
    let program = [command.get_program()];
    let words = program.into_iter().chain(command.get_args());
    let words = words.map(|word| word.to_str().expect("UTF-8").replace('\'', "'\\''"));
    let quoted = words.map(|word| format!("'{word}'"));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The records of one type.
pub fn of_type<'a>(records: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    records.iter().filter(move |record| record["type"] == kind)
}

/// A program of this workspace, beside the test's own executable, or in `EXECWARD_BIN_DIR`.
///
/// # Panics
/// If it was not built.
#[must_use]
pub fn binary(name: &str) -> PathBuf {
    let directory = std::env::var_os("EXECWARD_BIN_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let own = std::env::current_exe().expect("the test's own path");
            own.ancestors()
                .nth(2)
                .expect("a target directory")
                .to_owned()
        });
    let path = directory.join(name);
    assert!(
        path.try_exists().unwrap_or(false),
        "{} is missing: run `cargo build --workspace` first",
        path.display()
    );
    path
}

/// Whether the tests run as root.
#[must_use]
pub fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

/// Whether this kernel names the sender of an answer for sure (`SO_PEERPIDFD`, Linux 6.5).
///
/// # Panics
/// If there are no sockets.
#[must_use]
pub fn takes_answers() -> bool {
    let (one, _other) = std::os::unix::net::UnixStream::pair().expect("two sockets");
    getsockopt(&one, PeerPidfd).is_ok()
}

/// Leaves a test out that asks somebody, or speaks to a session, where no session hears anybody.
#[macro_export]
macro_rules! needs_answers {
    () => {
        if !$crate::takes_answers() {
            return $crate::skip("this kernel cannot name a sender for sure (SO_PEERPIDFD)");
        }
    };
}

/// Leaves a test out where it cannot mount a file system that it serves itself.
#[macro_export]
macro_rules! needs_served_files {
    () => {
        if !$crate::is_root() {
            return $crate::skip("mounting a file system needs root");
        }
        if std::fs::metadata("/dev/fuse").is_err() {
            return $crate::skip("there is no /dev/fuse, so no file system of a test's own");
        }
    };
}

/// Says that a test is left out, for scripts/test to count.
#[expect(clippy::print_stderr, reason = "scripts/test counts these lines")]
pub fn skip(reason: &str) {
    eprintln!("SKIP: {reason}");
}
