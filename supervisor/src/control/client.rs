//! A client's end: finds a live session, makes sure of whom it talks to, and talks.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "every message that is not expected is out of turn"
)]

mod requests;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::feed::Feed;
use super::peer::Peer;
use super::place;
use super::protocol;
use super::sender::{Bouncer, Stranger};
use super::wire::{BUNDLE_MAX_BYTES, FromClient, FromGate, line};
use crate::named_socket::{SocketDirectory, SocketError};
use crate::places::Places;
use crate::tracee::{Procfs, StatusError, Tid};

/// How long the gate may take for one line. It answers at once; only a look-up past its deadline
/// or a stalled disk under the log makes it wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it may take to greet, which needs neither the gate's own thread nor a disk.
const HELLO_PATIENCE: Duration = Duration::from_secs(3);

/// Longest line of a gate, in bytes: arguments in it are cut long before. Whoever serves in its place
/// fills no more memory.
pub(super) const LINE_MAX_BYTES: u64 = 4 << 20;

/// Which session is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// The user's newest that is live.
    Newest,
    Named(String),
    /// By the path of its socket.
    At(PathBuf),
}

/// A connection to a live session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) id: String,
    reader: BufReader<UnixStream>,
}

/// Why a client cannot do what it should.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("no session is live; `execward run` starts one")]
    NoSession,
    #[error("no session is live at `{}`: {error}", path.display())]
    NotLive { path: PathBuf, error: io::Error },
    #[error("{0}")]
    Place(#[from] SocketError),
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("the socket is served by uid {peer}, and its directory belongs to uid {owner}")]
    Impostor { peer: u32, owner: u32 },
    #[error("the socket is not served by a gate: {0}")]
    Inside(Stranger),
    #[error("cannot look at the processes: {0}")]
    Proc(String),
    #[error(
        "the session speaks protocol {spoken}, and this execward {}; use the execward that started it",
        protocol::in_words(&protocol::SPOKEN)
    )]
    Protocol { spoken: String },
    #[error("the session closed the connection; does this process belong to it, or has it ended?")]
    Closed,
    #[error("the session says what this execward does not understand: {0}")]
    Strange(String),
    #[error("{0}")]
    Refused(String),
    #[error("{0}\nthe session goes on with the policy that it has")]
    PolicyRejected(String),
    #[error(
        "the policy's files make {BUNDLE_MAX_BYTES} bytes or more together; a session that is \
         started with them takes them"
    )]
    TooLong,
    #[error(
        "the session does not answer within {} s; the line that its front says on a terminal, or \
         execward.log, may tell what it waits for", PATIENCE.as_secs()
    )]
    Silent,
    #[error(
        "session {name} goes on {} s after each of its processes was told to end; `execward stop --kill` \
         kills them", requests::STOP_PATIENCE.as_secs()
    )]
    GoesOn { name: String },
    #[error("the session does not greet within {} s: its gate may be stopped", HELLO_PATIENCE.as_secs())]
    Greeting,
    #[error("cannot talk to the session: {0}")]
    Io(#[from] io::Error),
}

impl From<StatusError> for ClientError {
    fn from(error: StatusError) -> Self {
        Self::Proc(error.to_string())
    }
}

/// The live sessions that are meant: one, or with [`Where::Newest`] every one, the newest first.
///
/// # Errors
/// If there is none, or it cannot be trusted.
pub(crate) fn sessions(meant: &Where) -> Result<Vec<Session>, ClientError> {
    let base = || Ok::<_, ClientError>(Places::find()?.sockets().to_owned());
    let path = match meant {
        Where::Named(name) => place::socket_of(&base()?, name),
        Where::At(path) => path.clone(),
        Where::Newest => {
            let mut live = Vec::new();
            for path in place::sockets(&base()?)? {
                match Session::connect(&path) {
                    Ok(session) => live.push(session),
                    // Left by a gate that was killed.
                    Err(ClientError::NotLive { .. }) => {}
                    // A member of a session can put one there; it must not hide the others.
                    // One that is stopped, or speaks otherwise, must not either.
                    Err(
                        error @ (ClientError::Inside(_)
                        | ClientError::Impostor { .. }
                        | ClientError::Closed
                        | ClientError::Greeting
                        | ClientError::Protocol { .. }
                        | ClientError::Strange(_)
                        | ClientError::Refused(_)),
                    ) => {
                        crate::front::say(&format!("{} is left out: {error}", path.display()));
                    }
                    Err(error) => return Err(error),
                }
            }
            if live.is_empty() {
                return Err(ClientError::NoSession);
            }
            return Ok(live);
        }
    };
    Ok(vec![Session::connect(&path)?])
}

impl Session {
    fn connect(path: &Path) -> Result<Self, ClientError> {
        Self::connect_to(path, check_server)
    }

