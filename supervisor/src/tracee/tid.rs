//! The number of a thread, or of a process by its first thread.

use std::fmt;

use nix::unistd::Pid;

/// A thread's number in the gate's pid namespace. A process is named by that of its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub(crate) struct Tid(u32);

impl Tid {
    pub(crate) const fn new(raw: u32) -> Self {
        Self(raw)
    }

    /// The number that waitpid(2) answered.
    pub(crate) fn from_wait(pid: rustix::process::Pid) -> Self {
        Self(pid.as_raw_nonzero().get().cast_unsigned())
    }

    /// This process.
    pub(crate) fn own() -> Self {
        Self(std::process::id())
    }

    pub(crate) const fn as_u32(self) -> u32 {
        self.0
    }

    pub(crate) const fn as_raw(self) -> libc::pid_t {
        self.0.cast_signed()
    }

    pub(crate) const fn as_pid(self) -> Pid {
        Pid::from_raw(self.as_raw())
    }

    /// For calls of rustix, which has no 0.
    pub(crate) fn as_rustix(self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(self.as_raw())
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
