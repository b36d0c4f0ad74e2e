//! The file of grants: what is wrong with it refuses, and nothing of it is overwritten.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use execward_tests::{
    Asking, Ground, binary, finish, is_root, needs_answers, of_type, skip, until,
};

use nix::sys::signal::{Signal, kill};

use super::{asking, ground, listed};
use crate::approvals::ground as basis;
use crate::lifetime::{gate_of, pid};

const FILE: &str = "config/execward/grants.toml";

/// A grant of `touch NAME` in any directory, with its note.
fn grant(id: &str, more: &str) -> String {
    format!(
        "[[allow]]\nid = \"{id}\"\ncommand = \"touch\"\n{more}[grants.{id}]\nscope = \"prefix\"\n\
         covers = \"touch\"\nby = \"a test\"\nsession = \"s\"\nexec = \"1003\"\n\
         at = 2026-11-29T00:00:00Z\n"
    )
}

fn put(ground: &Ground, text: &str) {
    fs::create_dir_all(ground.path("config/execward")).expect("a file of grants");
    fs::write(ground.path(FILE), text).expect("a file of grants");
    fs::set_permissions(ground.path(FILE), Permissions::from_mode(0o600))
        .expect("a file of grants");
}

#[test]
fn a_stored_grant_counts_until_it_ends() {
    needs_answers!();
    for (more, expected) in [
        ("", ("allow", "grant")),
        ("expires = 2999-01-01T00:00:00Z\n", ("allow", "grant")),
        ("expires = 2020-01-01T00:00:00Z\n", ("deny", "no_approver")),
    ] {
        let ground = ground().option("--prompt=none");
        put(&ground, &format!("version = 1\n{}", grant("g1", more)));
        let ran = ground.run(&["sh", "-c", "/usr/bin/touch a; echo $?"]);
        assert_eq!(basis(&ran.records, "a"), expected, "{}", ran.stderr);
        let policy = of_type(&ran.records, "session.start").next().unwrap()["policy"].to_string();
        assert!(policy.contains("grants.toml"), "{policy}");
    }
}

#[test]
fn a_damaged_file_starts_no_session_and_stays_as_it_is() {
    let fine = grant("g1", "");
    for (text, said) in [
        ("version = 1\n[[allow]\n".to_owned(), ":2:"),
        (format!("version = 2\n{fine}"), ":1:11"),
        (
            format!("version = 1\nmode.security = \"full\"\n{fine}"),
            ":2:1",
        ),
        (
            "version = 1\n[[allow]]\nid = \"g1\"\ncommand = \"touch\"\n".to_owned(),
            "has no note",
        ),
        ("version = 1\n\u{1}".to_owned(), ":2:1"),
        (
            format!("version = 1\n{}", fine.replace("touch", "${workspace}/x")),
            ":4:",
        ),
    ] {
        let ground = ground();
        put(&ground, &text);
        let ran = ground.run(&["sh", "-c", "echo ran"]);
        assert_eq!(ran.status.code(), Some(125), "{text}");
        assert!(
            ran.stderr.contains("grants.toml") && ran.stderr.contains(said),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "");
        assert_eq!(fs::read_to_string(ground.path(FILE)).unwrap(), text);
    }
}

#[test]
fn a_file_that_is_not_the_users_own_starts_no_session() {
    let text = format!("version = 1\n{}", grant("g1", ""));
    let refused = |ground: &Ground, said: &str| {
        let ran = ground.run(&["sh", "-c", "echo ran"]);
        assert_eq!(ran.status.code(), Some(125));
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    };
    let linked = ground();
    put(&linked, &text);
    fs::rename(linked.path(FILE), linked.path("elsewhere")).unwrap();
    symlink(linked.path("elsewhere"), linked.path(FILE)).unwrap();
    refused(&linked, "a link or no regular file");
    let writable = ground();
    put(&writable, &text);
    fs::set_permissions(writable.path(FILE), Permissions::from_mode(0o620)).unwrap();
    refused(&writable, "mode 620");
    if is_root() {
        let foreign = ground();
        put(&foreign, &text);
        chown(foreign.path(FILE), Some(65534), None).unwrap();
        refused(&foreign, "belongs to uid 65534");
    }
}

