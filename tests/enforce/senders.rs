//! Who may answer, and who may not.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use execward_tests::{Asking, Ground, Question, binary, needs_answers, of_type, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::approvals::ground;

fn hello() -> String {
    json!({"type": "hello", "protocol": 1}).to_string()
}

/// `allow` for `question`, as a client says it.
fn allow(question: &Question) -> String {
    json!({
        "type": "approval_response",
        "sessionId": question.message["sessionId"],
        "requestId": question.id,
        "digest": question.message["digest"],
        "decision": "allow-once",
    })
    .to_string()
}

fn say(stream: &UnixStream, line: &str) {
    (&*stream)
        .write_all(format!("{line}\n").as_bytes())
        .expect("a socket");
}

#[test]
fn no_member_of_the_session_answers_its_own_question() {
    needs_answers!();
    let parks = binary("fixture-parks").display().to_string();
    // The shell reads what its child is to send, and where; twice, the second time from an orphan.
    let script = format!(
        "/usr/bin/touch a & read socket; read text; {parks} sends \"$text\" $socket; echo sent; \
         ({parks} sends \"$text\" $socket & ) ; read go; echo over"
    );
    let mut asking = Asking::sh("", &script);
    let question = asking.question();
    let mut stdin = asking.stdin();
    let socket = asking.socket().display().to_string();
    let text = format!("{}\\n{}", hello(), allow(&question));
    write!(stdin, "{socket}\n{}\n", text.replace('\\', "\\\\")).unwrap();
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "sent") {
        lines.push(asking.stdout.next_line().expect("a line"));
    }
    let refused = || {
        let records = asking.ground().records();
        of_type(&records, "approval.refused").count()
    };
    execward_tests::until("both refusals", || (refused() >= 2).then_some(()));
    assert!(!asking.has_run("a"));
    // The very same words from outside are an answer.
    asking.answer(&["deny", &question.id]);
    writeln!(stdin, "go").unwrap();
    drop(stdin);
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("deny", "user"));
    assert!(!asking.has_run("a"));
}

/// Whoever called connect is outside; whoever sends is not.
#[test]
fn a_socket_that_is_inherited_into_the_session_answers_nothing() {
    needs_answers!();
    let mut first = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = first.question();
    let connected = first.connect();
    let fd = connected.as_raw_fd();
    // Another session, whose CMD gets the connection as descriptor 3.
    let parks = binary("fixture-parks").display().to_string();
    let other = Ground::full("");
    let gated = other.command(&[
        &parks,
        "sends",
        &format!("{}\n{}", hello(), allow(&question)),
    ]);
    keep_on_exec(&connected);
    let mut outer = std::process::Command::new("bash");
    outer
        .args(["-c", &format!("exec 3<&{fd}; exec \"$@\""), "x"])
        .arg(gated.get_program())
        .args(gated.get_args())
        .current_dir(other.path(""))
        .stdin(Stdio::null());
    for (name, value) in gated.get_envs() {
        outer.env(name, value.unwrap_or_default());
    }
    let (_, stdout, stderr) = execward_tests::finish(outer);
    assert!(
        stdout.contains("you may not use this channel"),
        "{stdout}{stderr}"
    );
    drop(connected);
    assert!(!first.has_run("a"));
    let refused = execward_tests::until("the record", || {
        let records = first.ground().records();
        of_type(&records, "approval.refused").next().cloned()
    });
    assert!(
        refused["detail"]
            .as_str()
            .unwrap()
            .contains("seccomp filters"),
        "{refused}"
    );
    first.answer(&["allow", &first.question().id]);
    let records = first.end();
    assert_eq!(ground(&records, "a"), ("allow", "user"));
}

