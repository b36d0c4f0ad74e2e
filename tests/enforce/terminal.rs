//! A person at a terminal: what is shown, and the keys that end what waits.

mod desk;
mod prompt;
mod relay;

use std::fs;

use execward_tests::{Ground, Terminal, binary, of_type, typed, until};
use serde_json::Value;

use crate::approvals::ground as verdict;

const ASK: &str = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";

/// A terminal in which a session waits for an answer to `touch a`.
fn waiting() -> (Ground, Terminal, String) {
    waiting_for("/usr/bin/touch")
}

/// The same, by that name of touch.
fn waiting_for(touch: &str) -> (Ground, Terminal, String) {
    let ground = Ground::full(ASK);
    let mut terminal = Terminal::open(&ground);
    let command = ground.command(&["sh", "-c", &format!("{touch} a; echo went on")]);
    // Who has no terminal to read from is not asked on it.
    let line = typed(&command);
    terminal.press(&format!("{line} </dev/null; echo status=$?\n"));
    terminal.wait_for("execward: waiting for approval of /usr/bin/touch a: run 'execward allow ");
    let id = terminal.wait_for("'").trim_end_matches('\'').to_owned();
    (ground, terminal, id)
}

/// How the question ended, in the record and on the disk.
fn ended(ground: &Ground) -> Vec<Value> {
    let records = ground.records_at_end();
    let (decision, reason) = verdict(&records, "a");
    assert_eq!(decision, "deny");
    assert!(["signalled", "withdrawn"].contains(&reason), "{reason}");
    assert!(!ground.has("a"));
    assert_eq!(of_type(&records, "exec.held").count(), 1);
    records
}

#[test]
fn control_c_ends_what_waits() {
    let (ground, mut terminal, _) = waiting();
    terminal.press("\x03");
    terminal.wait_for("status=130");
    ended(&ground);
    terminal.close();
}

/// A shell whose child catches the signal and goes on to the next directory of PATH asks no more.
#[test]
fn control_c_ends_a_search_through_the_path() {
    let (ground, mut terminal, _) = waiting_for("touch");
    terminal.press("\x03");
    terminal.wait_for("status=130");
    let records = ground.records_at_end();
    assert!(!ground.has("a"));
    assert_eq!(of_type(&records, "exec.held").count(), 1);
    terminal.close();
}

#[test]
fn control_c_ends_what_waits_behind_a_stop() {
    let (ground, mut terminal, _) = waiting();
    // What waits in the kernel stops only afterwards, and so does the shell that started it by
    // vfork(2) and waits for it.
    terminal.press("\x1a");
    terminal.wait_for("^Z");
    terminal.press("\x03");
    terminal.wait_for("a signal came first");
    terminal.wait_for("Stopped");
    terminal.wait_for("ready> ");
    terminal.press("fg\n");
    terminal.wait_for("ready> ");
    ended(&ground);
    terminal.close();
}

#[test]
fn control_c_ends_what_waits_behind_a_resize() {
    let (ground, mut terminal, _) = waiting();
    terminal.resize(None, 120);
    terminal.press("\x03");
    terminal.wait_for("status=130");
    ended(&ground);
    terminal.close();
}

