//! The gate's process, from its start to its end: everything is opened, in the order that matters,
//! and the event loop takes over.
//!
//! Before any thread exists: the shim is started. Before the listener exists: the threads that may
//! ever wait for a file system. Last: CMD may go.

mod error;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use execward_shim::handshake::{self, Version};
use nix::sys::prctl;
use nix::sys::signalfd::SignalFd;

use crate::attached::Attached;
use crate::audit::{Log, LogError, LogNote};
use crate::beginning::Beginning;
use crate::cli::RunArgs;
use crate::command::Command;
use crate::confinement;
use crate::describer::Describer;
use crate::exec::Filesystem;
use crate::gate::{Afterlife, Gate};
use crate::grants::Granted;
use crate::handover::{Candidate, Released, lead_session};
use crate::hidden;
use crate::influence::Protected;
use crate::inherited::{Inherited, commands_own};
use crate::kernel::Kernel;
use crate::ledger::Ledger;
use crate::lineage::Lineages;
use crate::link::{Link, Message};
use crate::messenger::Messenger;
use crate::newcomer::Newcomer;
use crate::notices::Notices;
use crate::outward;
use crate::own_process::{leave_to_command, take_signals};
use crate::parking::Parking;
use crate::past::LiveSession;
use crate::plan::Plan;
use crate::policy::LoadedPolicy;
use crate::readers::Readers;
use crate::room::Room;
use crate::sealed;
use crate::seccomp::Listener;
use crate::settled::Settled;
use crate::shell::Analyser;
use crate::system::cannot;
use crate::texts::Texts;
use crate::threads::Threads;
use crate::tracee::Tid;
use crate::user;
use crate::watch::{Pulse, Watch};
use crate::way_out;

pub(crate) use error::SessionError;

/// Steps that the front takes as well.
pub(crate) const ADOPT: &str = "adopt the session's orphans (PR_SET_CHILD_SUBREAPER)";
pub(crate) const CLOSE_MEMORY: &str = "close own memory to others (PR_SET_DUMPABLE)";
const CONFINE: &str = "give up what the gate needs no more (seccomp)";
const LOOK: &str = "look at the process that becomes CMD";
const KEEP_PARSER: &str = "start the process that keeps the parser of texts";
pub(crate) const TAKE_SIGNALS: &str = "read signals from a descriptor (signalfd)";

/// Runs the gate. Failures go to the front, which says them.
pub(crate) fn run(args: &RunArgs, inherited: Inherited) -> bool {
    let Inherited {
        link,
        pulse,
        terminal,
        visitor,
        callers,
    } = inherited;
    let to_visitor = visitor.as_ref().and_then(|socket| socket.try_clone().ok());
    let newcomer = visitor
        .map(|socket| Newcomer::of(socket, args.keep_caps))
        .transpose();
    let started = newcomer.map_err(SessionError::from);
    match started.and_then(|newcomer| start(args, &link, pulse, terminal, &callers, newcomer)) {
        Ok(started) => {
            drop(to_visitor);
            started.run(link)
        }
        Err(error) => {
            if let Some(Err(untold)) =
                to_visitor.map(|socket| handshake::send_refusal(socket, &error.for_newcomer()))
            {
                tracing::debug!(%untold, "the shim was gone before it was told");
            }
            if let Err(untold) = link.send(&Message::Failed(error.to_string())) {
                tracing::error!(%error, %untold, "the front was not told why there is no session");
            }
            false
        }
    }
}

/// A session whose CMD waits for the go-ahead.
struct Started {
    parts: Parts,
    released: Released,
    version: Version,
    notice: String,
}

struct Parts {
    kernel: Kernel,
    policy: LoadedPolicy,
    granted: Granted,
    alive: LiveSession,
    readers: Readers,
    texts: Texts,
    notices: Option<Notices>,
    ledger: Ledger,
    watch: Watch,
    parking: Parking,
    messenger: Option<Messenger>,
    listener: Rc<Listener>,
    settled: Settled,
    beginning: Beginning,
    signals: SignalFd,
    cmd: Vec<OsString>,
    afterlife: Afterlife,
    is_observed: bool,
}

