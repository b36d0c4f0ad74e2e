//! The socket itself: whose it is, and who is heard there.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;

use std::process::{Command, Stdio};

use execward_tests::outside::Outside;
use execward_tests::{Ground, Lines, Ran, binary, end_of, finish, until};
use nix::sys::signal::Signal;

use super::desk;

/// That of a file; none, where it is not.
fn mode(path: &Path) -> u32 {
    let seen = path.metadata();
    seen.map_or(0, |seen| seen.permissions().mode() & 0o777)
}

fn private(ground: &Ground, name: &str, mode: u32) -> std::path::PathBuf {
    let directory = ground.path(name);
    fs::create_dir(&directory).expect("a directory");
    fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).expect("chmod");
    directory
}

/// Starts a supervisor that has nothing to wait with, and what it says.
fn fails(ground: &Ground, socket: &Path) -> String {
    let ran: Ran = ground.end(ground.supervisor(socket));
    assert_eq!(ran.code(), Some(125), "{}", ran.stderr);
    assert!(ran.records.is_empty());
    ran.stderr
}

#[test]
fn one_process_is_heard_and_then_the_socket_is_gone() {
    let desk = desk("");
    let outside = Outside::waiting(&desk, &desk);
    let socket = outside.socket().to_owned();
    // Whoever it is mounted to may connect: nobody else comes through the directory.
    assert_eq!(mode(&socket), 0o666);
    let again = outside.shim(&["true"]);
    let shim = outside.shim(&["true"]);
    let handed = outside.end(shim);
    assert_eq!(handed.status.code(), Some(0), "{}", handed.stderr);
    assert!(!socket.try_exists().expect("a directory"));
    let (status, _, stderr) = finish(again);
    assert_eq!(status.code(), Some(125), "{stderr}");
    assert!(
        stderr.contains("cannot connect to the supervisor at"),
        "{stderr}"
    );
    assert!(stderr.contains("It hears one shim alone"), "{stderr}");
}

