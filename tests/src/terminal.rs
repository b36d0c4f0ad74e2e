//! A terminal with a person's shell in it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use nix::pty::{Winsize, openpty};

use crate::{DEADLINE, Ground, end_of};

/// A bash that owns a terminal, and the other end of that.
#[derive(Debug)]
pub struct Terminal {
    bash: Child,
    master: File,
    shown: Receiver<Vec<u8>>,
    /// What is shown and was not looked for yet.
    text: String,
}

const SIZE: Winsize = Winsize {
    ws_row: 40,
    ws_col: 400,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

impl Terminal {
    /// Starts it in `ground`'s directory, with the environment of its sessions.
    ///
    /// # Panics
    /// If there is no terminal to be had.
    #[must_use]
    pub fn open(ground: &Ground) -> Self {
        let pty = openpty(&SIZE, None).expect("a terminal");
        let slave = || Stdio::from(pty.slave.try_clone().expect("a descriptor"));
        let mut bash = Command::new("setsid");
        bash.args(["--ctty", "bash", "--norc", "--noprofile", "-i"])
            .current_dir(ground.path(""))
            .env("PS1", "ready> ")
            .env("TERM", "dumb")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(slave())
            .stdout(slave())
            .stderr(slave());
        for (name, value) in ground.command(&["true"]).get_envs() {
            bash.env(name, value.unwrap_or_default());
        }
        let bash = bash.spawn().expect("bash");
        let master = File::from(pty.master);
        let mut reader = master.try_clone().expect("a descriptor");
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // The end is EIO here.
            while let Ok(len @ 1..) = reader.read(&mut piece) {
                let piece = piece.get(..len).unwrap_or_default().to_vec();
                if sender.send(piece).is_err() {
                    return;
                }
            }
        });
        let mut terminal = Self {
            bash,
            master,
            shown,
            text: String::new(),
        };
        terminal.wait_for("ready> ");
        terminal
    }

    /// Types `keys`.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Makes the window smaller.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn resize(&mut self, columns: u16) {
        let mut command = Command::new("stty");
        command
            .args(["cols", &columns.to_string()])
            .stdin(self.master.try_clone().expect("a descriptor"));
        assert!(command.status().expect("stty").success());
    }

    /// Waits until `text` is shown, and forgets all up to its end.
    ///
    /// # Panics
    /// If it is not shown within [`DEADLINE`].
    pub fn wait_for(&mut self, text: &str) -> String {
        let start = Instant::now();
        loop {
            if let Some(at) = self.text.find(text) {
                let rest = self.text.split_off(at + text.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let left = DEADLINE.saturating_sub(start.elapsed());
            match self.shown.recv_timeout(left) {
                Ok(piece) => self.text.extend(piece.into_iter().map(char::from)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("waited in vain for `{text}`; shown: {}", self.text)
                }
            }
        }
    }

    /// Ends the shell.
    ///
    /// # Panics
    /// If it does not end.
    pub fn close(mut self) {
        self.press("exit 0\n");
        end_of(&mut self.bash);
    }
}
