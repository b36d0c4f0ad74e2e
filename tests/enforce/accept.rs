//! What a session changes in a policy file lets no other start until someone has accepted it.

mod verb;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use execward_tests::{Ground, Lines, binary, end_of, finish, until};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::lifetime::{gate_of, pid};

/// What the session, or someone else, adds.
const ADDED: &str = "# added\n";

fn ground() -> Ground {
    let ground = Ground::full("");
    runs(&ground);
    ground
}

/// `execward run … --session name … cmd`.
fn session(ground: &Ground, name: &str, cmd: &[&str]) -> Command {
    let plain = ground.command(cmd);
    let mut command = Command::new(plain.get_program());
    let mut arguments = plain.get_args();
    command.args(arguments.next());
    // Not where root's sessions are found, which may have the same name.
    let socket = format!("--control={}", socket(ground, name));
    command.args(["--session", name, &socket]).args(arguments);
    with_places(ground, &mut command);
    command
}

fn socket(ground: &Ground, name: &str) -> String {
    ground.path(&format!("{name}.sock")).display().to_string()
}

/// `execward words…` outside every session, with the places of `ground`.
fn outside(ground: &Ground, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binary("execward"));
    command.args(words).args(ground.state());
    with_places(ground, &mut command);
    let (status, stdout, stderr) = finish(command);
    (status.code(), stdout, stderr)
}

fn with_places(ground: &Ground, command: &mut Command) {
    let plain = ground.command(&[]);
    let set = plain
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command
        .envs(set)
        .current_dir(ground.path(""))
        .stdin(Stdio::null());
}

/// Has session `name` run `script` to its end.
fn in_session(ground: &Ground, name: &str, script: &str) {
    let (status, _, stderr) = finish(session(ground, name, &["sh", "-c", script]));
    assert!(status.success(), "{script}: {stderr}");
}

fn edit(ground: &Ground) {
    let path = ground.path("policy.toml");
    let text = fs::read_to_string(&path).expect("a policy");
    fs::write(&path, text + ADDED).expect("a policy");
}

