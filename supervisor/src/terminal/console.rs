//! The user's terminal with CMD's behind it: bytes go through, until a question stands between.
//!
//! Part of the front's loop: [`Console::interest`] is what it polls, [`Console::turn`] does what there is to
//! do. Nothing here waits, but for a last line at the end.

mod questions;

use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::asking::Asking;
use super::holders;
use super::own::Own;
use super::pty::Pty;
use super::relay::{Taken, Waiting, take};
use super::screen::Screen;
use super::{Guest, TerminalError};
use crate::control::ClientError;
use crate::inherited::open_descriptors;
use crate::tracee::Procfs;

/// Most pieces that go through in one turn before the gate has its own.
const PIECES_A_TURN: usize = 16;

/// How much of what CMD wrote before its end is waited for: more than a pseudo-terminal holds. What goes on
/// behind it may write for ever.
const PIECES_AT_END: usize = 16;

/// How long a last line may take, in milliseconds, on a terminal that is not read.
const LAST_WITHIN: u16 = 250;

/// Dropped, the terminal is as it was found.
#[derive(Debug)]
pub(crate) struct Console {
    own: Own,
    /// `None` once the user's terminal is gone.
    pty: Option<Pty>,
    /// Whether nobody has CMD's end open, as far as was seen in this turn.
    is_unused: bool,
    to_user: Waiting,
    to_command: Waiting,
    screen: Screen,
    asking: Option<Asking>,
    /// Why nothing more is to be heard of the gate: it may have said before that the session is over.
    deaf: Option<ClientError>,
    shown: Shown,
    stage: Stage,
    is_stderr: bool,
}

/// What the user sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Output,
    /// The output, below a line that a question waits for the foreground.
    Call,
    /// A question, as far as the terminal takes it: what is typed is for nobody.
    Coming,
    /// A question that was there whole.
    Question,
}

/// How far CMD is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Keys are the front's.
    Before,
    Running,
    /// It has ended, and so many pieces of what it wrote may still come.
    After(usize),
}

impl Console {
    /// Finds the controlling terminal, and makes one for CMD.
    ///
    /// # Errors
    /// If there is none, or somebody else has it open.
    pub(crate) fn open(proc: &Procfs) -> Result<(Self, Guest), TerminalError> {
        let terminal = holders::controlling().ok_or(TerminalError::None)?;
        let open = open_descriptors().unwrap_or_default();
        let inherited = holders::own(terminal, &open);
        let own = Own::open().map_err(TerminalError::Closed)?;
        refuse_stranger(terminal, proc)?;
        let is_stderr = inherited.contains(&2);
        let (pty, guest) = Pty::open(own.settings(), own.size()).map_err(TerminalError::Pty)?;
        let guest = Guest::in_place_of(guest, inherited).map_err(TerminalError::Pty)?;
        let console = Self {
            own,
            pty: Some(pty),
            is_unused: false,
            to_user: Waiting::default(),
            to_command: Waiting::default(),
            screen: Screen::default(),
            asking: None,
            deaf: None,
            shown: Shown::Output,
            stage: Stage::Before,
            is_stderr,
        };
        Ok((console, guest))
    }

    /// Takes the terminal from everyone else.
    ///
    /// # Errors
    /// If somebody else has it open.
    pub(crate) fn close_to_others(&mut self, proc: &Procfs) -> Result<(), TerminalError> {
        self.own.close_to_others().map_err(TerminalError::Closed)?;
        // Whoever opened it before has it still.
        let terminal = holders::controlling().ok_or(TerminalError::None)?;
        refuse_stranger(terminal, proc)
    }

    /// Whether the front's standard error is this terminal.
    pub(crate) fn is_stderr(&self) -> bool {
        self.is_stderr
    }

    /// CMD begins: keys are its own.
    pub(crate) fn begin(&mut self) {
        self.stage = Stage::Running;
        self.own.take();
    }

