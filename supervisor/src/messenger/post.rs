//! The gate's end: it hands over, and waits for nothing.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::net::{RecvFlags, SendFlags};

use super::message::{FromMessenger, PACKET_MAX_BYTES, ToMessenger};
use super::{process, program};
use crate::fdpass;

/// The process that carries word outside. Dropped, it ends of itself, and what it started with it.
#[derive(Debug)]
pub(crate) struct Messenger {
    socket: OwnedFd,
    _process: Child,
}

/// Why word is not sent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsent {
    #[error("the question is longer than {PACKET_MAX_BYTES} bytes")]
    TooLong,
    #[error("too much else is on its way")]
    Behind,
    #[error("the process that carries it is gone: {0}")]
    Gone(io::Error),
}

impl Messenger {
    /// By `program`, which is execward itself.
    ///
    /// # Errors
    /// If it does not start.
    pub(crate) fn start(program: impl AsRef<OsStr>) -> io::Result<Self> {
        let (socket, theirs) = fdpass::pair()?;
        let process = Command::new(program)
            .arg0("execward")
            .arg(process::ARGUMENT)
            .env_clear()
            .envs(program::environment())
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            socket,
            _process: process,
        })
    }

    /// Hands `message` over.
    ///
    /// # Errors
    /// If it is not taken at once.
    pub(crate) fn send(&self, message: &ToMessenger) -> Result<(), Unsent> {
        let packet = serde_json::to_vec(message).map_err(|error| Unsent::Gone(error.into()))?;
        if packet.len() > PACKET_MAX_BYTES {
            return Err(Unsent::TooLong);
        }
        match fdpass::send(self.socket(), &packet, &[], SendFlags::DONTWAIT) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::AGAIN) => Err(Unsent::Behind),
            Err(errno) => Err(Unsent::Gone(errno.into())),
        }
    }

    /// The next that has come in.
    ///
    /// # Errors
    /// If no more will.
    pub(crate) fn take(&self) -> io::Result<Option<FromMessenger>> {
        let mut packet = vec![0; PACKET_MAX_BYTES];
        match fdpass::receive(self.socket(), &mut packet, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok((length, _)) => {
                let message = packet.get(..length).unwrap_or_default();
                Ok(Some(serde_json::from_slice(message)?))
            }
            Err(rustix::io::Errno::AGAIN) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// What to poll for [`Messenger::take`].
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
