//! A terminal, with a person's shell in it or a session alone.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use rustix::termios::{tcgetwinsize, tcsetwinsize};

use crate::{DEADLINE, Ground, end_of, under};

/// The leader of a terminal's session, and the terminal's other end.
#[derive(Debug)]
pub struct Terminal {
    leader: Child,
    master: File,
    path: PathBuf,
    /// What is shown and was not looked for yet.
    text: String,
}

impl Terminal {
    /// Starts bash in `ground`'s directory, with the environment of its sessions.
    ///
    /// # Panics
    /// If there is no terminal to be had.
    #[must_use]
    pub fn open(ground: &Ground) -> Self {
        let mut bash = Command::new("bash");
        bash.args(["--norc", "--noprofile", "-i"])
            .current_dir(ground.path(""))
            .env("PS1", "ready> ")
            .env("TERM", "dumb")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin");
        for (name, value) in ground.command(&["true"]).get_envs() {
            bash.env(name, value.unwrap_or_default());
        }
        let mut terminal = Self::of(&bash);
        terminal.wait_for("ready> ");
        terminal
    }

    /// Starts `command`, which leads the terminal's session.
    ///
    /// # Panics
    /// If there is no terminal to be had.
    #[must_use]
    pub fn of(command: &Command) -> Self {
        // openpty(3) lets both ends pass into every process that is started meanwhile.
        let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        let master = posix_openpt(flags).expect("a terminal");
        grantpt(&master).expect("a terminal");
        unlockpt(&master).expect("a terminal");
        let path = PathBuf::from(ptsname_r(&master).expect("a terminal"));
        // Opened here, whatever the tests start at the same time would have it open until its exec.
        let open = ["sh", "-c", "exec <>\"$0\" >&0 2>&0 setsid --ctty \"$@\""];
        let name = path.to_str().expect("a name");
        let mut leader = under(&[open.as_slice(), &[name]].concat(), command);
        let leader = leader.spawn().expect("sh");
        let terminal = Self {
            leader,
            master: File::from(OwnedFd::from(master)),
            path,
            text: String::new(),
        };
        terminal.resize(None, 400);
        terminal
    }

    /// Types `keys`.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("a terminal");
    }

    /// Makes the window `rows` high, if that is said, and `columns` wide: one change, of which one signal tells.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn resize(&self, rows: Option<u16>, columns: u16) {
        let mut size = tcgetwinsize(&self.master).expect("a size");
        size.ws_row = rows.unwrap_or(size.ws_row);
        size.ws_col = columns;
        tcsetwinsize(&self.master, size).expect("a terminal");
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
            let piece = self.written(start);
            assert!(
                !piece.is_empty(),
                "waited in vain for `{text}`; shown: {}",
                self.text
            );
            self.text.extend(piece.into_iter().map(char::from));
        }
    }

    /// What is written on it next; nothing at its end, and if that is not within [`DEADLINE`] from `start`.
    pub(crate) fn written(&mut self, start: Instant) -> Vec<u8> {
        let left = DEADLINE.saturating_sub(start.elapsed());
        let mut fds = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        let left = PollTimeout::try_from(left).expect("a time-out");
        if poll(&mut fds, left) != Ok(1) {
            return Vec::new();
        }
        let mut piece = vec![0; 4096];
        // The end is EIO here.
        let len = self.master.read(&mut piece).unwrap_or(0);
        piece.truncate(len);
        piece
    }

    /// What it is called.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the shell.
    ///
    /// # Panics
    /// If it does not end.
    pub fn close(mut self) {
        self.press("exit 0\n");
        let _status = self.end();
    }

    /// Waits for the end of the leader of its session; how it ended.
    ///
    /// # Panics
    /// If it does not end.
    #[must_use]
    pub fn end(mut self) -> ExitStatus {
        end_of(&mut self.leader)
    }

    /// Takes the terminal away; how the leader of its session ends then.
    ///
    /// # Panics
    /// If it does not end.
    pub fn hang_up(self) -> ExitStatus {
        let Self {
            mut leader, master, ..
        } = self;
        drop(master);
        end_of(&mut leader)
    }
}
