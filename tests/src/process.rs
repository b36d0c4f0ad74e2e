//! Processes of a test, none of which is waited for without a deadline.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::process::{PidfdFlags, pidfd_open};

/// How long a session may take before the test fails: a minute, times `EXECWARD_TEST_PATIENCE`, which
/// scripts/guest sets where the processor is emulated.
pub static DEADLINE: LazyLock<Duration> = LazyLock::new(|| {
    let patience = std::env::var("EXECWARD_TEST_PATIENCE");
    let patience = patience.ok().and_then(|factor| factor.parse().ok());
    Duration::from_secs(60) * patience.unwrap_or(1)
});

/// Runs a command to its end, both outputs read whole.
///
/// # Panics
/// If it takes longer than [`DEADLINE`].
#[must_use]
pub fn finish(mut command: Command) -> (ExitStatus, String, String) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let stdout = drain(child.stdout.take().expect("stdout"));
    let stderr = drain(child.stderr.take().expect("stderr"));
    let status = end_of(&mut child);
    // Text as it is; of other bytes their escapes.
    let text = |bytes: Vec<u8>| {
        let shown = bytes.iter().map(|byte| match byte {
            b'\n' | b' '..=b'~' => char::from(*byte).to_string(),
            _ => byte.escape_ascii().to_string(),
        });
        shown.collect::<String>()
    };
    (
        status,
        text(stdout.recv().expect("stdout")),
        text(stderr.recv().expect("stderr")),
    )
}

/// The lines of a running session's output, each waited for under the deadline.
#[derive(Debug)]
pub struct Lines(Receiver<String>);

impl Lines {
    /// Reads `from` in a thread of its own.
    #[must_use]
    pub fn of(from: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self(receiver)
    }

    /// The next line; none at the end, or if it does not come within [`DEADLINE`].
    #[must_use]
    pub fn next_line(&self) -> Option<String> {
        self.next_line_within(*DEADLINE)
    }

    /// The same with another deadline.
    #[must_use]
    pub fn next_line_within(&self, deadline: Duration) -> Option<String> {
        self.0.recv_timeout(deadline).ok()
    }
}

pub(crate) fn drain(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if from.read_to_end(&mut bytes).is_ok() {
            sender.send(bytes).ok();
        }
    });
    receiver
}

/// Waits for a child's end.
///
/// # Panics
/// If it does not end within [`DEADLINE`]; it is killed then.
pub fn end_of(child: &mut Child) -> ExitStatus {
    if let Some(status) = child.try_wait().expect("wait") {
        return status;
    }
    let pid = rustix::process::Pid::from_child(child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).expect("a child that is not reaped");
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("wait") {
            return status;
        }
        let left = DEADLINE.saturating_sub(start.elapsed());
        if left.is_zero() {
            child.kill().ok();
            panic!("the session hangs");
        }
        let mut ends = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        // Whatever it answers, what counts is looked at again.
        poll(&mut ends, PollTimeout::try_from(left).expect("minutes")).ok();
    }
}

/// Retries `look` until it finds something.
///
/// # Panics
/// If it does not within [`DEADLINE`].
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < *DEADLINE, "waited in vain for {what}");
        thread::yield_now();
    }
}

/// What `child` says on its standard error, which is a pipe, until it is closed.
///
/// # Panics
/// If it is no pipe, or not text.
#[must_use]
pub fn rest_of_stderr(child: &mut Child) -> String {
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("a pipe");
    stderr.read_to_string(&mut said).expect("text");
    said
}
