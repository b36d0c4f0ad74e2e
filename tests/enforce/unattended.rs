//! Nobody is there to be asked: a question is settled at once, and the refusal says what to do about it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use execward_tests::{Asking, Ground, Ran, needs_answers, of_type};
use serde_json::{Value, json};

use crate::approvals::ground;

/// A policy that lets a shell run and asks about the rest, with `more` of its mode and `rules`.
fn asks_about_the_rest(more: &str, rules: &str) -> String {
    format!(
        "version = 1\nmode = {{ security = \"allowlist\", ask = \"on-miss\"{more} }}\n\
         [[allow]]\nid = \"shell\"\nprogram = \"@shells\"\n{rules}"
    )
}

/// `script` under `policy`, with nobody to ask.
fn alone(policy: &str, prompt: &str, script: &str) -> Ran {
    let ground = Ground::new(policy).only_option("--prompt", prompt);
    ground.sh(script)
}

fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

#[test]
fn the_line_has_a_rule_to_paste_and_with_it_the_call_runs() {
    let script = "/usr/bin/touch marker; echo $?";
    let ran = alone(&asks_about_the_rest("", ""), "none", script);
    assert_eq!(ran.stdout, "126\n");
    let line = ran.stderr.trim_end();
    let (_, rule) = line.split_once(". To allow: ").expect(line);
    let (rule, _) = rule.rsplit_once(" [").expect("an ID");
    assert!(line.len() < 512 && line.is_ascii(), "{line}");
    assert!(line.contains("nobody can answer"), "{line}");
    // The record has all of it, and both are rules.
    let decision = &ran.decisions(&["/usr/bin/touch", "marker"])[0]["decision"];
    assert_eq!(decision["reason"], "no_approver");
    let recorded = decision["to_allow"].as_str().expect("a rule").to_owned();
    assert!(recorded.contains(rule), "{recorded}");
    for rule in [format!("[[allow]]\nid = \"pasted\"\n{rule}\n"), recorded] {
        let ran = alone(&asks_about_the_rest("", &rule), "none", script);
        assert_eq!(ran.stdout, "0\n", "{rule}{}", ran.stderr);
    }
}

#[test]
fn what_no_rule_to_paste_helps_against_names_what_explains_it() {
    // An ask of the same layer is lifted by no allow; a long call has a rule that no line holds.
    let asks = "[[ask]]\nid = \"q\"\nprogram = \"touch\"\n";
    let long = format!("/usr/bin/ls /{}", "x".repeat(200));
    for (rules, script, end) in [
        (asks, "/usr/bin/touch a", " says why ["),
        ("", &*format!("{long}\u{e9}\u{1b}[31m"), "["),
    ] {
        let ran = alone(&asks_about_the_rest("", rules), "none", script);
        let line = ran.stderr.lines().next().expect("a line");
        assert!(line.len() < 512 && line.is_ascii(), "{line}");
        assert!(line.contains(end), "{line}");
    }
}

#[test]
fn nobody_to_ask_means_what_the_policy_says_and_no_waiting() {
    let prompts: &[&str] = match has_terminal() {
        true => &["none"],
        false => &["none", "auto"],
    };
    for prompt in prompts {
        for (more, status) in [("", "126\n"), (", ask_fallback = \"allowlist\"", "126\n")] {
            let policy = asks_about_the_rest(more, "");
            let ran = alone(&policy, prompt, "/usr/bin/touch marker; echo $?");
            assert_eq!(ran.stdout, status, "{prompt} {more}");
        }
        let full = "version = 1\nmode = { security = \"full\", ask = \"always\", \
            ask_fallback = \"full\" }\n[[ask]]\nid = \"q\"\ncommand = \"touch asked\"\n";
        let script = "/usr/bin/touch free; echo $?; /usr/bin/touch asked; echo $?";
        let ran = alone(full, prompt, script);
        assert_eq!(ran.stdout, "0\n126\n", "{prompt}");
        assert_eq!(ground(&ran.records, "free"), ("allow", "no_approver"));
        assert_eq!(ground(&ran.records, "asked"), ("deny", "no_approver"));
        assert_eq!(of_type(&ran.records, "exec.held").count(), 0);
    }
}

/// A client that is subscribed.
struct Subscriber {
    stream: UnixStream,
    lines: std::io::Lines<BufReader<UnixStream>>,
}

impl Subscriber {
    fn of(asking: &Asking) -> Self {
        let stream = asking.connect();
        let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
        for message in [
            json!({"type": "hello", "protocol": 1}),
            json!({"type": "subscribe"}),
        ] {
            writeln!(&stream, "{message}").expect("a socket");
        }
        while !lines
            .next()
            .expect("a line")
            .expect("text")
            .contains("\"subscribed\"")
        {}
        Self { stream, lines }
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("a message")
    }

    fn leave(self) {
        self.stream
            .shutdown(std::net::Shutdown::Both)
            .expect("a socket");
    }
}

#[test]
fn a_question_whose_last_approver_leaves_is_settled_at_once() {
    needs_answers!();
    if has_terminal() {
        return execward_tests::skip("the tests run on a terminal, so auto asks there");
    }
    let rules = "ask_timeout = \"2h\"\n[[ask]]\nid = \"q\"\nprogram = \"touch\"\n";
    let script = "read go; /usr/bin/touch a; echo $?";
    let mut asking = Asking::start(Ground::full(rules), "auto", script);
    let mut stdin = asking.stdin();
    let (mut one, other) = (Subscriber::of(&asking), Subscriber::of(&asking));
    writeln!(stdin, "go").unwrap();
    assert_eq!(one.next()["type"], "approval_required");
    // While one is left, it waits.
    other.leave();
    let question = asking.question();
    one.leave();
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    drop(stdin);
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("deny", "no_approver"));
    let decided = crate::approvals::decision(&records, "a");
    assert_eq!(decided["exec_id"], question.id.as_str());
}

#[test]
fn an_approver_that_answers_and_leaves_is_heard() {
    needs_answers!();
    if has_terminal() {
        return execward_tests::skip("the tests run on a terminal, so auto asks there");
    }
    let rules = "[[ask]]\nid = \"q\"\nprogram = \"touch\"\n";
    let script = "read go; for i in 1 2 3 4 5 6 7 8; do /usr/bin/touch $i; echo $?; read go; done";
    let mut asking = Asking::start(Ground::full(rules), "auto", script);
    let mut stdin = asking.stdin();
    for _ in 0..8 {
        let mut subscriber = Subscriber::of(&asking);
        writeln!(stdin, "go").unwrap();
        let required = subscriber.next();
        let answer = json!({
            "type": "approval_response", "decision": "allow-once",
            "sessionId": required["sessionId"], "requestId": required["requestId"],
            "digest": required["digest"],
        });
        writeln!(&subscriber.stream, "{answer}").unwrap();
        drop(subscriber);
        assert_eq!(asking.stdout.next_line().unwrap(), "0");
    }
    drop(stdin);
    let _records = asking.end();
}
