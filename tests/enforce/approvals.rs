//! A person is asked, and answers.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use execward_tests::{Asking, Ground, binary, needs_answers, of_type};
use serde_json::Value;

/// The one decision about `touch name`.
pub(crate) fn decision<'a>(records: &'a [Value], name: &'a str) -> &'a Value {
    let argv = |record: &&Value| record["proc"]["argv"][1] == name;
    let found: Vec<&Value> = of_type(records, "exec.decision").filter(argv).collect();
    assert_eq!(found.len(), 1, "decisions about {name}");
    found[0]
}

/// That decision's verdict and reason.
pub(crate) fn ground<'a>(records: &'a [Value], name: &'a str) -> (&'a str, &'a str) {
    let decided = &decision(records, name)["decision"];
    let word = |key: &str| decided[key].as_str().expect("a word");
    (word("verdict"), word("reason"))
}

#[test]
fn what_is_asked_and_allowed_runs_exactly_once() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?; /usr/bin/touch b; echo $?");
    let question = asking.question();
    assert!(!asking.has_run("a"));
    let proc = &question.message["request"]["proc"];
    assert_eq!(proc["path"], "/usr/bin/touch");
    assert_eq!(proc["argv"], serde_json::json!(["/usr/bin/touch", "a"]));
    assert_eq!(question.message["request"]["rule"]["id"], "ask-touch");
    // The rule that asks is of the same layer: nothing that could be saved would help.
    assert!(question.message["request"]["amendments"].is_null());
    let (_, shown, _) = asking.client(&["pending"]);
    assert!(shown.contains(" /usr/bin/touch a  (process "), "{shown}");
    asking.answer(&["allow", &question.id, "--reason", "fine"]);
    assert_eq!(asking.stdout.next_line().unwrap(), "0");
    assert!(asking.has_run("a"));
    // The next is a question of its own, and the first is no more.
    let next = asking.question();
    let (code, _, said) = asking.client(&["allow", &question.id]);
    assert_eq!(code, Some(1), "{said}");
    assert!(!asking.has_run("b"));
    asking.answer(&["deny", &next.id]);
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("allow", "user"));
    let decided = decision(&records, "a");
    assert_eq!(decided["exec_id"], question.id.as_str());
    let approval = &decided["approval"];
    assert_eq!(approval["by"]["uid"], nix::unistd::geteuid().as_raw());
    assert_eq!(
        (&approval["scope"], &approval["reason"]),
        (&"once".into(), &"fine".into())
    );
    assert!(approval["wait_ms"].is_u64());
    assert_eq!(of_type(&records, "exec.held").count(), 2);
    let end = of_type(&records, "session.end").next().unwrap();
    assert_eq!(end["count"]["asked"], 2);
}

#[test]
fn what_is_asked_and_denied_does_not_run() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a; echo $?");
    let question = asking.question();
    // The start of an ID may be that of another by now.
    let (code, _, said) = asking.client(&["deny", &question.id[..2]]);
    assert_eq!(code, Some(1), "{said}");
    asking.answer(&["deny", &question.id, "--reason", "not today"]);
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let records = asking.end();
    assert!(!asking.has_run("a"));
    assert_eq!(ground(&records, "a"), ("deny", "user"));
    assert_eq!(decision(&records, "a")["effect"]["errno"], "EPERM");
    assert_eq!(decision(&records, "a")["approval"]["reason"], "not today");
}

#[test]
fn an_argument_that_changes_while_it_waits_is_refused() {
    needs_answers!();
    let parks = binary("fixture-parks").display().to_string();
    let script = format!("{parks} rewrite /usr/bin/touch");
    let mut asking = Asking::sh("", &script);
    let question = asking.question();
    std::io::Write::write_all(&mut asking.stdin(), b"go\n").unwrap();
    assert_eq!(asking.stdout.next_line().unwrap(), "rewritten");
    let (code, said, _) = asking.client(&["allow", &question.id]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("changed_since_prompt"), "{said}");
    assert_eq!(asking.stdout.next_line().unwrap(), "errno=1");
    let records = asking.end();
    assert!(!asking.has_run("asked") && !asking.has_run("Asked"));
    assert_eq!(ground(&records, "Asked"), ("deny", "changed_since_prompt"));
}

