//! What hands itself over as no shim would does not become CMD.

use std::process::Command;

use execward_tests::outside::{Handed, Outside};
use execward_tests::{Ground, binary, is_root, of_type, skip};

use super::desk;
use crate::three_verdicts::RULES;

fn hands(form: &str, words: &[&str]) -> (Handed, Ground) {
    let desk = desk(RULES);
    let outside = Outside::waiting(&desk, &desk);
    let mut hands = Command::new(binary("fixture-hands"));
    hands.arg(outside.socket()).arg(form).args(words);
    hands.current_dir(desk.path(""));
    (outside.end(hands), desk)
}

#[test]
fn what_is_no_listener_of_one_thread_starts_no_session() {
    for (form, said, told) in [
        (
            "nothing",
            "the shim died before it installed the filter",
            "",
        ),
        ("garbage", "the shim's report cannot be read", ""),
        ("no-listener", "the shim's report cannot be read", ""),
        ("null", "what the shim handed over is no listener", ""),
        ("two", "the shim's report cannot be read", ""),
        ("threads", "it has several threads", "several threads"),
        ("child", "it has no filter", "it has no filter"),
    ] {
        let (handed, desk) = hands(form, &["/bin/echo", "ran"]);
        assert_eq!(handed.supervisor, Some(125), "{form}: {}", handed.said);
        assert!(handed.said.contains(said), "{form}: {}", handed.said);
        assert!(
            !handed.stdout.contains("ran\n"),
            "{form}: {}",
            handed.stdout
        );
        if form != "nothing" {
            assert!(
                handed.stdout.starts_with("\\x02R"),
                "{form}: {}",
                handed.stdout
            );
            assert!(handed.stdout.contains(told), "{form}: {}", handed.stdout);
        }
        assert!(of_type(&desk.records(), "exec.decision").next().is_none());
    }
}

/// An exec before the go-ahead waits for the gate as any other, and is judged as any.
#[test]
fn an_exec_before_the_go_ahead_is_judged_with_the_rest() {
    for (words, code, stdout) in [
        (&["/bin/echo", "ran"][..], 0, "ran\n"),
        (
            &["/bin/mkdir", "no"],
            126,
            "Operation not permitted (os error 1)\n",
        ),
    ] {
        let (handed, desk) = hands("early", words);
        assert_eq!(handed.stdout, stdout, "{}", handed.said);
        assert_eq!(handed.supervisor, Some(code), "{}", handed.said);
        assert!(!desk.has("no"));
    }
}

/// Where it is found out, its twin is told to be so on both sides.
#[test]
fn root_with_rights_to_undo_the_gate_is_refused_unless_both_sides_say_so() {
    if !is_root() {
        return skip("only root has such rights");
    }
    let desk = Ground::full("").option("--prompt=none");
    let outside = Outside::waiting(&desk, &desk);
    let shim = outside.shim(&["/bin/echo", "ran"]);
    let handed = outside.end(shim);
    assert_eq!(
        (handed.status.code(), handed.supervisor),
        (Some(125), Some(125))
    );
    assert_eq!(handed.stdout, "");
    for said in [&handed.said, &handed.stderr] {
        assert!(
            said.contains("start execward-shim without --keep-caps"),
            "{said}"
        );
    }
    // Without them, what it owns is still open to it here.
    let desk = Ground::full("").option("--prompt=none");
    let outside = Outside::waiting(&desk, &desk);
    let mut bare = Command::new(binary("execward-shim"));
    bare.arg("--socket").arg(outside.socket());
    bare.args(["--", "/bin/echo", "ran"]);
    let handed = outside.end(bare);
    assert_eq!(
        (handed.status.code(), handed.supervisor),
        (Some(125), Some(125))
    );
    assert_eq!(handed.stdout, "");
    for said in [&handed.said, &handed.stderr] {
        assert!(said.contains("`/proc/sys` can be written"), "{said}");
    }
}

/// Below another root directory names of files mean others.
#[test]
fn a_root_directory_of_its_own_in_this_mount_namespace_is_refused() {
    if !is_root() {
        return skip("only root can change its root directory");
    }
    let desk = desk("");
    let outside = Outside::waiting(&desk, &desk);
    // The same files, by another name.
    let script = "mount --rbind / root && exec /usr/sbin/chroot root \"$@\"";
    std::fs::create_dir(desk.path("root")).expect("a directory");
    let words = ["unshare", "--mount", "sh", "-c", script, "sh"];
    let mut shim = execward_tests::under(&words, &outside.shim(&["/bin/echo", "ran"]));
    shim.current_dir(desk.path(""));
    let handed = outside.end(shim);
    assert_eq!(handed.status.code(), Some(125), "{}", handed.stderr);
    assert!(
        handed.stderr.contains("of its mount namespace"),
        "{}",
        handed.stderr
    );
    assert_eq!(handed.stdout, "");
}

/// Who may not look into it gates nothing; its twin may.
#[test]
fn a_supervisor_without_rights_takes_its_own_user_alone() {
    if !is_root() {
        return skip("only root can start processes of two users");
    }
    let user = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    for is_own in [false, true] {
        let desk = Ground::full("").option("--prompt=none");
        std::os::unix::fs::chown(desk.path(""), Some(65534), Some(65534)).expect("chown");
        let room = ["sh", "-c", "chown 65534:65534 door && exec \"$@\"", "sh"];
        let outside = Outside::waiting_under(&[&room[..], &user].concat(), &desk, &desk);
        let mut bare = Command::new(binary("execward-shim"));
        bare.arg("--socket").arg(outside.socket());
        bare.args(["--", "/bin/echo", "ran"]);
        let bare = if is_own {
            execward_tests::under(&user, &bare)
        } else {
            bare
        };
        let handed = outside.end(bare);
        let code = if is_own { 0 } else { 125 };
        assert_eq!(
            handed.status.code(),
            Some(code),
            "{} {}",
            handed.stderr,
            handed.said
        );
        assert_eq!(handed.stdout, if is_own { "ran\n" } else { "" });
        let is_told = handed
            .said
            .contains("cannot look into the process that connected");
        assert_eq!(is_told, !is_own, "{}", handed.said);
    }
}
