//! Questions on the user's own terminal, and what passes for an answer.

use std::fs;

use super::desk::Desk;
use crate::approvals::ground as verdict;
use execward_tests::{Ground, binary, finish, needs_answers, of_type, under, until};

const ASK: &str = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";

#[test]
fn a_question_is_drawn_whole_and_its_code_lets_it_run() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("echo before; /usr/bin/touch a 'b c'; read line; echo \"got <$line>\"");
    let shown = desk.sees("answer [d]:");
    for row in [
        "execward: may this run?",
        "program    /usr/bin/touch",
        "arguments   0 /usr/bin/touch",
        "            1 a",
        "            2 \"b c\"",
        "rule       ask-touch (",
    ] {
        assert!(shown.contains(row), "{row}:\n{shown}");
    }
    assert!(!shown.contains("before"), "{shown}");
    desk.answers("a");
    desk.sees("before");
    desk.terminal.press("hello\n");
    // Nothing of what was typed at the question came through.
    let shown = desk.sees("got <hello>");
    assert!(!shown.contains("may this run?"), "{shown}");
    desk.sees("status=0");
    assert!(desk.ground.has("a"));
    assert_eq!(verdict(&desk.close(), "a"), ("allow", "user"));
}

#[test]
fn nothing_but_an_answer_with_its_code_lets_it_run() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch a; echo over");
    desk.sees("answer [d]:");
    desk.terminal.press("y\r");
    desk.sees("! that is no answer");
    // No letters of codes.
    for wrong in ["a\rll\r", "a\r\r", "\r\r\r", "a\ry\r"] {
        desk.terminal.press(wrong);
        desk.sees("! that was not the code");
        desk.terminal.press("?\r");
        desk.sees("! that is no answer");
    }
    desk.terminal.press("\r\r");
    let code = desk.code();
    assert!(!desk.ground.has("a"));
    desk.terminal.press(&format!("{code}\r"));
    desk.sees("over");
    assert!(!desk.ground.has("a"));
    assert_eq!(verdict(&desk.close(), "a"), ("deny", "user"));
}

/// What is recorded as the reason of a no, where `types` types one at the question why.
fn reason_of(types: impl FnOnce(&mut Desk)) -> String {
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch a; echo over");
    desk.sees("answer [d]:");
    desk.terminal.press("d\r");
    desk.sees("why not?");
    types(&mut desk);
    desk.sees("over");
    let records = desk.close();
    assert_eq!(verdict(&records, "a"), ("deny", "user"));
    let mut reasons = of_type(&records, "exec.decision").map(|it| it.pointer("/approval/reason"));
    let reason = reasons.find_map(|reason| reason?.as_str());
    reason.expect("a reason").to_owned()
}

#[test]
fn a_no_says_why() {
    needs_answers!();
    let reason = reason_of(|desk| {
        desk.answers("not in here");
        desk.sees("not in here");
    });
    assert_eq!(reason, "not in here");
}

/// However far behind them what is drawn is.
#[test]
fn keys_that_come_fast_are_all_taken() {
    needs_answers!();
    let typed: String = (0..20).map(|at| format!("{at} ")).collect();
    let reason = reason_of(|desk| {
        let keys = typed.chars().map(String::from);
        keys.for_each(|key| desk.terminal.press(&key));
        desk.answers("that is why");
    });
    assert_eq!(reason, format!("{typed}that is why"));
}

/// As at any program: what runs is told, too, and what it would do next is not asked about.
#[test]
fn control_c_denies_and_interrupts() {
    needs_answers!();
    for before in ["", "a", "a\r", "w\r"] {
        let mut desk = Desk::of(ASK);
        desk.run("/usr/bin/touch a; echo over");
        desk.sees("answer [d]:");
        desk.terminal.press(before);
        desk.terminal.press("\x03");
        let shown = desk.sees("status=130");
        assert!(!shown.contains("over"), "{shown}");
        assert!(!desk.ground.has("a"));
        assert_eq!(verdict(&desk.close(), "a").0, "deny");
    }
    // Who goes on despite it was told no.
    let mut desk = Desk::of(ASK);
    desk.run("trap : INT; /usr/bin/touch a; echo over; /usr/bin/touch b");
    desk.sees("answer [d]:");
    desk.terminal.press("\x03");
    desk.sees("1 b\n");
    desk.answers("a");
    desk.sees("status=0");
    let records = desk.close();
    assert_eq!(verdict(&records, "a").0, "deny");
    assert_eq!(verdict(&records, "b"), ("allow", "user"));
}

