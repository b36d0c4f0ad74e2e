//! A session in which someone is asked, and the commands by which a test answers.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::Value;

use crate::{Ground, Lines, binary, end_of, finish, is_root, under, until};

/// A running session that asks.
#[derive(Debug)]
pub struct Asking {
    ground: Ground,
    name: String,
    front: Child,
    /// CMD's standard output.
    pub stdout: Lines,
    stdin: Option<ChildStdin>,
}

/// A question that is open.
#[derive(Clone, Debug)]
pub struct Question {
    /// As `pending --json` prints it.
    pub message: Value,
    /// The exec's ID.
    pub id: String,
    /// The process that waits.
    pub pid: i32,
}

impl Asking {
    /// Starts `sh -c script` with `--prompt socket`, asking before every `touch` and by `rules`.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn sh(rules: &str, script: &str) -> Self {
        let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
        Self::start(Ground::full(&format!("{ask}{rules}")), "socket", script)
    }

    /// The same on `ground` with `--prompt prompt`.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(ground: Ground, prompt: &str, script: &str) -> Self {
        Self::start_under(&[], ground, prompt, script)
    }

    /// The same, the session itself started by `words`.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start_under(words: &[&str], ground: Ground, prompt: &str, script: &str) -> Self {
        let directory = ground.path("").display().to_string();
        let name = directory.rsplit(['/', '.']).next().unwrap_or_default();
        let name = format!("t-{name}");
        let ground = ground
            .only_option("--session", &name)
            .only_option("--prompt", prompt);
        let mut front = ground.command(&["sh", "-c", script]);
        if !words.is_empty() {
            front = under(words, &front);
        }
        let mut front = front
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a session");
        let stdout = Lines::of(front.stdout.take().expect("stdout"));
        let stdin = front.stdin.take();
        Self {
            ground,
            name,
            front,
            stdout,
            stdin,
        }
    }

    /// Its directory, policy and log.
    #[must_use]
    pub fn ground(&self) -> &Ground {
        &self.ground
    }

    /// The front.
    #[must_use]
    pub fn front(&self) -> &Child {
        &self.front
    }

    /// CMD's standard input.
    ///
    /// # Panics
    /// If it was taken before.
    pub fn stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("stdin")
    }

    /// The session's control socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        let base = if is_root() {
            PathBuf::from("/run/execward")
        } else {
            self.ground.runtime().join("execward")
        };
        base.join(&self.name).join("control")
    }

    /// A connection to it, once it is there.
    ///
    /// # Panics
    /// If it does not come.
    #[must_use]
    pub fn connect(&self) -> UnixStream {
        until("the socket", || UnixStream::connect(self.socket()).ok())
    }

    /// Runs `execward words… --session …`; its exit code and both outputs.
    ///
    /// # Panics
    /// If it does not end.
    #[must_use]
    pub fn client(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let (status, stdout, stderr) = finish(self.command(words));
        (status.code(), stdout, stderr)
    }

    /// `execward words… --session …`.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(binary("execward"));
        command.args(words);
        if let ["policy", ..] | ["grants", "revoke", ..] = words {
            command.args(self.ground.state());
        }
        command
            .args(["--session", &self.name])
            .env("HOME", self.ground.path(""))
            .env("XDG_CONFIG_HOME", self.ground.config())
            .env("XDG_RUNTIME_DIR", self.ground.runtime());
        command
    }

    /// Waits until `count` questions are open; oldest first.
    ///
    /// # Panics
    /// If they do not come.
    #[must_use]
    pub fn questions(&self, count: usize) -> Vec<Question> {
        until("questions", || {
            let held = crate::of_type(&self.ground.records(), "exec.held").count();
            if held < count {
                return None;
            }
            let (_, stdout, _) = self.client(&["pending", "--json"]);
            let open: Vec<Question> = stdout.lines().map(Question::of).collect();
            (open.len() == count).then_some(open)
        })
    }

    /// Waits for a question, the only one.
    ///
    /// # Panics
    /// If it does not come.
    #[must_use]
    pub fn question(&self) -> Question {
        self.questions(1).remove(0)
    }

    /// Answers, which must be taken.
    ///
    /// # Panics
    /// If it is not.
    pub fn answer(&self, words: &[&str]) {
        let (code, stdout, stderr) = self.client(words);
        assert_eq!(code, Some(0), "{stdout}{stderr}");
    }

    /// Waits until the front has ended, or what it was started under.
    ///
    /// # Panics
    /// If it does not.
    pub fn front_ends(&mut self) {
        let _status = end_of(&mut self.front);
    }

    /// The records, once the session is over.
    ///
    /// # Panics
    /// If it does not end.
    #[must_use]
    pub fn end(&mut self) -> Vec<Value> {
        drop(self.stdin.take());
        let _status = end_of(&mut self.front);
        self.ground.records_at_end()
    }

    /// Its directory, once the session is over.
    #[must_use]
    pub fn into_ground(self) -> Ground {
        self.ground
    }

    /// Whether `touch name` has run.
    ///
    /// # Panics
    /// If the directory cannot be looked at.
    #[must_use]
    pub fn has_run(&self, name: &str) -> bool {
        self.ground.has(name)
    }
}

impl Question {
    fn of(line: &str) -> Self {
        let message: Value = serde_json::from_str(line).expect("a question");
        let pid = message["request"]["proc"]["pid"].as_i64().expect("a pid");
        Self {
            id: message["requestId"].as_str().expect("an ID").to_owned(),
            pid: pid.try_into().expect("a pid"),
            message,
        }
    }
}
