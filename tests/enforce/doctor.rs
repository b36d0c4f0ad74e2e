//! `execward doctor`: what it says is so, and what it finds is what is done to it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use execward_tests::{Ground, binary, finish, is_root, skip, under};
use serde_json::Value;

/// Checks that may be weak on a machine where everything is enforced.
const MAY_BE_WEAK: [&str; 7] = [
    "cgroup",
    "cgroup-limits",
    "executable",
    "limits",
    "rights",
    "signals",
    "yama",
];

/// asm-generic/socket.h.
const SO_PEERPIDFD: u32 = 77;

/// `execward doctor words`, in the ground's directory alone.
fn doctor(ground: &Ground, words: &[&str]) -> Command {
    let mut command = Command::new(binary("execward"));
    command.arg("doctor").args(words);
    let session = ground.command(&[]);
    for (name, value) in session.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
        .current_dir(ground.path(""))
        .env("TMPDIR", ground.path(""));
    command
}

/// What it finds, and its exit status.
struct Found {
    report: Value,
    code: Option<i32>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "a report without the field is a failed test"
)]
impl Found {
    fn by(command: Command) -> Self {
        let (status, stdout, stderr) = finish(command);
        let report = serde_json::from_str(&stdout);
        let report = report.unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
        let code = status.code();
        let found = Self { report, code };
        let holds = found.report["holds"].as_bool().expect("holds");
        assert_eq!(code, Some(i32::from(!holds)), "{stdout}");
        found
    }

    /// Each check with its state.
    fn checks(&self) -> Vec<(String, String)> {
        let checks = self.report["checks"].as_array().expect("checks");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let named = checks.iter();
        let named = named.map(|check| (text(&check["check"]), text(&check["state"])));
        named.collect()
    }

    /// The state of one check, and what was seen.
    #[track_caller]
    fn of(&self, check: &str) -> (&str, &str) {
        let checks = self.report["checks"].as_array().expect("checks");
        let found = checks.iter().find(|it| it["check"] == check);
        let found = found.unwrap_or_else(|| panic!("no {check}: {}", self.report));
        let text = |key: &str| found[key].as_str().expect("text");
        (text("state"), text("seen"))
    }

    /// Check `name` fails, and says `seen`.
    #[track_caller]
    fn fails(&self, name: &str, words: &str) {
        let (state, seen) = self.of(name);
        assert_eq!((self.code, state), (Some(1), "fails"), "{}", self.report);
        assert!(seen.contains(words), "{name}: {seen}");
    }
}

fn found(ground: &Ground, words: &[&str]) -> Found {
    Found::by(under(words, &doctor(ground, &["--json"])))
}

#[test]
fn what_is_promised_holds_here() {
    let ground = Ground::full("");
    let found = found(&ground, &["env"]);
    assert_eq!(found.code, Some(0), "{}", found.report);
    for (check, state) in found.checks() {
        let is_expected = state != "weak" || MAY_BE_WEAK.contains(&&*check);
        assert!(is_expected && state != "fails", "{check}: {}", found.report);
    }
    for check in [
        "session", "exec", "thread", "denied", "failed", "asking", "waiting",
    ] {
        assert_eq!(found.of(check).0, "ok", "{check}: {}", found.report);
    }
    let rights = if is_root() { "weak" } else { "ok" };
    assert_eq!(found.of("rights").0, rights);
}

#[test]
fn it_leaves_nothing_behind() {
    let ground = Ground::full("");
    let listed = || -> Vec<_> {
        let entries = fs::read_dir(ground.path(""))
            .expect("a directory")
            .flatten();
        entries.map(|entry| entry.file_name()).collect()
    };
    let before = listed();
    let script = "mount -t tmpfs none /var/lib && mount -t tmpfs none /run && mkdir /run/other && \
        \"$@\" >out && cd / && find /var/lib /run -mindepth 1";
    let command = doctor(&ground, &[]);
    let (status, left, said) = finish(if is_root() {
        under(&["unshare", "-m", "sh", "-c", script, "sh"], &command)
    } else {
        under(&["sh", "-c", "\"$@\" >out", "sh"], &command)
    });
    assert!(status.success(), "{said}");
    assert_eq!(left, if is_root() { "/run/other\n" } else { "" });
    fs::remove_file(ground.path("out")).expect("its output");
    assert_eq!(listed(), before);
}

