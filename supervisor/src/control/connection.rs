//! One client's connection: whole lines, each with the credentials of its sender.

use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, UnixCredentials, recvmsg};
use serde::Serialize;
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc::Receiver;

use super::wire::{LINE_MAX_BYTES, line};
use crate::audit::Approver;

/// A line ready to be sent, shared by all who get it.
pub(crate) type Line = Arc<[u8]>;

/// A message as a line that any number of clients share.
pub(super) fn rendered(message: &impl Serialize) -> Line {
    match line(message) {
        Ok(line) => line.into(),
        Err(error) => {
            tracing::error!(%error, "a message has no JSON");
            Arc::from(&b"{\"type\":\"error\",\"error\":\"execward failed\"}\n"[..])
        }
    }
}

/// Most bytes that are taken from a connection at once.
const PIECE_BYTES: usize = 4096;

/// Takes lines from a connection.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// Who sent what lies in `bytes`.
    sender: Option<Approver>,
}

/// Why a connection is closed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectionError {
    #[error("a line is longer than {LINE_MAX_BYTES} bytes")]
    TooLong,
    #[error("a line was begun by process {} and ended by process {}", .0.pid, .1.pid)]
    TwoSenders(Approver, Approver),
    #[error("the kernel does not say who sent it")]
    NoSender,
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Lines {
    /// The next line and who sent it, all of it; `None` once the connection is closed.
    ///
    /// # Errors
    /// If it cannot be read, is too long, or is not of one sender.
    pub(crate) async fn next(
        &mut self,
        stream: &UnixStream,
    ) -> Result<Option<(Vec<u8>, Approver)>, ConnectionError> {
        loop {
            if let Some(line) = self.take()? {
                return Ok(Some(line));
            }
            let mut piece = [0; PIECE_BYTES];
            let receive = || receive(stream, &mut piece);
            let (len, sender) = stream.async_io(Interest::READABLE, receive).await?;
            if len == 0 {
                return Ok(None);
            }
            self.add(piece.get(..len).unwrap_or_default(), sender)?;
        }
    }

    /// The first of the lines that are here.
    fn take(&mut self) -> Result<Option<(Vec<u8>, Approver)>, ConnectionError> {
        // How much of a line has come in beyond the limit is chance: its end may be there or not.
        let mut first = self.bytes.iter().take(LINE_MAX_BYTES);
        let Some(end) = first.position(|byte| *byte == b'\n') else {
            return match self.bytes.len() {
                0..LINE_MAX_BYTES => Ok(None),
                _ => Err(ConnectionError::TooLong),
            };
        };
        let rest = self.bytes.split_off(end + 1);
        let line = std::mem::replace(&mut self.bytes, rest);
        let sender = self.sender.ok_or(ConnectionError::NoSender)?;
        Ok(Some((line, sender)))
    }

    /// The kernel joins no bytes of two senders in one call; a line must not join them either.
    fn add(&mut self, piece: &[u8], sender: Option<Approver>) -> Result<(), ConnectionError> {
        let sender = sender.ok_or(ConnectionError::NoSender)?;
        match self.sender {
            Some(first) if !self.bytes.is_empty() && first != sender => {
                return Err(ConnectionError::TwoSenders(first, sender));
            }
            Some(_) | None => self.sender = Some(sender),
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }
}

/// One recvmsg(2) with `SCM_CREDENTIALS`, which `SO_PASSCRED` asks for. There is room for nothing
/// else: descriptors that a client sends along make it an error, and are not taken.
///
/// nix and not rustix, whose credentials cannot hold the 0 of a process that has no number here.
fn receive(stream: &UnixStream, piece: &mut [u8]) -> io::Result<(usize, Option<Approver>)> {
    let mut space = nix::cmsg_space!(UnixCredentials);
    let mut pieces = [IoSliceMut::new(piece)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let fd = stream.as_raw_fd();
    let received = loop {
        match recvmsg::<()>(fd, &mut pieces, Some(&mut space), flags) {
            Err(Errno::EINTR) => {}
            other => break other?,
        }
    };
    let mut sender = None;
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmCredentials(from) = message {
            sender = Approver::of(&from);
        }
    }
    Ok((received.bytes, sender))
}

/// Sends `lines` until there are no more. A client that does not read keeps nobody waiting but
/// this.
pub(crate) async fn send(mut to: OwnedWriteHalf, mut lines: Receiver<Line>) {
    while let Some(line) = lines.recv().await {
        if let Err(error) = to.write_all(&line).await {
            tracing::debug!(%error, "a client is gone");
            return;
        }
    }
}

#[cfg(test)]
mod tests;
