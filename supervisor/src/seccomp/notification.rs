//! One question of the kernel's, which is answered exactly once.

use std::os::fd::AsFd;
use std::rc::Rc;

use nix::errno::Errno;

use super::Listener;
use super::sys;
use crate::tracee::Tid;

/// A task that waits in a notified system call.
///
/// [`Notification::respond`] consumes it; one that is dropped unanswered answers `EPERM`, so that
/// no path, a panic included, leaves a task waiting or lets it through.
#[derive(Debug)]
pub(crate) struct Notification {
    listener: Rc<Listener>,
    id: u64,
    tid: Tid,
    data: SyscallData,
    is_answered: bool,
}

/// `struct seccomp_data`: the call as the kernel's entry code saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyscallData {
    /// `AUDIT_ARCH_*`.
    pub(crate) arch: u32,
    /// The system call's number, x32 bit included.
    pub(crate) number: u32,
    /// Its registers.
    pub(crate) arguments: [u64; 6],
}

impl SyscallData {
    pub(crate) fn of(raw: &libc::seccomp_data) -> Self {
        Self {
            arch: raw.arch,
            number: raw.nr.cast_unsigned(),
            arguments: raw.args,
        }
    }
}

/// What the kernel is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Execute the call as if there were no filter. The kernel reads every argument again.
    Continue,
    /// Fail the call with this errno, without executing it.
    Fail(Errno),
}

/// What became of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Answered {
    /// The kernel took it.
    Taken,
    /// The task is gone, or its call was restarted under a new id (kernels before 6.18).
    Gone,
}

impl Notification {
    pub(super) fn new(listener: Rc<Listener>, raw: &libc::seccomp_notif) -> Self {
        Self {
            listener,
            id: raw.id,
            tid: Tid::new(raw.pid),
            data: SyscallData::of(&raw.data),
            is_answered: false,
        }
    }

    /// The thread that waits, in the gate's pid namespace; 0 if it is not visible there.
    pub(crate) fn tid(&self) -> Tid {
        self.tid
    }

    /// The call that it waits in.
    pub(crate) fn data(&self) -> &SyscallData {
        &self.data
    }

    /// Whether the task still waits. If so, what was read under its number before this call came
    /// from the task that asked and not from a later owner of the number.
    pub(crate) fn is_pending(&self) -> bool {
        sys::id_valid(self.listener.as_fd(), self.id).is_ok()
    }

    /// Answers, once.
    ///
    /// # Errors
    /// What the kernel answers, a vanished task aside: the listener itself is broken then.
    pub(crate) fn respond(mut self, reply: Reply) -> Result<Answered, Errno> {
        self.is_answered = true;
        self.send(reply)
    }

    /// Lets go of a notification whose task is gone: there is nobody to answer.
    pub(crate) fn abandon(mut self) {
        debug_assert!(!self.is_pending());
        self.is_answered = true;
    }

    fn send(&self, reply: Reply) -> Result<Answered, Errno> {
        let (error, flags) = match reply {
            Reply::Continue => (0, CONTINUE),
            Reply::Fail(errno) => (-(errno as i32), 0),
        };
        let response = libc::seccomp_notif_resp {
            id: self.id,
            val: 0,
            error,
            flags,
        };
        match sys::send(self.listener.as_fd(), response) {
            Ok(()) => Ok(Answered::Taken),
            Err(Errno::ENOENT) => Ok(Answered::Gone),
            Err(errno) => Err(errno),
        }
    }
}

impl Drop for Notification {
    fn drop(&mut self) {
        if !self.is_answered {
            match self.send(Reply::Fail(Errno::EPERM)) {
                Ok(_) => tracing::warn!(tid = %self.tid, "an unanswered exec was refused"),
                Err(errno) => tracing::error!(tid = %self.tid, %errno, "cannot refuse an exec"),
            }
        }
    }
}

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE` as the response struct types it (Linux 5.5).
const CONTINUE: u32 = {
    assert!(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE == 1);
    1
};
