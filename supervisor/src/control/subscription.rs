//! A client that hears of every question as it is asked and settled, and never waits for the gate.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::client::{ClientError, LINE_MAX_BYTES, Session};
use super::wire::{FromClient, FromGate, Response, line};
use crate::tracee::Tid;

/// Most bytes that are taken at once.
const PIECE_BYTES: usize = 16 << 10;

/// A connection over which the gate tells of questions.
#[derive(Debug)]
pub(crate) struct Subscription {
    stream: UnixStream,
    session_id: String,
    /// What has come in and is no whole line yet.
    heard: Vec<u8>,
}

impl Subscription {
    /// To the gate that is process `gate`, which the caller started.
    ///
    /// # Errors
    /// If it is not to be reached, or another listens in its place.
    pub(crate) fn to_gate(path: &Path, gate: Tid) -> Result<Self, ClientError> {
        let mut session = Session::with_gate(path, gate)?;
        session.send(&FromClient::Subscribe)?;
        let (stream, session_id, heard) = session.into_parts();
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            session_id,
            heard,
        })
    }

    /// The next message, if one has come in.
    ///
    /// # Errors
    /// If the gate is gone, or says what is no message.
    pub(crate) fn next(&mut self) -> Result<Option<FromGate>, ClientError> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let text: Vec<u8> = self.heard.drain(..=end).collect();
                let message = serde_json::from_slice(&text);
                return message.map_err(|error| ClientError::Strange(error.to_string()));
            }
            if self.heard.len() as u64 > LINE_MAX_BYTES {
                return Err(ClientError::Strange("a line without an end".into()));
            }
            let mut piece = [0; PIECE_BYTES];
            match self.stream.read(&mut piece) {
                Ok(0) => return Err(ClientError::Closed),
                Ok(len) => self
                    .heard
                    .extend_from_slice(piece.get(..len).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends an answer; what comes of it is a message.
    ///
    /// # Errors
    /// If the gate is gone, or takes nothing more.
    pub(crate) fn answer(&mut self, response: Response) -> Result<(), ClientError> {
        let line = line(&FromClient::ApprovalResponse(response)).map_err(io::Error::from)?;
        Ok(self.stream.write_all(&line)?)
    }

    /// The session's own id, which answers echo.
    pub(crate) fn session_id(&self) -> &str {
        &self.session_id
    }
}

impl AsFd for Subscription {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