/// A number can become another process's; so a message counts from the process that connected, while
/// it lives, and from no other.
#[test]
fn a_message_of_another_process_than_the_one_that_connected_is_refused() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    let connected = asking.connect();
    keep_on_exec(&connected);
    // Outside of any session, of this uid, alive until it has been looked at, and not who connected.
    let fd = connected.as_raw_fd();
    let says = format!("printf '%s\\n%s\\n' \"$1\" \"$2\" >&{fd}; read -r _");
    let mut other = std::process::Command::new("bash");
    other.args(["-c", &says, "x", &hello(), &allow(&question)]);
    let mut other = other.stdin(Stdio::piped()).spawn().expect("bash");
    let refused = execward_tests::until("the record", || {
        let records = asking.ground().records();
        of_type(&records, "approval.refused").next().cloned()
    });
    drop(other.stdin.take());
    other.wait().expect("its end");
    assert!(refused["detail"].is_string(), "{refused}");
    assert!(!asking.has_run("a"));
    asking.answer(&["deny", &question.id]);
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("deny", "user"));
}

/// What lies in the queue of a connection whose process is gone is nobody's word any more.
#[test]
fn a_message_of_a_process_that_has_ended_is_refused() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    let gate = gate_of(asking.front().id());
    kill(gate, Signal::SIGSTOP).expect("stop");
    let mut gone = std::process::Command::new("python3");
    gone.args(["-c", "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ns.sendall(sys.argv[2].encode())"]);
    gone.arg(asking.socket())
        .arg(format!("{}\n{}\n", hello(), allow(&question)));
    assert!(gone.status().expect("python3").success());
    kill(gate, Signal::SIGCONT).expect("continue");
    asking.answer(&["deny", &question.id]);
    let records = asking.end();
    assert!(!asking.has_run("a"));
    assert_eq!(ground(&records, "a"), ("deny", "user"));
}

/// A member that listens where clients look, as a child of CMD and as an orphan that the gate adopts.
#[test]
fn a_client_knows_a_false_gate() {
    needs_answers!();
    needs_answers!();
    const SERVES: &str = "import os,socket,sys\n\
        if sys.argv[2] == 'orphan' and os.fork(): sys.exit()\n\
        s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n\
        print('listens', flush=True)\n\
        c,_=s.accept()\n\
        try:\n\
        \x20   c.sendall(b'{\"type\":\"hello\",\"protocol\":1,\"sessionId\":\"s\",\"session\":\"false\"}\\n')\n\
        \x20   print('heard', len(c.recv(99)))\n\
        except OSError: print('heard 0')";
    for kind in ["child", "orphan"] {
        let script = format!("python3 -c \"$1\" false.socket {kind}; read go");
        let ground = Ground::full("").option("--prompt=socket");
        let mut gated = ground.command(&["sh", "-c", &script, "sh", SERVES]);
        let mut front = gated
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = execward_tests::Lines::of(front.stdout.take().unwrap());
        assert_eq!(lines.next_line().as_deref(), Some("listens"));
        let mut client = std::process::Command::new(binary("execward"));
        client
            .args(["pending", "--control"])
            .arg(ground.path("false.socket"));
        let (status, stdout, stderr) = execward_tests::finish(client);
        assert_eq!(status.code(), Some(7), "{stdout}{stderr}");
        assert!(
            stderr.contains("the socket is not served by a gate"),
            "{stderr}"
        );
        assert_eq!(lines.next_line().as_deref(), Some("heard 0"), "{kind}");
        drop(front.stdin.take());
        let _status = execward_tests::end_of(&mut front);
    }
}

/// The gate below a front.
fn gate_of(front: u32) -> Pid {
    let children = std::fs::read_to_string(format!("/proc/{front}/task/{front}/children"));
    let children = children.expect("the front's children");
    let gate = children.split(' ').next().and_then(|pid| pid.parse().ok());
    Pid::from_raw(gate.expect("a gate"))
}

fn keep_on_exec(stream: &UnixStream) {
    nix::fcntl::fcntl(stream, nix::fcntl::F_SETFD(nix::fcntl::FdFlag::empty())).expect("fcntl");
}

