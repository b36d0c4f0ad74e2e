//! The log's lines, from `execward audit tail --json` in a process of its own: that one knows a log's files.
//!
//! The shipper reads a pipe. Where it is slow, tail waits; the gate writes files and waits for neither.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::exit::Exit;
use crate::lines::Lines;
use crate::said::{printable, say};
use crate::stop::{Stop, Woken};

/// The first argument of the process that becomes tail.
pub(crate) const ARGUMENT: &str = "__tail";

/// Most bytes that are read at once: what a pipe holds.
const PIECE: usize = 64 * 1024;

/// Most bytes that are read of what tail says when it fails.
const SAID_MAX: u64 = 4096;

/// tail's status for a log with lines that are no records.
const DAMAGED: i32 = 4;

/// A running tail.
#[derive(Debug)]
pub(crate) struct Tail {
    child: Child,
    out: ChildStdout,
    lines: Lines,
    /// Room for what is read at once.
    piece: Vec<u8>,
}

/// What came next.
#[derive(Debug)]
pub(crate) enum Step {
    /// A line without its end.
    Line(Vec<u8>),
    /// None in time.
    Nothing,
    /// No more: tail has ended.
    End,
    /// Somebody wants the shipper to end.
    Stopped,
}

/// How tail ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// At the log's end.
    Whole,
    /// Likewise, behind lines that are no records.
    Damaged(String),
    /// It could not read, or was ended.
    Failed(String),
}

impl Tail {
    /// Starts the tail of `log` by the `execward` at that path.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) fn start(execward: &Path, log: &Path, follows: bool) -> io::Result<Self> {
        let own = Pid::as_raw(Some(rustix::process::getpid())).to_string();
        let mut child = Command::new("/proc/self/exe")
            .args([ARGUMENT, &own])
            .arg(execward)
            .args(["audit", "tail", "--json"])
            .args(follows.then_some("--follow"))
            .arg("--")
            .arg(log)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // What a terminal sends is for the shipper, which finishes its batch first.
            .process_group(0)
            .spawn()?;
        let out = child.stdout.take();
        let out = out.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        rustix::io::ioctl_fionbio(&out, true)?;
        Ok(Self {
            child,
            out,
            lines: Lines::default(),
            piece: vec![0; PIECE],
        })
    }

    /// The next line, if it comes before `until`; without one it is waited for.
    ///
    /// # Errors
    /// What poll(2) and read(2) answer.
    pub(crate) fn next(&mut self, stop: &Stop, until: Option<Instant>) -> io::Result<Step> {
        loop {
            if let Some(line) = self.lines.next_line() {
                return Ok(Step::Line(line));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            match stop.wait(Some(self.out.as_fd()), left)? {
                Woken::Stopped => return Ok(Step::Stopped),
                Woken::Late if left.is_some_and(|left| left.is_zero()) => return Ok(Step::Nothing),
                Woken::Late => continue,
                Woken::Readable => {}
            }
            match rustix::io::read(&self.out, &mut self.piece) {
                Ok(0) => return Ok(Step::End),
                Ok(read) => self.lines.push(self.piece.get(..read).unwrap_or_default()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// How it ended, behind [`Step::End`].
    ///
    /// # Errors
    /// What wait4(2) answers.
    pub(crate) fn end(mut self) -> io::Result<Ended> {
        let mut said = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            stderr.take(SAID_MAX).read_to_end(&mut said)?;
        }
        Ok(Ended::of(self.child.wait()?, &said))
    }
}

impl Ended {
    fn of(status: ExitStatus, said: &[u8]) -> Self {
        let mut said = printable(said.trim_ascii());
        match status.code() {
            Some(0) => Self::Whole,
            Some(DAMAGED) => Self::Damaged(said),
            _ => {
                if said.is_empty() && write!(said, "`execward audit tail`: {status}").is_err() {
                    said.push_str("it failed");
                }
                Self::Failed(said)
            }
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        // One that has ended already is none the worse for it.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// `__tail PID EXECWARD …`: becomes that program, and ends with the shipper, of process PID, however that ends.
pub(crate) fn main(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let parent = arguments.next().unwrap_or_default();
    let Some(program) = arguments.next() else {
        return Exit::Usage.into();
    };
    if let Err(errno) = set_parent_process_death_signal(Some(Signal::KILL)) {
        say(&format!("prctl: {errno}"));
        return Exit::Io.into();
    }
    // It may have ended before that.
    let is_there = parent.to_str() == Some(Pid::as_raw(getppid()).to_string().as_str());
    if !is_there {
        return Exit::Io.into();
    }
    let error = Command::new(&program).args(arguments).exec();
    say(&format!("cannot start `{}`: {error}", program.display()));
    Exit::Io.into()
}
