//! A stop from the terminal that finds a child of vfork(2) waiting for an answer.
//!
//! The parent sleeps until the child has executed something or has ended. A Ctrl-Z is for both, and
//! waits in both. Refused, the child would stop before it can end, the parent would sleep on, and
//! whoever waits for the parent would see neither stop nor end: the terminal hangs (tried with dash,
//! which starts everything so). Unsupervised, a child is in between for a moment only. So the stop
//! is taken from the child; the parent stops as soon as it is awake.

use nix::sys::signal::{Signal, kill};

use crate::gate::Gate;
use crate::subject::Subject;

/// The stops that a terminal sends. A SIGSTOP is somebody's own wish for this process.
const TERMINAL_STOPS: [Signal; 3] = [Signal::SIGTSTP, Signal::SIGTTIN, Signal::SIGTTOU];

impl Gate {
    /// Takes a terminal's stop from a child of vfork(2) that is about to be refused.
    pub(crate) fn let_end(&self, subject: &Subject) {
        let mask = |mask, signal: &Signal| mask | 1_u64 << (*signal as u32 - 1);
        let stops = TERMINAL_STOPS.iter().fold(0, mask);
        let waiting = subject.view.task().deliverable_signals();
        if waiting.is_ok_and(|signals| signals & stops == 0) || !self.is_of_vfork(subject) {
            return;
        }
        // SIGCONT discards every stop that is pending; see signal(7). Its task waits in its
        // notification, so the number is still its own.
        if let Err(errno) = kill(subject.caller.pid.as_pid(), Signal::SIGCONT) {
            tracing::warn!(%errno, "a stop is not taken from a child of vfork");
        }
    }

    /// Whether the parent sleeps as one does in vfork(2).
    fn is_of_vfork(&self, subject: &Subject) -> bool {
        let parent = self.kernel.proc.status(subject.view.status().ppid);
        parent.is_ok_and(|status| status.state == b'D')
    }
}
