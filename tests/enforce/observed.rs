//! `run --observe`: everything runs, and the log says what the policy would have said.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use execward_tests::{Asking, Ground, Ran, binary, is_root, needs_answers, of_type, skip};
use serde_json::Value;

/// Lets shells run, asks about touch, denies ln, and has no rule for the rest.
const RULES: &str = "version = 1\nmode = { security = \"allowlist\", ask = \"on-miss\" }\n\
    [[allow]]\nid = \"shell\"\nprogram = \"@shells\"\n\
    [[ask]]\nid = \"touching\"\nprogram = \"touch\"\n\
    [[deny]]\nid = \"no-ln\"\nprogram = \"ln\"\n";

/// What is asked about, denied, and in no rule; then a program that is not there.
const SCRIPT: &str =
    "/usr/bin/touch asked; /usr/bin/ln -s x denied; /usr/bin/mkdir unknown; /no/such; echo $?";

fn observed(policy: &str) -> Ground {
    Ground::new(policy).option("--observe")
}

/// What was said of the first exec whose argv starts with `words`, what the kernel was told, and what came of it.
fn account<'r>(ran: &'r Ran, words: &[&str]) -> [&'r str; 4] {
    let record = ran.decisions(words).into_iter().next().expect("a decision");
    let text = |pointer| {
        record
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or("-")
    };
    let result = ran.outcome(words).get("result").and_then(Value::as_str);
    [
        text("/decision/verdict"),
        text("/decision/reason"),
        text("/effect/sent"),
        result.unwrap_or("-"),
    ]
}

#[test]
fn everything_runs_and_the_log_says_what_the_policy_would_have_said() {
    let ground = observed(RULES);
    let ran = ground.sh(SCRIPT);
    assert_eq!(ran.stdout, "127\n", "{}", ran.stderr);
    assert!(!ran.stderr.contains("execward"), "{}", ran.stderr);
    let made = ["asked", "unknown"]
        .into_iter()
        .all(|name| ground.has(name));
    let is_linked = fs::symlink_metadata(ground.path("denied")).is_ok();
    assert!(made && is_linked);
    for (program, verdict, reason) in [
        ("/usr/bin/touch", "ask", "rule"),
        ("/usr/bin/ln", "deny", "rule"),
        ("/usr/bin/mkdir", "ask", "default"),
        ("sh", "allow", "rule"),
    ] {
        let expected = [verdict, reason, "continue", "verified"];
        assert_eq!(account(&ran, &[program]), expected, "{program}");
    }
    let tail = said(&ground, &["audit", "tail", "audit.jsonl"]);
    assert!(tail.contains("starts, only observed: "), "{tail}");
    assert!(tail.contains(" deny, and goes on (rule no-ln)"), "{tail}");
    let [start] = of_type(&ran.records, "session.start").collect::<Vec<_>>()[..] else {
        panic!("no start");
    };
    assert_eq!(start["observe"], true);
    let records = ground.records_at_end();
    let end = of_type(&records, "session.end").next().expect("an end");
    assert_eq!(end["count"]["refused"], 0, "{end}");
    assert_eq!(end["count"]["asked"], 0, "{end}");

    // The same without it.
    let enforced = Ground::new(RULES).option("--prompt=none");
    let ran = enforced.sh(SCRIPT);
    assert_eq!(ran.stdout, "127\n", "{}", ran.stderr);
    let none_made = ["asked", "unknown"]
        .into_iter()
        .all(|name| !enforced.has(name));
    assert!(none_made && fs::symlink_metadata(enforced.path("denied")).is_err());
    assert_eq!(ran.records[0].get("observe"), None);
}

