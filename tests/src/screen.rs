//! A terminal on which a program draws, as a person sees it.

use std::num::NonZeroU16;
use std::time::Instant;

use crate::{Ground, Terminal};

/// How large it is: rows, then columns.
const SIZE: [NonZeroU16; 2] = [NonZeroU16::new(24).unwrap(), NonZeroU16::new(80).unwrap()];

/// A person's shell, and what is to be seen on its terminal.
pub struct Screen {
    terminal: Terminal,
    drawn: vt100::Parser,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.drawn.screen().contents())
    }
}

impl Screen {
    /// Starts bash as [`Terminal::open`] does.
    ///
    /// # Panics
    /// If there is no terminal to be had.
    #[must_use]
    pub fn open(ground: &Ground) -> Self {
        let terminal = Terminal::open(ground);
        let [rows, columns] = SIZE;
        terminal.resize(Some(rows.get()), columns.get());
        Self {
            terminal,
            drawn: vt100::Parser::new(rows, columns, 0),
        }
    }

    /// The terminal itself.
    #[must_use]
    pub fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// Gives it another size.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn resize(&mut self, rows: NonZeroU16, columns: NonZeroU16) {
        self.terminal.resize(Some(rows.get()), columns.get());
        self.drawn.screen_mut().set_size(rows, columns);
    }

    /// Types `keys`.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.terminal.press(keys);
    }

    /// Waits until `find` finds what it looks for in what is to be seen.
    ///
    /// # Panics
    /// If it does not within [`DEADLINE`](crate::DEADLINE).
    pub fn until<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(found) = find(&self.drawn.screen().contents()) {
                return found;
            }
            let piece = self.terminal.written(start);
            assert!(
                !piece.is_empty(),
                "waited in vain for {what}; seen:\n{self:?}"
            );
            self.drawn.process(&piece);
        }
    }

    /// Waits until `text` is to be seen.
    ///
    /// # Panics
    /// If it is not within [`DEADLINE`](crate::DEADLINE).
    pub fn wait_for(&mut self, text: &str) {
        self.until(text, |seen| seen.contains(text).then_some(()));
    }

    /// Whether it is the screen of a program, beside the one of the shell.
    #[must_use]
    pub fn is_of_a_program(&self) -> bool {
        self.drawn.screen().alternate_screen()
    }

    /// Ends the shell.
    ///
    /// # Panics
    /// If it does not end.
    pub fn close(self) {
        self.terminal.close();
    }
}
