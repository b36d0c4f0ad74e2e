//! The gate's side of the hand-over: start the shim, take its listener, say why there is none.

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::rc::Rc;
use std::time::Duration;

use execward_shim::handshake::{self, Report};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::getppid;

use crate::seccomp::Listener;
use crate::session::{SessionError, keep_on_exec, system};

/// How long the shim may take to install its filter.
const HANDOVER_DEADLINE: Duration = Duration::from_secs(10);

/// Starts `execward __shim SOCKET CMD…` in the caller's process group: an exec before the filter
/// exists. No code of ours runs between fork and exec.
pub(crate) fn spawn_shim(socket: &OwnedFd, cmd: &[OsString]) -> Result<Child, SessionError> {
    let failed = system("start the shim from /proc/self/exe");
    let front = getppid();
    let group = nix::unistd::getpgid(Some(front)).map_err(|errno| failed(errno.into()))?;
    keep_on_exec(socket).map_err(&failed)?;
    Command::new("/proc/self/exe")
        .arg0("execward")
        .arg("__shim")
        .arg(socket.as_raw_fd().to_string())
        .args(cmd)
        .process_group(group.as_raw())
        .spawn()
        .map_err(&failed)
}

/// Waits for the shim's listener.
///
/// # Errors
/// If none comes in time, with what the shim reported.
pub(crate) fn receive_listener(shim: &OwnedFd) -> Result<Rc<Listener>, SessionError> {
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
