//! A scratch session: started as anybody's is, by `execward run`, and looked at while it lives.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::Value;

use super::inside;
use super::scratch::Scratch;

/// How long anything that a session is waited for may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often its log is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// One that was started. Dropped, it is ended.
#[derive(Debug)]
pub(super) struct Session<'s> {
    scratch: &'s Scratch,
    which: &'static str,
    front: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
}

impl<'s> Session<'s> {
    /// Starts `execward run --prompt PROMPT … -- execward __inside ROLE PLAIN`.
    ///
    /// # Errors
    /// If the front cannot be started.
    pub(super) fn start(
        scratch: &'s Scratch,
        which: &'static str,
        prompt: &str,
        role: &str,
    ) -> io::Result<Self> {
        let said = File::create(scratch.path(which))?;
        let mut front = Command::new("/proc/self/exe")
            .arg0("execward")
            .args(["run", "--quiet", "--no-notice", "--kill-at-exit"])
            .args(["--prompt", prompt, "--session", &scratch.session(which)])
            .arg("--policy")
            .arg(scratch.path("policy.toml"))
            .arg("--audit")
            .arg(scratch.log(which))
            .arg("--state")
            .arg(scratch.path("state"))
            .args(["--", "/proc/self/exe", inside::ARGUMENT, role])
            .arg(scratch.path("plain"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(said)
            .spawn()?;
        let (stdin, stdout) = (front.stdin.take(), front.stdout.take());
        Ok(Self {
            scratch,
            which,
            stdout: stdout.ok_or_else(|| io::Error::other("a pipe is missing"))?,
            stdin,
            front,
        })
    }

    /// The line that CMD says; nothing if it ends, or does not say one in time.
    ///
    /// # Errors
    /// What poll(2) or read(2) answer.
    pub(super) fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        while !line.ends_with(b"\n") {
            let left = deadline.saturating_duration_since(Instant::now());
            let limit = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
            let mut fds = [PollFd::new(self.stdout.as_fd(), PollFlags::POLLIN)];
            let mut piece = [0; 4096];
            let read = match poll(&mut fds, limit)? {
                0 => 0,
                _ => self.stdout.read(&mut piece)?,
            };
            if read == 0 {
                return Ok(Vec::new());
            }
            line.extend(piece.into_iter().take(read));
        }
        Ok(line)
    }

    /// Waits for a record; `None` if the session has none when it ends, or is too slow.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn record(&mut self, is_it: impl Fn(&Value) -> bool) -> io::Result<Option<Value>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let is_last_look = self.front.try_wait()?.is_some() || Instant::now() > deadline;
            // Before it starts there is no log.
            let records = self.scratch.records(self.which).unwrap_or_default();
            let found = records.into_iter().find(&is_it);
            if found.is_some() || is_last_look {
                return Ok(found);
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Lets CMD end, and gives what the session has recorded and what `run` said.
    ///
    /// # Errors
    /// If its end cannot be waited for, or what it left cannot be read.
    pub(super) fn end(mut self) -> io::Result<Ended> {
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        while self.front.try_wait()?.is_none() && Instant::now() < deadline {
            thread::sleep(LOOK_EVERY);
        }
        self.front.kill()?;
        let status = self.front.wait()?;
        let records = self.records_at_end()?;
        let said = std::fs::read_to_string(self.scratch.path(self.which))?;
        let first = said.lines().next().unwrap_or_default();
        let said = first.strip_prefix("execward: ").unwrap_or(first);
        Ok(Ended {
            code: status.code(),
            said: said.to_owned(),
            records,
        })
    }

    /// The front may be gone before the gate is.
    fn records_at_end(&self) -> io::Result<Vec<Value>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let records = match self.scratch.records(self.which) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                records => records?,
            };
            let is_whole = records
                .last()
                .is_none_or(|last| kind(last) == "session.end");
            if is_whole || Instant::now() > deadline {
                return Ok(records);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let ended = self.front.kill().and_then(|()| self.front.wait());
        if let Err(error) = ended {
            tracing::debug!(%error, "the front is not ended");
        }
    }
}

/// What a session left.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    /// The first line of what `run` said, if it said anything.
    pub(super) said: String,
    pub(super) records: Vec<Value>,
}

/// What a record is about.
pub(super) fn kind(record: &Value) -> &str {
    text(record, "/type")
}

pub(super) fn text<'r>(record: &'r Value, pointer: &str) -> &'r str {
    let text = record.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// A process that a record names.
pub(super) fn pid(record: &Value, pointer: &str) -> Option<u32> {
    let number = record.pointer(pointer).and_then(Value::as_u64)?;
    u32::try_from(number).ok()
}

impl Ended {
    /// The decisions about execs whose arguments end with `words`.
    pub(super) fn decisions<'r>(
        &'r self,
        words: &'r [&'r str],
    ) -> impl Iterator<Item = &'r Value> + 'r {
        let decisions = self.records.iter();
        let decisions = decisions.filter(|record| kind(record) == "exec.decision");
        decisions.filter(move |record| ends_with(record, words))
    }

    /// What came of an exec that was let go on, as `result errno`.
    pub(super) fn outcome(&self, decision: &Value) -> String {
        let id = text(decision, "/exec_id");
        let outcomes = self.records.iter();
        let mut outcomes = outcomes.filter(|record| kind(record) == "exec.outcome");
        let outcome = outcomes.find(|record| text(record, "/exec_id") == id);
        let [result, errno] = ["/outcome/result", "/outcome/errno"]
            .map(|pointer| outcome.map_or("", |outcome| text(outcome, pointer)));
        format!("{result} {errno}").trim().to_owned()
    }
}

fn ends_with(record: &Value, words: &[&str]) -> bool {
    let argv = record.pointer("/proc/argv").and_then(Value::as_array);
    let argv: Vec<_> = argv
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    argv.ends_with(words)
}
