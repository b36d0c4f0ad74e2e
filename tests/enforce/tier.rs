//! A question goes to the people of a higher supervisor: of another session on this machine.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;

use execward_tests::{Asking, Ground, Ran, binary, needs_answers, of_type, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::approvals::{decision, ground};

/// A session whose people may be asked by others, until its standard input is closed.
fn higher() -> Asking {
    let above = Asking::start(Ground::full(""), "socket", "read go; echo over");
    drop(above.connect());
    above
}

/// A policy that puts what `touch` does to the people at `socket`.
fn policy(socket: &Path, more: &str) -> String {
    format!(
        "version = 1\nmode = {{ security = \"full\", escalate_to = \"{}\"{more} }}\n\
         [[ask]]\nid = \"up\"\nprogram = \"touch\"\nescalate = true\n",
        socket.display()
    )
}

/// A session with that policy; its own people are asked nothing.
fn below(above: &Asking, script: &str) -> Asking {
    Asking::start(Ground::new(&policy(&above.socket(), "")), "socket", script)
}

/// The open questions of a session, without its records being looked at.
fn asked(above: &Asking, count: usize) -> Vec<Value> {
    until("questions from below", || {
        let (_, shown, _) = above.client(&["pending", "--json"]);
        let open: Vec<Value> = shown
            .lines()
            .map(|line| serde_json::from_str(line).expect("a question"))
            .collect();
        (open.len() == count).then_some(open)
    })
}

fn id(question: &Value) -> &str {
    question["requestId"].as_str().expect("an ID")
}

#[test]
fn a_higher_supervisor_answers_and_the_exec_goes_on() {
    needs_answers!();
    let mut above = higher();
    let script = "/usr/bin/touch a; echo $?; /usr/bin/touch b; echo $?";
    let mut below = below(&above, script);
    let first = asked(&above, 1).remove(0);
    let (from, proc) = (
        &first["request"]["escalatedFrom"],
        &first["request"]["proc"],
    );
    assert_eq!(proc["argv"], json!(["/usr/bin/touch", "a"]));
    assert_eq!(first["request"]["rule"]["id"], "up");
    let (_, shown, _) = above.client(&["pending"]);
    let name = from["session"].as_str().expect("a name").to_owned();
    assert!(shown.contains(&name), "{shown}");
    // The session that asks shows it to nobody, and what its own people say of it is nothing.
    let (_, shown, _) = below.client(&["pending", "--json"]);
    assert_eq!(shown, "");
    let own = from["requestId"].as_str().expect("an ID").to_owned();
    let (code, ..) = below.client(&["allow", &own]);
    assert_ne!(code, Some(0));
    assert!(!below.has_run("a"));
    // What would last is another session's to keep.
    let (code, _, said) = above.client(&["allow", id(&first), "--for", "session"]);
    assert_eq!(code, Some(1), "{said}");
    above.answer(&["allow", id(&first), "--reason", "as planned"]);
    assert_eq!(below.stdout.next_line().unwrap(), "0");
    let second = asked(&above, 1).remove(0);
    above.answer(&["deny", id(&second), "--reason", "not today"]);
    assert_eq!(below.stdout.next_line().unwrap(), "126");
    let records = below.end();
    assert!(below.has_run("a") && !below.has_run("b"));
    assert_eq!(ground(&records, "a"), ("allow", "user"));
    assert_eq!(ground(&records, "b"), ("deny", "user"));
    let approval = &decision(&records, "a")["approval"];
    assert_eq!(approval["channel"], "escalation");
    assert_eq!(approval["by"]["uid"], nix::unistd::geteuid().as_raw());
    assert_eq!(
        approval["escalated_to"],
        above.socket().display().to_string()
    );
    assert_eq!(approval["asked_as"]["requestId"], id(&first));
    assert_eq!(approval["reason"], "as planned");
    let records = above.end();
    assert_eq!(of_type(&records, "escalation.held").count(), 2);
    let settled: Vec<&Value> = of_type(&records, "escalation.settled").collect();
    assert_eq!(settled.len(), 2);
    assert_eq!(settled[0]["exec_id"], id(&first));
    assert_eq!(settled[0]["decision"]["verdict"], "allow");
    assert_eq!(settled[0]["approval"]["escalated_from"]["requestId"], own);
    assert_eq!(settled[0]["approval"]["by"], approval["by"]);
}

/// Runs `touch a` below `socket`, where nobody answers: it is refused, and why is said.
fn refused(socket: &Path, more: &str, why: &str) -> Ran {
    let ground = Ground::new(&policy(socket, more)).only_option("--prompt", "none");
    let ran = ground.sh("/usr/bin/touch a; echo $?");
    assert_eq!(ran.stdout, "126\n");
    assert!(!ground.has("a"));
    let decision = &ran.decisions(&["/usr/bin/touch", "a"])[0]["decision"];
    assert_eq!(decision["verdict"], "deny");
    let said = decision["detail"].as_str().unwrap_or_default();
    assert!(said.contains(why), "{said}");
    assert!(
        said.is_empty() || ran.stderr.contains("no answer of the higher"),
        "{}",
        ran.stderr
    );
    ran
}

fn reason(ran: &Ran) -> &str {
    let decision = &ran.decisions(&["/usr/bin/touch", "a"])[0]["decision"];
    decision["reason"].as_str().expect("a reason")
}

#[test]
fn where_there_is_no_way_up_it_is_refused_and_said() {
    needs_answers!();
    let place = Ground::new("");
    let absent = place.path("absent");
    assert_eq!(
        reason(&refused(&absent, "", "no session is live")),
        "no_approver"
    );
    // Whoever listens there is no gate, and answers nothing in time.
    let deaf = place.path("deaf");
    let _listener = UnixListener::bind(&deaf).expect("a socket");
    let ran = refused(&deaf, ", ask_timeout = \"1s\"", "");
    assert!(["timeout", "no_approver"].contains(&reason(&ran)));
    // A fallback is no way around.
    let more = ", ask = \"always\", ask_fallback = \"full\"";
    let ground = Ground::new(&policy(&absent, more)).only_option("--prompt", "none");
    let ran = ground.sh("/usr/bin/touch a; echo $?; /bin/true; echo $?");
    assert_eq!(ran.stdout, "126\n0\n");
}

#[test]
fn above_nobody_is_asked_where_nobody_is_there() {
    needs_answers!();
    let place = Ground::new("");
    let control = place.path("control");
    let above = Ground::full("").option(&format!("--control={}", control.display()));
    let mut above = Asking::start(above, "none", "read go");
    until("the socket", || {
        std::os::unix::net::UnixStream::connect(&control).ok()
    });
    let ran = refused(&control, "", "nobody is there to be asked");
    assert_eq!(reason(&ran), "no_approver");
    let _records = above.end();
}

#[test]
fn whoever_is_asked_and_dies_has_not_answered() {
    needs_answers!();
    let above = higher();
    let mut below = below(&above, "/usr/bin/touch a; echo $?");
    let _question = asked(&above, 1);
    let front = i32::try_from(above.front().id()).unwrap();
    let children = std::fs::read_to_string(format!("/proc/{front}/task/{front}/children"));
    let gate = children
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    kill(Pid::from_raw(gate), Signal::SIGKILL).unwrap();
    assert_eq!(below.stdout.next_line().unwrap(), "126");
    let records = below.end();
    assert_eq!(ground(&records, "a"), ("deny", "no_approver"));
}

#[test]
fn a_supervisor_above_that_is_stopped_holds_up_nobody_else() {
    needs_answers!();
    let above = higher();
    let front = i32::try_from(above.front().id()).unwrap();
    let children = std::fs::read_to_string(format!("/proc/{front}/task/{front}/children"));
    let gate = children
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let gate = Pid::from_raw(gate);
    kill(gate, Signal::SIGSTOP).unwrap();
    let script = "/usr/bin/touch a & i=0; while [ $i -lt 100 ]; do /bin/true || exit 9; \
        i=$((i+1)); done; echo flowed; wait $!; echo $?";
    let mut below = below(&above, script);
    assert_eq!(below.stdout.next_line().unwrap(), "flowed");
    assert_eq!(below.stdout.next_line().unwrap(), "126");
    kill(gate, Signal::SIGCONT).unwrap();
    let records = below.end();
    assert_eq!(ground(&records, "a"), ("deny", "no_approver"));
}

#[test]
fn a_question_that_is_settled_below_is_none_above() {
    needs_answers!();
    let mut above = higher();
    let mut below = below(
        &above,
        "/usr/bin/touch a & read go; kill $!; wait; echo over",
    );
    let question = asked(&above, 1).remove(0);
    writeln!(below.stdin(), "go").unwrap();
    assert_eq!(below.stdout.next_line().unwrap(), "over");
    assert!(asked(&above, 0).is_empty());
    let (code, ..) = above.client(&["allow", id(&question)]);
    assert_eq!(code, Some(1));
    let _records = below.end();
    let records = above.end();
    let settled = of_type(&records, "escalation.settled").next().unwrap();
    assert_eq!(settled["decision"]["reason"], "withdrawn");
    assert_eq!(settled["decision"]["verdict"], "deny");
}

#[test]
fn no_question_goes_round() {
    needs_answers!();
    // Its own socket is above it: whoever puts the question is below the gate.
    let place = Ground::new("");
    let own = place.path("own");
    let ground = Ground::new(&policy(&own, "")).option(&format!("--control={}", own.display()));
    let ran = ground
        .only_option("--prompt", "socket")
        .sh("/usr/bin/touch a; echo $?");
    assert_eq!(ran.stdout, "126\n");
    assert_eq!(ground_of(&ran), ("deny", "no_approver"));
    // One that was put before is put no further.
    let mut above = higher();
    let stream = above.connect();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(&stream));
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next()["type"], "hello");
    let mut question = json!({
        "type": "escalate", "sessionId": "s", "session": "n", "requestId": "1000", "digest": "d",
        "request": {"proc": {"pid": 1}, "askedAt": "2026-11-29T10:15:31Z",
            "expiresAt": "2226-11-29T10:15:31Z",
            "escalatedFrom": {"sessionId": "t", "session": "m", "requestId": "1000"}},
    });
    writeln!(
        &stream,
        "{}\n{question}",
        json!({"type": "hello", "protocol": 1})
    )
    .unwrap();
    let settled = next();
    assert_eq!(settled["type"], "escalation_settled");
    assert_eq!(settled["isAllowed"], false);
    assert_eq!(settled["reason"], "no_approver");
    assert_eq!(settled["digest"], "d");
    // The twin is put.
    question["request"]
        .as_object_mut()
        .unwrap()
        .remove("escalatedFrom");
    writeln!(&stream, "{question}").unwrap();
    let open = asked(&above, 1).remove(0);
    above.answer(&["allow", id(&open)]);
    assert_eq!(next()["isAllowed"], true);
    let _records = above.end();
}