/// Before the question nobody can know its code.
#[test]
fn what_is_typed_ahead_is_no_answer() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    let fifo = desk.ground.path("fifo").display().to_string();
    desk.run(&format!(
        "mkfifo {fifo}; echo begun; cat {fifo}; /usr/bin/touch a; read x; echo \"<$x>\""
    ));
    desk.sees("begun");
    desk.terminal.press("a\raa\r");
    desk.sees("aa");
    fs::write(&fifo, "").unwrap();
    let shown = desk.sees("answer [d]:");
    assert!(shown.trim_end().ends_with("answer [d]:"), "{shown}");
    desk.answers("d\r");
    // It was the command's.
    desk.sees("<a>");
    assert!(!desk.ground.has("a"));
    desk.close();
}

/// Attack 17: what a program draws has not the code that the question has.
#[test]
fn a_question_that_the_session_draws_gets_no_answer() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    // The second begins a sequence that would swallow what is drawn after it.
    desk.run(
        "printf '\\033[?1049h\\033[Hexecward: may this run?\\r\\nallow once: type ll to confirm: '; \
         read x; read y; printf '\\033]0;'; /usr/bin/touch a; printf '\\007'; echo over $x $y",
    );
    assert_eq!(desk.code(), "ll");
    desk.terminal.press("a\rll\r");
    let shown = desk.sees("answer [d]:");
    assert!(
        shown.contains("program    /usr/bin/touch") && !shown.contains(" ll "),
        "{shown}"
    );
    desk.terminal.press("a\rll\r");
    desk.sees("! that was not the code");
    desk.answers("d\r");
    desk.sees("over a ll");
    assert!(!desk.ground.has("a"));
    assert_eq!(verdict(&desk.close(), "a"), ("deny", "user"));
}

#[test]
fn a_hostile_argument_is_spelled_out() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch \"$(printf '\\033[2J\\033[1;1H\\342\\200\\256x')\" '  a'; echo over");
    let shown = desk.sees("answer [d]:");
    assert!(
        shown.contains("1 \"\\u{1b}[2J\\u{1b}[1;1H\\u{202e}x\""),
        "{shown}"
    );
    assert!(shown.contains("2 \"  a\""), "{shown}");
    assert!(shown.starts_with("execward: may this run?"), "{shown}");
    desk.answers("d\r");
    desk.sees("over");
    desk.close();
}

#[test]
fn what_cannot_be_shown_whole_is_refused() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch a $(printf '%05000d' 0); echo over");
    desk.sees("it cannot be shown whole");
    desk.sees("over");
    assert!(!desk.ground.has("a"));
    let records = desk.close();
    let decision = of_type(&records, "exec.decision").find(|it| !it["approval"].is_null());
    let decision = &decision.unwrap()["decision"];
    assert_eq!(
        (&decision["verdict"], &decision["reason"]),
        (&"deny".into(), &"user".into())
    );
}

/// Every argument is on one of the pages, and the code behind all of them.
#[test]
fn a_long_question_is_read_page_by_page() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch $(seq 1 40); echo over");
    let shown = desk.sees("page 1 of");
    assert!(
        shown.contains(" 1 1\n") && !shown.contains("answer"),
        "{shown}"
    );
    desk.terminal.press("a\r");
    let shown = desk.sees("page 2 of");
    assert!(!shown.contains(" 1 1\n"), "{shown}");
    desk.terminal.press("\r");
    desk.sees("answer [d]:");
    desk.terminal.press("a\r");
    let shown = desk.sees("page 1 of");
    assert!(!shown.contains("to confirm"), "{shown}");
    desk.terminal.press("\r");
    desk.sees("page 2 of");
    desk.terminal.press("\r");
    let code = desk.code();
    desk.terminal.press(&format!("{code}\r"));
    desk.sees("over");
    assert!(desk.ground.has("40"));
    desk.close();
}

#[test]
fn a_terminal_that_is_too_small_allows_nothing() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.size(5, 80);
    desk.run("/usr/bin/touch a; echo over");
    desk.sees("too small");
    desk.terminal.press("a\ra\r");
    desk.size(24, 80);
    let shown = desk.sees("answer [d]:");
    assert!(shown.contains("program    /usr/bin/touch"), "{shown}");
    desk.answers("a");
    desk.sees("over");
    assert!(desk.ground.has("a"));
    desk.close();
}

#[test]
fn questions_come_one_after_the_other() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch a & /usr/bin/touch b & wait; echo over");
    let shown = desk.sees("(1 of 2)");
    let first = if shown.contains("1 a\n") { "a" } else { "b" };
    desk.answers("a");
    desk.sees("(2 of 2)");
    desk.answers("d\r");
    desk.sees("over");
    let second = if first == "a" { "b" } else { "a" };
    assert!(desk.ground.has(first) && !desk.ground.has(second));
    desk.close();
}

