//! The control channel's thread: it knows the open questions and who is connected, and decides
//! nothing. A slow client costs its own connection and nobody's time.

mod wishes;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinHandle;

use super::channel::{ClientId, Desk, Notice, Report};
use super::connection::{self, Line, Lines, rendered};
use super::peer::Peer;
use super::protocol;
use super::refusals::Refusals;
use super::wire::{FromClient, FromGate, Required};
use crate::audit::{Approver, ExecId};
use crate::policy::LoadedPolicy;

/// Most clients at once; who comes beyond is turned away.
const CLIENTS_MAX: usize = 16;

/// Most lines that may wait for one client: every open question, and some more. Questions are
/// shared, so that a client costs no copy of them.
const LINES_MAX: usize = 1024;

/// How long a client may take for its first line. Whoever says nothing takes the place of another.
const HELLO_PATIENCE: Duration = Duration::from_secs(5);

/// How long clients have to take the last lines when the session ends.
const FAREWELL: Duration = Duration::from_millis(500);

/// What goes on beside the server.
enum Event {
    Said(ClientId, Vec<u8>, Approver),
    Closed(ClientId),
    /// What the client sent is compiled.
    Offered(ClientId, Offered, Approver),
}

type Offered = Result<Box<LoadedPolicy>, String>;

struct Client {
    peer: Peer,
    lines: Sender<Line>,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
    has_greeted: bool,
    is_subscribed: bool,
    /// Whether it put questions of another session.
    has_escalated: bool,
    /// What it has sent of a policy.
    bundle: String,
}

struct Server {
    desk: Desk,
    clients: BTreeMap<ClientId, Client>,
    /// Each open question as the line that tells of it.
    questions: BTreeMap<ExecId, Line>,
    events: Sender<Event>,
    next: u64,
    refusals: Refusals,
    /// Whether a policy is being compiled; a second one would wait for as long.
    is_compiling: bool,
}