#[test]
fn the_twin_that_changes_nothing_runs() {
    needs_answers!();
    let parks = binary("fixture-parks").display().to_string();
    let mut asking = Asking::sh("", &format!("{parks} rewrite /usr/bin/touch"));
    asking.answer(&["allow", &asking.question().id]);
    let records = asking.end();
    assert!(asking.has_run("asked"));
    assert_eq!(ground(&records, "asked"), ("allow", "user"));
}

/// Its times and its size are the same: by them nobody could tell.
#[test]
fn a_file_that_changes_while_it_waits_is_refused() {
    needs_answers!();
    let maps = binary("fixture-maps").display().to_string();
    for (before, is_operand) in [("#!/bin/sh\n", false), ("", true)] {
        for (new, verdict) in [
            ("other", ("deny", "changed_since_prompt")),
            ("asked", ("allow", "user")),
        ] {
            let files = Ground::full("");
            let file = files.script("asked.pl", &format!("{before}mkdir 'asked'"));
            let asked = if is_operand { "perl" } else { file.as_str() };
            let rule = format!("[[ask]]\nid = \"ask\"\nprogram = \"{asked}\"\n");
            let (command, mark) = if is_operand {
                (format!("/usr/bin/perl -w {file}"), "-w")
            } else {
                (format!("{file} mark"), "mark")
            };
            let script = format!("{maps} {file} asked {new} {command}");
            let mut asking = Asking::start(Ground::full(&rule), "socket", &script);
            let question = asking.question();
            std::io::Write::write_all(&mut asking.stdin(), b"go\n").unwrap();
            assert_eq!(asking.stdout.next_line().unwrap(), "told=0");
            let (code, said, _) = asking.client(&["allow", &question.id]);
            let ended = asking.stdout.next_line().unwrap();
            let records = asking.end();
            assert_eq!(ground(&records, mark), verdict, "{said}");
            let runs = verdict.0 == "allow";
            assert_eq!(
                (code == Some(0), ended == "code-0"),
                (runs, runs),
                "{said}{ended}"
            );
            assert!(!asking.has_run("other"));
            assert_eq!(asking.has_run("asked"), runs);
        }
    }
}

