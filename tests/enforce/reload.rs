//! Another policy for a live session: who may load one, and what becomes of what is none.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ChildStdin;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use execward_tests::{Asking, Ground, binary, needs_answers, of_type};
use serde_json::{Value, json};

use crate::approvals::ground as verdict;

/// Runs each line it reads as a command, and prints its status.
const SHELL: &str = "while read -r line; do $line; echo $?; done";

const DENY_TOUCH: &str = "[[deny]]\nid = \"no-touch\"\nprogram = \"touch\"\n";

/// A session whose policy has `rules`, and the shell's standard input.
fn session(rules: &str) -> (Asking, ChildStdin) {
    let mut asking = Asking::start(Ground::full(rules), "socket", SHELL);
    let stdin = asking.stdin();
    let mut session = (asking, stdin);
    // Once it runs commands, its socket is there.
    assert_eq!(status_of("/usr/bin/true", &mut session), "0");
    session
}

/// Has the session's shell run `command`; its status.
fn status_of(command: &str, (asking, stdin): &mut (Asking, ChildStdin)) -> String {
    writeln!(stdin, "{command}").expect("a shell");
    asking.stdout.next_line().expect("a status")
}

/// `name` in the session's directory, with `text`.
fn file(asking: &Asking, name: &str, text: &str) -> String {
    let path = asking.ground().path(name);
    std::fs::write(&path, text).expect("a policy");
    path.display().to_string()
}

/// A connection by hand to the session's channel.
struct Client(BufReader<UnixStream>);

impl Client {
    fn greeted(asking: &Asking) -> Self {
        let mut client = Self(BufReader::new(asking.connect()));
        let hello = client.next();
        assert_eq!(hello.get("type"), Some(&json!("hello")));
        client.say(&json!({"type": "hello", "protocol": 1}));
        client
    }

    fn say(&self, message: &Value) {
        writeln!(self.0.get_ref(), "{message}").expect("a socket");
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }
}

fn end((mut asking, stdin): (Asking, ChildStdin)) -> Vec<Value> {
    drop(stdin);
    asking.end()
}

#[test]
fn what_was_denied_passes_once_a_policy_allows_it_and_not_before() {
    needs_answers!();
    let mut session = session(DENY_TOUCH);
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "126");
    let policy = "version = 1\ninclude = [\"mode.toml\"]\n[[allow]]\nid = \"t\"\nargv = [\"touch\", \"a\"]\n";
    let path = file(&session.0, "q.toml", policy);
    file(
        &session.0,
        "mode.toml",
        "version = 1\n[mode]\nsecurity = \"allowlist\"\nask = \"off\"\n",
    );
    let (code, stdout, stderr) = session.0.client(&["policy", "load", &path]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(
        stdout.contains("q.toml, ") && stdout.ends_with("mode.toml (1 rules)\n"),
        "{stdout}"
    );
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "0");
    assert!(session.0.has_run("a"));
    // The whole policy is another: what ran before is on no list now.
    assert_eq!(status_of("/usr/bin/true", &mut session), "126");
    let records = end(session);
    let loaded: Vec<_> = of_type(&records, "policy.loaded").collect();
    assert_eq!(loaded.len(), 1);
    assert_eq!(loaded[0]["sender"]["uid"], nix::unistd::geteuid().as_raw());
    assert_eq!(loaded[0]["policy"].as_array().unwrap().len(), 2);
    let at = |kind: &str, argument: &str| {
        let is_meant = |record: &&Value| {
            record["type"] == kind && (argument.is_empty() || record["proc"]["argv"][1] == argument)
        };
        records
            .iter()
            .rposition(|record| is_meant(&record))
            .unwrap()
    };
    assert!(at("policy.loaded", "") < at("exec.decision", "a"));
}

#[test]
fn a_policy_with_a_fault_is_not_loaded_and_the_one_before_holds() {
    needs_answers!();
    let mut session = session(DENY_TOUCH);
    let faulty = file(&session.0, "q.toml", "version = 1\nsecurity = \"full\"\n");
    let (code, _, stderr) = session.0.client(&["policy", "load", &faulty]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("q.toml:2:1"), "{stderr}");
    assert!(
        stderr.ends_with("the session goes on with the policy that it has\n"),
        "{stderr}"
    );
    let gone = session.0.ground().path("gone.toml").display().to_string();
    let (code, _, stderr) = session.0.client(&["policy", "load", &gone]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("gone.toml"), "{stderr}");
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "126");
    assert_eq!(status_of("/usr/bin/true", &mut session), "0");
    let records = end(session);
    assert_eq!(of_type(&records, "policy.loaded").count(), 0);
    let rejected: Vec<_> = of_type(&records, "policy.rejected").collect();
    assert_eq!(rejected.len(), 1);
    let detail = rejected[0]["detail"].as_str().unwrap();
    assert!(detail.starts_with("the policy has faults"), "{detail}");
}

