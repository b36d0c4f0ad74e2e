//! Starts that fail: nothing runs, nothing is left, and one line says why.
//!
//! `tests/golden/errors` holds that line for every failure between `execward run` and CMD's first
//! exec, and each is provoked here. With `EXECWARD_BLESS=1` the lines are written anew, to be read
//! as their user would before they are committed; as root, since some are root's alone.

mod audit_log;
mod control;
mod golden;
mod kernel;
mod places;
mod usage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use execward_tests::{Ground, binary, finish, is_root, skip, takes_answers, under, until};

/// Who starts a session where the tests run as root: a user who has nothing else, so that nobody
/// else's limits or signals are his.
fn private_uid() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    1_000_000 + std::process::id() * 64 + next
}

/// `execward run … -- touch $DIR/marker`, by a user without rights.
struct Start {
    ground: Ground,
    session: String,
    /// Options of `run` with their values.
    options: Vec<(String, String)>,
    /// Words that start it, with the rights of whoever runs the tests.
    outside: Vec<String>,
    uid: u32,
    /// Words that start it, with its own rights.
    inside: Vec<String>,
    environment: Vec<(String, Option<String>)>,
    /// Instead of `-- touch $DIR/marker`.
    cmd: Option<Vec<String>>,
    /// A directory beside `$DIR`, or of another start: `$OTHER` in the line.
    other: Option<String>,
    /// Whether the line is one of several.
    has_details: bool,
}

impl Start {
    /// A start that succeeds, until something is done about it; `None`, and said, where this
    /// cannot be tried.
    fn new() -> Option<Self> {
        Self::by(if is_root() {
            private_uid()
        } else {
            nix::unistd::geteuid().as_raw()
        })
    }

    /// By root.
    fn by_root() -> Option<Self> {
        if !is_root() {
            skip("only root can do this to a session");
            return None;
        }
        Self::by(0)
    }

    /// By a user without rights, to whom only root can do what is done.
    fn by_another() -> Option<Self> {
        if !is_root() {
            skip("only root can do this to a user's session");
            return None;
        }
        Self::new()
    }