#[test]
fn what_cannot_be_kept_is_not_taken_and_the_question_stays_open() {
    needs_answers!();
    let mut asking = asking("/usr/bin/touch a; echo $?");
    let question = asking.question();
    let text = "version = 1\n[[allow]\n";
    assert_eq!(asking.client(&["status"]).0, Some(0));
    put(asking.ground(), text);
    let (code, status, _) = asking.client(&["status"]);
    assert_eq!(code, Some(1), "{status}");
    assert!(
        status.contains("no answer can be kept for good"),
        "{status}"
    );
    let (code, _, said) = asking.client(&["allow", &question.id, "--for", "always"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("grants.toml:2:"), "{said}");
    assert_eq!(
        fs::read_to_string(asking.ground().path(FILE)).unwrap(),
        text
    );
    asking.answer(&["allow", &question.id, "--for", "session"]);
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    let records = asking.end();
    assert_eq!(of_type(&records, "grant.added").count(), 1);
}

/// Under the same uid a member of the session can write the file: a help against mistakes, and called so.
#[test]
fn what_the_session_writes_there_itself_does_not_count() {
    needs_answers!();
    let forged = format!("version = 1\n{}", grant("g1", ""));
    let ground = ground();
    fs::create_dir_all(ground.path("config/execward")).unwrap();
    fs::write(ground.path("forged"), &forged).unwrap();
    let script = "umask 077; cat forged >config/execward/grants.toml; /usr/bin/touch a; echo $?";
    let mut asking = Asking::start(ground, "socket", script);
    let question = asking.question();
    let (code, _, said) = asking.client(&["allow", &question.id, "--for", "always"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("changed by something else"), "{said}");
    asking.answer(&["deny", &question.id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let _records = asking.end();
    let ground = asking.into_ground();
    let ran = ground.run(&["sh", "-c", "/usr/bin/touch a"]);
    assert_eq!(ran.status.code(), Some(125));
    assert!(ran.stderr.contains("policy accept"), "{}", ran.stderr);
    assert!(!ground.has("a"));
}

#[test]
fn two_sessions_keep_what_is_said_in_both() {
    needs_answers!();
    let (one, other) = (ground(), ground());
    let other = other.of_user(&one);
    let mut first = Asking::start(one, "socket", "/usr/bin/touch a; read x");
    let mut second = Asking::start(
        other,
        "socket",
        "/usr/bin/mkdir m; /usr/bin/touch b; read x",
    );
    for one in [&first, &second] {
        one.answer(&[
            "allow",
            &one.question().id,
            "--for",
            "always",
            "--scope",
            "program",
        ]);
    }
    // What is said in one counts in the other from its next change on, or its next start.
    until("a mark", || second.has_run("b").then_some(()));
    let both = listed(&second);
    assert_eq!(both.len(), 2);
    for grant in both {
        second.answer(&["grants", "revoke", grant["id"].as_str().unwrap()]);
    }
    let text = fs::read_to_string(first.ground().path(FILE)).unwrap();
    assert!(!text.contains("[[allow]]"), "{text}");
    let _records = (first.end(), second.end());
}

#[test]
fn a_grant_is_taken_back_where_no_session_is_live() {
    let ground = ground();
    put(
        &ground,
        &format!(
            "version = 1\n{}# mine\n{}",
            grant("g1", ""),
            grant("g2", "")
        ),
    );
    let execward = |words: &[&str]| {
        let mut command = Command::new(binary("execward"));
        command
            .args(words)
            .env("HOME", ground.path(""))
            .env("XDG_CONFIG_HOME", ground.path("config"))
            .env("XDG_RUNTIME_DIR", ground.path(""));
        finish(command)
    };
    // Seen once by a session, as it is.
    assert!(ground.run(&["sh", "-c", "true"]).status.success());
    let [option, state] = ground.state();
    let (status, shown, said) = execward(&["grants", "revoke", "g1", &option, &state]);
    assert!(
        status.success() && shown.starts_with("revoked g1 allow always"),
        "{shown}{said}"
    );
    let left = fs::read_to_string(ground.path(FILE)).unwrap();
    assert!(
        !left.contains("g1") && left.contains("g2") && left.contains("# mine"),
        "{left}"
    );
    assert!(ground.run(&["sh", "-c", "true"]).status.success());
}

/// What execward counts there is no change of a session's, whoever starts meanwhile.
#[test]
fn sessions_that_use_grants_start_one_after_the_other_and_beside_each_other() {
    needs_answers!();
    let ground = ground().option("--prompt=none");
    let many: Vec<_> = (0..60).map(|n| grant(&format!("g{n}"), "")).collect();
    put(&ground, &format!("version = 1\n{}", many.join("")));
    // Before any session: a policy that is written beside one is shown first.
    let others = [0; 3].map(|_| super::ground().option("--prompt=none").of_user(&ground));
    std::thread::scope(|scope| {
        for other in &others {
            scope.spawn(move || {
                for _ in 0..8 {
                    let ran = other.run(&["sh", "-c", "/usr/bin/touch a"]);
                    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
                }
            });
        }
    });
    // The last gates may still be at it.
    until("every use to be counted", || {
        let text = fs::read_to_string(ground.path(FILE)).expect("the grants");
        let uses = text.lines().filter_map(|line| line.strip_prefix("uses = "));
        let uses = uses.map(|uses| uses.parse::<u64>().expect("a number"));
        (uses.sum::<u64>() == 24).then_some(())
    });
}

/// Whoever does not greet must not keep others from being told.
#[test]
fn a_session_that_is_stopped_keeps_no_other_from_being_answered() {
    needs_answers!();
    let first = ground();
    let second = ground().of_user(&first);
    let mut stopped = Asking::start(first, "socket", "echo on; read x");
    assert_eq!(stopped.stdout.next_line().as_deref(), Some("on"));
    let mut other = Asking::start(second, "socket", "/usr/bin/touch a; echo $?; read x");
    let id = other.question().id;
    let gate = gate_of(pid(stopped.front()));
    kill(gate, Signal::SIGSTOP).expect("a signal");
    // Without a name: every live one is looked into.
    let mut command = Command::new(binary("execward"));
    command
        .args(["allow", &id])
        .env("HOME", other.ground().path(""))
        .env("XDG_RUNTIME_DIR", other.ground().runtime());
    let (status, _, said) = finish(command);
    assert!(said.contains("does not greet"), "{said}");
    // Root's are all in one place, where another may wait by the same ID.
    assert!(
        status.success() || is_root() && said.contains("several IDs"),
        "{said}"
    );
    kill(gate, Signal::SIGCONT).expect("a signal");
    if !status.success() {
        other.answer(&["allow", &id]);
    }
    assert_eq!(other.stdout.next_line().as_deref(), Some("0"));
    let _records = (stopped.end(), other.end());
}

/// CMD sees nothing of what execward keeps, and what is said is kept there all the same.
#[test]
fn what_is_said_is_kept_where_the_session_does_not_see_it() {
    needs_answers!();
    if !is_root() {
        return skip("only root can hide what execward keeps");
    }
    for options in [
        &["--hide-state"][..],
        &["--user=nobody"],
        &["--pid-namespace"],
    ] {
        let mut ground = ground();
        fs::set_permissions(ground.path(""), Permissions::from_mode(0o1777)).unwrap();
        for option in options {
            ground = ground.option(option);
        }
        let mut asking = Asking::start(ground, "socket", "/usr/bin/touch a; echo $?; read x");
        let words = ["allow", &asking.question().id, "--for", "always"];
        asking.answer(&words);
        assert_eq!(asking.stdout.next_line().unwrap(), "0");
        assert_eq!(listed(&asking).len(), 1);
        let _records = asking.end();
        let ground = asking.into_ground().only_option("--prompt", "none");
        let text = fs::read_to_string(ground.path(FILE)).unwrap();
        assert!(text.contains("[[allow]]"), "{options:?}: {text}");
        let ran = ground.run(&["sh", "-c", "/usr/bin/touch a"]);
        assert_eq!(ran.status.code(), Some(0), "{options:?}: {}", ran.stderr);
        let ran = decided(&ran.records).last().expect("a decision");
        assert_eq!(ran, "grant", "{options:?}");
    }
}

/// The grounds of the decisions on touch.
fn decided(records: &[serde_json::Value]) -> impl DoubleEndedIterator<Item = String> {
    let touch = |it: &&serde_json::Value| it["proc"]["path"] == "/usr/bin/touch";
    let decisions: Vec<_> = of_type(records, "exec.decision").filter(touch).collect();
    let reasons = decisions
        .into_iter()
        .map(|it| it["decision"]["reason"].as_str());
    reasons
        .map(|it| it.unwrap_or_default().to_owned())
        .collect::<Vec<_>>()
        .into_iter()
}
