//! What runs without a rule: safe bins, and wrappers whose payload is judged by itself.

use super::*;
use crate::request::Stream;
use crate::verdict::Basis;

fn at_bin(argv: &[&str]) -> ExecRequest {
    call(ProgramFile::at(format!("/usr/bin/{}", argv[0])), argv)
}

fn decision(ruleset: &Ruleset, request: &ExecRequest) -> Decision {
    ruleset.decide(request, Timestamp::UNIX_EPOCH).decision()
}

#[test]
fn a_safe_bin_filters_without_a_rule() {
    let ruleset = policy("");
    let wc = at_bin(&["wc", "-l"]);
    let verdict = ruleset.decide(&wc, Timestamp::UNIX_EPOCH);
    assert_eq!(verdict.decision(), Decision::Allow);
    assert!(matches!(verdict.basis(), Basis::SafeBin));
    for argv in [
        &["wc", "x"][..],
        &["wc", "--files0-from=x"],
        &["sort"],
        &["cat"],
    ] {
        assert_eq!(decision(&ruleset, &at_bin(argv)), Decision::Ask, "{argv:?}");
    }
    let elsewhere = call(ProgramFile::at("/tmp/wc"), &["wc", "-l"]);
    let changeable = ProgramFile {
        is_settled: false,
        ..ProgramFile::at("/usr/bin/wc")
    };
    let preloaded = ExecRequest {
        env: Some([b"LD_PRELOAD=x".to_vec()].into()),
        ..wc.clone()
    };
    let script = ExecRequest {
        program: ProgramFile::at("/usr/bin/wc"),
        ..script("/usr/bin/wc", "/bin/sh", None)
    };
    let disguised = call(ProgramFile::at("/usr/bin/busybox"), &["wc", "-l"]);
    for request in [
        elsewhere,
        call(changeable, &["wc", "-l"]),
        preloaded,
        script,
        disguised,
    ] {
        assert_eq!(decision(&ruleset, &request), Decision::Ask, "{request:?}");
    }
}

#[test]
fn the_policy_says_which_bins_are_safe() {
    let ruleset = policy(
        "[safe_bins]\nnames = ['sort', 'tool']
        [safe_bins.profile.tool]\noperands = 1\nflags = { '-x' = 'value', '--long' = 'none' }",
    );
    for (argv, wanted) in [
        (&["sort", "-n"][..], Decision::Allow),
        (&["sort", "-o", "x"], Decision::Ask),
        (&["wc", "-l"], Decision::Ask),
        (&["tool", "-x", "y", "z", "--long"], Decision::Allow),
        (&["tool", "y", "z"], Decision::Ask),
        (&["tool", "-y"], Decision::Ask),
    ] {
        assert_eq!(decision(&ruleset, &at_bin(argv)), wanted, "{argv:?}");
    }
    let none = policy("safe_bins.names = []");
    assert_eq!(decision(&none, &at_bin(&["wc"])), Decision::Ask);
}

#[test]
fn a_file_that_a_safe_bin_filters_must_be_allowed() {
    let ruleset = policy(
        "[[allow]]\nid = 'r'\ntool = 'file_read'\npath = '/w/'
        [[allow]]\nid = 'w'\ntool = ['file_read', 'file_write']\npath = '/w/out/'
        [[allow]]\nid = 'c'\ntool = 'file_read'\npath = '/etc/'\ncommand = 'cat'",
    );
    for (number, stream, wanted) in [
        (0, Stream::File("/w/x".into()), Decision::Allow),
        (0, Stream::File("/etc/x".into()), Decision::Ask),
        (1, Stream::File("/w/x".into()), Decision::Ask),
        (1, Stream::File("/w/out/x".into()), Decision::Allow),
        (2, Stream::File("/w/out/x".into()), Decision::Allow),
        (0, Stream::Unknown, Decision::Ask),
        (0, Stream::Plain, Decision::Allow),
    ] {
        let mut request = at_bin(&["wc", "-l"]);
        request.streams[number] = stream.clone();
        assert!(ruleset.wants_streams(&request));
        assert_eq!(decision(&ruleset, &request), wanted, "{number} {stream:?}");
    }
}

#[test]
fn a_deny_and_an_ask_hold_for_a_safe_bin_too() {
    let ruleset = policy("[[deny]]\nid = 'd'\nprogram = 'wc'\n[[ask]]\nid = 'q'\nprogram = 'tr'");
    assert_eq!(decision(&ruleset, &at_bin(&["wc"])), Decision::Deny);
    assert_eq!(
        decision(&ruleset, &at_bin(&["tr", "a", "b"])),
        Decision::Ask
    );
}

