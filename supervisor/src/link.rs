//! What the gate tells the front, over a socket pair that nobody else holds.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use serde::{Deserialize, Serialize};

use crate::fdpass;
use crate::ptrace::CommandStatus;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The session could not start: nothing ran. What to say.
    Failed(String),
    /// CMD is about to be executed by this process, under the gate.
    Started {
        pid: u32,
        /// One line for whoever started the session.
        notice: String,
        /// The path of the control socket, if there is one.
        control: Option<Vec<u8>>,
        /// The path of its log.
        log: Vec<u8>,
        /// Its ID in there.
        session: String,
    },
    /// CMD was stopped by this signal.
    Paused(i32),
    /// CMD could not be executed. What to say; nothing if its standard error has it already.
    NotExecuted(Option<String>),
    /// CMD was ended by what became of the session. What to say.
    Lost(String),
    /// CMD has ended.
    Ended(CommandStatus),
    /// The session has: the digest of the log's last record.
    Logged(String),
}

/// One end.
#[derive(Debug)]
pub(crate) struct Link {
    socket: OwnedFd,
}

/// What the front says once.
const READY: [u8; 5] = *b"ready";

/// Longest message: a policy with very many faults is cut.
const MESSAGE_MAX_BYTES: usize = 64 << 10;

impl Link {
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (front, gate) = fdpass::pair()?;
        Ok((Self { socket: front }, Self { socket: gate }))
    }

    pub(crate) fn from_fd(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Sends without waiting: a front that stands still must not stop the gate.
    ///
    /// # Errors
    /// `WouldBlock` if the front is far behind; `BrokenPipe` if it is gone.
    pub(crate) fn send(&self, message: &Message) -> io::Result<()> {
        let mut text = serde_json::to_vec(message)?;
        if let Message::Failed(words) = message
            && text.len() > MESSAGE_MAX_BYTES
        {
            let kept: String = words.chars().take(MESSAGE_MAX_BYTES / 12).collect();
            text = serde_json::to_vec(&Message::Failed(kept + "\n(and more)"))?;
        }
        Ok(fdpass::send(
            self.socket.as_fd(),
            &text,
            &[],
            SendFlags::DONTWAIT,
        )?)
    }

    /// The front's one word: everything it does for the session has been done.
    ///
    /// # Errors
    /// `BrokenPipe` if the gate is gone.
    pub(crate) fn say_ready(&self) -> io::Result<()> {
        Ok(fdpass::send(
            self.socket.as_fd(),
            &READY,
            &[],
            SendFlags::DONTWAIT,
        )?)
    }

    /// Waits for [`Link::say_ready`].
    ///
    /// # Errors
    /// `BrokenPipe` if the front is gone instead, or what recvmsg(2) answers.
    pub(crate) fn await_ready(&self) -> io::Result<()> {
        let mut buffer = [0; READY.len()];
        loop {
            match fdpass::receive(self.socket.as_fd(), &mut buffer, RecvFlags::empty()) {
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
                Ok((0, _)) => return Err(io::ErrorKind::BrokenPipe.into()),
                Ok(_) if buffer == READY => return Ok(()),
                Ok(_) => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }

    /// The next message; `None` once the other end is closed. Does not wait: a thread of a dead gate
    /// that the kernel does not let go keeps its copy of that end open.
    ///
    /// # Errors
    /// `WouldBlock` if none has come in, what else recvmsg(2) answers, or a message that is not of this
    /// contract.
    pub(crate) fn receive(&self) -> io::Result<Option<Message>> {
        let mut buffer = vec![0; MESSAGE_MAX_BYTES];
        loop {
            match fdpass::receive(self.socket.as_fd(), &mut buffer, RecvFlags::DONTWAIT) {
                // Of a gate that ended before it read the front's word; what it said is still here.
                Err(Errno::INTR | Errno::CONNRESET) => {}
                Err(errno) => return Err(errno.into()),
                Ok((0, _)) => return Ok(None),
                Ok((len, _)) => {
                    let text = buffer.get(..len).unwrap_or_default();
                    return Ok(Some(serde_json::from_slice(text)?));
                }
            }
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_cross_in_order_and_a_closed_end_is_the_end() {
        let (front, gate) = Link::pair().unwrap();
        let sent = [
            Message::Paused(20),
            Message::Ended(CommandStatus::Signaled(40)),
        ];
        for message in &sent {
            gate.send(message).unwrap();
        }
        drop(gate);
        assert_eq!(front.receive().unwrap().as_ref(), Some(&sent[0]));
        assert_eq!(front.receive().unwrap().as_ref(), Some(&sent[1]));
        assert_eq!(front.receive().unwrap(), None);
    }

    #[test]
    fn what_a_gate_said_is_heard_though_it_ended_without_listening() {
        let (front, gate) = Link::pair().unwrap();
        front.say_ready().unwrap();
        let sent = Message::Failed("why".into());
        gate.send(&sent).unwrap();
        drop(gate);
        assert_eq!(front.receive().unwrap(), Some(sent));
        assert_eq!(front.receive().unwrap(), None);
    }

    #[test]
    fn a_front_that_is_gone_before_its_word_is_not_waited_for() {
        let (front, gate) = Link::pair().unwrap();
        front.say_ready().unwrap();
        drop(front);
        gate.await_ready().unwrap();
        let error = gate.await_ready().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_long_failure_is_cut_and_a_front_that_does_not_read_does_not_stop_the_gate() {
        let (front, gate) = Link::pair().unwrap();
        gate.send(&Message::Failed("\u{1}".repeat(1 << 20)))
            .unwrap();
        assert!(matches!(front.receive().unwrap(), Some(Message::Failed(_))));
        let error = std::iter::repeat_with(|| gate.send(&Message::Paused(1)))
            .take(100_000)
            .find_map(Result::err)
            .unwrap();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
