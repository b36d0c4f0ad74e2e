//! The text that a shell is given, looked at before any of it runs.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use execward_tests::{Asking, Ground, Lines, Ran, end_of, needs_answers, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::lifetime::gate_of;

const RULES: &str = "[[deny]]\nid = \"no-push\"\ncommand = \"git push\"\nreason = \"a person publishes\"\n\
    instead = \"commit\"\n\
    [[deny]]\nid = \"secret\"\npath = \"DIR/secret\"\n\
    [[deny]]\nid = \"outside\"\ntool = \"file_write\"\npath = \"!DIR/\"\n\
    [[deny]]\nid = \"no-kill\"\ncommand = [\"kill\", \"printf\"]\n";

fn ground() -> Ground {
    let ground = Ground::full(RULES);
    fs::create_dir(ground.path("sub")).expect("a directory");
    fs::write(ground.path("secret"), "").expect("a file");
    symlink("../secret", ground.path("sub/link")).expect("a link");
    ground
}

/// Of a session whose CMD is this text in `sh`: whether it was refused, by which rule.
fn refused_by(ran: &Ran) -> Option<String> {
    let decided = &ran.decisions(&["sh", "-c"])[0]["decision"];
    let is_refused = decided["verdict"] == "deny";
    assert_eq!(ran.code() == Some(126), is_refused, "{}", ran.stderr);
    is_refused.then(|| decided["rule"]["id"].as_str().expect("a rule").to_owned())
}

#[test]
fn nothing_runs_of_a_text_of_which_a_part_is_denied() {
    let ground = ground();
    let ran = ground.run(&["sh", "-c", "touch made; git -C sub push"]);
    assert_eq!(refused_by(&ran).as_deref(), Some("no-push"));
    assert!(!ground.has("made"));
    assert!(ran.decisions(&["touch"]).is_empty());
    let decision = ran.decisions(&["sh"])[0];
    assert_eq!(decision["effect"]["errno"], "EPERM");
    assert_eq!(
        decision["decision"]["detail"],
        "its text: \"git -C sub push\""
    );
    let commands = serde_json::json!(["touch made", "git -C sub push"]);
    assert_eq!(decision["proc"]["shell"]["commands"], commands);
    let said =
        "(rule no-push, for \"git -C sub push\" in its text): a person publishes. Instead: commit";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    let ran = ground.run(&["sh", "-c", "touch made; echo 'git push' >sub/x 2>/dev/null"]);
    assert_eq!(refused_by(&ran), None);
    assert!(ground.has("made"));
    let untold = &ran.decisions(&["sh"])[0]["proc"]["shell"]["untold"];
    let expected = [
        "redirection `>sub/x` at 1:29",
        "redirection `2>/dev/null` at 1:36",
    ];
    assert_eq!(*untold, serde_json::json!(expected));
}

#[test]
fn each_part_is_judged_where_the_text_puts_it() {
    let ground = ground();
    let secret = ground.path("secret").display().to_string();
    for (text, rule) in [
        ("true && env A=1 git push", "no-push"),
        ("if false; then git push; fi", "no-push"),
        ("eval 'git push'", "no-push"),
        ("sh -c 'git push'", "no-push"),
        ("kill -0 1", "no-kill"),
        ("cd sub && cat ../secret", "secret"),
        ("cd sub; cat link", "secret"),
        ("(cd sub; cat ../secret)", "secret"),
        ("sh -c 'cd sub'; cat secret", "secret"),
        ("echo x > secret", "secret"),
        // A substitution of nothing is an error to the grammar alone.
        ("echo x > secret; : $()", "secret"),
        ("git push; : $()", "no-push"),
        ("cat <<E\nx\nE\ngit push", "no-push"),
        ("echo x >> sub/link", "secret"),
        ("cat < secret", "secret"),
        ("echo x > /tmp/execward-none", "outside"),
        ("cd sub; echo x > ../../execward-none", "outside"),
    ] {
        assert_eq!(
            refused_by(&ground.run(&["sh", "-c", text])).as_deref(),
            Some(rule),
            "{text}"
        );
    }
    for text in [
        "true || echo git push",
        "cat <<E\n E\ngit push\nE",
        "cat <<A <<B\nA\ngit push\nB",
        "cat <<E\n E\necho x > secret\nE",
        "sh -n -c 'git push'",
        // To a builtin it is a text.
        &format!("echo {secret}; test -f {secret} || true"),
        "cat <sub/x 2>/dev/null || true",
        "cd sub; echo x > x",
        "echo x 2>/dev/null >/dev/null",
        "mkdir -p a/b && touch a/b/c",
        // What a builtin says is not what the program of its name would.
        "printf x; [ a = b ] || true",
        // A function or an alias of that name is no program.
        "git() { echo x; }; git push",
        "f() { echo x > secret; }; cd sub; f",
        "alias git=echo; true || git push",
        // A shell of its own goes nowhere for the others; where a directory is not there, nobody goes.
        "sh -c 'cd sub'; cd sub; sh -c 'cd ..'; cat x",
        "(cd sub; echo x > secret2); cd sub; (cd ..); echo x > x",
        "mkdir none; cd none; echo x > secret; rm -r ../none",
        "trap 'cd sub' USR1; echo x > '~x'",
        // Where that is, only the running shell can tell.
        "d=sub; cd $d; cat secret 2>/dev/null || true; echo x > secret",
    ] {
        let ran = ground.run(&["sh", "-c", text]);
        assert_eq!(refused_by(&ran), None, "{text}");
        assert_eq!(ran.code(), Some(0), "{text}: {}", ran.stderr);
    }
    // What it does not tell beforehand is refused when it comes.
    let ran = ground.run(&["sh", "-c", "p=push; touch one; git $p; echo $?"]);
    assert_eq!((refused_by(&ran), ran.stdout.as_str()), (None, "126\n"));
    assert!(ground.has("one"));
}

