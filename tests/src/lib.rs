//! The harness: one session of the real binary, in directories of its own, under a deadline.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

mod asking;
mod chain;
pub mod drill;
pub mod fault;
pub mod fuse;
mod process;
pub mod random;
mod terminal;
pub mod volatile;

pub use asking::{Asking, Question};
pub use chain::chained;
pub use process::{DEADLINE, Lines, end_of, finish, rest_of_stderr, until};
pub use terminal::Terminal;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use nix::sys::socket::{getsockopt, sockopt::PeerPidfd};
use serde_json::Value;

/// Directories, policy and log of one session.
#[derive(Debug)]
pub struct Ground {
    directory: tempfile::TempDir,
    options: Vec<String>,
}

/// What a session left behind.
#[derive(Debug)]
pub struct Ran {
    /// How the front ended.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The audit log, parsed.
    pub records: Vec<Value>,
}

impl Ground {
    /// A fresh directory with `policy` in it.
    ///
    /// # Panics
    /// If the file system does not cooperate.
    #[must_use]
    pub fn new(policy: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("chmod");
        fs::write(directory.path().join("policy.toml"), policy).expect("a policy");
        Self {
            directory,
            options: Vec::new(),
        }
    }

    /// One that runs everything but what `rules` deny or ask; `DIR` in them is [`Ground::path`].
    #[must_use]
    pub fn full(rules: &str) -> Self {
        let ground = Self::new("");
        let rules = rules.replace("DIR", &ground.path("").display().to_string());
        ground.write_policy(&format!(
            "version = 1\n[mode]\nsecurity = \"full\"\n{rules}"
        ));
        ground
    }

    /// One that runs only what `rules` allow.
    #[must_use]
    pub fn allowlist(rules: &str) -> Self {
        let ground = Self::new("");
        let rules = rules.replace("DIR", &ground.path("").display().to_string());
        ground.write_policy(&format!(
            "version = 1\n[mode]\nsecurity = \"allowlist\"\nask = \"off\"\n{rules}"
        ));
        ground
    }

    fn write_policy(&self, text: &str) {
        fs::write(self.path("policy.toml"), text).expect("a policy");
    }

    /// Adds an option of `run`.
    #[must_use]
    pub fn option(mut self, option: &str) -> Self {
        self.options.push(option.to_owned());
        self
    }

    /// `name` in the session's directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        let path = self.directory.path();
        if name.is_empty() {
            path.to_owned()
        } else {
            path.join(name)
        }
    }

    /// Whether `name` is in the session's directory.
    ///
    /// # Panics
    /// If that cannot be told.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.path(name).try_exists().expect("the directory")
    }

    /// An executable copy of `from` (a program of /bin, or a fixture) as `name`.
    ///
    /// # Panics
    /// If it cannot be copied.
    #[must_use]
    pub fn copy(&self, from: impl AsRef<Path>, name: &str) -> String {
        let to = self.path(name);
        fs::copy(from, &to).expect("a copy");
        to.display().to_string()
    }

    /// An executable file with `text`.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("chmod");
        path.display().to_string()
    }

    /// `execward run … -- cmd`, ready to start.
    #[must_use]
    pub fn command(&self, cmd: &[&str]) -> Command {
        let mut command = Command::new(binary("execward"));
        command
            .arg("run")
            .arg("-q")
            .args(["--policy", &self.path("policy.toml").display().to_string()])
            .args(self.audit())
            .args(self.state())
            .args(self.prompt())
            .args(&self.options)
            .arg("--")
            .args(cmd)
            .current_dir(self.path(""))
            .env("HOME", self.path(""))
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_RUNTIME_DIR", self.path(""))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(Stdio::null());
        command
    }

    /// The log of this ground, unless an option names another.
    fn audit(&self) -> Vec<String> {
        if self.options.iter().any(|option| option == "--audit") {
            return Vec::new();
        }
        let log = self.path("audit.jsonl").display().to_string();
        vec!["--audit".to_owned(), log]
    }

    /// The option by which execward remembers this ground's sessions and no other's: root has one place
    /// for all.
    #[must_use]
    pub fn state(&self) -> [String; 2] {
        let directory = self.path("state/execward").display().to_string();
        ["--state".to_owned(), directory]
    }

    /// Where nobody can be asked, a session that says nothing of it does not start.
    fn prompt(&self) -> Option<&str> {
        let is_said = self
            .options
            .iter()
            .any(|option| option.starts_with("--prompt"));
        (!is_said && !takes_answers()).then_some("--prompt=none")
    }

    /// Runs `cmd` under the gate to its end.
    ///
    /// # Panics
    /// If it takes longer than [`DEADLINE`].
    #[must_use]
    pub fn run(&self, cmd: &[&str]) -> Ran {
        self.end(self.command(cmd))
    }

    /// The same of a session that was put together by [`Ground::command`].
    #[must_use]
    pub fn end(&self, command: Command) -> Ran {
        // Each session's records alone.
        fs::remove_file(self.path("audit.jsonl")).ok();
        let (status, stdout, stderr) = finish(command);
        Ran {
            status,
            stdout,
            stderr,
            records: self.records(),
        }
    }

    /// Has `sh` read `script` from a file under the gate, so that each of its commands is met when it
    /// comes, and none beforehand.
    ///
    /// # Panics
    /// If the file cannot be written.
    #[must_use]
    pub fn sh(&self, script: &str) -> Ran {
        let path = self.path("script.sh");
        fs::write(&path, script).expect("a script");
        self.run(&["sh", &path.display().to_string()])
    }

    /// The log as it is now.
    ///
    /// # Panics
    /// If a line is no record.
    #[must_use]
    pub fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("audit.jsonl")).unwrap_or_default();
        // A line without its end is being written.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }

    /// Waits until the log's last record ends the session.
    ///
    /// # Panics
    /// If it does not within [`DEADLINE`].
    #[must_use]
    pub fn records_at_end(&self) -> Vec<Value> {
        until("session.end", || {
            let records = self.records();
            let is_over = records
                .last()
                .is_some_and(|last| last["type"] == "session.end");
            is_over.then_some(records)
        })
    }
}

