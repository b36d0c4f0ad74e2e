//! The control socket.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use execward_tests::{end_of, needs_answers, until};

use super::{Start, fails_by};

#[test]
fn a_place_that_is_not_the_users_own_is_named() {
    needs_answers!();
    fails_by("socket-directory-open-to-others", |start| {
        let open = start.make_directory("open/execward");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        start.set("XDG_RUNTIME_DIR", Some(&start.text("open")));
    });
    fails_by("socket-directory-link", |start| {
        start.make_directory("real");
        start.make_directory("linked");
        std::os::unix::fs::symlink("../real", start.path("linked/execward")).unwrap();
        start.set("XDG_RUNTIME_DIR", Some(&start.text("linked")));
    });
    fails_by("socket-directory-not-to-be-made", |start| {
        start.set("XDG_RUNTIME_DIR", Some(&start.text("none")));
    });
}

#[test]
fn a_directory_of_another_user_is_named() {
    needs_answers!();
    let Some(mut start) = Start::by_another() else {
        return;
    };
    start.runs();
    let directory = start.make_directory("other/execward");
    nix::unistd::chown(&directory, Some(0.into()), None).unwrap();
    start.set("XDG_RUNTIME_DIR", Some(&start.text("other")));
    start.fails("socket-directory-of-another");
}

#[test]
fn a_socket_that_cannot_be_made_is_named() {
    needs_answers!();
    fails_by("socket-path-too-long", |start| {
        // As long as it may be with a name of 40, whose 41st is then too many.
        let rest = format!("//execward/{}/control", "x".repeat(40));
        let runtime = "r".repeat(107 - start.text("").len() - rest.len());
        start.make_directory(&runtime);
        start.set("XDG_RUNTIME_DIR", Some(&start.text(&runtime)));
        start.other = Some(start.text(&runtime));
        start.session = "x".repeat(40);
        start.option("--session", &start.session.clone());
        start.runs();
        start.session.push('x');
        start.option("--session", &start.session.clone());
    });
    fails_by("socket-in-the-way", |start| {
        start.make_directory("execward");
        start.make_directory(&format!("execward/{}", start.session));
        start.make_directory(&format!("execward/{}/control", start.session));
    });
    fails_by("socket-in-a-closed-directory", |start| {
        let directory = start.make_directory(&format!("execward/{}", start.session));
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o500)).unwrap();
    });
}

#[test]
fn a_live_session_keeps_its_name() {
    needs_answers!();
    let (Some(mut first), Some(mut second)) = (Start::new(), Start::new()) else {
        return;
    };
    first.cmd(&["--", "sh", "-c", "echo begun; read line; true"]);
    let mut front = first
        .command()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut begun = [0; 6];
    front
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut begun)
        .unwrap();
    second.uid = first.uid;
    second.own(&second.path(""));
    second.own(&second.path("policy.toml"));
    second.session = first.session.clone();
    second.option("--session", &second.session.clone());
    second.runs();
    second.set("XDG_RUNTIME_DIR", Some(&first.text("")));
    second.other = Some(first.text(""));
    second.fails("socket-of-a-live-session");
    drop(front.stdin.take());
    assert!(end_of(&mut front).success());
    until("the end of the first session's socket", || {
        let socket = first.path(&format!("execward/{}", first.session));
        (!socket.try_exists().unwrap()).then_some(())
    });
    second.runs();
}