#[test]
fn two_that_wait_are_answered_in_reverse_order() {
    needs_answers!();
    let script = "/usr/bin/touch a & /usr/bin/touch b & wait; echo done";
    let mut asking = Asking::sh("", script);
    let open = asking.questions(2);
    // What both begin with is the ID of neither.
    let (code, _, said) = asking.client(&["allow", &open[0].id[..5]]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no open question has the ID"), "{said}");
    let second = open[1].message["request"]["proc"]["argv"][1]
        .as_str()
        .unwrap();
    let first = open[0].message["request"]["proc"]["argv"][1]
        .as_str()
        .unwrap();
    asking.answer(&["allow", &open[1].id]);
    let left = asking.question();
    assert_eq!(left.id, open[0].id);
    assert!(!asking.has_run(first));
    asking.answer(&["deny", &left.id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "done");
    let records = asking.end();
    assert_eq!(ground(&records, second), ("allow", "user"));
    assert_eq!(ground(&records, first), ("deny", "user"));
    assert!(asking.has_run(second) && !asking.has_run(first));
}

#[test]
fn others_run_while_one_waits() {
    needs_answers!();
    let script = "/usr/bin/touch a & i=0; while [ $i -lt 200 ]; do /bin/true || exit 9; \
        i=$((i+1)); done; echo flowed; wait";
    let mut asking = Asking::sh("", script);
    assert_eq!(asking.stdout.next_line().unwrap(), "flowed");
    let question = asking.question();
    assert!(!asking.has_run("a"));
    asking.answer(&["allow", &question.id]);
    let records = asking.end();
    assert!(asking.has_run("a"));
    let verified = of_type(&records, "exec.outcome")
        .filter(|record| record["outcome"]["result"] == "verified");
    assert_eq!(verified.count(), 202);
}

#[test]
fn with_nobody_to_ask_a_question_is_a_refusal() {
    let rules = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let ran = Ground::full(rules)
        .option("--prompt=none")
        .sh("/usr/bin/touch marker; echo $?");
    assert_eq!(ran.stdout, "126\n");
    assert!(
        ran.stderr
            .contains("(rule ask-touch asks, and nobody can answer)"),
        "{}",
        ran.stderr
    );
    let decision = &ran.decisions(&["/usr/bin/touch"])[0]["decision"];
    assert_eq!(
        (&decision["verdict"], &decision["reason"]),
        (&"deny".into(), &"no_approver".into())
    );
    assert_eq!(of_type(&ran.records, "exec.held").count(), 0);
}

#[test]
fn without_a_session_there_is_nothing_to_answer() {
    let ground = Ground::full("");
    for words in [&["pending"][..], &["allow", "1000"], &["deny", "1000"]] {
        let mut command = std::process::Command::new(binary("execward"));
        command
            .args(words)
            .args(["--session", "no-such-session"])
            .env("XDG_RUNTIME_DIR", ground.path(""));
        let (status, _, stderr) = execward_tests::finish(command);
        assert_eq!(status.code(), Some(6), "{stderr}");
    }
}

/// A session whose questions wait a second, and whose policy says `mode` besides.
fn impatient(mode: &str, script: &str) -> execward_tests::Ran {
    let policy = format!(
        "version = 1\nmode = {{ security = \"full\", ask_timeout = \"1s\", {mode} }}\n\
         [[ask]]\nid = \"q\"\ncommand = \"touch asked\"\n"
    );
    let ground = Ground::new(&policy).option("--prompt=socket");
    let ran = ground.sh(script);
    assert!(!ground.has("asked"), "an ask rule means a person");
    ran
}

#[test]
fn a_question_that_nobody_answers_in_time_is_refused() {
    needs_answers!();
    let ran = impatient("ask = \"on-miss\"", "/usr/bin/touch asked; echo $?");
    assert_eq!(ran.stdout, "126\n");
    assert_eq!(ground(&ran.records, "asked"), ("deny", "timeout"));
    assert!(ran.stderr.contains("nobody answered"), "{}", ran.stderr);
}

#[test]
fn a_question_that_nobody_answers_in_time_falls_back_as_the_policy_says() {
    needs_answers!();
    let mode = "ask = \"always\", ask_fallback = \"full\"";
    let ran = impatient(mode, "/usr/bin/touch free; /usr/bin/touch asked; echo $?");
    assert_eq!(ran.stdout, "126\n", "{}", ran.stderr);
    assert_eq!(ground(&ran.records, "free"), ("allow", "timeout"));
    assert_eq!(ground(&ran.records, "asked"), ("deny", "timeout"));
    assert_eq!(
        ran.outcome(&["/usr/bin/touch", "free"])["result"],
        "verified"
    );
}

#[test]
fn whoever_is_asked_sees_what_the_program_is_called() {
    needs_answers!();
    let script = "bash -c 'exec -a /x/other /usr/bin/touch a'";
    let mut asking = Asking::sh("", script);
    let question = asking.question();
    let (_, shown, _) = asking.client(&["pending"]);
    assert!(
        shown.contains(" /usr/bin/touch (called /x/other) a  (process "),
        "{shown}"
    );
    asking.answer(&["deny", &question.id]);
    let records = asking.end();
    assert_eq!(of_type(&records, "exec.held").count(), 1);
}

/// `execward WORDS` in the session's directory: its status, and what it prints.
fn execward(directory: &Ground, words: &[&str]) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(binary("execward"));
    command
        .args(words)
        .current_dir(directory.path(""))
        .env("HOME", directory.path(""));
    let (status, stdout, _) = execward_tests::finish(command);
    (status.code(), stdout)
}

#[test]
fn a_question_says_how_far_what_could_be_saved_would_have_reached() {
    needs_answers!();
    let policy = "version = 1\nmode.security = \"allowlist\"\n\
        [[allow]]\nid = \"rest\"\nprogram = [\"@shells\", \"mkdir\"]\n\
        [[allow]]\nid = \"b\"\nprogram = \"touch\"\nargv = [\"touch\", \"b\"]\n";
    let ground = Ground::new(policy);
    let touches = "/usr/bin/touch b; /usr/bin/mkdir d; /usr/bin/touch b; /usr/bin/touch a";
    let mut asking = Asking::start(ground, "socket", touches);
    let question = asking.question();
    let offered = question.message["request"]["amendments"].as_array();
    let reach = |scope: &str| {
        let found = offered
            .expect("some")
            .iter()
            .find(|it| it["scope"] == scope);
        let reach = &found.expect("a scope")["reach"];
        [&reach["covered"], &reach["of"]].map(|number| number.as_u64().expect("a number"))
    };
    // The shell, mkdir, and touch three times.
    assert_eq!(reach("exact"), [1, 5]);
    assert_eq!(reach("program"), [3, 5]);
    asking.answer(&["deny", &question.id]);
    let _records = asking.end();
}

#[test]
fn an_exec_is_explained_while_it_waits() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a");
    let question = asking.question();
    let mut words = vec!["explain", &question.id];
    words.extend(["--policy", "policy.toml", "--log", "audit.jsonl"]);
    let (code, said) = execward(asking.ground(), &words);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.starts_with("then: ask (rule, rule ask-touch) at "),
        "{said}"
    );
    asking.answer(&["deny", &question.id]);
    let _records = asking.end();
}

