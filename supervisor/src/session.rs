//! The gate's process, from its start to its end: everything is opened, in the order that matters,
//! and the event loop takes over.
//!
//! Before any thread exists: the shim is started. Before the listener exists: the threads that may
//! ever wait for a file system. Last: CMD may go.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command as Process};
use std::rc::Rc;
use std::time::Duration;

use execward_shim::handshake::{self, Report};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Uid, close, dup2_stderr, dup2_stdin, dup2_stdout, getpgrp, getppid};

use crate::attached::Attached;
use crate::audit::{Log, SessionNote, SessionStart, Supervisor};
use crate::cli::RunArgs;
use crate::exec::Filesystem;
use crate::fdpass;
use crate::gate::{Afterlife, Command, Gate};
use crate::influence::Protected;
use crate::judge::OperatorGrant;
use crate::kernel::Kernel;
use crate::kin;
use crate::ledger::Ledger;
use crate::link::{Link, Message};
use crate::places::Places;
use crate::policy::LoadedPolicy;
use crate::readers::Readers;
use crate::refusal::Notices;
use crate::seccomp::Listener;
use crate::tracee::Tid;
use crate::watch::{Pulse, Watch};

/// How long the shim may take to install its filter.
const HANDOVER_DEADLINE: Duration = Duration::from_secs(10);

/// Why a session did not start. Its text is shown behind `execward: `, and nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("{0}")]
    Policy(#[from] crate::policy::PolicyError),
    #[error("{0}")]
    Log(#[from] crate::audit::LogError),
    #[error(
        "the audit log `{0}` is on a network or FUSE file system; name a local one with --audit"
    )]
    LogNotLocal(String),
    #[error("cannot {what}: {error}")]
    System {
        what: &'static str,
        error: io::Error,
    },
    #[error("{0}")]
    Shim(String),
}

fn system(what: &'static str) -> impl Fn(io::Error) -> SessionError {
    move |error| SessionError::System { what, error }
}

/// What the front handed over, and which descriptors are the caller's.
#[derive(Debug)]
pub(crate) struct Inherited {
    pub(crate) link: Link,
    pub(crate) pulse: Pulse,
    /// Descriptors above 2 that are CMD's to inherit and not the gate's to keep.
    pub(crate) callers: Vec<RawFd>,
}