#[test]
fn auto_asks_while_a_client_is_subscribed_and_it_hears_of_everything() {
    needs_answers!();
    if std::fs::File::open("/dev/tty").is_ok() {
        return execward_tests::skip("the tests run on a terminal, so auto asks there");
    }
    let rules = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let script = "read go; /usr/bin/touch a; echo $?; read go; /usr/bin/touch b; echo $?";
    let mut asking = Asking::start(Ground::full(rules), "auto", script);
    let mut stdin = asking.stdin();
    let stream = asking.connect();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["protocol"], 1);
    say(&stream, &hello());
    say(&stream, &json!({"type": "subscribe"}).to_string());
    assert_eq!(next()["type"], "subscribed");
    writeln!(stdin, "go").unwrap();
    let required = next();
    assert_eq!(required["type"], "approval_required");
    let mut answer = json!({
        "type": "approval_response", "decision": "allow-once",
        "sessionId": required["sessionId"], "requestId": required["requestId"],
        "digest": "0",
    });
    // An answer about other facts, and one to another session, are none.
    say(&stream, &answer.to_string());
    assert_eq!(next()["type"], "error");
    answer["digest"] = required["digest"].clone();
    answer["sessionId"] = "another".into();
    say(&stream, &answer.to_string());
    assert_eq!(next()["type"], "error");
    assert!(!asking.has_run("a"));
    answer["sessionId"] = required["sessionId"].clone();
    say(&stream, &answer.to_string());
    let settled = next();
    assert_eq!(
        (&settled["type"], &settled["isAllowed"]),
        (&"approval_settled".into(), &true.into())
    );
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    writeln!(stdin, "go").unwrap();
    let second = next();
    asking.answer(&["deny", second["requestId"].as_str().unwrap()]);
    while next()["type"] != "approval_settled" {}
    drop(stdin);
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("allow", "user"));
    assert_eq!(ground(&records, "b"), ("deny", "user"));
}

#[test]
fn auto_without_anyone_refuses() {
    if std::fs::File::open("/dev/tty").is_ok() {
        return execward_tests::skip("the tests run on a terminal, so auto asks there");
    }
    let rules = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let ran = Ground::full(rules).sh("/usr/bin/touch marker; echo $?");
    assert_eq!(ran.stdout, "126\n");
    let decision = &ran.decisions(&["/usr/bin/touch"])[0]["decision"];
    assert_eq!(decision["reason"], "no_approver");
}

#[test]
fn a_client_that_says_nonsense_or_never_reads_costs_nobody_anything() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    let nonsense = asking.connect();
    say(&nonsense, "nonsense");
    let deaf = asking.connect();
    say(&deaf, &hello());
    for _ in 0..2000 {
        let list = format!("{}\n", json!({"type": "list"}));
        if (&deaf).write_all(list.as_bytes()).is_err() {
            break;
        }
    }
    asking.answer(&["allow", &question.id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    let _records = asking.end();
}

/// Whoever says nothing takes no other's place for long, and who finds none is told so.
#[test]
fn silent_clients_keep_nobody_from_answering() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    let mut silent = Vec::new();
    let told = until("a connection too many", || {
        let mut stream = BufReader::new(asking.connect());
        let mut first = String::new();
        stream.read_line(&mut first).expect("a line");
        silent.push(stream);
        (!first.contains("hello")).then_some(first)
    });
    assert!(told.contains("16 clients are connected already"), "{told}");
    for stream in &mut silent {
        while stream
            .read_line(&mut String::new())
            .is_ok_and(|len| len > 0)
        {}
    }
    asking.answer(&["deny", &question.id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let _records = asking.end();
}

#[test]
fn refused_senders_are_counted_and_do_not_fill_the_log() {
    needs_answers!();
    const TRIES: u64 = 3000;
    let mut asking = Asking::sh(
        "",
        "read socket; /usr/bin/python3 -c '
import socket, sys
for _ in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1); s.close()
' $socket 3000; echo $?",
    );
    let socket = asking.socket();
    writeln!(asking.stdin(), "{}", socket.display()).unwrap();
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    let records = asking.end();
    let refused: Vec<_> = of_type(&records, "approval.refused").collect();
    let count = |record: &&Value| {
        let detail = record["detail"].as_str().expect("a detail");
        let before = detail
            .split("; ")
            .nth(1)
            .and_then(|it| it.split(' ').next());
        1 + before.map_or(0, |it| it.parse::<u64>().expect("a number"))
    };
    assert_eq!(refused.iter().map(count).sum::<u64>(), TRIES);
    assert!(refused.len() < 64 + 60, "{}", refused.len());
}