    /// The same, of a gate that the calling process started and that is its child.
    ///
    /// # Errors
    /// If it is not to be reached, or another listens in its place.
    pub(crate) fn with_gate(path: &Path, gate: Tid) -> Result<Self, ClientError> {
        Self::connect_to(path, |stream, owner| check_gate(stream, owner, gate))
    }

    fn connect_to(
        path: &Path,
        check: impl FnOnce(&UnixStream, u32) -> Result<(), ClientError>,
    ) -> Result<Self, ClientError> {
        let not_live = |error| ClientError::NotLive {
            path: path.to_owned(),
            error,
        };
        if let Err(error) = path.symlink_metadata() {
            return Err(not_live(error));
        }
        let owner = SocketDirectory::of(path)?.owner;
        let stream = UnixStream::connect(path).map_err(not_live)?;
        stream.set_read_timeout(Some(HELLO_PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        check(&stream, owner)?;
        let mut session = Self {
            name: String::new(),
            id: String::new(),
            reader: BufReader::new(stream),
        };
        let greeting = session.receive().map_err(|error| match error {
            ClientError::Silent => ClientError::Greeting,
            error => error,
        });
        let protocol = match greeting? {
            FromGate::Hello {
                protocol,
                oldest,
                session_id,
                session: name,
            } => {
                let spoken = oldest.unwrap_or(protocol)..=protocol;
                let common = protocol::common(&spoken, &protocol::SPOKEN);
                let common = common.ok_or_else(|| ClientError::Protocol {
                    spoken: protocol::in_words(&spoken),
                })?;
                (session.id, session.name) = (session_id, name);
                common
            }
            FromGate::Error { error } => return Err(ClientError::Refused(error)),
            other => return Err(strange(&other)),
        };
        let stream = session.reader.get_ref();
        stream.set_read_timeout(Some(PATIENCE))?;
        session.send(&FromClient::Hello { protocol })?;
        Ok(session)
    }

    /// Asks for every question that is open and every one to come.
    ///
    /// # Errors
    /// If the session does not take it.
    pub(crate) fn subscribe(mut self) -> Result<Feed, ClientError> {
        self.send(&FromClient::Subscribe)?;
        let unread = self.reader.buffer().to_vec();
        Ok(Feed::of(self.name, self.reader.into_inner(), unread)?)
    }

    /// The connection itself, and what has come in over it.
    pub(crate) fn into_stream(self) -> (UnixStream, Vec<u8>) {
        let begun = self.reader.buffer().to_vec();
        (self.reader.into_inner(), begun)
    }

    fn send(&mut self, message: &FromClient) -> Result<(), ClientError> {
        let line = line(message).map_err(io::Error::from)?;
        match self.reader.get_mut().write_all(&line) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ClientError::Closed),
            other => Ok(other?),
        }
    }

    fn receive(&mut self) -> Result<FromGate, ClientError> {
        let mut line = Vec::new();
        match (&mut self.reader)
            .take(LINE_MAX_BYTES)
            .read_until(b'\n', &mut line)
        {
            Ok(0) => return Err(ClientError::Closed),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err(ClientError::Closed);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(ClientError::Silent);
            }
            Err(error) => return Err(error.into()),
        }
        serde_json::from_slice(&line).map_err(|error| ClientError::Strange(error.to_string()))
    }
}

/// Who listens, of the uid that the socket's directory has.
fn server(stream: &UnixStream, owner: u32) -> Result<Peer, ClientError> {
    // The kernel does not name a listener that has ended; nobody serves for it.
    let peer = Peer::of(stream).map_err(|_| ClientError::Inside(Stranger::Unknown))?;
    let process = peer.process();
    if process.uid != owner {
        let peer = process.uid;
        return Err(ClientError::Impostor { peer, owner });
    }
    Ok(peer)
}

/// By its number: a child that was not reaped keeps it.
fn check_gate(stream: &UnixStream, owner: u32, gate: Tid) -> Result<(), ClientError> {
    let process = server(stream, owner)?.process();
    let (pid, connected) = (Tid::new(process.pid), gate);
    if pid != connected {
        return Err(ClientError::Inside(Stranger::Another { pid, connected }));
    }
    Ok(())
}

/// A member of the session could put a socket of its own in this place, and be told what it may.
fn check_server(stream: &UnixStream, owner: u32) -> Result<(), ClientError> {
    let peer = server(stream, owner)?;
    let process = peer.process();
    let proc = Procfs::open().map_err(|error| ClientError::Proc(error.to_string()))?;
    Bouncer::of_this_process(proc)?
        .judge_gate(Tid::new(process.pid))
        // Alive at last: or the number that was looked at may be another's.
        .and_then(|()| peer.vouches_for(process))
        .map_err(ClientError::Inside)
}

fn strange(message: &FromGate) -> ClientError {
    ClientError::Strange(format!("{message:?}"))
}
