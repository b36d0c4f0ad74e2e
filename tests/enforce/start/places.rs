//! Policy, workspace, home, and the place for diagnostics.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::sys::stat::Mode;

use super::{Start, fails_by};

const FULL: &str = "version = 1\n[mode]\nsecurity = \"full\"\n";

#[test]
fn a_policy_that_cannot_be_read_is_named() {
    fails_by("policy-missing", |start| {
        start.option("--policy", &start.text("other.toml"));
    });
    fails_by("policy-directory", |start| start.option("--policy", "/etc"));
    fails_by("policy-fifo", |start| {
        let fifo = start.path("fifo");
        nix::unistd::mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        start.own(&fifo);
        start.option("--policy", &start.text("fifo"));
    });
    fails_by("policy-unreadable", |start| {
        let closed = fs::Permissions::from_mode(0o000);
        fs::set_permissions(start.path("policy.toml"), closed).unwrap();
    });
    fails_by("policy-preset-unknown", |start| {
        start.option("--preset", "none");
    });
}

#[test]
fn the_users_own_policy_must_be_readable_if_it_is_there() {
    let Some(mut start) = Start::new() else {
        return;
    };
    start.without("--policy");
    start.runs();
    start.make_directory("config/execward/policy.toml");
    start.fails("policy-own-unreadable");
}

#[test]
fn a_policy_with_faults_is_shown_with_them() {
    for (name, fault) in [
        ("policy-faults", "allow = 1\n"),
        ("policy-include-missing", "include = [\"other.toml\"]\n"),
    ] {
        fails_by(name, |start| {
            start.has_details = true;
            start.write("policy.toml", &format!("version = 1\n{fault}"));
        });
    }
}

#[test]
fn a_workspace_that_is_none_is_named() {
    fails_by("workspace-missing", |start| {
        start.option("--workspace", &start.text("none"));
    });
    fails_by("workspace-file", |start| {
        start.option("--workspace", &start.text("policy.toml"));
    });
    fails_by("workspace-root", |start| start.option("--workspace", "/"));
    fails_by("workspace-home", |start| {
        start.option("--workspace", &start.text(""));
    });
}

#[test]
fn diagnostics_that_have_no_place_are_a_failure() {
    fails_by("diagnostics-directory", |start| {
        start.set("XDG_STATE_HOME", Some(&start.text("policy.toml")));
    });
    fails_by("diagnostics-file", |start| {
        start.set("XDG_STATE_HOME", Some(&start.text("other")));
        let file = format!("other/execward/{}/execward.log", start.session);
        start.make_directory(&file);
        for above in ["other", "other/execward"] {
            start.own(&start.path(above));
        }
    });
    fails_by("diagnostics-level", |start| {
        start.set("EXECWARD_LOG", Some("gate=loud"));
    });
}

/// Who is in no password file has no home but `$HOME`.
#[test]
fn a_user_without_home_has_no_session() {
    let Some(mut start) = Start::by_another() else {
        return;
    };
    start.runs();
    start.set("HOME", Some("not/absolute"));
    start.fails("home-missing");
}

/// What the session sees as /etc, with `floor` in it.
fn with_floor(floor: &str) -> Option<Start> {
    let mut start = Start::by_root()?;
    start.make_directory("etc/execward");
    for file in ["passwd", "ld.so.cache"] {
        fs::copy(format!("/etc/{file}"), start.path("etc").join(file)).ok();
    }
    start.write("etc/execward/floor.toml", floor);
    start.mounted(&format!("mount --bind {} /etc", start.text("etc")));
    Some(start)
}

#[test]
fn a_floor_that_is_not_roots_alone_lets_no_session_start() {
    let Some(mut start) = with_floor(FULL) else {
        return;
    };
    let floor = start.path("etc/execward/floor.toml");
    let mode = |mode| fs::set_permissions(&floor, fs::Permissions::from_mode(mode)).unwrap();
    start.runs();
    mode(0o664);
    start.fails("floor-writable");
    mode(0o644);
    nix::unistd::chown(&floor, Some(super::private_uid().into()), None).unwrap();
    start.fails("floor-of-another");
    start.write("etc/execward/floor.toml", "version = 1\nallow = 1\n");
    start.has_details = true;
    start.fails("floor-faults");
    fs::remove_file(&floor).unwrap();
    start.make_directory("etc/execward/floor.toml");
    start.has_details = false;
    start.fails("floor-directory");
}