    /// What is to be waited for.
    pub(crate) fn interest(&self) -> Vec<PollFd<'_>> {
        let mut user = PollFlags::empty();
        user.set(PollFlags::POLLIN, self.takes_keys());
        user.set(PollFlags::POLLOUT, !self.to_user.is_empty());
        let mut command = PollFlags::empty();
        command.set(PollFlags::POLLIN, self.takes_output() && !self.is_unused);
        command.set(
            PollFlags::POLLOUT,
            !self.to_command.is_empty() && !self.is_unused,
        );
        let ends = [
            Some((self.own.as_fd(), user)),
            self.pty.as_ref().map(|pty| (pty.as_fd(), command)),
        ];
        // A descriptor that nothing is wanted of would be ready when it hangs up, for ever.
        let ends = ends
            .into_iter()
            .flatten()
            .filter(|(_, wanted)| !wanted.is_empty());
        let gate = self
            .asking
            .as_ref()
            .map(|it| (it.as_fd(), PollFlags::POLLIN));
        ends.chain(gate)
            .map(|(fd, wanted)| PollFd::new(fd, wanted))
            .collect()
    }

    fn takes_keys(&self) -> bool {
        let has_room = match self.is_asking() {
            true => self.to_user.has_room(),
            false => self.to_command.has_room(),
        };
        self.stage == Stage::Running && self.pty.is_some() && self.own.is_raw() && has_room
    }

    fn takes_output(&self) -> bool {
        !self.is_asking() && self.to_user.has_room() && self.stage != Stage::After(0)
    }

    /// Does what there is to do; whether the user's terminal is gone.
    pub(crate) fn turn(&mut self) -> bool {
        if self.pty.is_none() {
            return false;
        }
        self.is_unused = false;
        let is_ours = || self.own.is_in_foreground();
        if self.stage == Stage::Running && !self.own.is_raw() && is_ours() {
            self.own.take();
        }
        self.hear();
        self.go_over();
        if self.take_keys() {
            return true;
        }
        self.relay();
        false
    }

    fn is_asking(&self) -> bool {
        matches!(self.shown, Shown::Coming | Shown::Question)
    }

    /// Takes what was typed; whether the terminal is gone.
    fn take_keys(&mut self) -> bool {
        while self.takes_keys() {
            match take(self.own.as_fd()) {
                Taken::Bytes(keys) if self.is_asking() => self.press(&keys),
                Taken::Bytes(keys) => self.to_command.add(&keys),
                Taken::Nothing => break,
                Taken::End if self.own.is_gone() => return true,
                // Of a job that is in the background by now.
                Taken::End => {
                    self.own.give_back();
                    break;
                }
            }
        }
        false
    }

    fn relay(&mut self) {
        for _piece in 0..PIECES_A_TURN {
            self.pass_on();
            let Some(pty) = self.pty.as_ref().filter(|_| self.takes_output()) else {
                return;
            };
            match take(pty.as_fd()) {
                Taken::Bytes(output) => {
                    self.screen.follow(&output);
                    self.to_user.add(&output);
                    self.count_down(|left| left.saturating_sub(1));
                }
                nothing @ (Taken::Nothing | Taken::End) => {
                    // At the end nobody has it open; a member of the session may open it again.
                    self.is_unused = nothing == Taken::End;
                    self.count_down(|_| 0);
                    break;
                }
            }
        }
        self.pass_on();
    }

    fn count_down(&mut self, to: impl FnOnce(usize) -> usize) {
        if let Stage::After(left) = &mut self.stage {
            *left = to(*left);
        }
    }

    fn pass_on(&mut self) {
        if let Some(pty) = &self.pty {
            self.to_command.pass_on(pty.as_fd());
        }
        self.pass_on_to_user();
    }

    fn pass_on_to_user(&mut self) {
        self.to_user.pass_on(self.own.as_fd());
        if self.shown == Shown::Coming && self.to_user.is_empty() {
            self.shown = Shown::Question;
        }
    }

    /// A line of execward's own.
    pub(crate) fn say(&mut self, text: &str) {
        let line = format!("execward: {text}\n").replace('\n', "\r\n");
        let is_asking = self.is_asking();
        match &mut self.asking {
            Some(asking) if is_asking && !asking.is_idle() => {
                asking.note(text);
                self.draw();
            }
            _ => {
                self.leave_question();
                let start = if self.screen.is_at_start() {
                    ""
                } else {
                    "\r\n"
                };
                self.to_user.add(format!("{start}{line}").as_bytes());
                self.screen.follow(b"\n");
            }
        }
    }

    /// CMD has ended: what it wrote is still to be shown.
    pub(crate) fn end(&mut self) {
        // The gate has said before what became of the last question, and why nothing more is to be heard.
        self.hear();
        self.asking = None;
        self.deaf = None;
        self.go_over();
        self.stage = Stage::After(PIECES_AT_END);
    }

    /// Whether all that CMD wrote is shown.
    pub(crate) fn has_shown_all(&self) -> bool {
        self.pty.is_none() || self.stage == Stage::After(0) && self.to_user.is_empty()
    }

    /// The window has another size.
    pub(crate) fn resize(&mut self) {
        if let Some(pty) = &self.pty {
            pty.resize(self.own.size());
        }
        if self.is_asking() {
            self.draw();
        }
    }

    /// Sends `signal` to whom the keys of CMD's terminal mean.
    pub(crate) fn signal_foreground(&self, signal: Signal) {
        if let Some(pty) = &self.pty {
            pty.signal_foreground(signal);
        }
    }

    /// Before the front stops: its user's shell has the terminal next.
    pub(crate) fn give_back(&mut self) {
        self.leave_question();
        self.show_last();
        self.own.give_back();
    }

    /// After the front was continued, perhaps in the background.
    pub(crate) fn take_back(&mut self) {
        self.own.take();
        self.resize();
    }

    /// The user's terminal is gone: so is CMD's.
    pub(crate) fn hang_up(&mut self) {
        self.signal_foreground(Signal::SIGHUP);
        self.asking = None;
        self.shown = Shown::Output;
        self.pty = None;
    }

    fn show_last(&mut self) {
        let mut user = [PollFd::new(self.own.as_fd(), PollFlags::POLLOUT)];
        if self.to_user.pass_on(self.own.as_fd())
            && !self.to_user.is_empty()
            && matches!(poll(&mut user, PollTimeout::from(LAST_WITHIN)), Ok(1..))
        {
            self.to_user.pass_on(self.own.as_fd());
        }
    }
}

fn refuse_stranger(terminal: u64, proc: &Procfs) -> Result<(), TerminalError> {
    match holders::stranger(terminal, proc) {
        Some(stranger) => Err(TerminalError::Stranger(stranger)),
        None => Ok(()),
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.give_back();
    }
}
