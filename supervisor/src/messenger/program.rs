//! The user's program that is told of a question: started, given its time, and ended.
//!
//! It decides nothing, and nothing waits for it.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::message::FromMessenger;

/// How long it may run.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(10);

/// Most that run at once; word of a question that comes beyond is not sent.
pub(crate) const RUNNING_MAX: usize = 4;

/// Most that is kept of what it says.
const SAID_MAX_BYTES: usize = 2 << 10;

/// Variables that a program of the user's needs to reach a desktop, and no more.
const PASSED_ON: [&str; 9] = [
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "TZ",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// The environment of the program, out of the caller's.
pub(super) fn environment() -> Vec<(&'static str, OsString)> {
    let own = |name| Some((name, std::env::var_os(name)?));
    let path = ("PATH", OsString::from("/usr/local/bin:/usr/bin:/bin"));
    PASSED_ON
        .into_iter()
        .filter_map(own)
        .chain([path])
        .collect()
}

/// The program at `path`, once it is one that nobody but root and the effective user can have changed.
///
/// # Errors
/// Why it is not started.
pub(crate) fn trusted(path: &str) -> Result<PathBuf, String> {
    let failed = |error: io::Error| format!("cannot look at `{path}`: {error}");
    let real = real(Path::new(path)).map_err(failed)?;
    let seen = real.metadata().map_err(failed)?;
    if !seen.is_file() || seen.permissions().mode() & 0o111 == 0 {
        return Err(format!("`{path}` is no program"));
    }
    check_owner(&real, &seen, 0)?;
    for directory in real.ancestors().skip(1) {
        let seen = directory.metadata().map_err(failed)?;
        // What is in a sticky directory is its owner's alone to replace.
        const STICKY: u32 = 0o1000;
        check_owner(directory, &seen, STICKY)?;
    }
    Ok(real)
}

/// `path` without links.
#[expect(
    clippy::disallowed_methods,
    reason = "what the user names, and no task's"
)]
pub(crate) fn real(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// `unless` are bits of the mode with which others may write.
fn check_owner(path: &Path, seen: &Metadata, unless: u32) -> Result<(), String> {
    const OTHERS_MAY_WRITE: u32 = 0o022;
    let own = rustix::process::geteuid().as_raw();
    let is_writable = seen.mode() & OTHERS_MAY_WRITE != 0 && seen.mode() & unless == 0;
    if [0, own].contains(&seen.uid()) && !is_writable {
        return Ok(());
    }
    Err(format!(
        "`{}` belongs to uid {} with mode {:03o}; it must belong to uid {own} or root and be nobody \
         else's to change",
        path.display(),
        seen.uid(),
        seen.mode() & 0o7777
    ))
}

/// The programs that run.
#[derive(Debug, Default)]
pub(super) struct Programs {
    running: Vec<JoinHandle<()>>,
}

impl Programs {
    /// Starts one. What comes of it is told `gate`; when `stop` is closed at its other end, it is ended.
    ///
    /// # Errors
    /// Why it does not run.
    pub(super) fn start(
        &mut self,
        argv: &[String],
        question: &str,
        stop: &PipeReader,
        gate: OwnedFd,
    ) -> Result<(), String> {
        self.running.retain(|thread| !thread.is_finished());
        if self.running.len() >= RUNNING_MAX {
            return Err(format!("{RUNNING_MAX} are running already"));
        }
        let (program, arguments) = argv.split_first().ok_or("it has no name")?;
        let path = trusted(program)?;
        let stop = stop.try_clone().map_err(|error| error.to_string())?;
        let spawned = spawn(&path, arguments, question);
        let (child, output) = spawned.map_err(|error| format!("it does not start: {error}"))?;
        let attended = Attended {
            program: program.clone(),
            child,
            output,
        };
        self.running.push(thread::spawn(move || {
            super::process::report(gate.as_fd(), &attended.wait(&stop));
        }));
        Ok(())
    }

    /// Waits for those that are being ended.
    pub(super) fn join(self) {
        for thread in self.running {
            if thread.join().is_err() {
                tracing::debug!("a program was not attended to");
            }
        }
    }
}

/// The program with what it is told, which is there whether it reads it or not, and in a process group of
/// its own.
fn spawn(path: &Path, arguments: &[String], question: &str) -> io::Result<(Child, PipeReader)> {
    let mut told = File::from(rustix::fs::memfd_create("question", MemfdFlags::CLOEXEC)?);
    told.write_all(question.as_bytes())?;
    told.rewind()?;
    let (output, theirs) = io::pipe()?;
    let child = Command::new(path)
        .args(arguments)
        .stdin(Stdio::from(told))
        .stdout(Stdio::from(theirs.try_clone()?))
        .stderr(Stdio::from(theirs))
        .current_dir("/")
        .process_group(0)
        .spawn()?;
    Ok((child, output))
}

struct Attended {
    program: String,
    child: Child,
    output: PipeReader,
}

impl Attended {
    /// Waits until it has ended, or its time is over.
    fn wait(mut self, stop: &PipeReader) -> FromMessenger {
        let mut said = Vec::new();
        let ended = self.listen(stop, &mut said);
        let program = self.program.clone();
        let status = self.end();
        let said = said.escape_ascii().to_string();
        let why = match (ended, status) {
            (Ok(true), Ok(status)) if status.success() => {
                return FromMessenger::Notified { program, said };
            }
            (Ok(true), Ok(status)) => format!("it ended with {status}"),
            (Ok(false), _) => format!(
                "it took longer than {} s, and was ended",
                TIME_MAX.as_secs()
            ),
            (Err(error), _) | (_, Err(error)) => format!("it cannot be waited for: {error}"),
        };
        FromMessenger::NotNotified { program, why, said }
    }

    /// Whether it ended of itself.
    fn listen(&mut self, stop: &PipeReader, said: &mut Vec<u8>) -> io::Result<bool> {
        let until = Instant::now() + TIME_MAX;
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pidfd = pidfd_open(pid.ok_or(io::ErrorKind::NotFound)?, PidfdFlags::empty())?;
        let mut is_silent = false;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            // However much it says.
            if left.is_zero() {
                return Ok(false);
            }
            let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
            let mut fds = vec![
                PollFd::new(pidfd.as_fd(), PollFlags::POLLIN),
                PollFd::new(stop.as_fd(), PollFlags::POLLIN),
            ];
            if !is_silent {
                fds.push(PollFd::new(self.output.as_fd(), PollFlags::POLLIN));
            }
            match poll(&mut fds, left) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(Errno::EINTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            let [has_ended, is_to_stop, has_said] =
                [0, 1, 2].map(|at| fds.get(at).is_some_and(|fd| fd.any() == Some(true)));
            if has_said {
                is_silent = !hear(&mut self.output, said)?;
            } else if has_ended {
                return Ok(true);
            } else if is_to_stop {
                return Ok(false);
            }
        }
    }

    /// Ends it with what it started, however it stands.
    fn end(mut self) -> io::Result<std::process::ExitStatus> {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // Its number is its own until it is waited for; the group may be gone.
        if let Some(group) = group
            && let Err(errno) = kill_process_group(group, Signal::KILL)
        {
            tracing::debug!(%errno, "nobody is left of a program");
        }
        self.child.kill()?;
        self.child.wait()
    }
}

/// Takes what has come in; whether more may.
fn hear(output: &mut PipeReader, said: &mut Vec<u8>) -> io::Result<bool> {
    let mut piece = [0; 4096];
    let length = output.read(&mut piece)?;
    let room = SAID_MAX_BYTES.saturating_sub(said.len());
    said.extend(piece.get(..length.min(room)).unwrap_or_default());
    Ok(length > 0)
}
