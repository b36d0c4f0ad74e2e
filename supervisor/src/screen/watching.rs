//! The screen's loop: one thread, which waits for keys, for the gate and for signals.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what the gate says to others and signals that mean nothing here are dropped"
)]

use std::io;
use std::os::fd::AsFd;

use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::code::Code;
use super::draw::{Palette, draw};
use super::keys::{Key, Keys};
use super::paint::paint;
use super::signals;
use super::state::{Effect, Screen};
use super::terminal::{Terminal, TerminalError};
use crate::clock;
use crate::control::{ClientError, Feed, FromGate, Where, sessions};
use crate::exit::ExitStatus;

/// How often the time that is left is drawn again, in seconds.
const TICK: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Why the screen ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScreenError {
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("{0}")]
    Terminal(#[from] TerminalError),
    #[error("session {0} has ended, or closed the connection")]
    Ended(String),
    #[error("cannot draw: {0}")]
    Io(#[from] io::Error),
}

impl ScreenError {
    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Ended(_)
            | Self::Client(
                ClientError::NoSession | ClientError::NotLive { .. } | ClientError::Closed,
            ) => ExitStatus::NoSupervisor,
            Self::Client(_) | Self::Terminal(_) | Self::Io(_) => ExitStatus::Io,
        }
    }
}

/// How the screen was left.
enum Left {
    ByKey,
    /// By the one of this number.
    BySignal(i32),
}

/// Shows what is asked in one session, and says what a person answers, until that person leaves.
///
/// # Errors
/// If there is no session or it ends, or there is no terminal that is nobody else's.
pub(crate) fn watch(meant: &Where) -> Result<ExitStatus, ScreenError> {
    let mut live = sessions(meant)?;
    let session = (!live.is_empty()).then(|| live.remove(0));
    let session = session.ok_or(ClientError::NoSession)?;
    drop(live);
    let signals = signals::hear()?;
    let terminal = Terminal::take()?;
    // Only then: questions count on whoever is subscribed.
    let feed = session.subscribe()?;
    let left = Watching::new(terminal, feed, signals)?.go_on()?;
    // The terminal is as it was by now.
    if let Left::BySignal(signal) = left {
        signals::end_by(signal);
    }
    Ok(ExitStatus::Success)
}

struct Watching {
    terminal: Terminal,
    feed: Feed,
    signals: SignalFd,
    keys: Keys,
    screen: Screen,
    palette: Palette,
    /// What is on the terminal; nothing that is known, at first and after others drew on it.
    shown: Option<Buffer>,
}

impl Watching {
    fn new(terminal: Terminal, feed: Feed, signals: SignalFd) -> io::Result<Self> {
        let size = terminal.size()?;
        // https://no-color.org: set, and not empty.
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Ok(Self {
            screen: Screen::new(feed.name().to_owned(), size),
            terminal,
            feed,
            signals,
            keys: Keys::default(),
            palette: if is_plain {
                Palette::Plain
            } else {
                Palette::Colours
            },
            shown: None,
        })
    }

    fn go_on(mut self) -> Result<Left, ScreenError> {
        loop {
            self.show()?;
            let [typed, told, signalled] = self.wait()?;
            if signalled && let Some(left) = self.hear_signals()? {
                return Ok(left);
            }
            if told {
                self.hear_gate()?;
            }
            if typed && let Some(left) = self.hear_keys()? {
                return Ok(left);
            }
        }
    }

    /// Draws what has changed, unless the terminal has not taken the last of it yet.
    fn show(&mut self) -> io::Result<()> {
        if !self.terminal.is_written() {
            return self.terminal.write(&[]);
        }
        let now = clock::now();
        self.screen.show(now);
        let (columns, rows) = self.screen.size;
        let mut next = Buffer::empty(Rect::new(0, 0, columns, rows));
        draw(&self.screen, now, self.palette, &mut next);
        let text = paint(self.shown.as_ref(), &next);
        self.shown = Some(next);
        self.terminal.write(&text)
    }

    /// Which of terminal, gate and signals have something to say.
    fn wait(&self) -> io::Result<[bool; 3]> {
        let mut wanted = PollFlags::IN;
        if !self.terminal.is_written() {
            wanted |= PollFlags::OUT;
        }
        let signals = self.signals.as_fd();
        let mut fds = [
            PollFd::new(&self.terminal, wanted),
            PollFd::new(&self.feed, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
        ];
        match poll(&mut fds, Some(&TICK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let has_more = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        Ok(fds.map(|fd| fd.revents().intersects(has_more)))
    }

    fn hear_signals(&mut self) -> Result<Option<Left>, ScreenError> {
        while let Some(signal) = self.signals.read_signal().map_err(io::Error::from)? {
            let number = i32::try_from(signal.ssi_signo).unwrap_or_default();
            match Signal::try_from(number) {
                Ok(Signal::SIGTSTP) => self.stop(false)?,
                // Whatever stopped it, a shell may have had the terminal meanwhile.
                Ok(Signal::SIGCONT) => {
                    self.terminal.seize()?;
                    self.resize()?;
                }
                Ok(Signal::SIGWINCH) => self.resize()?,
                // A real-time one has no name.
                Ok(_) | Err(_) => return Ok(Some(Left::BySignal(number))),
            }
        }
        Ok(None)
    }

    fn resize(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.screen.resize(size);
        self.shown = None;
        Ok(())
    }

    /// Leaves the terminal to others for as long as this process is stopped.
    fn stop(&mut self, with_job: bool) -> Result<(), ScreenError> {
        self.terminal.give_back()?;
        signals::stop(with_job)?;
        self.terminal.seize()?;
        self.terminal.forget_keys()?;
        Ok(self.resize()?)
    }

    fn hear_gate(&mut self) -> Result<(), ScreenError> {
        let ended = |name: &str| ScreenError::Ended(name.to_owned());
        let name = &self.screen.session;
        let messages = self.feed.receive().map_err(|error| match error {
            ClientError::Closed => ended(name),
            error => error.into(),
        })?;
        for message in messages {
            match message {
                FromGate::ApprovalRequired(required) => self.screen.ask(*required),
                FromGate::ApprovalSettled(settled) => self.screen.settle(&settled, clock::now()),
                FromGate::Error { error } => self.screen.refuse(&error),
                // Of what was not asked for.
                _ => {}
            }
        }
        Ok(())
    }

    fn hear_keys(&mut self) -> Result<Option<Left>, ScreenError> {
        let bytes = self.terminal.read()?;
        for key in self.keys.read(&bytes) {
            if let Some(left) = self.press(key)? {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    fn press(&mut self, key: Key) -> Result<Option<Left>, ScreenError> {
        match self.screen.press(key, clock::now(), Code::fresh()) {
            None => {}
            Some(Effect::Quit) => return Ok(Some(Left::ByKey)),
            Some(Effect::Redraw) => self.shown = None,
            Some(Effect::Suspend) => self.stop(true)?,
            Some(Effect::Say(response)) => self.feed.say(*response)?,
        }
        Ok(None)
    }
}