fn start(
    args: &RunArgs,
    link: &Link,
    pulse: Pulse,
    terminal: Option<OwnedFd>,
    callers: &[RawFd],
    newcomer: Option<Newcomer>,
) -> Result<Started, SessionError> {
    let plan = Plan::of(args, newcomer.as_ref())?;
    let has_prompt = lead_session(terminal.as_ref(), &plan)?;
    let callers = commands_own(callers, &plan)?;
    // Outside the session's mount namespace, whose `/proc` may come to be another.
    let analyser = Analyser::start("/proc/self/exe").map_err(cannot(KEEP_PARSER))?;
    let messenger = outward::messenger(&plan.policy.rules, &plan.policy.scene.places.workspace)?;
    let mut kernel = kernel(&plan, callers, newcomer.as_ref())?;
    let (log, log_note) = prepared_log(&plan, &mut kernel)?;
    let alive = plan.past.begin(&plan.note, &kernel.proc)?;
    prctl::set_child_subreaper(true).map_err(cannot(ADOPT))?;

    let (candidate, env) = candidate(newcomer, terminal, &plan)?;
    leave_to_command(callers).map_err(cannot("let go of the caller's descriptors"))?;

    prctl::set_dumpable(false).map_err(cannot(CLOSE_MEMORY))?;
    let signals = take_signals().map_err(cannot(TAKE_SIGNALS))?;
    let Threads {
        readers,
        notices,
        watch,
        log,
    } = Threads::start(&kernel, pulse, log)?;
    let mut ledger = Ledger::new(log, args.observe);
    let parking = parking(&plan, has_prompt, &kernel)?;

    let (listener, version) = candidate.listener()?;
    let (settled, beginning) = begun_with(&kernel, &candidate, env)?;
    finish_namespace(&plan, &kernel, &candidate)?;
    confinement::confine().map_err(cannot(CONFINE))?;
    // A front that failed meanwhile has said that nothing ran.
    link.await_ready()
        .map_err(cannot("go on without the front"))?;
    let notice = plan.in_words(&parking, &log_note);
    let first = ledger.start(plan.session_start(log_note), &plan.policy.kept, &watch);
    first.map_err(|error| first_record(&plan, error))?;
    announce(link, &candidate, &notice, (&plan, parking.socket()))?;
    let parts = Parts {
        kernel,
        policy: plan.policy,
        granted: plan.granted,
        alive,
        readers,
        texts: Texts::new(analyser),
        notices: Some(notices).filter(|_| !args.no_notice),
        ledger,
        watch,
        parking,
        messenger,
        listener,
        settled,
        beginning,
        signals,
        cmd: plan.cmd.words,
        afterlife: Afterlife::of(args),
        is_observed: args.observe,
    };
    Ok(Started {
        parts,
        released: candidate.release(),
        version,
        notice,
    })
}

/// The kernel as CMD is to see it.
fn kernel(
    plan: &Plan<'_>,
    callers: &[RawFd],
    newcomer: Option<&Newcomer>,
) -> Result<Kernel, SessionError> {
    match newcomer {
        None => sealed::kernel(plan, callers),
        Some(newcomer) => newcomer.kernel().map_err(SessionError::Gone),
    }
}

/// What becomes CMD, and the variables that CMD begins with, `NAME=VALUE` each.
fn candidate(
    newcomer: Option<Newcomer>,
    terminal: Option<OwnedFd>,
    plan: &Plan<'_>,
) -> Result<(Candidate, Vec<Vec<u8>>), SessionError> {
    if let Some(newcomer) = newcomer {
        let env = newcomer.environment().map_err(SessionError::Gone)?;
        return Ok((Candidate::of(newcomer), env));
    }
    let env = user::in_environ(user::environment(plan.cmd.user()));
    Ok((Candidate::spawned(terminal.as_ref(), plan)?, env))
}

/// What the task that will become CMD begins with, by which all that comes later is measured.
fn begun_with(
    kernel: &Kernel,
    candidate: &Candidate,
    env: Vec<Vec<u8>>,
) -> Result<(Settled, Beginning), SessionError> {
    let task = kernel.proc.task(Tid::new(candidate.pid()));
    let task = task.map_err(cannot(LOOK))?;
    let status = task.status().map_err(io::Error::other);
    let status = status.map_err(cannot(LOOK))?;
    let root = kernel.session.root().try_clone().map_err(cannot(LOOK))?;
    let settled = Settled::since_now(status.credentials, kernel.own.clone(), root);
    Ok((settled, Beginning::of(&task, env)))
}