/// Runs the gate. Failures go to the front, which says them.
pub(crate) fn run(args: &RunArgs, inherited: Inherited) -> bool {
    let Inherited {
        link,
        pulse,
        callers,
    } = inherited;
    match start(args, &link, pulse, &callers) {
        Ok(started) => started.run(link),
        Err(error) => {
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
    shim: OwnedFd,
    notice: String,
}

struct Parts {
    kernel: Kernel,
    policy: LoadedPolicy,
    readers: Readers,
    notices: Option<Notices>,
    ledger: Ledger,
    watch: Watch,
    listener: Rc<Listener>,
    signals: SignalFd,
    child: Child,
    args: (Vec<OsString>, Afterlife),
}

fn start(
    args: &RunArgs,
    link: &Link,
    pulse: Pulse,
    callers: &[RawFd],
) -> Result<Started, SessionError> {
    let places = Places::find()?;
    let note = session_note(args);
    crate::diagnostics::start(&places.diagnostics(&note.name))
        .map_err(system("open the diagnostics file in the state directory"))?;
    let policy = LoadedPolicy::load(args, &places)?;
    let log_path = args.audit.clone().unwrap_or_else(|| places.log(&note.name));
    let mut kernel = Kernel::open().map_err(system("look at the system"))?;
    let log = Log::open(&log_path, note.clone())?;
    if !is_local(&mut kernel, &log) {
        return Err(SessionError::LogNotLocal(log_path.display().to_string()));
    }
    prctl::set_child_subreaper(true)
        .map_err(|errno| system("adopt the session's orphans")(errno.into()))?;

    let (shim, theirs) = fdpass::pair().map_err(|errno| system("make a socket")(errno.into()))?;
    let child = spawn_shim(&theirs, &args.cmd)?;
    drop(theirs);
    leave_to_command(callers).map_err(system("let go of the caller's descriptors"))?;

    prctl::set_dumpable(false).map_err(|errno| system("close the gate's memory")(errno.into()))?;
    let signals = take_signals().map_err(system("block signals"))?;
    let readers = Readers::start(&kernel.proc, &kernel.session, &kernel.own)
        .map_err(system("start the reader threads"))?;
    let notices = Notices::start().map_err(system("start the notice thread"))?;
    let watch = kernel
        .proc
        .try_clone()
        .and_then(|proc| Watch::start(proc, pulse))
        .map_err(system("start the watching thread"))?;
    let log = log
        .start_syncing()
        .map_err(system("start the log's thread"))?;
    let mut ledger = Ledger::new(log);

    let listener = receive_listener(&shim)?;
    ledger.start(session_start(args, &policy))?;
    let notice = format!(
        "policy {}; asks are refused, nobody can answer them yet; log {}",
        policy.names(),
        log_path.display()
    );
    let afterlife = if args.kill_at_exit {
        Afterlife::Kill
    } else {
        Afterlife::Linger
    };
    let notices = (!args.no_notice).then_some(notices);
    let args = (args.cmd.clone(), afterlife);
    let parts = Parts {
        kernel,
        policy,
        readers,
        notices,
        ledger,
        watch,
        listener,
        signals,
        child,
        args,
    };
    // Told before CMD may go, so that its first word is not CMD's last.
    let pid = parts.child.id();
    link.send(&Message::Started {
        pid,
        notice: notice.clone(),
    })
    .map_err(system("tell the front"))?;
    Ok(Started {
        parts,
        shim,
        notice,
    })
}

impl Started {
    /// Lets CMD go and runs the gate to the session's end; whether it ended in order.
    fn run(self, link: Link) -> bool {
        let Self {
            parts,
            shim,
            notice,
        } = self;
        tracing::info!(notice, "session starts");
        let (cmd, afterlife) = parts.args;
        let pid = Tid::new(parts.child.id());
        let argv = cmd.iter().map(|word| word.as_bytes().to_vec()).collect();
        let name = cmd
            .first()
            .map(|word| word.as_bytes().escape_ascii().to_string());
        let front = Tid::new(getppid().as_raw().cast_unsigned());
        let group = Tid::new(getpgrp().as_raw().cast_unsigned());
        let gone = handshake::send_go(&shim);
        let mut gate = Gate {
            kernel: parts.kernel,
            rules: Rc::new(parts.policy.rules),
            operator: Some(OperatorGrant { process: pid, argv }),
            attached: Attached::default(),
            awaiting: Default::default(),
            readers: parts.readers,
            ledger: parts.ledger,
            watch: parts.watch,
            queued: Default::default(),
            notices: parts.notices,
            listener: parts.listener,
            signals: parts.signals,
            link,
            shim: Some(shim),
            protected: Protected {
                processes: [Tid::own(), front],
                group,
            },
            command: Command {
                pid,
                name: name.unwrap_or_default(),
                ended: None,
                was_told: false,
                front_knows: false,
            },
            afterlife,
            is_over: false,
        };
        if let Err(error) = gone {
            tracing::error!(%error, "the shim was gone before the go-ahead");
        }
        match gate.run() {
            Ok(()) => true,
            Err(errno) => {
                tracing::error!(%errno, "the gate's loop failed: ending the session");
                kin::kill_descendants(&gate.kernel.proc, Tid::own());
                false
            }
        }
    }
}

/// Starts `execward __shim SOCKET CMD…` in the caller's process group: an exec before the filter
/// exists. No code of ours runs between fork and exec.
fn spawn_shim(socket: &OwnedFd, cmd: &[OsString]) -> Result<Child, SessionError> {
    let failed = system("start the shim from /proc/self/exe");
    let front = getppid();
    let group = nix::unistd::getpgid(Some(front)).map_err(|errno| failed(errno.into()))?;
    keep_on_exec(socket).map_err(&failed)?;
    Process::new("/proc/self/exe")
        .arg0("execward")
        .arg("__shim")
        .arg(socket.as_raw_fd().to_string())
        .args(cmd)
        .process_group(group.as_raw())
        .spawn()
        .map_err(&failed)
}

/// Clears close-on-exec, for a descriptor that the next child is to inherit.
pub(crate) fn keep_on_exec(fd: impl AsFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?)
}

/// Closes the gate's copies of what is CMD's: a pipe must end when CMD closes it.
pub(crate) fn leave_to_command(callers: &[RawFd]) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    for fd in callers {
        match close(*fd) {
            Ok(()) | Err(Errno::EBADF) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Blocks what must not stop or end the gate, and reads SIGCHLD and SIGTERM from a descriptor.
/// A blocked SIGPIPE, SIGXFSZ, SIGTTOU … is an errno where it happens.
fn take_signals() -> io::Result<SignalFd> {
    let mut read = SigSet::empty();
    read.add(Signal::SIGCHLD);
    read.add(Signal::SIGTERM);
    let mut blocked = read;
    for signal in [
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTSTP,
        Signal::SIGTTIN,
        Signal::SIGTTOU,
        Signal::SIGHUP,
        Signal::SIGPIPE,
        Signal::SIGXFSZ,
    ] {
        blocked.add(signal);
    }
    blocked.thread_block()?;
    Ok(SignalFd::with_flags(
        &read,
        SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK,
    )?)
}

fn receive_listener(shim: &OwnedFd) -> Result<Rc<Listener>, SessionError> {
    let mut fds = [PollFd::new(shim.as_fd(), PollFlags::POLLIN)];
    let limit = PollTimeout::try_from(HANDOVER_DEADLINE).unwrap_or(PollTimeout::MAX);
    if !matches!(poll(&mut fds, limit), Ok(1..)) {
        let seconds = HANDOVER_DEADLINE.as_secs();
        return Err(SessionError::Shim(format!(
            "the shim did not hand its listener over within {seconds} s; is something stopping or \
             tracing it?"
        )));
    }
    match handshake::receive_report(shim) {
        Ok(Report::Listening(fd)) => Listener::new(fd).map_err(|errno| {
            SessionError::Shim(format!("what the shim handed over is no listener: {errno}"))
        }),
        Ok(Report::Failed { stage, errno }) => Err(SessionError::Shim(format!(
            "{stage} failed: {}",
            why_no_filter(errno)
        ))),
        Ok(Report::Closed) => Err(SessionError::Shim(
            "the shim died before it installed the filter; see the kernel log".into(),
        )),
        Err(error) => Err(SessionError::Shim(format!(
            "the shim's report is unreadable: {error}"
        ))),
    }
}

/// The cause behind an errno of seccomp(2), with what to do.
#[expect(clippy::wildcard_enum_match_arm, reason = "errnos are an open set")]
fn why_no_filter(errno: Errno) -> String {
    let why = match errno {
        Errno::EBUSY => {
            "another seccomp listener governs this process tree (an outer execward, a container \
             runtime, WSL's mirrored networking), and the kernel allows one; start execward \
             outside it"
        }
        Errno::EINVAL => {
            "this kernel lacks a flag that the gate needs (SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, \
             Linux 5.19); use a newer kernel"
        }
        Errno::ENOSYS => {
            "this kernel or container has no seccomp(2); enable CONFIG_SECCOMP_FILTER, or allow \
             seccomp in the container's profile"
        }
        Errno::EACCES => {
            "the kernel does not let this process install a filter, no_new_privs set or not; a \
             security module forbids it"
        }
        other => return other.to_string(),
    };
    format!("{errno}: {why}")
}

fn is_local(kernel: &mut Kernel, log: &Log) -> bool {
    let Ok(own) = kernel.proc.task(Tid::own()) else {
        return false;
    };
    kernel.filesystems.of(log.as_fd(), &own) == Ok(Filesystem::Local)
}

fn session_note(args: &RunArgs) -> SessionNote {
    let id = uuid::Uuid::now_v7();
    let name = args.session.clone().unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S");
        // The random end of the id: two sessions of one second differ.
        let (_, end) = id.as_u64_pair();
        format!("{now}-{:04x}", end & 0xffff)
    });
    SessionNote {
        id: id.to_string(),
        name,
    }
}

fn session_start(args: &RunArgs, policy: &LoadedPolicy) -> SessionStart {
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let cwd = std::env::current_dir().unwrap_or_default();
    SessionStart {
        sup: Supervisor {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
        },
        policy: policy.notes.clone(),
        cmd: args.cmd.iter().map(|word| show(word.as_bytes())).collect(),
        cwd: show(cwd.as_os_str().as_bytes()),
        uid: Uid::current().as_raw(),
        kernel: rustix::system::uname()
            .release()
            .to_str()
            .unwrap_or_default()
            .to_owned(),
    }
}