/// What the gate would refuse on its own account is held to nothing.
#[test]
fn what_cannot_be_verified_runs_and_that_is_said() {
    let ground = Ground::full("").option("--observe");
    let secret = ground.copy("/usr/bin/touch", "secret");
    fs::set_permissions(&secret, Permissions::from_mode(0o111)).expect("chmod");
    let ran = ground.sh("./secret unread");
    assert!(ground.has("unread"), "{}", ran.stderr);
    let expected = match is_root() {
        // Who may read everything can verify it.
        true => ["allow", "default", "continue", "verified"],
        false => ["deny", "unverifiable", "continue", "unverified"],
    };
    assert_eq!(account(&ran, &["./secret"]), expected);
}

/// Where a debugger holds a task, the gate cannot hold it to what was judged.
#[test]
fn what_another_traces_runs_and_its_verdict_is_that_of_a_gate_that_enforces() {
    if fs::metadata("/usr/bin/strace").is_err() {
        return skip("there is no strace");
    }
    let ground = Ground::full("[[deny]]\nid = \"no-ls\"\nprogram = \"ls\"\n").option("--observe");
    for (program, verdict, reason) in [
        ("/bin/echo", "deny", "unverifiable"),
        ("/bin/ls", "deny", "rule"),
    ] {
        let ran = ground.run(&["/usr/bin/strace", "-o", "/dev/null", program, "/"]);
        assert!(!ran.stdout.is_empty(), "{}", ran.stderr);
        let expected = [verdict, reason, "continue", "unverified"];
        assert_eq!(account(&ran, &[program]), expected, "{program}");
    }
}

#[test]
fn a_line_tells_that_nothing_is_refused_and_so_does_the_status() {
    needs_answers!();
    let script = "/usr/bin/ln -s x denied; echo linked; read line";
    let mut asking = Asking::start(observed(RULES), "socket", script);
    assert_eq!(asking.stdout.next_line().as_deref(), Some("linked"));
    let (code, status, said) = asking.client(&["status"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(status.contains("NOTHING IS REFUSED"), "{status}");
    let _records = asking.end();
}

#[test]
fn nobody_is_asked_on_a_terminal_of_what_is_only_observed() {
    let ground = observed(RULES).option("--prompt=tty");
    let ran = ground.sh("echo ran");
    assert_eq!(ran.status.code(), Some(125), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("contradict each other"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stdout, "");
}

const LEARN: [&str; 5] = ["policy", "learn", "--policy", "policy.toml", "audit.jsonl"];

/// What `execward words…` says of it, on both outputs.
fn said(ground: &Ground, words: &[&str]) -> String {
    let Output { stdout, stderr, .. } = Command::new(binary("execward"))
        .args(words)
        .current_dir(ground.path(""))
        .env("HOME", ground.path(""))
        .output()
        .expect("execward");
    String::from_utf8([stdout, stderr].concat()).expect("text")
}

#[test]
fn what_was_only_observed_is_learned_where_that_is_said_and_no_deny_is_lifted() {
    let ground = observed(RULES);
    let _ran = ground.sh(SCRIPT);
    let nothing = said(&ground, &[&LEARN[..], &["--asked"]].concat());
    assert!(!nothing.contains("[[allow]]"), "{nothing}");
    let learned = said(&ground, &[&LEARN[..], &["--observed"]].concat());
    assert!(learned.contains("mkdir"), "{learned}");
    assert!(!learned.contains("\"ln\""), "{learned}");
    fs::write(ground.path("learned.toml"), &learned).expect("a policy");
    for made in ["asked", "unknown", "denied"] {
        fs::remove_file(ground.path(made))
            .or_else(|_| fs::remove_dir(ground.path(made)))
            .expect("made");
    }
    let ground = ground
        .without("--observe")
        .option("--prompt=none")
        .option("--policy=learned.toml");
    let ran = ground.sh(SCRIPT);
    assert!(ground.has("unknown"), "{learned}\n{}", ran.stderr);
    // A rule asks about the one, and denies the other.
    assert!(!ground.has("asked") && fs::symlink_metadata(ground.path("denied")).is_err());
}
