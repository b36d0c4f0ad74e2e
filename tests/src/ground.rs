//! A directory with a policy, in which sessions run, and what they leave there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::{Ran, binary, finish, takes_answers, until};

/// Directories, policy and log of one session.
#[derive(Debug)]
pub struct Ground {
    directory: tempfile::TempDir,
    options: Vec<String>,
    /// Where the user's settings are and what execward remembers, if not in its own directory.
    of_user: Option<PathBuf>,
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
            of_user: None,
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

    /// The sessions from here on without that option.
    #[must_use]
    pub fn without(mut self, option: &str) -> Self {
        self.options.retain(|it| it != option);
        self
    }

    /// The same option, of which the last counts.
    #[must_use]
    pub fn only_option(mut self, name: &str, value: &str) -> Self {
        let start = format!("{name}=");
        self.options.retain(|option| !option.starts_with(&start));
        self.option(&format!("{name}={value}"))
    }

    /// Its sessions are of the same user as `other`'s.
    #[must_use]
    pub fn of_user(mut self, other: &Self) -> Self {
        self.of_user = Some(other.path(""));
        self
    }

    fn users(&self, name: &str) -> PathBuf {
        let own = || self.path("");
        self.of_user.clone().unwrap_or_else(own).join(name)
    }

    /// The directory below which the user's sessions have their sockets.
    #[must_use]
    pub fn runtime(&self) -> PathBuf {
        self.users("")
    }

    /// The directory of the user's settings.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.users("config")
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
        let mut command = self.without_command();
        command.arg("--").args(cmd);
        command
    }

    /// `execward run … --socket SOCKET`, ready to start.
    #[must_use]
    pub fn supervisor(&self, socket: &Path) -> Command {
        let mut command = self.without_command();
        command.arg("--socket").arg(socket);
        command
    }

    fn without_command(&self) -> Command {
        let mut command = Command::new(binary("execward"));
        command
            .arg("run")
            .arg("-q")
            .args(["--policy", &self.path("policy.toml").display().to_string()])
            .args(self.audit())
            .args(self.state())
            .args(self.prompt())
            .args(&self.options)
            .current_dir(self.path(""))
            .env("HOME", self.path(""))
            .env("XDG_STATE_HOME", self.users("state"))
            .env("XDG_CONFIG_HOME", self.config())
            .env("XDG_RUNTIME_DIR", self.runtime())
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
        let directory = self.users("state/execward").display().to_string();
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
    /// If it takes longer than [`DEADLINE`](crate::DEADLINE).
    #[must_use]
    pub fn run(&self, cmd: &[&str]) -> Ran {
        self.end(self.command(cmd))
    }

    /// The same of a session that was put together by [`Ground::command`].
    #[must_use]
    pub fn end(&self, command: Command) -> Ran {
        // Each session's records alone.
        for file in self.log_files() {
            fs::remove_file(file).ok();
        }
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

    /// Runs `execward words` in its directory, whose user has a home there, to its end.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn execward(&self, words: &[&str]) -> Output {
        Command::new(binary("execward"))
            .args(words)
            .current_dir(self.path(""))
            .env("HOME", self.path(""))
            .output()
            .expect("execward")
    }

    /// The same: its status, and all that it says.
    ///
    /// # Panics
    /// If that is no UTF-8.
    #[must_use]
    pub fn says(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.execward(words);
        (output.status.code(), said(&output))
    }

    /// The log as it is now.
    ///
    /// # Panics
    /// If a line is no record.
    #[must_use]
    pub fn records(&self) -> Vec<Value> {
        let text = self.log_files().into_iter().map(fs::read_to_string);
        let text = text.map(Result::unwrap_or_default).collect::<String>();
        // A line without its end is being written.
        text.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }

    /// The log's files, the oldest first.
    ///
    /// # Panics
    /// If the directory cannot be read.
    #[must_use]
    pub fn log_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("")).expect("a directory");
        let mut files: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.retain(|path| {
            path.display().to_string().contains("audit.jsonl.0") && !names_itself(path)
        });
        files.sort();
        files.push(self.path("audit.jsonl"));
        files
    }

    /// Waits until the log's last record ends the session.
    ///
    /// # Panics
    /// If it does not within [`DEADLINE`](crate::DEADLINE).
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

    /// The same, until no gate has the log open: who changes it then changes it alone.
    ///
    /// # Panics
    /// If that takes longer than [`DEADLINE`](crate::DEADLINE).
    #[must_use]
    pub fn records_at_rest(&self) -> Vec<Value> {
        let records = self.records_at_end();
        let log = fs::File::open(self.path("audit.jsonl")).expect("a log");
        until("the end of the gate", || log.try_lock().ok());
        records
    }
}

/// All that a program said.
///
/// # Panics
/// If that is no UTF-8.
#[must_use]
pub fn said(output: &Output) -> String {
    let both = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8(both).expect("text")
}

/// Whether a file was to follow another, and its gate died before.
fn names_itself(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let name = file.file_name().map(|name| name.display().to_string());
    let first: Option<Value> = text
        .lines()
        .next()
        .and_then(|line| serde_json::from_str(line).ok());
    let previous = first
        .as_ref()
        .and_then(|first| first.pointer("/segment/previous"));
    previous.is_some() && previous.and_then(Value::as_str) == name.as_deref()
}
