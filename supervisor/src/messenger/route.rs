//! The way to a higher supervisor: a connection to its control socket, as any client has one.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::RecvFlags;

use super::message::FromMessenger;
use crate::audit::ExecId;
use crate::control::{
    CLIENT_LINE_MAX_BYTES, Escalated, FromClient, FromGate, Where, line, sessions,
};

/// How long the other side may keep a line from being sent.
const PATIENCE: Duration = Duration::from_secs(2);

/// Longest line of a gate: answers are short, and whoever serves in its place fills no more memory.
const LINE_MAX_BYTES: usize = 64 << 10;

/// A connection, and the questions that were put over it.
#[derive(Debug)]
pub(super) struct Route {
    stream: UnixStream,
    /// What has come in of a line.
    begun: Vec<u8>,
    open: BTreeSet<ExecId>,
}

impl Route {
    /// To the session whose control socket is at `path`, which must be served by a gate that is no member
    /// of a session.
    ///
    /// # Errors
    /// Why there is no way.
    pub(super) fn to(path: &str) -> Result<Self, String> {
        let found = sessions(&Where::At(Path::new(path).to_owned()));
        let session = found.map_err(|error| error.to_string())?.pop();
        let session = session.ok_or("nobody is there")?;
        let (stream, begun) = session.into_stream();
        let patience = stream.set_write_timeout(Some(PATIENCE));
        patience.map_err(|error| error.to_string())?;
        Ok(Self {
            stream,
            begun,
            open: BTreeSet::new(),
        })
    }

    /// Puts a question.
    ///
    /// # Errors
    /// Why it is not put; the second is whether the way is lost with it.
    pub(super) fn put(&mut self, mut question: Box<Escalated>) -> Result<(), (String, bool)> {
        let id = question.request_id;
        let of = |question: &Escalated| {
            line(&FromClient::Escalate(Box::new(question.clone())))
                .map_err(|it| (it.to_string(), false))
        };
        let mut text = of(&question)?;
        if text.len() > CLIENT_LINE_MAX_BYTES {
            // What it is below says the least.
            question.request.ancestry.clear();
            text = of(&question)?;
        }
        if text.len() > CLIENT_LINE_MAX_BYTES {
            return Err((
                "the question is longer than a line may be".to_owned(),
                false,
            ));
        }
        let sent = self.stream.write_all(&text);
        sent.map_err(|error| (format!("it takes no question: {error}"), true))?;
        self.open.insert(id);
        Ok(())
    }

    /// Takes a question back. A way that is lost has been left by it already.
    pub(super) fn withdraw(&mut self, request_id: ExecId) {
        if self.open.remove(&request_id)
            && let Ok(text) = line(&FromClient::EscalationWithdrawn { request_id })
            && let Err(error) = self.stream.write_all(&text)
        {
            tracing::debug!(%error, "a question is not taken back");
        }
    }

    /// What has come in.
    ///
    /// # Errors
    /// Why nothing will any more.
    pub(super) fn take(&mut self) -> Result<Vec<FromMessenger>, String> {
        let mut piece = [0; 4096];
        let received = rustix::net::recv(&self.stream, &mut piece, RecvFlags::DONTWAIT);
        match received {
            Ok((_, 0)) => return Err("it closed the connection".to_owned()),
            Ok((_, length)) => self.begun.extend(piece.get(..length).unwrap_or_default()),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(errno) => return Err(io::Error::from(errno).to_string()),
        }
        let mut taken = Vec::new();
        while let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') {
            let rest = self.begun.split_off(end + 1);
            let text = std::mem::replace(&mut self.begun, rest);
            match serde_json::from_slice(&text) {
                Ok(FromGate::EscalationSettled(settled)) => {
                    if self.open.remove(&settled.request_id) {
                        taken.push(FromMessenger::Settled(settled));
                    }
                }
                Ok(FromGate::Error { error }) => return Err(error),
                Ok(_) => {}
                Err(error) => return Err(format!("what it says is not understood: {error}")),
            }
        }
        if self.begun.len() > LINE_MAX_BYTES {
            return Err("what it says has no end".to_owned());
        }
        Ok(taken)
    }

    /// What becomes of its questions when it is lost.
    pub(super) fn lost(self, why: &str) -> Vec<FromMessenger> {
        let of = |request_id| FromMessenger::NoRoute {
            request_id,
            why: why.to_owned(),
        };
        self.open.into_iter().map(of).collect()
    }

    /// Whether nobody waits for an answer over it.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }
}

impl AsFd for Route {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
