//! A supervisor outside, and a process that hands itself over to it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Receiver;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::drain;
use crate::{Ground, binary, end_of, is_root, until};

/// A supervisor that waits for a process, in a ground of its own.
#[derive(Debug)]
pub struct Outside {
    supervisor: Child,
    stderr: Receiver<Vec<u8>>,
    socket: PathBuf,
}

/// How a session of a process that was handed over ended.
#[derive(Debug)]
pub struct Handed {
    /// How the process did, or what stands for it here.
    pub status: ExitStatus,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How the supervisor did.
    pub supervisor: Option<i32>,
    /// Its standard error.
    pub said: String,
}

impl Outside {
    /// Starts one with the policy and the options of `desk`, whose socket lies in `room`, and waits until it waits.
    ///
    /// # Panics
    /// If it does not.
    #[must_use]
    pub fn waiting(desk: &Ground, room: &Ground) -> Self {
        Self::started(desk.supervisor(&door(room)), room)
    }

    /// The same, started by `words`, which end by executing what follows them.
    ///
    /// # Panics
    /// As [`Outside::waiting`].
    #[must_use]
    pub fn waiting_under(words: &[&str], desk: &Ground, room: &Ground) -> Self {
        Self::started(crate::under(words, &desk.supervisor(&door(room))), room)
    }

    fn started(mut command: Command, room: &Ground) -> Self {
        let socket = room.path("door/socket");
        command.stderr(Stdio::piped());
        let mut supervisor = command.spawn().expect("execward");
        let stderr = drain(supervisor.stderr.take().expect("stderr"));
        until("the supervisor's socket", || {
            let has_ended = supervisor.try_wait().expect("a process").is_some();
            (has_ended || socket.try_exists().unwrap_or(false)).then_some(())
        });
        Self {
            supervisor,
            stderr,
            socket,
        }
    }

    /// Where it hears.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// `execward-shim` that becomes `words` here. Root, outside of a container, keeps its capabilities, and
    /// the supervisor must be told so ([`as_here`]).
    #[must_use]
    pub fn shim(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary("execward-shim"));
        command.arg("--socket").arg(&self.socket);
        if is_root() {
            command.arg("--keep-caps");
        }
        command.arg("--").args(words).stdin(Stdio::null());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    /// The static one, as an image has it.
    #[must_use]
    pub fn static_shim(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary("execward-shim-static"));
        command.arg("--socket").arg(&self.socket).arg("--");
        command.args(words);
        command
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// If it is gone.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.supervisor.id()).expect("a pid");
        kill(Pid::from_raw(pid), signal).expect("a supervisor");
    }

    /// Runs `command`, which hands itself over, to its end and the supervisor's.
    ///
    /// # Panics
    /// If one of them takes longer than [`DEADLINE`](crate::DEADLINE).
    #[must_use]
    pub fn end(self, command: Command) -> Handed {
        let (status, stdout, stderr) = crate::finish(command);
        let (supervisor, said) = self.wait();
        Handed {
            status,
            stdout,
            stderr,
            supervisor,
            said,
        }
    }

    /// Waits for the supervisor's end: its code, and what it said.
    ///
    /// # Panics
    /// If it takes longer than [`DEADLINE`](crate::DEADLINE).
    #[must_use]
    pub fn wait(mut self) -> (Option<i32>, String) {
        let status = end_of(&mut self.supervisor);
        let said = self.stderr.recv().expect("stderr");
        (status.code(), String::from_utf8(said).expect("UTF-8"))
    }
}

/// The socket's path in a directory of its user's own.
fn door(room: &Ground) -> PathBuf {
    let directory = room.path("door");
    fs::create_dir(&directory).expect("a directory");
    let private = fs::Permissions::from_mode(0o700);
    fs::set_permissions(&directory, private).expect("chmod");
    directory.join("socket")
}

impl Drop for Outside {
    fn drop(&mut self) {
        // Of a test that failed.
        self.supervisor.kill().ok();
        self.supervisor.wait().ok();
    }
}

/// A ground whose sessions are of processes that hand themselves over outside of any container: of root with all
/// its rights.
#[must_use]
pub fn as_here(ground: Ground) -> Ground {
    if is_root() {
        ground.option("--keep-caps")
    } else {
        ground
    }
}
