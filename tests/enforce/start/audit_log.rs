//! The audit log.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use execward_tests::{binary, needs_served_files};
use nix::sys::stat::Mode;

use super::{Start, fails_by};

#[test]
fn a_log_that_cannot_be_opened_is_named() {
    fails_by("log-directory", |start| {
        start.make_directory("log");
        start.option("--audit", &start.text("log"));
    });
    fails_by("log-below-a-file", |start| {
        start.option("--audit", &start.text("policy.toml/log"));
    });
    fails_by("log-in-a-closed-directory", |start| {
        let closed = start.make_directory("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
        start.option("--audit", &start.text("closed/log"));
    });
    fails_by("log-link", |start| {
        std::os::unix::fs::symlink(start.path("audit.jsonl"), start.path("link")).unwrap();
        start.option("--audit", &start.text("link"));
    });
}

#[test]
fn a_log_that_is_no_local_file_is_named() {
    fails_by("log-fifo", |start| {
        let fifo = start.path("fifo");
        nix::unistd::mkfifo(&fifo, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        start.own(&fifo);
        start.option("--audit", &start.text("fifo"));
    });
    fails_by("log-device", |start| start.option("--audit", "/dev/full"));
    fails_by("log-not-local", |start| {
        start.option("--audit", "/proc/self/comm");
    });
}

#[test]
fn a_log_that_somebody_serves_is_named() {
    needs_served_files!();
    let Some(mut start) = Start::by_root() else {
        return;
    };
    let disk = start.make_directory("disk").display().to_string();
    start.option("--audit", &format!("{disk}/log"));
    start.runs();
    let fixture = binary("fixture-disk").display().to_string();
    let words = ["unshare", "--mount", &fixture, &disk, "-", "--"];
    start.outside = words.map(str::to_owned).to_vec();
    start.fails("log-served");
}

/// A limit on file size is a full disk for this one session.
#[test]
fn a_log_without_room_is_named() {
    fails_by("log-without-room", |start| {
        start.inside(&["prlimit", "--fsize=0", "--"]);
    });
}

#[test]
fn a_log_on_a_full_disk_is_named() {
    let Some(mut start) = Start::by_root() else {
        return;
    };
    let disk = start.make_directory("disk").display().to_string();
    start.option("--audit", &format!("{disk}/log"));
    let mount = format!("mount -t tmpfs -o size=64k none {disk}");
    start.mounted(&mount);
    start.runs();
    let fill = format!("{mount}; cat /dev/zero >{disk}/fill 2>/dev/null || true");
    start.mounted(&fill);
    start.fails("log-on-a-full-disk");
}