#[test]
fn every_guise_of_a_shell_is_one() {
    let ground = ground();
    let linked = ground.path("linked").display().to_string();
    symlink("/bin/bash", &linked).expect("a link");
    for cmd in [
        &["/bin/sh", "-c", "git push"][..],
        &["bash", "-ec", "git push", "x"],
        &["bash", "-O", "extglob", "-c", "git push"],
        &[&linked, "-c", "git push"],
        &["busybox", "sh", "-c", "git push"],
    ] {
        let ran = ground.run(cmd);
        assert_eq!(ran.code(), Some(126), "{cmd:?}: {}", ran.stderr);
        assert_eq!(ran.decisions(&[])[0]["decision"]["rule"]["id"], "no-push");
    }
    // The argument of another program is none.
    assert_eq!(ground.run(&["echo", "-c", "git push"]).code(), Some(0));
}

#[test]
fn a_text_that_is_not_analysed_is_judged_by_what_it_runs_alone() {
    let ground = ground();
    let long = format!("touch long; git push; # {}", "x".repeat(70_000));
    let ran = ground.run(&["bash", "-c", &long]);
    let decision = ran.decisions(&[])[0];
    assert_eq!(decision["decision"]["verdict"], "allow");
    let said = decision["proc"]["shell"]["not_analysed"]
        .as_str()
        .expect("why");
    assert!(said.contains("longer than 65536 bytes"), "{said}");
    assert_eq!(
        ran.decisions(&["git"])[0]["decision"]["rule"]["id"],
        "no-push"
    );
    assert!(ground.has("long"));
}

/// The child of a process that is execward with that argument.
fn child_called(parent: Pid, argument: &str) -> Pid {
    until("a process of execward's own", || {
        let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
        children.split_whitespace().find_map(|child| {
            let line = fs::read(format!("/proc/{child}/cmdline")).ok()?;
            let is_it = line == format!("execward\0{argument}\0").as_bytes();
            is_it.then(|| Pid::from_raw(child.parse().expect("a pid")))
        })
    })
}

/// What a text could make of the parser is bounded by the kernel.
#[test]
fn the_parser_may_do_nothing_but_parse() {
    let ground = ground();
    let mut front = ground
        .command(&["sh", "-c", "read x"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("a session");
    let front_pid = Pid::from_raw(i32::try_from(front.id()).expect("a pid"));
    let keeper = child_called(gate_of(front_pid), "__shell");
    let parser = child_called(keeper, "__parse");
    until("its answer", || (ground.records().len() > 1).then_some(()));
    let status = fs::read_to_string(format!("/proc/{parser}/status")).expect("a status");
    for line in ["Seccomp:\t2", "NoNewPrivs:\t1"] {
        assert!(status.contains(line), "{status}");
    }
    let descriptors = fs::read_dir(format!("/proc/{parser}/fd"));
    // Its own socket, and where nobody hears it. Another user's may not be looked at.
    assert!(descriptors.is_err() || descriptors.is_ok_and(|open| open.count() == 3));
    drop(front.stdin.take());
    assert!(!end_of(&mut front).success());
    for process in [keeper, parser] {
        until("its end", || {
            let status = fs::read_to_string(format!("/proc/{process}/status"));
            status.is_err().then_some(())
        });
    }
}

#[test]
fn without_its_parser_a_session_goes_on() {
    let ground = ground();
    let script = "read x; sh -c 'touch one; git push'; echo $?; sh -c 'touch two'; echo $?";
    let path = ground.path("script.sh");
    fs::write(&path, script).expect("a script");
    let mut front = ground
        .command(&["sh", &path.display().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a session");
    let front_pid = Pid::from_raw(i32::try_from(front.id()).expect("a pid"));
    let keeper = child_called(gate_of(front_pid), "__shell");
    kill(keeper, Signal::SIGKILL).expect("kill");
    until("its end", || {
        let status = fs::read_to_string(format!("/proc/{keeper}/status"));
        status.is_err().then_some(())
    });
    drop(front.stdin.take());
    let lines = Lines::of(front.stdout.take().expect("stdout"));
    // Its parts are met when they come.
    assert_eq!(lines.next_line().as_deref(), Some("126"));
    assert_eq!(lines.next_line().as_deref(), Some("0"));
    assert!(end_of(&mut front).success());
    assert!(ground.has("one") && ground.has("two"));
    let records = ground.records_at_end();
    let said = records
        .iter()
        .filter_map(|it| it["proc"]["shell"]["not_analysed"].as_str());
    assert_eq!(
        said.filter(|why| why.contains("cannot be asked")).count(),
        2
    );
}

#[test]
fn whoever_is_asked_about_a_shell_sees_what_its_text_says() {
    needs_answers!();
    let rules = "[[ask]]\nid = \"ask-bash\"\ncommand = \"bash -c\"\n";
    let mut asking = Asking::sh(rules, "/bin/bash -c 'echo a; cat b > c'; echo $?");
    let question = asking.question();
    let shell = &question.message["request"]["proc"]["shell"];
    assert_eq!(shell["commands"], serde_json::json!(["echo a", "cat b"]));
    assert_eq!(
        shell["untold"],
        serde_json::json!(["redirection `> c` at 1:15"])
    );
    asking.answer(&["deny", &question.id]);
    assert_eq!(asking.stdout.next_line().expect("a status"), "126");
    let _records = asking.end();
}
