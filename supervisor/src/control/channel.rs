//! Between the gate's thread and the control channel's: the gate never waits for the other.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use nix::sys::eventfd::{EfdFlags, EventFd};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::escalation::{Escalated, EscalationSettled};
use super::peer::Peer;
use super::place::SocketPlace;
use super::sender::Bouncer;
use super::server;
use super::status::Status;
use super::tool_check::{ToolCheck, ToolVerdict};
use super::wire::{PolicyLoaded, Required, Response, Settled, ShownGrant};
use crate::audit::{Approver, ExecId, SessionNote};
use crate::named_socket::SocketError;
use crate::policy::{LoadedPolicy, Scene};

/// Most answers and refused senders that wait for the gate; what comes beyond is turned away.
const REPORTS_MAX: usize = 64;

/// Which connection: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(super) u64);

/// What the gate tells the control channel.
#[derive(Debug)]
pub(crate) enum Notice {
    /// An exec waits. At most as many as may be open at once are outstanding.
    Asked(Box<Required>),
    /// An exec waits no longer. Who answered hears of it, whoever else is subscribed.
    Settled(Settled, Option<ClientId>),
    /// An answer answers nothing, and why.
    Rejected(ClientId, String),
    /// What came of a policy that the client sent.
    PolicyHeard(ClientId, Result<PolicyLoaded, String>),
    /// The grants that count, for a client that asked.
    Grants(ClientId, Vec<ShownGrant>),
    /// What came of the grant that the client made.
    GrantHeard(ClientId, Result<String, String>),
    /// What came of taking back the grant that the client named.
    RevokeHeard(ClientId, Result<String, String>),
    /// How the session is, for a client that asked.
    Status(ClientId, Box<Status>),
    /// The session is ended, as the client wished.
    Stopping(ClientId),
    /// What the policy says of a call that the client asked about.
    ToolJudged(ClientId, Box<ToolVerdict>),
    /// How a question ended that the client's session put.
    EscalationSettled(ClientId, Box<EscalationSettled>),
}

/// What the control channel tells the gate.
#[derive(Debug)]
pub(crate) enum Report {
    /// An answer of someone who may give it.
    Answer {
        response: Box<Response>,
        approver: Approver,
        client: ClientId,
    },
    /// A policy of someone who may load one, or why it is none.
    Policy {
        offered: Result<Box<LoadedPolicy>, String>,
        sender: Approver,
        client: ClientId,
    },
    /// Someone who may wants to see the grants.
    Grants(ClientId),
    /// Someone who may makes a grant.
    Grant {
        grant: Box<ShownGrant>,
        sender: Approver,
        client: ClientId,
    },
    /// Someone who may takes a grant back.
    Revoke {
        id: String,
        sender: Approver,
        client: ClientId,
    },
    /// Someone who may wants to know how the session is.
    Status(ClientId),
    /// Someone who may ends the session.
    Stop {
        kills: bool,
        sender: Approver,
        client: ClientId,
    },
    /// A call of a tool that someone who may ask is about to make.
    Tool {
        check: Box<ToolCheck>,
        sender: Approver,
        client: ClientId,
    },
    /// Someone who may puts a question of another session.
    Escalated {
        question: Box<Escalated>,
        sender: Approver,
        client: ClientId,
    },
    /// It needs no answer any more.
    EscalationWithdrawn {
        request_id: ExecId,
        client: ClientId,
    },
    /// A client that put questions is gone.
    Left(ClientId),
    /// Someone who may not.
    Refused { sender: Approver, why: String },
}

/// The gate's end.
#[derive(Debug)]
pub(crate) struct Control {
    notices: Option<UnboundedSender<Notice>>,
    reports: Receiver<Report>,
    bell: Arc<EventFd>,
    subscribers: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
    place: SocketPlace,
}

/// The other end.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) notices: UnboundedReceiver<Notice>,
    pub(super) subscribers: Arc<AtomicUsize>,
    pub(super) session: SessionNote,
    /// Where its policies are to hold.
    pub(super) scene: Scene,
    pub(super) bouncer: Bouncer,
    reports: SyncSender<Report>,
    bell: Arc<EventFd>,
}

impl Control {
    /// Starts the thread that serves clients.
    ///
    /// # Errors
    /// If the kernel cannot tell who sends, or there is no thread.
    pub(crate) fn start(
        (place, listener): (SocketPlace, UnixListener),
        session: SessionNote,
        scene: Scene,
        bouncer: Bouncer,
    ) -> Result<Self, ControlError> {
        Peer::check_support()?;
        listener.set_nonblocking(true)?;
        let (notices, from_gate) = unbounded_channel();
        let (to_gate, reports) = sync_channel(REPORTS_MAX);
        let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
        let bell = Arc::new(EventFd::from_flags(flags).map_err(io::Error::from)?);
        let subscribers = Arc::new(AtomicUsize::new(0));
        let desk = Desk {
            notices: from_gate,
            subscribers: Arc::clone(&subscribers),
            session,
            scene,
            bouncer,
            reports: to_gate,
            bell: Arc::clone(&bell),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()?;
        let thread = thread::Builder::new()
            .name("control".into())
            .stack_size(512 << 10)
            .spawn(move || {
                if let Err(error) = runtime.block_on(server::serve(listener, desk)) {
                    tracing::error!(%error, "the control channel is closed: nobody can answer");
                }
                // A policy that is still being compiled may wait for a file system for ever.
                runtime.shutdown_background();
            })?;
        Ok(Self {
            notices: Some(notices),
            reports,
            bell,
            subscribers,
            thread: Some(thread),
            place,
        })
    }

    /// Where clients connect.
    pub(crate) fn path(&self) -> PathBuf {
        self.place.path().to_owned()
    }

    /// Whether anyone can still connect.
    pub(crate) fn is_open(&self) -> bool {
        self.notices
            .as_ref()
            .is_some_and(|notices| !notices.is_closed())
    }

    /// How many clients are subscribed.
    pub(crate) fn subscribers(&self) -> usize {
        self.subscribers.load(Ordering::Acquire)
    }

    pub(crate) fn tell(&self, notice: Notice) {
        let told = self.notices.as_ref().map(|notices| notices.send(notice));
        if !matches!(told, Some(Ok(()))) {
            tracing::error!("the control channel is gone");
        }
    }

    /// Closes it to everyone; what has come in until then. Clients hear the last words, for as long
    /// as the thread allows itself.
    pub(crate) fn close(mut self) -> Vec<Report> {
        // Before the end, so that the thread has room for what it still has to say.
        let mut reports = self.take_reports();
        self.end();
        reports.extend(self.take_reports());
        reports
    }

    fn end(&mut self) {
        self.notices = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the control channel's thread panicked");
        }
    }