#[test]
fn a_question_says_what_could_be_saved_and_that_is_a_rule() {
    needs_answers!();
    let fresh = Ground::new("");
    let policy = "version = 1\n[mode]\nsecurity = \"allowlist\"\n";
    std::fs::write(fresh.path("policy.toml"), policy).expect("a policy");
    let mut asking = Asking::start(fresh, "socket", "/usr/bin/touch a; read go");
    let question = asking.question();
    let offered = &question.message["request"]["amendments"];
    let scopes = offered.as_array().expect("some").iter();
    let scopes: Vec<_> = scopes.map(|it| &it["scope"]).collect();
    assert_eq!(scopes, ["exact", "flags", "prefix", "program"]);
    asking.answer(&["deny", &question.id]);
    let place = asking.ground();
    let explain = |id: &str, scope: &str| {
        let rule = format!("--rule={scope}");
        let policy = ["--policy", "policy.toml", "--log", "audit.jsonl"];
        let words = [&["explain", id, &rule], policy.as_slice()].concat();
        execward(place, &words)
    };
    let scopes = ["exact", "flags", "prefix", "program"];
    for (number, scope) in scopes.into_iter().enumerate() {
        let (code, rule) = explain(&question.id, scope);
        assert_eq!(code, Some(0), "{scope}");
        let expected = offered[number]["rule"].as_str().expect("a rule");
        // All but their names, which are fresh in each question.
        let selects = |rule: &str| {
            rule.rsplit("id = ")
                .next()
                .and_then(|it| it.split_once('\n'))
                .map(|it| it.1.to_owned())
        };
        assert!(
            scope == "exact" || selects(&rule) == selects(expected),
            "{rule}"
        );
        std::fs::write(place.path("saved.toml"), format!("{policy}{rule}")).expect("a policy");
        let call = [
            "check",
            "--policy",
            "saved.toml",
            "--",
            "/usr/bin/touch",
            "a",
        ];
        assert_eq!(execward(place, &call).0, Some(0), "{rule}");
    }
    // None is offered for a shell.
    let shell = place.records();
    let shell = of_type(&shell, "exec.decision").next().expect("the shell");
    assert_eq!(
        explain(shell["exec_id"].as_str().expect("an ID"), "flags").0,
        Some(1)
    );
    let records = asking.end();
    assert_eq!(ground(&records, "a"), ("deny", "user"));
}
