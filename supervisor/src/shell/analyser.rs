//! Asks the process that parses, by way of the one that keeps it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::net::{RecvFlags, SendFlags};

use super::analysis::Analysis;
use super::keeper;
use super::message::{ANSWER_MAX_BYTES, Answer, TEXT_MAX_BYTES, TextId};
use crate::fdpass;

/// How long whoever has nothing else to do waits for an answer. The parser gives up before; then the
/// kernel ends it.
const ANSWER_WITHIN: Duration = Duration::from_secs(3);

/// Why a text is not analysed. Nothing follows from it but that.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAnalysed {
    #[error("it is longer than {TEXT_MAX_BYTES} bytes")]
    TooLong,
    #[error("{0}")]
    Parser(String),
    #[error("the parser does not answer")]
    Silent,
    #[error("the parser cannot be asked: {0}")]
    Gone(io::Error),
}

/// Where texts are analysed, one at a time. Dropped, it ends the processes that do it.
#[derive(Debug)]
pub(crate) struct Analyser {
    socket: OwnedFd,
    keeper: Child,
    last: TextId,
}

/// An answer, as it comes in.
type Analysed = Result<Analysis, NotAnalysed>;

impl Analyser {
    /// By `program`, which is execward itself.
    ///
    /// # Errors
    /// If the process that keeps a parser does not start.
    pub(crate) fn start(program: impl AsRef<OsStr>) -> io::Result<Self> {
        let (socket, theirs) = fdpass::pair()?;
        let keeper = Command::new(program)
            .arg0("execward")
            .arg(keeper::ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            socket,
            keeper,
            last: TextId::CURRENT,
        })
    }

    /// What stands in `text`.
    ///
    /// # Errors
    /// Why nothing is known of it.
    pub(crate) fn analyse(&mut self, text: &[u8]) -> Analysed {
        let id = self.send(text)?;
        let until = Instant::now() + ANSWER_WITHIN;
        loop {
            if let Some(analysed) = self.receive(id) {
                return analysed;
            }
            let left = until.saturating_duration_since(Instant::now());
            let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO);
            match poll(&mut [PollFd::new(self.socket(), PollFlags::POLLIN)], left) {
                Ok(0) => return Err(NotAnalysed::Silent),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(NotAnalysed::Gone(error.into())),
            }
        }
    }

    /// Hands a text over and waits for nothing.
    ///
    /// # Errors
    /// If it is too long, or nobody takes it.
    pub(crate) fn send(&mut self, text: &[u8]) -> Result<TextId, NotAnalysed> {
        if text.len() > TEXT_MAX_BYTES {
            return Err(NotAnalysed::TooLong);
        }
        self.last = self.last.next();
        let packet = self.last.packet(text);
        match fdpass::send(self.socket(), &packet, &[], SendFlags::DONTWAIT) {
            Ok(()) => Ok(self.last),
            Err(rustix::io::Errno::AGAIN) => Err(NotAnalysed::Silent),
            Err(error) => Err(NotAnalysed::Gone(error.into())),
        }
    }

    /// The answer to the text of that number, if it is there. Others, which come late, are dropped.
    pub(crate) fn receive(&self, id: TextId) -> Option<Analysed> {
        let mut packet = vec![0; TextId::LENGTH + ANSWER_MAX_BYTES];
        loop {
            let received = fdpass::receive(self.socket(), &mut packet, RecvFlags::DONTWAIT);
            let length = match received {
                Ok((0, _)) => {
                    let gone = io::ErrorKind::UnexpectedEof;
                    return Some(Err(NotAnalysed::Gone(gone.into())));
                }
                Ok((length, _)) => length,
                Err(rustix::io::Errno::AGAIN) => return None,
                Err(error) => return Some(Err(NotAnalysed::Gone(error.into()))),
            };
            let answer = packet.get(..length).and_then(TextId::split);
            let (of, answer) = answer.unwrap_or((TextId::CURRENT, &[]));
            if of == id || of == TextId::CURRENT {
                return Some(match serde_json::from_slice(answer) {
                    Ok(Answer::Analysed(analysis)) => Ok(analysis),
                    Ok(Answer::NotAnalysed(why)) => Err(NotAnalysed::Parser(why)),
                    Err(error) => Err(NotAnalysed::Gone(error.into())),
                });
            }
        }
    }

    /// What to poll for answers.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Analyser {
    fn drop(&mut self) {
        // The parser reads of the end by its socket; the keeper, while there is one, by that.
        if let Err(error) = self
            .keeper
            .kill()
            .and_then(|()| self.keeper.wait().map(drop))
        {
            tracing::debug!(%error, "the keeper of the shell's parser is gone already");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn death_and_silence_are_answers() {
        assert!(Analyser::start("/no/such/program").is_err());
        let mut gone = Analyser::start("/bin/false").unwrap();
        for _ in 0..2 {
            assert!(matches!(gone.analyse(b"a"), Err(NotAnalysed::Gone(_))));
        }
        let directory = tempfile::tempdir().unwrap();
        let silent = directory.path().join("silent");
        write(&silent, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        set_permissions(&silent, Permissions::from_mode(0o755)).unwrap();
        let mut analyser = Analyser::start(silent).unwrap();
        assert!(matches!(analyser.analyse(b"a"), Err(NotAnalysed::Silent)));
        // What the socket does not take is not waited for either.
        let text = vec![b'a'; TEXT_MAX_BYTES];
        let is_silent = |_| matches!(analyser.send(&text), Err(NotAnalysed::Silent));
        assert!((0..64).any(is_silent));
    }

    #[test]
    fn a_text_that_is_too_long_asks_nobody() {
        let text = vec![b'a'; TEXT_MAX_BYTES + 1];
        let mut analyser = Analyser::start("/bin/false").unwrap();
        assert!(matches!(analyser.analyse(&text), Err(NotAnalysed::TooLong)));
    }
}