/// Serves clients until the gate closes its end.
///
/// # Errors
/// If nobody can connect any more.
pub(super) async fn serve(listener: StdListener, desk: Desk) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let (events, mut heard) = channel(CLIENTS_MAX);
    let mut server = Server {
        desk,
        clients: BTreeMap::new(),
        questions: BTreeMap::new(),
        events,
        next: 0,
        refusals: Refusals::default(),
        is_compiling: false,
    };
    loop {
        tokio::select! {
            notice = server.desk.notices.recv() => match notice {
                Some(notice) => server.pass_on(notice),
                None => break,
            },
            connection = listener.accept() => match connection {
                Ok((stream, _)) => server.greet(stream),
                // Out of descriptors: they come back.
                Err(error) => {
                    tracing::warn!(%error, "a client could not connect");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            event = heard.recv() => match event {
                Some(Event::Said(client, text, sender)) => server.hear(client, &text, sender),
                Some(Event::Closed(client)) => server.close(client),
                Some(Event::Offered(client, offered, sender)) => {
                    server.is_compiling = false;
                    server.report(client, Report::Policy { offered, sender, client });
                }
                None => break,
            },
        }
    }
    server.part().await;
    Ok(())
}

impl Server {
    fn pass_on(&mut self, notice: Notice) {
        match notice {
            Notice::Asked(required) => self.ask(*required),
            Notice::Settled(settled, answered) => {
                self.questions.remove(&settled.request_id);
                let told = rendered(&FromGate::ApprovalSettled(settled));
                let hearers: BTreeSet<_> = self.subscribed().chain(answered).collect();
                for client in hearers {
                    self.send(client, &told);
                }
            }
            Notice::Rejected(client, why) => self.refuse(client, why),
            Notice::PolicyHeard(client, Ok(loaded)) => {
                self.send(client, &rendered(&FromGate::PolicyLoaded(loaded)));
            }
            Notice::PolicyHeard(client, Err(error)) => {
                self.send(client, &rendered(&FromGate::PolicyRejected { error }));
            }
            Notice::Grants(client, grants) => {
                for grant in grants {
                    self.send(client, &rendered(&FromGate::Grant(Box::new(grant))));
                }
                self.send(client, &rendered(&FromGate::GrantsListed));
            }
            Notice::GrantHeard(client, Ok(id)) => {
                self.send(client, &rendered(&FromGate::Granted { id }));
            }
            Notice::RevokeHeard(client, Ok(id)) => {
                self.send(client, &rendered(&FromGate::Revoked { id }));
            }
            Notice::GrantHeard(client, Err(why)) | Notice::RevokeHeard(client, Err(why)) => {
                self.refuse(client, why)
            }
            Notice::Status(client, status) => {
                self.send(client, &rendered(&FromGate::Status(status)));
            }
            Notice::Stopping(client) => self.send(client, &rendered(&FromGate::Stopping)),
            Notice::EscalationSettled(client, settled) => {
                self.send(client, &rendered(&FromGate::EscalationSettled(settled)));
            }
            Notice::ToolJudged(client, verdict) => {
                self.send(client, &rendered(&FromGate::ToolVerdict(*verdict)));
            }
        }
    }

    fn ask(&mut self, required: Required) {
        let id = required.request_id;
        let told = rendered(&FromGate::ApprovalRequired(Box::new(required)));
        for client in self.subscribed().collect::<Vec<_>>() {
            self.send(client, &told);
        }
        self.questions.insert(id, told);
    }

    fn subscribed(&self) -> impl Iterator<Item = ClientId> {
        let subscribed = self.clients.iter().filter(|(_, it)| it.is_subscribed);
        subscribed.map(|(id, _)| *id)
    }

    fn greet(&mut self, stream: UnixStream) {
        match self.admit(stream) {
            Ok(id) => {
                let session = &self.desk.session;
                let hello = rendered(&FromGate::Hello {
                    protocol: protocol::NEWEST,
                    oldest: Some(*protocol::SPOKEN.start()),
                    session_id: session.id.clone(),
                    session: session.name.clone(),
                });
                self.send(id, &hello);
            }
            Err(error) => tracing::warn!(%error, "a client was turned away"),
        }
    }

    /// Tells a client that there is no place for it, as far as it hears that at once.
    fn turn_away(&self, stream: &UnixStream) -> io::Error {
        let error =
            format!("{CLIENTS_MAX} clients are connected already; close one, then try again");
        let told = rendered(&FromGate::Error {
            error: error.clone(),
        });
        stream
            .try_write(&told)
            .map(drop)
            .err()
            .unwrap_or_else(|| io::Error::other(error))
    }

    /// A first look at who connects; what counts is who sends.
    fn admit(&mut self, stream: UnixStream) -> io::Result<ClientId> {
        let peer = Peer::of(&stream)?;
        let judged = self.refusals.judge(&self.desk, peer.process(), &peer);
        judged.map_err(io::Error::other)?;
        if self.clients.len() >= CLIENTS_MAX {
            return Err(self.turn_away(&stream));
        }
        let id = ClientId(self.next);
        self.next += 1;
        let (read, write) = stream.into_split();
        let (lines, to_send) = channel(LINES_MAX);
        let events = self.events.clone();
        let reader = tokio::spawn(async move {
            read_lines(id, read.as_ref(), &events).await;
            // The server may be gone first; then there is nobody to tell.
            if events.send(Event::Closed(id)).await.is_err() {
                tracing::debug!("a client outlived the server");
            }
        });
        let writer = tokio::spawn(connection::send(write, to_send));
        let client = Client {
            peer,
            lines,
            reader,
            writer,
            has_greeted: false,
            is_subscribed: false,
            has_escalated: false,
            bundle: String::new(),
        };
        self.clients.insert(id, client);
        Ok(id)
    }

    fn hear(&mut self, client: ClientId, text: &[u8], sender: Approver) {
        let Some(known) = self.clients.get(&client) else {
            return;
        };
        if let Err(stranger) = self.refusals.judge(&self.desk, sender, &known.peer) {
            self.refuse(client, format!("you may not use this channel: {stranger}"));
            return self.close(client);
        }
        let Some(known) = self.clients.get_mut(&client) else {
            return;
        };
        let message = match serde_json::from_slice(text) {
            Ok(message) => message,
            Err(error) => return self.refuse(client, format!("not a message: {error}")),
        };
        if let FromClient::Hello { protocol } = message {
            known.has_greeted = protocol::SPOKEN.contains(&protocol);
            if !known.has_greeted {
                let spoken = protocol::in_words(&protocol::SPOKEN);
                let why = format!("protocol {protocol} is not spoken here, only {spoken}");
                self.refuse(client, why);
                self.close(client);
            }
            return;
        }
        if known.has_greeted {
            self.obey(client, message, sender);
        } else {
            self.refuse(client, "say hello first".into());
            self.close(client);
        }
    }

    /// Hands a client's wish to the gate.
    fn report(&mut self, client: ClientId, report: Report) {
        if let Err(error) = self.desk.report(report) {
            self.refuse(client, error.to_string());
        }
    }

    fn list(&mut self, client: ClientId, end: &FromGate) {
        for question in self.questions.values().cloned().collect::<Vec<_>>() {
            self.send(client, &question);
        }
        self.send(client, &rendered(end));
    }

    fn refuse(&mut self, client: ClientId, error: String) {
        self.send(client, &rendered(&FromGate::Error { error }));
    }

    /// Queues a line. A client that is too far behind to take it is closed.
    fn send(&mut self, client: ClientId, line: &Line) {
        let Some(known) = self.clients.get(&client) else {
            return;
        };
        if known.lines.try_send(Arc::clone(line)).is_err() {
            tracing::warn!(?client, "a client does not read, or is gone: closed");
            known.writer.abort();
            self.close(client);
        }
    }

    fn close(&mut self, client: ClientId) {
        if let Some(known) = self.clients.remove(&client) {
            known.reader.abort();
            self.count_subscribers();
            if known.has_escalated
                && let Err(error) = self.desk.report(Report::Left(client))
            {
                tracing::warn!(%error, "questions of a client that is gone stay open");
            }
            // What is queued is sent if it is read soon; the connection is closed either way.
            let mut writer = known.writer;
            tokio::spawn(async move {
                if tokio::time::timeout(FAREWELL, &mut writer).await.is_err() {
                    writer.abort();
                }
            });
        }
    }

    fn count_subscribers(&self) {
        let count = self.subscribed().count();
        self.desk.subscribers.store(count, Ordering::Release);
    }

    /// The session ends: what is queued is sent, as far as it is read.
    async fn part(mut self) {
        self.refusals.report(&self.desk);
        let mut writers = Vec::new();
        for client in self.clients.into_values() {
            client.reader.abort();
            writers.push(client.writer);
        }
        let all = async {
            for writer in writers {
                if writer.await.is_err() {
                    tracing::debug!("a client was closed");
                }
            }
        };
        if tokio::time::timeout(FAREWELL, all).await.is_err() {
            tracing::debug!("a client did not take its last lines");
        }
    }
}

async fn read_lines(client: ClientId, stream: &UnixStream, events: &Sender<Event>) {
    let mut lines = Lines::default();
    let mut patience = HELLO_PATIENCE;
    loop {
        let Ok(line) = tokio::time::timeout(patience, lines.next(stream)).await else {
            tracing::warn!(?client, "a client says nothing: closed");
            return;
        };
        patience = Duration::MAX;
        match line {
            Ok(Some((text, sender))) => {
                if events
                    .send(Event::Said(client, text, sender))
                    .await
                    .is_err()
                {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, ?client, "a client is closed");
                return;
            }
        }
    }
}