fn ground_of(ran: &Ran) -> (&str, &str) {
    ground(&ran.records, "a")
}

#[test]
fn no_member_of_a_session_puts_a_question() {
    needs_answers!();
    let parks = binary("fixture-parks").display().to_string();
    let mut above = Asking::start(
        Ground::full(""),
        "socket",
        &format!("read socket; read text; {parks} sends \"$text\" $socket; echo sent; read go"),
    );
    drop(above.connect());
    let hello = json!({"type": "hello", "protocol": 1}).to_string();
    let question = json!({
        "type": "escalate", "sessionId": "s", "session": "n", "requestId": "1000", "digest": "d",
        "request": {"proc": {"pid": 1}, "askedAt": "2026-11-29T10:15:31Z",
            "expiresAt": "2226-11-29T10:15:31Z"},
    });
    let text = format!("{hello}\\n{question}").replace('\\', "\\\\");
    let mut stdin = above.stdin();
    writeln!(stdin, "{}\n{text}", above.socket().display()).unwrap();
    while above.stdout.next_line().expect("a line") != "sent" {}
    let (_, shown, _) = above.client(&["pending", "--json"]);
    assert_eq!(shown, "");
    drop(stdin);
    let records = above.end();
    assert_eq!(of_type(&records, "escalation.held").count(), 0);
    assert!(of_type(&records, "approval.refused").count() > 0);
}