#[test]
fn a_place_that_others_could_take_is_none() {
    let desk = desk("");
    let open = private(&desk, "open", 0o777);
    let said = fails(&desk, &open.join("socket"));
    assert!(said.contains("nobody else's to change"), "{said}");
    let place = private(&desk, "own", 0o700);
    fs::write(place.join("file"), "kept").expect("a file");
    let said = fails(&desk, &place.join("file"));
    assert!(
        said.contains("is there already, and is no socket"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(place.join("file")).expect("it"), "kept");
    let said = fails(&desk, &place.join("missing/socket"));
    assert!(said.contains("No such file or directory"), "{said}");
    let said = fails(&desk, &place.join("x".repeat(120)));
    assert!(said.contains("and may have 107"), "{said}");
    let left = fs::read_dir(&place).expect("a directory").count();
    assert_eq!(left, 1);
}

#[test]
fn a_dead_socket_is_replaced_and_a_live_one_is_not() {
    let desk = desk("");
    let outside = Outside::waiting(&desk, &desk);
    let said = fails(&Ground::full("").option("--prompt=none"), outside.socket());
    assert!(said.contains("another execward listens at"), "{said}");
    let shim = outside.shim(&["true"]);
    let handed = outside.end(shim);
    assert_eq!(handed.status.code(), Some(0), "{}", handed.stderr);
    // The twin: of one that was killed while it waited.
    let other = super::desk("");
    let killed = Outside::waiting(&other, &other);
    let socket = killed.socket().to_owned();
    drop(killed);
    assert!(socket.metadata().expect("it").file_type().is_socket());
    fs::rename(&socket, other.path("socket")).expect("a name");
    fs::remove_dir(other.path("door")).expect("a directory");
    let directory = private(&other, "again", 0o755);
    let socket = directory.join("socket");
    fs::rename(other.path("socket"), &socket).expect("a name");
    let mut supervisor = other.supervisor(&socket).spawn().expect("execward");
    // Others go through its directory, and may not connect.
    let is_closed = || mode(&socket) == 0o600;
    until("another socket", || is_closed().then_some(()));
    supervisor.kill().expect("it waits");
    supervisor.wait().expect("its end");
}

/// What has faults is none to wait with.
#[test]
fn faults_are_told_before_anybody_is_waited_for() {
    let desk = desk("[[deny]]\nid = \"x\"\nprogam = \"a\"\n");
    let place = private(&desk, "own", 0o700);
    let said = fails(&desk, &place.join("socket"));
    assert!(said.contains("policy.toml:6:1"), "{said}");
    for (option, what) in [
        (
            "--prompt=tty",
            "--prompt tty and --socket contradict each other",
        ),
        ("--user=nobody", "cannot be used with"),
        ("--hide-state", "cannot be used with"),
        ("--pid-namespace", "cannot be used with"),
    ] {
        let said = fails(&Ground::full("").option(option), &place.join("socket"));
        assert!(said.contains(what), "{option}: {said}");
    }
    let mut command = desk.supervisor(&place.join("socket"));
    command.arg("--").arg("true");
    let (status, _, said) = finish(command);
    assert_eq!(status.code(), Some(125), "{said}");
    assert!(said.contains("cannot be used with"), "{said}");
}

#[test]
fn the_shim_explains_itself_and_runs_nothing_that_it_does_not_understand() {
    let shim = |words: &[&str]| {
        let mut command = Command::new(binary("execward-shim"));
        command.args(words);
        finish(command)
    };
    let (status, help, _) = shim(&["--help"]);
    assert!(
        status.success() && help.contains("Usage: execward-shim --socket SOCKET"),
        "{help}"
    );
    let (status, version, _) = shim(&["--version"]);
    assert!(
        status.success() && version.starts_with("execward-shim 0."),
        "{version}"
    );
    for words in [
        &["true"][..],
        &["--socket", "/none", "true"],
        &["--", "echo", "ran"],
        &["--socket", "/none", "--", "echo", "ran"],
        &["9", "drop", "echo", "ran"],
    ] {
        let (status, stdout, stderr) = shim(words);
        assert_eq!(
            (status.code(), stdout.as_str()),
            (Some(125), ""),
            "{words:?} {stderr}"
        );
        assert!(stderr.starts_with("execward-shim: "), "{stderr}");
    }
}

/// Before anybody is there, and while one who is there says nothing.
#[test]
fn a_signal_ends_the_waiting_at_once_and_the_socket_with_it() {
    for is_connected in [false, true] {
        for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130)] {
            let desk = desk("");
            let outside = Outside::waiting(&desk, &desk);
            let socket = outside.socket().to_owned();
            let mut silent = is_connected.then(|| {
                let mut hands = Command::new(binary("fixture-hands"));
                hands.arg(&socket).arg("silent").stdout(Stdio::piped());
                let mut silent = hands.spawn().expect("a process");
                let lines = Lines::of(silent.stdout.take().expect("stdout"));
                assert_eq!(lines.next_line().as_deref(), Some("connected"));
                silent
            });
            outside.signal(signal);
            let (status, said) = outside.wait();
            assert_eq!(status, Some(code), "{said}");
            assert!(said.contains("nothing ran"), "{said}");
            assert!(!socket.try_exists().expect("a directory"));
            if let Some(silent) = &mut silent {
                assert!(end_of(silent).success());
            }
        }
    }
}

/// What has come to lie at its path is not its own to remove.
#[test]
fn a_socket_of_another_at_its_path_stays() {
    let desk = desk("");
    let outside = Outside::waiting(&desk, &desk);
    let socket = outside.socket().to_owned();
    fs::rename(&socket, desk.path("elsewhere")).expect("a name");
    fs::write(&socket, "another's").expect("a file");
    outside.signal(Signal::SIGTERM);
    assert_eq!(outside.wait().0, Some(143));
    assert_eq!(fs::read_to_string(&socket).expect("it"), "another's");
}
