//! The prompt on the user's terminal, as a part of the front.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::{Front, say};
use crate::approval::Prompt;
use crate::terminal::{Console, Guest, TerminalError, is_all_ours};
use crate::tracee::{Procfs, Tid};

/// Where questions are put by `--prompt`, and CMD's end of a terminal of its own; `None` if not here.
///
/// # Errors
/// If it is to be here, and cannot.
pub(super) fn console(
    prompt: Prompt,
    proc: &Procfs,
) -> Result<Option<(Console, Guest)>, TerminalError> {
    match prompt {
        Prompt::Socket | Prompt::None => Ok(None),
        Prompt::Tty => Console::open(proc).map(Some),
        Prompt::Auto if !is_all_ours() => Ok(None),
        Prompt::Auto => match Console::open(proc) {
            Ok(opened) => Ok(Some(opened)),
            Err(why) => {
                say(&format!("nothing is asked on this terminal: {why}"));
                Ok(None)
            }
        },
    }
}

impl Front {
    /// A line for whoever started the session.
    pub(super) fn say(&mut self, text: &str) {
        match &mut self.console {
            Some(console) if console.is_stderr() => console.say(text),
            _ => say(text),
        }
    }

    /// CMD is about to begin, and with it the questions that the gate asks at `socket`.
    pub(super) fn ask_here(&mut self, socket: Option<Vec<u8>>) {
        let gate = Tid::new(self.gate.id());
        let Some(console) = &mut self.console else {
            return;
        };
        console.begin();
        let socket = socket.map(|path| PathBuf::from(OsString::from_vec(path)));
        let Some(Err(error)) = socket.map(|socket| console.ask_for(&socket, gate)) else {
            return;
        };
        console.say(&format!(
            "nothing can be asked on this terminal: {error}; `execward allow ID` in another answers"
        ));
    }

    pub(super) fn turn_console(&mut self) {
        let is_gone = self.console.as_mut().is_some_and(Console::turn);
        if is_gone {
            self.hang_up();
        }
    }

    /// The user's terminal is gone: CMD is told so, as the leader of a session is.
    pub(super) fn hang_up(&mut self) {
        self.send(Signal::SIGHUP);
        if let Some(console) = &mut self.console {
            console.hang_up();
        }
    }

    /// Whether `signal` is a matter of the terminal, which CMD sees one of its own in place of.
    pub(super) fn is_about_terminal(&mut self, signal: Signal, was_sent: bool) -> bool {
        let Some(console) = &mut self.console else {
            return false;
        };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "every other signal is CMD's alone"
        )]
        match signal {
            Signal::SIGWINCH => console.resize(),
            // A key, while the terminal is not the front's to read: before it was, or where another of the
            // job has it make signals.
            Signal::SIGINT | Signal::SIGQUIT if !was_sent => console.signal_foreground(signal),
            Signal::SIGTSTP => console.signal_foreground(signal),
            Signal::SIGHUP if !was_sent => self.hang_up(),
            Signal::SIGCONT => {
                console.take_back();
                console.signal_foreground(signal);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// What CMD wrote before its end, unless the terminal takes nothing and somebody ends the front.
    pub(super) fn show_the_rest(&mut self) {
        let Some(mut console) = self.console.take() else {
            return;
        };
        console.end();
        while !console.turn() && !console.has_shown_all() {
            let mut fds = console.interest();
            fds.push(PollFd::new(self.signals.as_fd(), PollFlags::POLLIN));
            if poll(&mut fds, PollTimeout::NONE).is_err() || self.is_told_to_end() {
                return;
            }
        }
    }
}