#[test]
fn no_member_of_the_session_loads_a_policy() {
    needs_answers!();
    let mut session = session(DENY_TOUCH);
    let open = file(
        &session.0,
        "q.toml",
        "version = 1\n[mode]\nsecurity = \"full\"\n",
    );
    let execward = binary("execward").display().to_string();
    let socket = session.0.socket().display().to_string();
    let load = format!("{execward} policy load {open} --control {socket}");
    assert_eq!(status_of(&load, &mut session), "6");
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "126");
    // The very same words from outside load it.
    let (code, _, stderr) = session.0.client(&["policy", "load", &open]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "0");
    let records = end(session);
    assert_eq!(of_type(&records, "policy.loaded").count(), 1);
    assert!(of_type(&records, "approval.refused").count() >= 1);
}

#[test]
fn a_question_is_judged_by_the_policy_that_is_in_force_when_it_is_answered() {
    needs_answers!();
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let mut session = session(ask);
    writeln!(session.1, "/usr/bin/touch a").unwrap();
    let question = session.0.question();
    let mode = "version = 1\n[mode]\nsecurity = \"full\"\n";
    let narrower = file(&session.0, "q.toml", &format!("{mode}{DENY_TOUCH}"));
    session.0.answer(&["policy", "load", &narrower]);
    let (code, said, _) = session.0.client(&["allow", &question.id]);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(session.0.stdout.next_line().unwrap(), "126");
    // Asked by the narrower one's twin, it runs.
    let twin = file(&session.0, "r.toml", &format!("{mode}{ask}"));
    session.0.answer(&["policy", "load", &twin]);
    writeln!(session.1, "/usr/bin/touch b").unwrap();
    session.0.answer(&["allow", &session.0.question().id]);
    assert_eq!(session.0.stdout.next_line().unwrap(), "0");
    let (has_a, has_b) = (session.0.has_run("a"), session.0.has_run("b"));
    let records = end(session);
    assert!(!has_a && has_b);
    assert_eq!(verdict(&records, "a"), ("deny", "rule"));
    assert_eq!(verdict(&records, "b"), ("allow", "user"));
}

#[test]
fn what_is_no_policy_at_all_is_refused_and_changes_nothing() {
    needs_answers!();
    let mut session = session(DENY_TOUCH);
    let mut client = Client::greeted(&session.0);
    for part in [
        "",
        "{",
        "[]",
        "{\"presets\":[\"dve\"],\"files\":[],\"includes\":[]}",
    ] {
        client.say(&json!({"type": "policy_part", "part": part}));
        client.say(&json!({"type": "policy_load"}));
        assert_eq!(client.next()["type"], "policy_rejected", "{part}");
    }
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "126");
    let records = end(session);
    assert_eq!(of_type(&records, "policy.rejected").count(), 4);
}

#[test]
fn a_policy_whose_paths_do_not_answer_holds_nobody_up() {
    needs_answers!();
    execward_tests::needs_served_files!();
    let ground = Ground::full(DENY_TOUCH);
    let stalls = ground.path("stalls").display().to_string();
    std::fs::create_dir(&stalls).expect("a directory");
    let fixture = binary("fixture-stalls").display().to_string();
    let words = ["unshare", "-m", &fixture, &stalls, "--"];
    let mut asking = Asking::start_under(&words, ground, "socket", SHELL);
    let stdin = asking.stdin();
    let mut session = (asking, stdin);
    assert_eq!(status_of("/usr/bin/true", &mut session), "0");

    let mut client = Client::greeted(&session.0);
    let text = format!("version = 1\n[[deny]]\nid = \"d\"\nprogram = \"{stalls}/a/b\"\n");
    let file = json!({"name": "/q.toml", "text": STANDARD.encode(text)});
    let bundle = json!({"presets": [], "files": [file], "includes": []}).to_string();
    for _ in 0..2 {
        client.say(&json!({"type": "policy_part", "part": bundle}));
        client.say(&json!({"type": "policy_load"}));
    }
    // The second is turned away because the first one waits.
    let told = client.next();
    assert_eq!(told["type"], "error", "{told}");
    let why = told["error"].as_str().expect("a reason");
    assert!(
        why.starts_with("another policy is being looked at"),
        "{why}"
    );
    client.say(&json!({"type": "list"}));
    assert_eq!(client.next()["type"], "listed");
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "126");
    let records = end(session);
    assert_eq!(of_type(&records, "policy.loaded").count(), 0);
    assert_eq!(of_type(&records, "session.end").count(), 1);
}

#[test]
fn a_socket_lies_where_control_names_it_also_where_nobody_is_asked() {
    needs_answers!();
    let ground = Ground::full(DENY_TOUCH);
    let socket = ground.path("here").display().to_string();
    let ground = ground.option(&format!("--control={socket}"));
    let mut asking = Asking::start(ground, "none", SHELL);
    let stdin = asking.stdin();
    let mut session = (asking, stdin);
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "126");
    let open = file(
        &session.0,
        "q.toml",
        "version = 1\n[mode]\nsecurity = \"full\"\n",
    );
    let mut load = std::process::Command::new(binary("execward"));
    load.args(["policy", "load", &open, "--control", &socket]);
    load.args(session.0.ground().state());
    let (status, _, stderr) = execward_tests::finish(load);
    assert_eq!(status.code(), Some(0), "{stderr}");
    assert_eq!(status_of("/usr/bin/touch a", &mut session), "0");
    writeln!(session.1, "exit").expect("a shell");
    // The gate takes it away at its end.
    let is_there = || session.0.has_run("here").then_some(());
    execward_tests::until("the socket's end", || is_there().is_none().then_some(()));
    end(session);
}
