//! The first process of a session's pid namespace: `execward __init`, started by the gate.
//!
//! It mounts the proc that the session sees, adopts and reaps the session's orphans, and ends with the
//! gate, whatever the gate ends of: then the kernel kills every process that is left in the namespace
//! (pid_namespaces(7)). It is outside the session's filter, so nobody in there may look into it, and it
//! reads nothing that they say.

use std::io::stdin;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{WaitOptions, set_parent_process_death_signal, wait};

use crate::fdpass;
use crate::own_process::{close_callers, hear_of_children};
use crate::sealed::{close, is_below, mounted_below};
use crate::system::{SystemError, cannot};

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__init";

/// What the gate says once, when it needs the proc of its own side no more.
pub(crate) const MOUNT: &[u8] = b"mount";

/// What this process answers when the session may begin; anything else is why it may not.
pub(crate) const READY: &[u8] = b"ready";

const PROC: &str = "/proc";
const SYSCTLS: &str = "/proc/sys";

/// Serves until the gate's end of the socket, which is standard input, is closed.
pub(crate) fn main() -> ExitCode {
    match serve(stdin()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(socket: impl AsFd) -> Result<(), SystemError> {
    const LISTEN: &str = "listen to the gate";
    let mut word = [0; MOUNT.len()];
    let heard = fdpass::receive(socket.as_fd(), &mut word, RecvFlags::empty());
    let (length, _) = heard.map_err(cannot(LISTEN))?;
    if word.get(..length) != Some(MOUNT) {
        return Ok(());
    }
    let prepared = prepare();
    let answer = match &prepared {
        Ok(_) => READY.to_vec(),
        Err(error) => error.to_string().into_bytes(),
    };
    let said = fdpass::send(socket.as_fd(), &answer, &[], SendFlags::empty());
    said.map_err(cannot(LISTEN))?;
    reap(&socket, &prepared?).map_err(cannot("reap what ends in the session"))
}

/// All that must be so before CMD runs; the descriptor tells of ended children.
fn prepare() -> Result<SignalFd, SystemError> {
    close_callers().map_err(cannot("close the caller's descriptors"))?;
    // Should a thread of the gate's that hangs keep a copy of its end of the socket.
    let with_gate = set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    with_gate.map_err(cannot("end with the gate (PR_SET_PDEATHSIG)"))?;
    mount_proc()?;
    give_up_rights().map_err(cannot("give up rights"))?;
    hear_of_children().map_err(cannot("hear of ended children (sigaction)"))?;
    let mut child = SigSet::empty();
    child.add(Signal::SIGCHLD);
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let signals = child
        .thread_block()
        .and_then(|()| SignalFd::with_flags(&child, flags));
    signals.map_err(cannot("read signals from a descriptor (signalfd)"))
}

/// Mounts a proc of this namespace over the one that is there, with all that is mounted on that one:
/// what a container masks stays masked. The kernel's settings in it are read-only.
fn mount_proc() -> Result<(), SystemError> {
    const LAY: &str = "lay what is mounted on `/proc` over the session's own as well";
    let held = held_mounts().map_err(cannot(LAY))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", PROC, "proc", flags, None).map_err(cannot(
        "mount a proc of the session's own, as --pid-namespace needs",
    ))?;
    for (point, tree) in held {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        move_mount(tree, "", CWD, point.as_slice(), flags).map_err(cannot(LAY))?;
    }
    close(SYSCTLS.as_bytes()).map_err(cannot("make `/proc/sys` read-only for the session"))
}

/// What is mounted on `/proc`, but for the processes' own directories, which are others in here.
fn held_mounts() -> std::io::Result<Vec<(Vec<u8>, OwnedFd)>> {
    let mut held: Vec<(Vec<u8>, OwnedFd)> = Vec::new();
    for (point, _) in mounted_below(PROC.as_bytes())? {
        let below = point.strip_prefix(b"/proc/").unwrap_or_default();
        let is_process = below.first().is_some_and(u8::is_ascii_digit);
        let is_held = held.iter().any(|(over, _)| is_below(&point, over));
        if below.is_empty() || is_process || is_held || point == SYSCTLS.as_bytes() {
            continue;
        }
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_NO_AUTOMOUNT;
        match open_tree(CWD, point.as_slice(), flags) {
            Ok(tree) => held.push((point, tree)),
            // Below another mount, out of sight.
            Err(rustix::io::Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(held)
}

fn give_up_rights() -> std::io::Result<()> {
    prctl::set_no_new_privs()?;
    execward_shim::drop_all()?;
    Ok(prctl::set_dumpable(false)?)
}

/// Reaps whoever ends here, until the socket is closed.
fn reap(socket: &impl AsFd, signals: &SignalFd) -> Result<(), Errno> {
    loop {
        let mut fds = [
            PollFd::new(socket.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        match poll(&mut fds, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            polled => polled?,
        };
        let [gate, _] = fds;
        if gate.any().unwrap_or(true) {
            return Ok(());
        }
        while signals.read_signal()?.is_some() {}
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
}