impl Ran {
    /// The exit code; 128+N would show as a code too.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The `exec.decision` records whose argv starts with `words`.
    #[must_use]
    pub fn decisions(&self, words: &[&str]) -> Vec<&Value> {
        let starts = |record: &&Value| {
            let argv = record["proc"]["argv"].as_array();
            argv.is_some_and(|argv| {
                argv.len() >= words.len() && argv.iter().zip(words).all(|(a, b)| a == b)
            })
        };
        of_type(&self.records, "exec.decision")
            .filter(starts)
            .collect()
    }

    /// The outcome of the first exec whose argv starts with `words`.
    ///
    /// # Panics
    /// If there is no such exec or it has no outcome.
    #[must_use]
    pub fn outcome(&self, words: &[&str]) -> &Value {
        let decisions = self.decisions(words);
        let id = &decisions.first().expect("a decision")["exec_id"];
        of_type(&self.records, "exec.outcome")
            .find(|record| record["exec_id"] == *id)
            .map(|record| &record["outcome"])
            .expect("an outcome")
    }

    /// How many outcomes have this result.
    #[must_use]
    pub fn results(&self, result: &str) -> usize {
        of_type(&self.records, "exec.outcome")
            .filter(|record| record["outcome"]["result"] == result)
            .count()
    }
}

/// `gated` started by `words`, which end by executing what follows them.
///
/// # Panics
/// If there are none.
#[must_use]
pub fn under(words: &[&str], gated: &Command) -> Command {
    let (first, rest) = words.split_first().expect("a program");
    let mut command = Command::new(first);
    command
        .args(rest)
        .arg(gated.get_program())
        .args(gated.get_args())
        .stdin(Stdio::null());
    if let Some(directory) = gated.get_current_dir() {
        command.current_dir(directory);
    }
    for (name, value) in gated.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The records of one type.
pub fn of_type<'a>(records: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    records.iter().filter(move |record| record["type"] == kind)
}

/// A program of this workspace, beside the test's own executable, or in `EXECWARD_BIN_DIR`.
///
/// # Panics
/// If it was not built.
#[must_use]
pub fn binary(name: &str) -> PathBuf {
    let directory = std::env::var_os("EXECWARD_BIN_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            let own = std::env::current_exe().expect("the test's own path");
            own.ancestors()
                .nth(2)
                .expect("a target directory")
                .to_owned()
        });
    let path = directory.join(name);
    assert!(
        path.try_exists().unwrap_or(false),
        "{} is missing: run `cargo build --workspace` first",
        path.display()
    );
    path
}

/// Whether the tests run as root.
#[must_use]
pub fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

/// Whether this kernel names the sender of an answer for sure (`SO_PEERPIDFD`, Linux 6.5).
///
/// # Panics
/// If there are no sockets.
#[must_use]
pub fn takes_answers() -> bool {
    let (one, _other) = std::os::unix::net::UnixStream::pair().expect("two sockets");
    getsockopt(&one, PeerPidfd).is_ok()
}

/// Leaves a test out that asks somebody, or speaks to a session, where no session hears anybody.
#[macro_export]
macro_rules! needs_answers {
    () => {
        if !$crate::takes_answers() {
            return $crate::skip("this kernel cannot name a sender for sure (SO_PEERPIDFD)");
        }
    };
}

/// Leaves a test out where it cannot mount a file system that it serves itself.
#[macro_export]
macro_rules! needs_served_files {
    () => {
        if !$crate::is_root() {
            return $crate::skip("mounting a file system needs root");
        }
        if std::fs::metadata("/dev/fuse").is_err() {
            return $crate::skip("there is no /dev/fuse, so no file system of a test's own");
        }
    };
}

/// Says that a test is left out, for scripts/test to count.
#[expect(clippy::print_stderr, reason = "scripts/test counts these lines")]
pub fn skip(reason: &str) {
    eprintln!("SKIP: {reason}");
}