/// Covers what is to be hidden, behind which nothing more is mounted.
fn finish_namespace(
    plan: &Plan<'_>,
    kernel: &Kernel,
    candidate: &Candidate,
) -> Result<(), SessionError> {
    if !plan.needs_namespace() {
        return Ok(());
    }
    hidden::hide_if_asked(plan)?;
    let task = kernel.proc.task(Tid::new(candidate.pid()));
    let task = task.map_err(cannot(LOOK))?;
    Ok(way_out::check_directory(&task, kernel.session.root())?)
}

/// Tells the front before CMD may go: its first word is not CMD's last.
fn announce(
    link: &Link,
    candidate: &Candidate,
    notice: &str,
    (plan, control): (&Plan<'_>, Option<Vec<u8>>),
) -> Result<(), SessionError> {
    let started = Message::Started {
        pid: candidate.pid(),
        notice: notice.to_owned(),
        control,
        log: plan.log.as_os_str().as_bytes().to_vec(),
        session: plan.note.id.clone(),
    };
    Ok(link.send(&started).map_err(cannot("tell the front"))?)
}

fn parking(plan: &Plan<'_>, has_prompt: bool, kernel: &Kernel) -> Result<Parking, SessionError> {
    let proc = kernel.proc.try_clone();
    let proc = proc.map_err(cannot("copy a descriptor"))?;
    Ok(Parking::start(plan, has_prompt, proc)?)
}

impl Started {
    /// Lets CMD go and runs the gate to the session's end; whether it ended in order.
    fn run(self, link: Link) -> bool {
        let Self {
            parts,
            released,
            version,
            notice,
        } = self;
        tracing::info!(notice, "session starts");
        let pid = Tid::new(released.pid);
        let describer = Describer {
            settled: parts.settled,
            named: parts.policy.named,
        };
        let gone = handshake::send_go(&released.socket, version);
        let mut gate = Gate {
            kernel: parts.kernel,
            rules: Rc::new(parts.policy.rules),
            granted: parts.granted,
            operator: released.operator_grant(&parts.cmd),
            describer,
            beginning: parts.beginning,
            lineages: Lineages::new(),
            recent: Default::default(),
            attached: Attached::default(),
            awaiting: Default::default(),
            readers: parts.readers,
            texts: parts.texts,
            ledger: parts.ledger,
            watch: parts.watch,
            room: Room::of_this_process(),
            queued: Default::default(),
            parking: parts.parking,
            messenger: parts.messenger,
            notices: parts.notices,
            listener: parts.listener,
            signals: parts.signals,
            link,
            shim: Some(released.socket),
            protected: Protected::of_this_process(),
            command: Command::new(pid, released.outsider, &parts.cmd),
            alive: parts.alive,
            namespace: released.namespace,
            afterlife: parts.afterlife,
            is_over: false,
            is_observed: parts.is_observed,
        };
        if let Err(error) = gone {
            tracing::error!(%error, "the shim was gone before the go-ahead");
        }
        match gate.run() {
            Ok(()) => true,
            Err(errno) => {
                tracing::error!(%errno, "the gate's loop failed: ending the session");
                gate.kill_members();
                false
            }
        }
    }
}

/// Opens the log, which must be on a file system that no member of the session serves, or be meant to.
fn open_log(plan: &Plan<'_>, kernel: &mut Kernel) -> Result<(Log, Filesystem), SessionError> {
    let log = Log::open(&plan.log, plan.note.clone(), plan.limits())?;
    let own = kernel.proc.task(Tid::own());
    let own = own.map_err(cannot("look at the gate's own process"))?;
    let filesystem = kernel.filesystems.of(log.as_fd(), &own);
    let filesystem = filesystem.map_err(cannot("tell the audit log's file system"))?;
    if filesystem != Filesystem::Local && !plan.args.audit_unstable {
        return Err(SessionError::LogNotLocal(plan.log.display().to_string()));
    }
    Ok((log, filesystem))
}

/// The log made ready for its first record, and what that says of it. What another user could reach is
/// opened, and nothing in it changed.
fn prepared_log(plan: &Plan<'_>, kernel: &mut Kernel) -> Result<(Log, LogNote), SessionError> {
    let (mut log, filesystem) = open_log(plan, kernel)?;
    plan.keep_from_user(kernel)?;
    let prepared = log.prepare();
    let mut note = prepared.map_err(|error| first_record(plan, error.into()))?;
    note.is_unstable = filesystem != Filesystem::Local;
    Ok((log, note))
}

fn first_record(plan: &Plan<'_>, error: LogError) -> SessionError {
    SessionError::FirstRecord {
        path: plan.log.display().to_string(),
        error,
    }
}