    /// What has come in since the last look.
    pub(crate) fn take_reports(&self) -> Vec<Report> {
        // Before the look: what comes after it rings again.
        if let Err(errno) = self.bell.read()
            && errno != nix::errno::Errno::EAGAIN
        {
            tracing::error!(%errno, "the control channel's eventfd does not work");
        }
        self.reports.try_iter().collect()
    }
}

impl AsFd for Control {
    /// Readable when there are reports.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.end();
    }
}

impl Desk {
    /// Hands a report to the gate.
    ///
    /// # Errors
    /// If it is behind, or gone.
    pub(super) fn report(&self, report: Report) -> Result<(), Unheard> {
        self.reports.try_send(report).map_err(|error| match error {
            TrySendError::Full(_) => Unheard::Behind,
            TrySendError::Disconnected(_) => Unheard::Gone,
        })?;
        match self.bell.write(1) {
            // Full means that it rings already.
            Ok(_) | Err(nix::errno::Errno::EAGAIN) => Ok(()),
            Err(_) => Err(Unheard::Gone),
        }
    }
}

/// Why the gate does not hear.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum Unheard {
    #[error("the gate has too many answers to look at; try again")]
    Behind,
    #[error("the session is ending")]
    Gone,
}

/// Why there is no control channel.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    #[error("{0}{hint}", hint = elsewhere(.0))]
    Place(#[from] SocketError),
    #[error(
        "this kernel cannot name a sender for sure (SO_PEERPIDFD, Linux 6.5), so nobody could be \
         asked; use a newer kernel"
    )]
    Unsupported,
    #[error("cannot start the control channel: {0}")]
    Start(#[from] io::Error),
}

/// The next step, where another place helps.
fn elsewhere(error: &SocketError) -> &'static str {
    match error {
        SocketError::TooLong(_) => {
            ": set XDG_RUNTIME_DIR to a shorter directory, or name a shorter one with --control"
        }
        SocketError::Taken(_) => "; name another with --control",
        SocketError::Live(_) => "; choose another --session or --control",
        SocketError::NotOwn { .. } | SocketError::System { .. } => "",
    }
}

impl Settled {
    /// What clients are told of the end of a question.
    pub(crate) fn new(session: &SessionNote, id: ExecId, is_allowed: bool, reason: String) -> Self {
        Self {
            session_id: session.id.clone(),
            request_id: id,
            is_allowed,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::root::Root;
    use crate::tracee::Procfs;

    /// Channels are this process's, so whatever it sends comes from inside.
    #[test]
    fn every_refused_sender_is_told_of_however_far_behind_the_gate_is() {
        const REFUSED: usize = REPORTS_MAX + 36;
        let base = tempfile::tempdir().unwrap();
        let session = SessionNote {
            id: "1".into(),
            name: "s".into(),
        };
        let bouncer = Bouncer::of_this_process(Procfs::open().unwrap()).unwrap();
        let places = execward_policy::Places {
            home: b"/home/ada".to_vec(),
            workspace: b"/home/ada/engine".to_vec(),
            tmp: b"/tmp".to_vec(),
        };
        let scene = Scene::of(places, None, Root::own().unwrap()).unwrap();
        let at = SocketPlace::listen_below(base.path(), &session.name).unwrap();
        let control = Control::start(at, session, scene, bouncer).unwrap();
        for _ in 0..REFUSED {
            let mut stream = UnixStream::connect(control.path()).unwrap();
            let mut said = Vec::new();
            stream.read_to_end(&mut said).unwrap();
            assert_eq!(said, b"");
        }
        let why = |report| match report {
            Report::Refused { why, .. } => Some(why),
            Report::Answer { .. }
            | Report::Policy { .. }
            | Report::Grants(_)
            | Report::Grant { .. }
            | Report::Revoke { .. }
            | Report::Status(_)
            | Report::Stop { .. }
            | Report::Tool { .. }
            | Report::Escalated { .. }
            | Report::EscalationWithdrawn { .. }
            | Report::Left(_) => None,
        };
        let whys: Option<Vec<_>> = control.close().into_iter().map(why).collect();
        let whys = whys.expect("nobody is heard");
        let (last, singly) = whys.split_last().unwrap();
        assert_eq!(singly.len(), REPORTS_MAX);
        let before = REFUSED - REPORTS_MAX - 1;
        let end = format!("; {before} refused before it are not recorded singly");
        assert!(last.ends_with(&end), "{last}");
    }
}