/// The states of the lines that people read.
fn states(text: &str) -> Vec<(String, String)> {
    let line = |line: &str| {
        let (state, rest) = line.split_once(' ')?;
        let (check, _) = rest.trim_start().split_once(':')?;
        let is_state = ["ok", "note", "weak", "FAILS"].contains(&state);
        is_state.then(|| (check.to_owned(), state.to_lowercase()))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn what_people_read_is_what_the_json_says() {
    let ground = Ground::full("");
    fs::write(ground.path("bad.toml"), "version = 1\nallow = 1\n").expect("a policy");
    for (policy, code) in [("policy.toml", 0), ("bad.toml", 1)] {
        let (status, text, said) = finish(doctor(&ground, &["--policy", policy]));
        assert_eq!(status.code(), Some(code), "{text}{said}");
        let found = Found::by(doctor(&ground, &["--json", "--policy", policy]));
        assert_eq!(states(&text), found.checks());
        for (key, title) in [("enforced", "Enforced"), ("not_enforced", "Not enforced")] {
            let promises = found.report[key].as_array().expect("a list").iter();
            let promises: Vec<_> = promises.filter_map(Value::as_str).collect();
            let line = format!("\n{title} here: {}.\n", promises.join("; "));
            assert_eq!(text.contains(&line), !promises.is_empty(), "{text}");
        }
    }
}

#[test]
fn a_policy_with_a_fault_is_a_failure_and_the_gate_holds_all_the_same() {
    let ground = Ground::full("");
    fs::write(ground.path("bad.toml"), "version = 1\nallow = 1\n").expect("a policy");
    let bad = Found::by(doctor(&ground, &["--json", "--policy", "bad.toml"]));
    bad.fails("policy", "bad.toml:2:9");
    assert_eq!(bad.of("denied").0, "ok");
    let good = Found::by(doctor(&ground, &["--json", "--policy", "policy.toml"]));
    assert_eq!(good.of("policy").0, "ok");
    let missing = Found::by(doctor(&ground, &["--json", "--policy", "none.toml"]));
    missing.fails("policy", "none.toml");
}

#[test]
fn inside_a_session_it_names_the_other_listener() {
    let ground = Ground::full("");
    let execward = binary("execward").display().to_string();
    let mut session = ground.command(&[&execward, "doctor", "--json"]);
    session.env("TMPDIR", ground.path(""));
    let found = Found::by(session);
    found.fails(
        "session",
        "another seccomp listener governs this process tree",
    );
    found.fails("outer-session", "a member of another session");
    let not_enforced = &found.report["not_enforced"];
    assert_eq!(
        not_enforced,
        &serde_json::json!(["a session can be started"])
    );
}

#[test]
fn root_without_capabilities_is_told_what_is_open() {
    if !is_root() {
        return skip("only root has what is taken away");
    }
    let caps = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"];
    let found = found(&Ground::full(""), &caps);
    found.fails(
        "session",
        "cannot make `/proc/sys` read-only for a session of root",
    );
}

#[test]
fn few_open_files_are_named() {
    let found = found(&Ground::full(""), &["prlimit", "--nofile=20"]);
    found.fails("session", "Too many open files");
    let limits = found.of("limits");
    assert_eq!(limits.0, "weak");
    assert!(limits.1.starts_with("open files 20,"), "{}", limits.1);
}

/// As under Yama, or in a container without the call: it is found by what becomes of an exec.
#[test]
fn a_gate_that_may_not_trace_is_found_out() {
    let fixture = binary("fixture-refuses").display().to_string();
    let rule = format!("{}={}", libc::SYS_ptrace, libc::EPERM);
    let found = found(&Ground::full(""), &[&fixture, &rule, "--"]);
    found.fails("session", "the kernel does not let it be traced");
    let (_, filters) = found.of("filters");
    assert!(filters.starts_with("under "), "{filters}");
}

#[test]
fn a_kernel_on_which_nobody_can_be_asked_is_found_out() {
    let fixture = binary("fixture-refuses").display().to_string();
    let mask = u32::MAX;
    let rule = format!("{}:2:{mask}:{SO_PEERPIDFD}=92", libc::SYS_getsockopt);
    let found = found(&Ground::full(""), &[&fixture, &rule, "--"]);
    found.fails("asking", "SO_PEERPIDFD");
    assert_eq!(found.of("denied").0, "ok");
}

/// systemd gives a user's scopes to the user.
#[test]
fn a_cgroup_that_a_session_can_freeze_is_weak() {
    if !is_root() {
        return skip("only root can make a cgroup and give it away");
    }
    let ground = Ground::full("");
    let anybody = Permissions::from_mode(0o777);
    fs::set_permissions(ground.path(""), anybody).expect("chmod");
    let script = "mkdir -p at && mount -t cgroup2 none at && of=at/$1 && mkdir $of && \
        echo $$ >$of/cgroup.procs && chown $2 $of/cgroup.freeze && shift 2 && \
        setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"; status=$?; \
        echo $$ >at/cgroup.procs; rmdir $of; exit $status";
    let name = format!("execward-doctor-{}", std::process::id());
    let words = |owner| ["unshare", "-m", "sh", "-c", script, "sh", &name, owner];
    let mut reach = Command::new(binary("execward"));
    reach.current_dir(ground.path(""));
    let reach = under(&[&words("0")[..], &["test", "-x"]].concat(), &reach);
    if !finish(reach).0.success() {
        return skip("a user without rights cannot reach the executable, or there is no cgroup2");
    }
    let of_root = found(&ground, &words("0"));
    assert_eq!(of_root.of("cgroup").0, "ok", "{}", of_root.report);
    let found = found(&ground, &words("65534"));
    let told = (found.code, found.of("cgroup").0);
    assert_eq!(told, (Some(0), "weak"), "{}", found.report);
    let (_, seen) = found.of("cgroup");
    assert!(seen.ends_with("/cgroup.freeze"), "{seen}");
}

#[test]
fn without_a_place_to_try_it_in_nothing_is_said_to_hold() {
    let ground = Ground::full("");
    let mut command = doctor(&ground, &[]);
    command.env("TMPDIR", "/proc");
    let (status, text, said) = finish(command);
    assert_eq!((status.code(), text.as_str()), (Some(7), ""), "{said}");
    assert!(said.contains("name another in TMPDIR"), "{said}");
}