    fn by(uid: u32) -> Option<Self> {
        let ground = Ground::full("");
        let directory = ground.path("").display().to_string();
        let name = directory.rsplit(['/', '.']).next().unwrap_or_default();
        let mut start = Self {
            session: format!("start-{name}"),
            ground,
            options: Vec::new(),
            outside: Vec::new(),
            uid,
            inside: Vec::new(),
            environment: Vec::new(),
            cmd: None,
            other: None,
            has_details: false,
        };
        start.option("--session", &start.session.clone());
        for (option, file) in [("--policy", "policy.toml"), ("--audit", "audit.jsonl")] {
            start.option(option, &start.text(file));
        }
        if uid == 0 {
            let [option, directory] = start.ground.state();
            start.option(&option, &directory);
        }
        if !takes_answers() {
            start.option("--prompt", "none");
        }
        let (reaches, _, _) = finish(start.words(&["test", "-x"], &binary("execward")));
        if !reaches.success() {
            skip("a user without rights cannot reach execward's executable");
            return None;
        }
        start.own(&start.path(""));
        start.own(&start.path("policy.toml"));
        Some(start)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.ground.path(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Gives `path` to the user of this start.
    fn own(&self, path: &Path) {
        if is_root() {
            let (uid, gid) = (self.uid.into(), self.uid.into());
            nix::unistd::chown(path, Some(uid), Some(gid)).expect("chown");
        }
    }

    fn make_directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).expect("a directory");
        self.own(&path);
        path
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).expect("a file");
        self.own(&self.path(name));
        self.text(name)
    }

    fn option(&mut self, option: &str, value: &str) {
        self.without(option);
        self.options.push((option.to_owned(), value.to_owned()));
    }

    fn without(&mut self, option: &str) {
        self.options.retain(|(given, _)| given != option);
    }

    fn cmd(&mut self, words: &[&str]) {
        self.cmd = Some(words.iter().map(|word| (*word).to_owned()).collect());
    }

    /// Sets a variable, or takes it away.
    fn set(&mut self, name: &str, value: Option<&str>) {
        self.environment
            .push((name.to_owned(), value.map(str::to_owned)));
    }

    /// Started by `words`, as the user of this start.
    fn inside(&mut self, words: &[&str]) {
        self.inside
            .extend(words.iter().map(|word| (*word).to_owned()));
    }

    /// Under a filter of these rules (see fixtures/refuses.rs).
    fn refused(&mut self, rules: &[&str]) {
        let fixture = binary("fixture-refuses").display().to_string();
        self.inside(&[&[&*fixture], rules, &["--"]].concat());
    }

    /// In a mount namespace of its own, once `script` has run there.
    fn mounted(&mut self, script: &str) {
        let script = format!("set -e; {script}; exec \"$@\"");
        let words = ["unshare", "--mount", "sh", "-c", &script, "sh"];
        self.outside = words.map(str::to_owned).to_vec();
    }

    /// `words… program`, as the user of this start.
    fn words(&self, words: &[&str], program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(""));
        self.by_its_user(words, &command)
    }

    fn by_its_user(&self, words: &[&str], command: &Command) -> Command {
        let uid = self.uid.to_string();
        let mut all: Vec<&str> = self.outside.iter().map(String::as_str).collect();
        if is_root() && self.uid != 0 {
            all.extend([
                "setpriv",
                "--reuid",
                &uid,
                "--regid",
                &uid,
                "--clear-groups",
            ]);
        }
        all.extend(words);
        if all.is_empty() {
            all.push("env");
        }
        under(&all, command)
    }

    fn command(&self) -> Command {
        let marker = self.text("marker");
        let mut gated = Command::new(binary("execward"));
        let plain = self.ground.command(&[]);
        gated.arg("run").arg("-q");
        for (option, value) in &self.options {
            gated.args([option, value]);
        }
        match &self.cmd {
            Some(words) => gated.args(words),
            None => gated.args(["--", "touch", &marker]),
        };
        gated.current_dir(self.path(""));
        for (name, value) in plain.get_envs() {
            gated.env(name, value.unwrap_or_default());
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => gated.env(name, value),
                None => gated.env_remove(name),
            };
        }
        let inside: Vec<&str> = self.inside.iter().map(String::as_str).collect();
        self.by_its_user(&inside, &gated)
    }

    /// The twin: as things are, the session starts.
    fn runs(&self) {
        let (status, _, said) = finish(self.command());
        assert!(status.success(), "{status}: {said}");
        fs::remove_file(self.path("marker")).expect("CMD's mark");
        self.awaits_its_end();
    }

    /// The session does not start, and says `name` of the golden file.
    fn fails(&self, name: &str) {
        self.ends(name, 125);
    }

    /// `run` ends with `code`, CMD has not run, nothing is left.
    fn ends(&self, name: &str, code: i32) {
        let (status, _, said) = finish(self.command());
        assert_eq!(status.code(), Some(code), "{name}: {status}: {said}");
        assert!(!self.ground.has("marker"), "{name}: CMD ran");
        self.awaits_its_end();
        let (line, rest) = said.split_once('\n').expect("a line");
        assert!(rest.is_empty() || self.has_details, "{name}: {said}");
        golden::compare(name, &self.in_general(line));
    }

    /// Waits until no process of the session is left, by its directory in their arguments.
    fn awaits_its_end(&self) {
        let directory = self.text("");
        let is_its = |entry: fs::DirEntry| {
            let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let arguments = arguments.escape_ascii().to_string();
            arguments.contains(&directory)
        };
        until("the end of the session", || {
            let mut processes = fs::read_dir("/proc").expect("proc").flatten();
            (!processes.any(is_its)).then_some(())
        });
    }

    /// A line without what differs from run to run.
    fn in_general(&self, line: &str) -> String {
        let uid = format!("uid {}", self.uid);
        let other = self.other.as_deref().unwrap_or("$OTHER");
        let line = match line.rsplit_once(" [") {
            Some((said, id)) if is_an_id(id.strip_suffix(']')) => format!("{said} [$ID]"),
            _ => line.to_owned(),
        };
        line.replace(other, "$OTHER")
            .replace(&self.text(""), "$DIR")
            .replace(&self.session, "$SESSION")
            .replace(&uid, "uid $UID")
    }
}

/// Whether it is the ID of a session's first exec: a random number of six digits.
fn is_an_id(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A start that succeeds, and fails as `name` says once `fault` is there.
fn fails_by(name: &str, fault: impl FnOnce(&mut Start)) {
    if let Some(mut start) = Start::new() {
        start.runs();
        fault(&mut start);
        start.fails(name);
    }
}