fn runs(ground: &Ground) {
    let ran = ground.run(&["touch", "marker"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.stderr);
    fs::remove_file(ground.path("marker")).expect("CMD's mark");
}

/// No session starts, and what is said has `parts`.
fn is_refused(ground: &Ground, parts: &[&str]) {
    let ran = ground.run(&["touch", "marker"]);
    assert_eq!(ran.code(), Some(125), "{}", ran.stderr);
    assert!(!ground.has("marker"), "CMD ran");
    for part in parts {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

/// Accepts the ground's policy, which shows `parts`.
fn accept(ground: &Ground, parts: &[&str]) {
    let policy = ground.path("policy.toml").display().to_string();
    let (code, stdout, stderr) = outside(ground, &["policy", "accept", &policy]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    for part in parts {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

/// A session that does `script` once it is told to, and goes on until [`Waiting::end`].
struct Waiting {
    front: Child,
    fifo: PathBuf,
    stdout: Lines,
}

impl Waiting {
    fn start(ground: &Ground, name: &str, script: &str) -> Self {
        let fifo = ground.path(&format!("{name}.fifo"));
        mkfifo(&fifo, Mode::S_IRWXU).expect("a FIFO");
        let script = format!("{script}; echo done; read -r x <{}", fifo.display());
        let mut front = session(ground, name, &["sh", "-c", &script])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a session");
        let stdout = Lines::of(front.stdout.take().expect("stdout"));
        assert_eq!(stdout.next_line().as_deref(), Some("done"));
        Self {
            front,
            fifo,
            stdout,
        }
    }

    fn end(mut self) {
        fs::write(&self.fifo, "end\n").expect("a FIFO");
        assert!(end_of(&mut self.front).success());
        assert_eq!(self.stdout.next_line(), None);
    }
}

#[test]
fn a_policy_that_a_session_changed_lets_no_session_start_until_it_is_accepted() {
    let ground = ground();
    in_session(&ground, "build-7", "echo '# added' >>policy.toml");
    let policy = ground.path("policy.toml").display().to_string();
    let said = format!(
        "execward policy accept --state {} {policy}",
        ground.state()[1]
    );
    for _ in 0..2 {
        is_refused(&ground, &[&policy, "session build-7 (", "+# added", &said]);
    }
    accept(&ground, &["+# added", "accepted "]);
    runs(&ground);
    accept(&ground, &["nothing has changed"]);
    // The twin: the same, changed by someone else once the session has ended.
    in_session(&ground, "build-8", "true");
    edit(&ground);
    runs(&ground);
}

#[test]
fn what_is_changed_while_a_session_lingers_is_refused() {
    let ground = ground();
    let fifo = ground.path("fifo");
    mkfifo(&fifo, Mode::S_IRWXU).expect("a FIFO");
    in_session(&ground, "lingers", "(read -r x <fifo) >/dev/null 2>&1 &");
    edit(&ground);
    is_refused(&ground, &["session lingers ("]);
    fs::write(&fifo, "end\n").expect("a FIFO");
    until("the end of the session", || {
        let live = fs::read_dir(ground.path("state/execward/.sessions")).expect("a record");
        let mut names = live.map(|entry| entry.expect("an entry").file_name());
        let is_live = |name: std::ffi::OsString| name.to_string_lossy().contains(".live.");
        (!names.any(is_live)).then_some(())
    });
    is_refused(&ground, &["session lingers ("]);
    edit(&ground);
    runs(&ground);
}

#[test]
fn a_policy_is_known_by_its_content_and_by_how_it_came_to_its_place() {
    let ground = ground();
    let lax = "version = 1\n[mode]\nsecurity = \"full\"\n# lax\n";
    fs::write(ground.path("lax.toml"), lax).expect("a file");
    for harmless in [
        "cp policy.toml saved; echo '# added' >>policy.toml; cat saved >policy.toml",
        "cp policy.toml new; mv new policy.toml",
        "touch policy.toml; chmod 600 policy.toml",
        "ln -s policy.toml other; mkdir -p sub; cp lax.toml sub/policy.toml",
    ] {
        in_session(&ground, "harmless", harmless);
        runs(&ground);
    }
    let policy = fs::read(ground.path("policy.toml")).expect("a policy");
    for change in [
        "cp lax.toml new; mv new policy.toml",
        "ln lax.toml new; mv new policy.toml",
        "ln -s lax.toml new; mv -T new policy.toml",
    ] {
        in_session(&ground, "changes", change);
        is_refused(&ground, &["session changes (", "+# lax"]);
        fs::remove_file(ground.path("policy.toml")).expect("a policy");
        fs::write(ground.path("policy.toml"), &policy).expect("a policy");
        runs(&ground);
    }
}

#[test]
fn a_directory_that_is_put_above_a_policy_is_a_change_of_it() {
    let ground = ground();
    for (directory, comment) in [("there", "strict"), ("aside", "lax")] {
        fs::create_dir(ground.path(directory)).expect("a directory");
        let text = format!("version = 1\n[mode]\nsecurity = \"full\"\n# {comment}\n");
        fs::write(ground.path(directory).join("q.toml"), text).expect("a file");
    }
    let include = "version = 1\ninclude = [\"there/q.toml\"]\n";
    fs::write(ground.path("policy.toml"), include).expect("a policy");
    runs(&ground);
    in_session(&ground, "swaps", "mv there away; mv aside there");
    is_refused(&ground, &["there/q.toml", "session swaps (", "-# strict"]);
    in_session_of(&ground, "swaps-back", "mv there aside; mv away there");
    runs(&ground);
}

/// The same with another policy, whatever became of the ground's.
fn in_session_of(ground: &Ground, name: &str, script: &str) {
    let mut command = Command::new(binary("execward"));
    command.args(["run", "-q", "--session", name, "--prompt", "none"]);
    let log = ground.path("other.jsonl").display().to_string();
    command.args(["--preset", "dev", "--audit", &log]);
    command
        .args(ground.state())
        .args(["--", "sh", "-c", script]);
    with_places(ground, &mut command);
    let (status, _, stderr) = finish(command);
    assert!(status.success(), "{script}: {stderr}");
}

#[test]
fn an_include_counts_as_the_policy_does() {
    let ground = ground();
    let text = "version = 1\ninclude = [\"mode.toml\"]\n";
    fs::write(ground.path("policy.toml"), text).expect("a policy");
    let mode = "version = 1\n[mode]\nsecurity = \"full\"\n";
    fs::write(ground.path("mode.toml"), mode).expect("a policy");
    runs(&ground);
    in_session(&ground, "one", "echo '# added' >>mode.toml");
    is_refused(&ground, &["mode.toml", "session one (", "+# added"]);
    accept(&ground, &["mode.toml", "+# added"]);
    runs(&ground);
    let adds = "echo 'version = 1' >new.toml; \
        printf 'version = 1\\ninclude = [\"mode.toml\", \"new.toml\"]\\n' >policy.toml";
    in_session(&ground, "two", adds);
    is_refused(
        &ground,
        &[
            "+include",
            "new.toml` may have been changed",
            "session two (",
        ],
    );
    accept(&ground, &["+include", "+version = 1"]);
    runs(&ground);
}

#[test]
fn a_session_whose_gate_was_killed_counts() {
    let ground = ground();
    let mut killed = Waiting::start(&ground, "killed", "echo '# added' >>policy.toml");
    let gate = gate_of(pid(&killed.front));
    kill(gate, Signal::SIGKILL).expect("a gate");
    assert_eq!(end_of(&mut killed.front).code(), Some(125));
    is_refused(&ground, &["session killed (", "+# added"]);
    // It ended when it was found to have, at the latest.
    is_refused(&ground, &["session killed ("]);
    edit_until_it_counts(&ground);
}

/// Edits that are made after a start that looked are nobody's but the editor's.
fn edit_until_it_counts(ground: &Ground) {
    let probe = ground.path("probe");
    let before = std::time::SystemTime::now();
    until("a tick of the clock", || {
        fs::write(&probe, "").expect("a file");
        let stamped = fs::metadata(&probe).expect("a file").modified();
        (stamped.expect("a time") > before).then_some(())
    });
    edit(ground);
    runs(ground);
}

#[test]
fn of_two_sessions_that_were_alive_both_are_named() {
    let ground = ground();
    let sessions = ["first", "second"].map(|name| Waiting::start(&ground, name, ":"));
    runs(&ground);
    edit(&ground);
    is_refused(&ground, &["first (", "second ("]);
    let [first, second] = sessions;
    first.end();
    is_refused(&ground, &["first (", "second ("]);
    accept(&ground, &["+# added"]);
    runs(&ground);
    edit(&ground);
    is_refused(&ground, &["session second ("]);
    second.end();
    edit(&ground);
    runs(&ground);
}

#[test]
fn a_policy_of_ones_own_that_is_gone_is_a_change() {
    let ground = ground();
    let own = ground
        .path("config/execward/policy.toml")
        .display()
        .to_string();
    let log = ground.path("own.jsonl").display().to_string();
    let by_default = |cmd: &[&str]| {
        let mut command = Command::new(binary("execward"));
        command
            .args(["run", "-q", "--session", "own", "--prompt", "none"])
            .args(ground.state());
        command.args(["--audit", &log, "--"]).args(cmd);
        with_places(&ground, &mut command);
        let (status, _, stderr) = finish(command);
        (status.code(), stderr)
    };
    let (code, _, stderr) = outside(&ground, &["policy", "init"]);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, stderr) = by_default(&["rm", &own]);
    assert_eq!(code, Some(0), "{stderr}");
    let (code, stderr) = by_default(&["touch", "marker"]);
    assert_eq!(code, Some(125), "{stderr}");
    assert!(
        !ground.has("marker") && stderr.contains("-version = 1"),
        "{stderr}"
    );
    let (code, stdout, stderr) = outside(&ground, &["policy", "accept"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("-version = 1"), "{stdout}");
    assert_eq!(by_default(&["touch", "marker"]).0, Some(0));
}
