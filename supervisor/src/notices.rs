//! Lines on a task's standard error, for the agent to read.
//!
//! The descriptor is the task's own, copied: never re-opened by name, which would write into files
//! that the task may only read, and over the start of its logs (both tried). Its flags are never
//! changed. Nothing here may wait for long; where a line cannot be written there is none, and the
//! record has it.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use execward_policy::Masked;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::close;
use rustix::fs::{AtFlags, FileType, OFlags, StatxFlags, fcntl_getfl, statx};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::audit::is_plain;
use crate::exec::{Filesystem, Filesystems};
use crate::fdpass;
use crate::tracee::{Procfs, TaskDir, Tid};

/// Longest line, its newline included.
pub(crate) const LINE_MAX_BYTES: usize = 512;

/// Longest form of a command in a line.
const COMMAND_MAX_BYTES: usize = 160;

/// Where lines go.
#[derive(Debug)]
pub(crate) struct Notices {
    files: OwnedFd,
    /// Lines whose writing nobody has reported.
    unreported: u32,
}

/// How long the gate waits for a line to be in its file. Whoever reads the file once the exec has
/// failed is to find it there; without waiting, one in six was late on a busy machine (tried).
const PATIENCE: Duration = Duration::from_millis(250);

/// What the thread says of a line that it has dealt with.
const DONE: [u8; 1] = [b'.'];

impl Notices {
    /// Starts the thread that writes to regular files, which may wait for a disk. Like a reader it
    /// has a descriptor table of its own, so that no stuck write keeps the listener open: call
    /// this before the listener exists.
    ///
    /// # Errors
    /// If the thread or its socket cannot be had.
    pub(crate) fn start() -> std::io::Result<Self> {
        let (files, theirs) = fdpass::pair()?;
        let its_own = theirs.as_raw_fd();
        let (ready_sender, ready) = std::sync::mpsc::channel();
        let build = std::thread::Builder::new()
            .name("notices".into())
            .stack_size(128 << 10);
        build.spawn(move || {
            let unshared = unshare(CloneFlags::CLONE_FILES);
            let is_ready = unshared.is_ok();
            if ready_sender.send(unshared).is_ok() && is_ready {
                write_to_files(&theirs);
            }
        })?;
        ready.recv().map_err(std::io::Error::other)??;
        // The thread's own by now; the same number here is a copy that nobody owns.
        close(its_own)?;
        Ok(Self {
            files,
            unreported: 0,
        })
    }

    /// Puts `line`, of at most [`LINE_MAX_BYTES`], on the standard error of the task behind `task`,
    /// which waits in its exec.
    ///
    /// # Errors
    /// If there is no way to do so at once.
    pub(crate) fn tell(
        &mut self,
        line: &[u8],
        proc: &Procfs,
        filesystems: &mut Filesystems,
        task: &TaskDir,
        tgid: Tid,
    ) -> Result<(), Errno> {
        let stderr = copy_of_stderr(task.tid(), tgid)?;
        if !is_writable(&stderr)? {
            return Err(Errno::BADF);
        }
        let quietly = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let seen = statx(&stderr, "", quietly, StatxFlags::BASIC_STATS)?;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "every other kind of file gets no line"
        )]
        match FileType::from_raw_mode(seen.stx_mode.into()) {
            FileType::Fifo => match write_now(stderr.as_fd(), line) {
                // Kernels before 6.4 know no such write into a pipe.
                Err(Errno::OPNOTSUPP) => write_anew(proc, stderr.as_fd(), line),
                written => written,
            },
            // The kernel puts the sender's credentials on it, which are to be the task's.
            FileType::Socket if has_own_uid(task) => {
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                rustix::net::send(&stderr, line, flags).map(drop)
            }
            FileType::CharacterDevice if is_terminal(&seen) => {
                write_anew(proc, stderr.as_fd(), line)
            }
            FileType::RegularFile if filesystems.of(stderr.as_fd(), task)? == Filesystem::Local => {
                // Through the shared description, so that it lands where the task's own would.
                self.write_to_file(stderr.as_fd(), line)
            }
            _ => Err(Errno::OPNOTSUPP),
        }
    }

    /// Has the thread write, and waits for it a little. A disk that keeps it longer keeps the gate
    /// no second time.
    fn write_to_file(&mut self, file: BorrowedFd<'_>, line: &[u8]) -> Result<(), Errno> {
        while self.unreported > 0 && self.hear(Duration::ZERO) {}
        let is_behind = self.unreported > 0;
        fdpass::send(self.files.as_fd(), line, &[file], SendFlags::DONTWAIT)?;
        self.unreported += 1;
        if !is_behind && !self.hear(PATIENCE) {
            tracing::warn!("a line on a standard error waits for its file");
        }
        Ok(())
    }

    /// Waits for a report; whether there was one.
    fn hear(&mut self, patience: Duration) -> bool {
        let mut fds = [PollFd::new(self.files.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO);
        if !matches!(poll(&mut fds, timeout), Ok(1..)) {
            return false;
        }
        let mut report = DONE;
        let heard = fdpass::receive(self.files.as_fd(), &mut report, RecvFlags::DONTWAIT);
        let is_report = matches!(heard, Ok((1, _)));
        self.unreported -= u32::from(is_report);
        is_report
    }
}

