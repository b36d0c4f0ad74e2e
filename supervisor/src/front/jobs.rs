//! Job control: the front stops, continues and is told of signals as CMD would be.

use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, pthread_sigmask, raise};
use nix::unistd::{Pid, getpid, getppid, getsid};
use rustix::process::pidfd_send_signal;

use super::{Front, STOPS};
use crate::watch::monotonic;

/// What ends a session that has not begun.
const ENDS: [Signal; 4] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
];

impl Front {
    /// Stops as CMD did, so that the caller sees it; once continued, sees to it that CMD is.
    pub(super) fn stop_with_command(&mut self, signal: i32) {
        if !self.command_is_stopped() {
            return;
        }
        let signal = Signal::try_from(signal).unwrap_or(Signal::SIGSTOP);
        if STOPS.contains(&signal) && nobody_continues_us() {
            // The kernel stops no process that nobody could continue. The gate, a parent of another
            // group, keeps it from seeing that this is one.
            if let Some(console) = &self.console {
                return console.signal_foreground(Signal::SIGCONT);
            }
            if let Err(errno) = kill(Pid::from_raw(0), Signal::SIGCONT) {
                tracing::warn!(%errno, "CMD stays stopped");
            }
            return;
        }
        let mut unblocked = SigSet::empty();
        unblocked.add(signal);
        if let Some(console) = &mut self.console {
            console.give_back();
        }
        // Raised while blocked, it acts the moment it is let through. CMD has a terminal of its own, and
        // its keys stop nobody else of the caller's job.
        let stops_job = self.console.is_some() && STOPS.contains(&signal);
        let raised = match stops_job {
            true => kill(Pid::from_raw(0), signal),
            false => raise(signal),
        };
        let stopped = raised
            .and_then(|()| pthread_sigmask(SigmaskHow::SIG_UNBLOCK, Some(&unblocked), None))
            .and_then(|()| pthread_sigmask(SigmaskHow::SIG_BLOCK, Some(&unblocked), None));
        if let Err(errno) = stopped {
            self.say(&format!("cannot stop with the command: {errno}"));
        }
        if let Some(console) = &mut self.console {
            console.take_back();
            console.signal_foreground(Signal::SIGCONT);
        }
        if self.command_is_stopped() {
            self.send(Signal::SIGCONT);
        }
    }

    fn command_is_stopped(&self) -> bool {
        let command = self.command.as_ref();
        command.is_some_and(|(pid, _)| self.proc.status(*pid).is_ok_and(|seen| seen.is_stopped()))
    }

    /// Passes on what a process sent to the front. What the terminal or the kernel sent, CMD got
    /// itself: it is in the same process group, if it has no terminal of its own and is not elsewhere. But a terminal that is
    /// gone is told to the leader of its session alone, and that may be the front.
    pub(super) fn pass_signals_on(&mut self) {
        while let Ok(Some(info)) = self.signals.read_signal() {
            let number = i32::try_from(info.ssi_signo).unwrap_or_default();
            let Ok(signal) = Signal::try_from(number) else {
                self.say(&format!(
                    "real-time signal {number} is not passed on; send it to the command itself"
                ));
                continue;
            };
            // Of a session that stands still. A key of the terminal ends one that has not begun.
            let may_end = match self.command {
                Some(_) => info.ssi_code <= 0 && signal == Signal::SIGTERM,
                None => ENDS.contains(&signal),
            };
            if may_end {
                self.asked_to_end = Some((monotonic(), signal));
            }
            let was_sent = info.ssi_code <= 0;
            if self.is_about_terminal(signal, was_sent) || STOPS.contains(&signal) {
                continue;
            }
            let from_command = self
                .command
                .as_ref()
                .is_some_and(|(pid, _)| pid.as_u32() == info.ssi_pid);
            let is_hangup = signal == Signal::SIGHUP && getsid(None) == Ok(getpid());
            if (was_sent || is_hangup || self.is_elsewhere) && !from_command {
                self.send(signal);
            }
        }
    }

    /// Whether a signal is there that ends what has begun to end.
    pub(super) fn is_told_to_end(&self) -> bool {
        let ends = ENDS.map(|signal| u32::try_from(signal as i32).unwrap_or(0));
        std::iter::from_fn(|| self.signals.read_signal().ok().flatten())
            .any(|info| ends.contains(&info.ssi_signo))
    }

    pub(super) fn send(&self, signal: Signal) {
        let Some((_, pidfd)) = &self.command else {
            return;
        };
        let Some(signal) = rustix::process::Signal::from_named_raw(signal as i32) else {
            return;
        };
        // A command that is gone has no use for it, and its end is on the way here.
        if let Err(errno) = pidfd_send_signal(pidfd, signal) {
            tracing::debug!(%errno, "a signal was not passed on");
        }
    }
}

/// Whether this process group would be orphaned without the gate: whoever started it is of another
/// session, as where the front leads a terminal's.
fn nobody_continues_us() -> bool {
    let starter = getppid();
    starter.as_raw() == 0 || getsid(Some(starter)) != getsid(None)
}
