//! Asks the process that parses, starts it when it is needed and again when it is gone.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::analysis::Analysis;
use super::process::{ANSWER_MAX_BYTES, ARGUMENT, Answer, TEXT_MAX_BYTES};

/// How long an answer may take. The parser gives up before; then the process itself hangs.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// What a write to a pipe takes at once, in bytes: `PIPE_BUF`.
const PIPE_BUF_BYTES: usize = 4096;

/// Why a text is not analysed. Nothing follows from it but that.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAnalysed {
    #[error("it is longer than {TEXT_MAX_BYTES} bytes")]
    TooLong,
    #[error("{0}")]
    Limits(String),
    #[error("the parser does not start: {0}")]
    NotStarted(io::Error),
    #[error("the parser died of it")]
    Died,
    #[error("the parser does not answer")]
    Silent,
}

/// Reads shell text by a process of its own, which is used again.
#[derive(Debug)]
pub(crate) struct Analyser {
    program: PathBuf,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    texts: ChildStdin,
    answers: ChildStdout,
}

impl Analyser {
    /// By `program`, which is execward itself.
    pub(crate) fn of(program: PathBuf) -> Self {
        Self {
            program,
            running: None,
        }
    }

    /// What stands in `text`.
    ///
    /// # Errors
    /// Why nothing is known of it.
    pub(crate) fn analyse(&mut self, text: &[u8]) -> Result<Analysis, NotAnalysed> {
        if text.len() > TEXT_MAX_BYTES {
            return Err(NotAnalysed::TooLong);
        }
        let mut running = match self.running.take() {
            Some(running) => running,
            None => Running::start(&self.program).map_err(NotAnalysed::NotStarted)?,
        };
        match running.ask(text) {
            Ok(answer) => {
                self.running = Some(running);
                match answer {
                    Answer::Analysed(analysis) => Ok(analysis),
                    Answer::NotAnalysed(why) => Err(NotAnalysed::Limits(why)),
                }
            }
            Err(error) => {
                running.end();
                let is_silent = error.kind() == io::ErrorKind::TimedOut;
                Err(if is_silent {
                    NotAnalysed::Silent
                } else {
                    NotAnalysed::Died
                })
            }
        }
    }
}

impl Drop for Analyser {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.end();
        }
    }
}

impl Running {
    fn start(program: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(ARGUMENT)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (texts, answers) = (child.stdin.take(), child.stdout.take());
        match (texts, answers) {
            (Some(texts), Some(answers)) => Ok(Self {
                child,
                texts,
                answers,
            }),
            _ => Err(io::Error::other("it has no pipes")),
        }
    }

    fn ask(&mut self, text: &[u8]) -> io::Result<Answer> {
        let until = Instant::now() + ANSWER_WITHIN;
        let length = u32::try_from(text.len()).map_err(io::Error::other)?;
        self.write(&length.to_le_bytes(), until)?;
        self.write(text, until)?;
        let mut length = [0; 4];
        self.read(&mut length, until)?;
        let length = usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?;
        if length > ANSWER_MAX_BYTES {
            return Err(io::Error::other("the answer is too long"));
        }
        let mut answer = vec![0; length];
        self.read(&mut answer, until)?;
        serde_json::from_slice(&answer).map_err(io::Error::other)
    }

    /// Writes all of `bytes`, or says that it takes too long.
    fn write(&mut self, bytes: &[u8], until: Instant) -> io::Result<()> {
        // A pipe that is ready takes this much without waiting: pipe(7).
        for piece in bytes.chunks(PIPE_BUF_BYTES) {
            wait(self.texts.as_fd(), PollFlags::POLLOUT, until)?;
            self.texts.write_all(piece)?;
        }
        Ok(())
    }

    /// Fills `buffer`, or says that it takes too long.
    fn read(&mut self, buffer: &mut [u8], until: Instant) -> io::Result<()> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            wait(self.answers.as_fd(), PollFlags::POLLIN, until)?;
            match self.answers.read(rest)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => filled += read,
            }
        }
        Ok(())
    }

    fn end(mut self) {
        drop(self.texts);
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            tracing::debug!(%error, "the shell's parser is gone already");
        }
    }
}

/// Waits until the pipe is ready, and no longer.
fn wait(pipe: BorrowedFd<'_>, event: PollFlags, until: Instant) -> io::Result<()> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
        match poll(&mut [PollFd::new(pipe, event)], left) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn asked(program: &str) -> NotAnalysed {
        let mut analyser = Analyser::of(program.into());
        // Of a parser that is gone or silent nothing is left for the next text.
        assert!(analyser.analyse(b"a").is_err());
        analyser.analyse(b"a").unwrap_err()
    }

    #[test]
    fn death_and_silence_are_answers() {
        assert!(matches!(
            asked("/no/such/program"),
            NotAnalysed::NotStarted(_)
        ));
        assert!(matches!(asked("/bin/false"), NotAnalysed::Died));
        // What it says is no answer.
        assert!(matches!(asked("/bin/echo"), NotAnalysed::Died));
        let directory = tempfile::tempdir().unwrap();
        let silent = directory.path().join("silent");
        write(&silent, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        set_permissions(&silent, Permissions::from_mode(0o755)).unwrap();
        let mut analyser = Analyser::of(silent);
        assert!(matches!(analyser.analyse(b"a"), Err(NotAnalysed::Silent)));
        // What no pipe holds is not waited for either.
        let text = vec![b'a'; TEXT_MAX_BYTES];
        assert!(matches!(analyser.analyse(&text), Err(NotAnalysed::Silent)));
    }

    #[test]
    fn a_text_that_is_too_long_asks_nobody() {
        let text = vec![b'a'; TEXT_MAX_BYTES + 1];
        let mut analyser = Analyser::of("/no/such/program".into());
        assert!(matches!(analyser.analyse(&text), Err(NotAnalysed::TooLong)));
    }
}