#[test]
fn a_wrapper_runs_for_its_payload_is_judged_by_itself() {
    let ruleset = policy("[[allow]]\nid = 'a'\ncommand = 'git status'");
    for argv in [
        &["env", "A=b", "touch", "m"][..],
        &["env"],
        &["timeout", "-k", "5", "5", "touch", "m"],
        &["nice", "-n", "5", "touch"],
        &["xargs", "-0", "rm"],
    ] {
        let request = at_bin(argv);
        let verdict = ruleset.decide(&request, Timestamp::UNIX_EPOCH);
        assert_eq!(verdict.decision(), Decision::Allow, "{argv:?}");
        assert!(matches!(verdict.basis(), Basis::Wrapper), "{argv:?}");
    }
    for argv in [
        &["env", "-S", "touch m"][..],
        &["xargs", "-a", "f", "rm"],
        &["sudo", "touch"],
        &["chroot", "/x", "touch"],
        &["script", "-c", "touch m"],
    ] {
        assert_eq!(decision(&ruleset, &at_bin(argv)), Decision::Ask, "{argv:?}");
    }
    let elsewhere = call(ProgramFile::at("/tmp/env"), &["env", "touch"]);
    assert_eq!(decision(&ruleset, &elsewhere), Decision::Ask);
    let preloaded = ExecRequest {
        env: Some([b"LD_PRELOAD=x".to_vec()].into()),
        ..at_bin(&["env", "touch"])
    };
    assert_eq!(decision(&ruleset, &preloaded), Decision::Ask);
}

#[test]
fn a_deny_looks_ahead_and_an_ask_waits() {
    let ruleset = policy(
        "[[deny]]\nid = 'd'\ncommand = ['rm -rf', 'git push']
        [[deny]]\nid = 'p'\nprogram = '/opt/*'
        [[ask]]\nid = 'q'\nprogram = 'touch'",
    );
    for argv in [
        &["env", "rm", "-rf", "x"][..],
        &[
            "env", "-u", "C", "A=b", "nice", "timeout", "5", "rm", "-r", "--force", "x",
        ],
        &["xargs", "rm", "-fr"],
        &["nice", "/usr/bin/git", "-C", "x", "push"],
        &["sudo", "-u", "root", "rm", "-rf", "x"],
        &["timeout", "5", "/opt/tool"],
        &["env", "-", "rm", "-rf", "x"],
        &["env", "-S", "A=b rm -rf", "x"],
        &["env", "--split=rm -rf x"],
        &["setarch", "-R", "rm", "-rf", "x"],
        &["setarch", "x86_64", "rm", "-rf", "x"],
        &["find", ".", "-name", "x", "-exec", "rm", "-rf", "{}", ";"],
        &["xargs", "env", "rm", "-rf"],
    ] {
        assert_eq!(
            decision(&ruleset, &at_bin(argv)),
            Decision::Deny,
            "{argv:?}"
        );
    }
    for argv in [
        &["env", "touch", "x"][..],
        &["env", "rm", "x"],
        &["nice", "git", "pull"],
    ] {
        assert_eq!(
            decision(&ruleset, &at_bin(argv)),
            Decision::Allow,
            "{argv:?}"
        );
    }
}

#[test]
fn a_deny_by_path_knows_the_files_of_a_payload() {
    let ruleset = policy("[[deny]]\nid = 'd'\npath = '/w/key'");
    let mut request = at_bin(&["env", "cat", "key"]);
    request.cwd = Some("/w".into());
    let paths = ruleset.named_paths(&request);
    let paths = paths.into_iter();
    let destinations =
        paths.map(|path| (path.clone(), crate::request::Destination::as_written(&path)));
    request.destinations = destinations.collect();
    assert_eq!(decision(&ruleset, &request), Decision::Deny);
}

#[test]
fn what_is_not_safe_about_a_safe_bin_is_said() {
    let ruleset = policy("");
    let why = |request: &ExecRequest| {
        let objection = ruleset.objection(request, Timestamp::UNIX_EPOCH);
        objection
            .map(|objection| objection.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        why(&at_bin(&["wc", "--files0-from=x"])),
        "wc is a safe bin, but `--files0-from` is not on its profile"
    );
    let mut redirected = at_bin(&["wc"]);
    redirected.streams[1] = Stream::File("/w/x".into());
    assert_eq!(
        why(&redirected),
        "wc is a safe bin, but no rule lets it write the file on descriptor 1"
    );
    let preloaded = ExecRequest {
        env: Some([b"LD_PRELOAD=x".to_vec()].into()),
        ..at_bin(&["env", "true"])
    };
    assert_eq!(
        why(&preloaded),
        "LD_PRELOAD (loader) is new since the session began"
    );
    assert_eq!(why(&at_bin(&["wc"])), "");
    assert_eq!(why(&at_bin(&["cat"])), "");
}
