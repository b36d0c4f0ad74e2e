//! A subscribed client's end: what the gate says as it says it, without waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use super::client::{ClientError, LINE_MAX_BYTES};
use super::wire::{FromClient, FromGate, Response, line};

/// A live session that tells of every question.
#[derive(Debug)]
pub(crate) struct Feed {
    name: String,
    stream: UnixStream,
    /// The beginning of a line.
    unread: Vec<u8>,
}

impl Feed {
    /// Goes on with a connection on which `unread` has been read already.
    ///
    /// # Errors
    /// If it cannot be made to answer at once.
    pub(super) fn of(name: String, stream: UnixStream, unread: Vec<u8>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            name,
            stream,
            unread,
        })
    }

    /// What the session is called.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What has arrived.
    ///
    /// # Errors
    /// If the session has ended, or says what is not understood.
    pub(crate) fn receive(&mut self) -> Result<Vec<FromGate>, ClientError> {
        let mut piece = vec![0; 64 << 10];
        match self.stream.read(&mut piece) {
            Ok(0) => return Err(ClientError::Closed),
            Ok(len) => self.unread.extend(piece.iter().take(len)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                return Err(ClientError::Closed);
            }
            Err(error) => return Err(error.into()),
        }
        self.take_lines()
    }

    /// The whole lines of what has arrived.
    fn take_lines(&mut self) -> Result<Vec<FromGate>, ClientError> {
        let strange = |error: serde_json::Error| ClientError::Strange(error.to_string());
        let mut messages = Vec::new();
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            messages.push(serde_json::from_slice(&line).map_err(strange)?);
        }
        if self.unread.len() as u64 > LINE_MAX_BYTES {
            return Err(ClientError::Strange("a line without an end".into()));
        }
        Ok(messages)
    }

    /// Answers a question; what comes of it is heard.
    ///
    /// # Errors
    /// If the session is not there to take it: it takes a line at once.
    pub(crate) fn say(&mut self, response: Response) -> Result<(), ClientError> {
        let line = line(&FromClient::ApprovalResponse(response)).map_err(io::Error::from)?;
        match self.stream.write(&line) {
            Ok(len) if len == line.len() => Ok(()),
            Ok(_) => Err(ClientError::Silent),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(ClientError::Silent),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ClientError::Closed),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Feed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_messages_however_they_come() {
        let (own, mut gates) = UnixStream::pair().unwrap();
        let mut feed = Feed::of("s".into(), own, b"{\"type\":".to_vec()).unwrap();
        assert!(feed.receive().unwrap().is_empty());
        gates
            .write_all(b"\"listed\"}\n{\"type\":\"subscribed\"}\n{")
            .unwrap();
        assert!(matches!(
            feed.receive().unwrap().as_slice(),
            [FromGate::Listed, FromGate::Subscribed]
        ));
        gates.write_all(b"\n").unwrap();
        assert!(matches!(feed.receive(), Err(ClientError::Strange(_))));
        drop(gates);
        assert!(matches!(feed.receive(), Err(ClientError::Closed)));
    }
}