fn write_to_files(socket: &OwnedFd) {
    let mut line = [0; LINE_MAX_BYTES];
    while let Ok((len @ 1.., fds)) = fdpass::receive(socket.as_fd(), &mut line, RecvFlags::empty())
    {
        let text = line.get(..len).unwrap_or_default();
        for fd in fds {
            if let Err(errno) = rustix::io::write(&fd, text) {
                tracing::debug!(%errno, "a line was not written");
            }
        }
        // The gate may be gone, or far behind: then it waits for no report.
        if let Err(errno) = fdpass::send(socket.as_fd(), &DONE, &[], SendFlags::DONTWAIT) {
            tracing::debug!(%errno, "a line is not reported");
        }
    }
}

/// Whether the task is of the gate's own uid.
fn has_own_uid(task: &TaskDir) -> bool {
    let own = rustix::process::geteuid().as_raw();
    task.status()
        .is_ok_and(|status| status.credentials.uids[1] == own)
}

/// `pidfd_getfd` of descriptor 2. `PIDFD_THREAD` (Linux 6.9) reaches a thread with a table of its
/// own; elsewhere the process's table is the thread's.
fn copy_of_stderr(tid: Tid, tgid: Tid) -> Result<OwnedFd, Errno> {
    let open = |tid: Tid, flags| pidfd_open(tid.as_rustix().ok_or(Errno::SRCH)?, flags);
    let thread = PidfdFlags::from_bits_retain(libc::PIDFD_THREAD);
    let pidfd = match open(tid, thread) {
        Err(Errno::INVAL) => open(tgid, PidfdFlags::empty())?,
        answer => answer?,
    };
    pidfd_getfd(pidfd, 2, PidfdGetfdFlags::empty())
}

fn is_writable(fd: &OwnedFd) -> Result<bool, Errno> {
    let mode = fcntl_getfl(fd)? & (OFlags::RWMODE | OFlags::PATH);
    Ok(mode == OFlags::WRONLY || mode == OFlags::RDWR)
}

/// Pseudo-terminal slaves and virtual consoles: devices of majors 136 to 143, and 4. `/dev/tty`
/// would mean another terminal to the gate.
fn is_terminal(seen: &rustix::fs::Statx) -> bool {
    matches!(seen.stx_rdev_major, 136..=143 | 4)
}

fn write_now(fd: BorrowedFd<'_>, line: &[u8]) -> Result<(), Errno> {
    const CURRENT_POSITION: u64 = u64::MAX;
    let pieces = [IoSlice::new(line)];
    rustix::io::pwritev2(fd, &pieces, CURRENT_POSITION, ReadWriteFlags::NOWAIT).map(drop)
}

/// By a description of its own, so that `O_NONBLOCK` is not the task's.
fn write_anew(proc: &Procfs, fd: BorrowedFd<'_>, line: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let own = proc.reopen(fd, flags)?;
    rustix::io::write(&own, line).map(drop)
}

/// `text` in printable ASCII, cut so that `tail` fits behind it.
pub(crate) fn bounded_line(text: &str, tail: &str) -> Vec<u8> {
    let mut line: String = text.chars().flat_map(printable).collect();
    line.truncate(LINE_MAX_BYTES.saturating_sub(tail.len()));
    line += tail;
    line.into_bytes()
}

/// How long `text` is in a line.
pub(crate) fn printable_len(text: &str) -> usize {
    text.chars().map(|c| printable(c).len()).sum()
}

/// `name` and the arguments, cut.
pub(crate) fn command_in_words(name: &[u8], argv: &[Masked<'_>]) -> String {
    // execveat(2) of a descriptor has no path.
    let mut text = match name {
        b"" => "(a descriptor)".to_owned(),
        name => name.escape_ascii().to_string(),
    };
    for argument in argv.iter().skip(1) {
        if text.len() > COMMAND_MAX_BYTES {
            break;
        }
        text.push(' ');
        let argument = argument.shown();
        let shown = argument.get(..COMMAND_MAX_BYTES).unwrap_or(&argument);
        // In quotes where it could be taken for more than one word, or for words of this line.
        if is_plain(shown) {
            text += &shown.escape_ascii().to_string();
        } else {
            text += &format!("\"{}\"", shown.escape_ascii());
        }
    }
    if text.len() > COMMAND_MAX_BYTES {
        text.truncate(COMMAND_MAX_BYTES);
        text += "...";
    }
    text
}

/// Whether a character stands in a line as it is.
pub(crate) fn is_printable(c: char) -> bool {
    (' '..='~').contains(&c)
}

fn printable(c: char) -> Vec<char> {
    if is_printable(c) {
        vec![c]
    } else {
        c.escape_default().collect()
    }
}
