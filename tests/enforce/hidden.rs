//! What execward keeps, out of the session's sight: `--hide-state`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use execward_tests::{Asking, Ground, is_root, needs_answers, of_type, skip, until};

const HIDDEN: &str = "--hide-state";

#[test]
fn what_execward_keeps_is_out_of_sight_and_cannot_be_uncovered() {
    if !is_root() {
        let ran = Ground::full("").option(HIDDEN).run(&["touch", "marker"]);
        assert_eq!(ran.status.code(), Some(125));
        assert!(
            ran.stderr.contains("which only root can have"),
            "{}",
            ran.stderr
        );
        return skip("only root can have a mount namespace");
    }
    let look = "cat policy.toml audit.jsonl; ls /run/execward; ls state/execward; echo seen
        umount policy.toml 2>/dev/null && echo uncovered; umount /run/execward 2>/dev/null && echo uncovered
        (: > policy.toml) 2>/dev/null; mv policy.toml away 2>/dev/null && echo moved; touch own && echo own";
    for user in ["", "--user=nobody"] {
        // Nobody is asked whether umount may have its rights.
        let mut ground = Ground::full("").option(HIDDEN).option("--prompt=none");
        fs::set_permissions(ground.path(""), Permissions::from_mode(0o1777)).expect("chmod");
        if !user.is_empty() {
            ground = ground.option(user);
        }
        let policy = fs::read(ground.path("policy.toml")).expect("a policy");
        let ran = ground.sh(look);
        assert_eq!(ran.stdout, "seen\nown\n", "{user}: {}", ran.stderr);
        let records = ground.records_at_end();
        assert_eq!(of_type(&records, "session.end").count(), 1);
        assert_eq!(
            fs::read(ground.path("policy.toml")).expect("a policy"),
            policy
        );
    }
    // Made for it or not, the directories are nobody else's.
    for directory in ["/run/execward", "/var/log/execward"] {
        let mode = fs::metadata(directory)
            .expect("a directory")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700, "{directory}");
    }
    // The twin sees it all.
    let ran = Ground::full("")
        .sh("cat policy.toml audit.jsonl | head -n 1; ls /run/execward >/dev/null; echo $?");
    assert!(
        ran.stdout.starts_with("version = 1\n") && ran.stdout.ends_with("\n0\n"),
        "{}",
        ran.stdout
    );
}

/// The gate answers as ever, and leaves no socket behind.
#[test]
fn a_question_is_answered_and_the_socket_goes_with_the_session() {
    needs_answers!();
    if !is_root() {
        return skip("only root can have a mount namespace");
    }
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let ground = Ground::full(ask).option(HIDDEN);
    let mut asking = Asking::start(ground, "socket", "/usr/bin/touch a; echo $?");
    asking.answer(&["allow", &asking.question().id]);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("0"));
    let socket = asking.socket();
    let _records = asking.end();
    let directory = socket.parent().expect("a directory");
    until("its directory's end", || {
        (!directory.try_exists().expect("its parent")).then_some(())
    });
}