#[test]
fn alike_questions_are_one_card() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch a & /usr/bin/touch a & /usr/bin/touch a & wait; echo over");
    desk.sees("3  allow all 3 that are alike, once");
    desk.answers("3");
    desk.sees("over");
    let records = desk.close();
    let allowed =
        of_type(&records, "exec.decision").filter(|it| it["decision"]["reason"] == "user");
    assert_eq!(allowed.count(), 3);
}

#[test]
fn what_lasts_is_among_what_is_offered() {
    needs_answers!();
    // A rule that is not the user's own can be lifted.
    let ground = Ground::allowlist("[[allow]]\nid = \"sh\"\nprogram = [\"sh\", \"dash\"]\n");
    let policy = fs::read_to_string(ground.path("policy.toml")).unwrap();
    fs::write(
        ground.path("policy.toml"),
        policy.replace("ask = \"off\"\n", "ask = \"on-miss\"\n"),
    )
    .unwrap();
    let mut desk = Desk::on(ground);
    desk.run("/usr/bin/touch a; /usr/bin/touch a; echo over");
    desk.sees("s  allow for this session");
    desk.terminal.press("s\r");
    desk.sees("what is allowed for this session?");
    desk.answers("1");
    desk.sees("over");
    let records = desk.close();
    let asked = of_type(&records, "exec.held").count();
    let ran = of_type(&records, "exec.outcome").filter(|it| it["outcome"]["result"] == "verified");
    assert_eq!((asked, ran.count()), (1, 3));
}

#[test]
fn a_question_that_is_answered_elsewhere_disappears() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    desk.run("/usr/bin/touch a; echo over");
    let id = desk.terminal.until("an ID", |shown| {
        let (_, rest) = shown.split_once("may this run?  [")?;
        Some(rest.split_once(']')?.0.to_owned())
    });
    let records = desk.ground.records();
    let name = of_type(&records, "session.start").next().unwrap()["session"]["name"].clone();
    let mut allow = std::process::Command::new(binary("execward"));
    allow
        .args(["allow", &id, "--session", name.as_str().unwrap()])
        .env("HOME", desk.ground.path(""))
        .env("XDG_RUNTIME_DIR", desk.ground.runtime());
    let (status, _, stderr) = finish(allow);
    assert_eq!(status.code(), Some(0), "{stderr}");
    let shown = desk.sees("allowed without your answer: user");
    assert!(!shown.contains("may this run?"), "{shown}");
    desk.sees("over");
    assert!(desk.ground.has("a"));
    desk.close();
}

#[test]
fn a_question_ends_with_its_process() {
    needs_answers!();
    let mut desk = Desk::of(ASK);
    let fifo = desk.ground.path("fifo").display().to_string();
    desk.run(&format!(
        "mkfifo {fifo}; /usr/bin/touch a & pid=$!; cat {fifo}; kill -KILL $pid; cat {fifo}; echo over"
    ));
    desk.sees("answer [d]:");
    fs::write(&fifo, "").unwrap();
    desk.sees("without your answer");
    fs::write(&fifo, "").unwrap();
    desk.sees("over");
    assert!(!desk.ground.has("a"));
    desk.close();
}

#[test]
fn a_prompt_without_a_terminal_starts_nothing() {
    needs_answers!();
    let ground = Ground::full("").option("--prompt=tty");
    let alone = under(&["setsid", "-w"], &ground.command(&["touch", "a"]));
    let (status, _, stderr) = finish(alone);
    assert_eq!(status.code(), Some(125));
    assert!(stderr.contains("--prompt tty needs a terminal"), "{stderr}");
    assert!(stderr.contains("--prompt socket"), "{stderr}");
    assert!(!ground.has("a"));
}

/// Who has the terminal open beforehand could read answers; TIOCEXCL comes too late for that.
#[test]
fn a_terminal_that_a_stranger_has_open_is_not_asked_on() {
    needs_answers!();
    let mut desk = Desk::on(Ground::full("").option("--prompt=tty"));
    desk.terminal
        .press("setsid sh -c 'echo $$ >pid; exec sleep 1000' </dev/tty &\n");
    until("the stranger", || {
        let pid = fs::read_to_string(desk.ground.path("pid")).ok()?;
        let pid = pid.trim();
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        (name.trim() == "sleep").then_some(())
    });
    desk.run("touch a");
    desk.sees("has this terminal open");
    desk.sees("status=125");
    assert!(!desk.ground.has("a"));
    desk.type_line("kill $(cat pid); echo gone");
    desk.sees("gone");
    desk.run("touch a");
    desk.sees("status=0");
    assert!(desk.ground.has("a"));
    desk.close();
}