/// The twin: an answer lets it go, and the terminal shows no more than the waiting line.
#[test]
fn an_answer_from_elsewhere_lets_it_go_on() {
    let (ground, mut terminal, id) = waiting();
    terminal.resize(None, 120);
    let records = ground.records();
    let session = of_type(&records, "session.start")
        .next()
        .expect("a session");
    let name = session["session"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    let mut allow = std::process::Command::new(execward_tests::binary("execward"));
    allow
        .args(["allow", &id, "--session", &name])
        .env("XDG_RUNTIME_DIR", ground.path(""));
    let (status, _, stderr) = execward_tests::finish(allow);
    assert_eq!(status.code(), Some(0), "{stderr}");
    let shown = terminal.wait_for("status=0");
    assert!(
        shown.ends_with("(denied in 5m)\r\nwent on\r\nstatus=0"),
        "{shown}"
    );
    assert!(ground.has("a"));
    assert_eq!(verdict(&ground.records_at_end(), "a"), ("allow", "user"));
    terminal.close();
}

/// The kernel tells the leader of the terminal's session alone; here that is the front.
#[test]
fn a_session_ends_with_its_terminal() {
    let ground = Ground::full("");
    let command = ground.command(&["sh", "-c", "echo ready; while :; do sleep 1; done"]);
    let mut terminal = Terminal::of(&command);
    terminal.wait_for("ready");
    let status = terminal.hang_up();
    assert_eq!(status.code(), Some(128 + 1));
    let records = ground.records_at_end();
    assert_eq!(of_type(&records, "session.end").count(), 1);
}

/// Nobody could continue the leader of a terminal's session: the kernel does not stop it, and here
/// it does not stay stopped.
#[test]
fn control_z_stops_no_session_that_leads_its_terminal() {
    let ground = Ground::full("");
    let command = ground.command(&["sh", "-c", "echo ready; read line; echo got $line"]);
    let mut terminal = Terminal::of(&command);
    terminal.wait_for("ready");
    terminal.press("\x1a");
    terminal.wait_for("^Z");
    terminal.press("hello\n");
    terminal.wait_for("got hello");
    assert_eq!(terminal.end().code(), Some(0));
}

/// What a session types would be read by the person's shell, outside the gate, once the session is over.
#[test]
fn a_session_types_nothing_on_its_terminal() {
    let ground = Ground::full("");
    let mut terminal = Terminal::open(&ground);
    let ways = execward_tests::binary("fixture-ways").display().to_string();
    let execward = execward_tests::binary("execward").display().to_string();
    terminal.press(&format!(
        "{execward} run -q --state state --policy policy.toml -- {ways} type 'touch by-gated'\n"
    ));
    terminal.wait_for("size=0");
    terminal.wait_for("errno=1");
    terminal.wait_for("ready> ");
    terminal.press(&format!("{ways} type 'touch by-free'\n"));
    terminal.wait_for("size=0");
    let told = terminal.wait_for("ready> ");
    // Not what is typed, which the terminal shows as well.
    terminal.press("echo o'v'er\n");
    terminal.wait_for("over\r\n");
    assert!(!ground.has("by-gated"));
    match told.contains("typed") {
        true => assert!(ground.has("by-free"), "{told}"),
        false => execward_tests::skip("this kernel lets nobody type (dev.tty.legacy_tiocsti)"),
    }
    terminal.close();
}

/// Ctrl-S holds the output of a terminal, and whoever writes to it: not the gate, whose lines are lost.
#[test]
fn a_terminal_whose_output_is_held_holds_no_refusal_up() {
    let ground = Ground::full("[[deny]]\nid = \"no\"\nprogram = \"touch\"\n");
    let ways = binary("fixture-ways").display().to_string();
    let script = ground.script(
        "script",
        &format!(
            "echo begins; read line; i=0; while [ $i -lt 50 ]; do \
             {ways} missing /usr/bin/touch >>errnos; i=$((i + 1)); done; : >done; read line"
        ),
    );
    let mut terminal = Terminal::of(&ground.command(&["sh", &script]));
    terminal.wait_for("begins");
    terminal.press("\x13\n");
    until("the end of the execs", || ground.has("done").then_some(()));
    terminal.press("\x11\n");
    assert!(terminal.end().success());
    let errnos = fs::read_to_string(ground.path("errnos")).unwrap();
    assert_eq!(errnos, "errno=1\n".repeat(50));
    let records = ground.records_at_end();
    let denied =
        of_type(&records, "exec.decision").filter(|it| it["decision"]["verdict"] == "deny");
    assert_eq!(denied.count(), 50);
}
