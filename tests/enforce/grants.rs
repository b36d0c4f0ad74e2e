//! What people say of calls for longer than once: what it covers, how long, and how it is taken back.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

mod hindsight;
mod store;
mod subtree;

use execward_tests::{Asking, Ground, needs_answers, of_type};
use serde_json::Value;

use crate::approvals::ground as basis;

/// Nothing is allowed but what scripts need: any other program is asked about.
pub(crate) fn ground() -> Ground {
    let programs = ["rm", "cp", "echo", "cat", "sleep"].map(|name| format!("\"/usr/bin/{name}\""));
    Ground::new(&format!(
        "version = 1\nmode = {{ security = \"allowlist\", ask = \"on-miss\" }}\n\
         [[allow]]\nid = \"own\"\nprogram = [{}]\n",
        programs.join(", ")
    ))
}

pub(crate) fn asking(script: &str) -> Asking {
    Asking::start(ground(), "socket", script)
}

/// The reasons of the decisions on `touch name`.
fn reasons(records: &[Value], name: &str) -> Vec<String> {
    let is_it = |record: &&Value| {
        record["proc"]["path"] == "/usr/bin/touch" && record["proc"]["argv"][1] == name
    };
    let decisions = of_type(records, "exec.decision").filter(is_it);
    let reason = |record: &Value| {
        record["decision"]["reason"]
            .as_str()
            .expect("a word")
            .to_owned()
    };
    decisions.map(reason).collect()
}

/// The names of the grants that the session shows.
pub(crate) fn listed(asking: &Asking) -> Vec<Value> {
    let (code, shown, said) = asking.client(&["grants", "list", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let grants = shown.lines().map(serde_json::from_str);
    grants.collect::<Result<_, _>>().expect("JSON")
}

#[test]
fn an_answer_for_the_session_covers_the_same_exec_and_no_other() {
    needs_answers!();
    let script = "/usr/bin/touch a; rm a; /usr/bin/touch a; echo again $?; \
        (cd / && /usr/bin/touch a); /usr/bin/touch b; echo $?";
    let mut asking = asking(script);
    asking.answer(&["allow", &asking.question().id, "--for", "session"]);
    assert_eq!(asking.stdout.next_line().unwrap(), "again 0");
    // Another directory, then another argument.
    asking.answer(&["deny", &asking.question().id, "--for", "session"]);
    let other = asking.question();
    assert_eq!(other.message["request"]["proc"]["argv"][1], "b");
    asking.answer(&["deny", &other.id]);
    let records = asking.end();
    assert_eq!(reasons(&records, "a"), ["user", "grant", "user"]);
    assert!(!asking.has_run("b"));
    assert!(!asking.ground().has("config/execward/grants.toml"));
}

#[test]
fn a_wider_scope_covers_what_it_says() {
    needs_answers!();
    let script =
        "/usr/bin/touch a; /usr/bin/touch b; /usr/bin/touch -c c; /usr/bin/mkdir d; echo $?";
    for (scope, asked_again) in [("prefix", false), ("program", false), ("exact", true)] {
        let mut asking = asking(script);
        asking.answer(&[
            "allow",
            &asking.question().id,
            "--for",
            "session",
            "--scope",
            scope,
        ]);
        let next = asking.question();
        assert_eq!(
            next.message["request"]["proc"]["argv"][0] == "/usr/bin/touch",
            asked_again
        );
        if asked_again {
            asking.answer(&["deny", &next.id, "--for", "session", "--scope", "program"]);
            assert_eq!(
                asking.question().message["request"]["proc"]["path"],
                "/usr/bin/mkdir"
            );
        } else {
            assert!(asking.has_run("a") && asking.has_run("b"));
        }
        asking.answer(&["deny", &asking.question().id]);
        assert_eq!(asking.stdout.next_line().unwrap(), "126");
        let records = asking.end();
        let last = reasons(&records, "-c");
        assert_eq!(last, ["grant"], "{scope}");
        assert_eq!(
            of_type(&records, "grant.added").count(),
            1 + usize::from(asked_again)
        );
    }
}

#[test]
fn what_is_said_for_always_counts_in_the_next_session_and_is_used_there() {
    needs_answers!();
    let mut first = asking("/usr/bin/touch a; /usr/bin/mkdir m");
    let words = [
        "allow",
        &first.question().id,
        "--for",
        "always",
        "--scope",
        "prefix",
    ];
    first.answer(&words);
    let words = [
        "deny",
        &first.question().id,
        "--for",
        "2h",
        "--reason",
        "no \"directories\"\n",
    ];
    first.answer(&words);
    let records = first.end();
    let added: Vec<_> = of_type(&records, "grant.added").collect();
    assert_eq!(added[0]["grant"]["duration"], "always");
    assert_eq!(added[1]["grant"]["action"], "deny");
    let ground = first.into_ground();
    let mut second = Asking::start(
        ground,
        "socket",
        "/usr/bin/touch b; echo $?; p=/usr/bin/mkdir; $p m; echo $?; read x",
    );
    assert_eq!(second.stdout.next_line().unwrap(), "0");
    assert_eq!(second.stdout.next_line().unwrap(), "126");
    let grants = listed(&second);
    assert_eq!(grants.len(), 2);
    for grant in &grants {
        assert_eq!(grant["uses"], 1, "{grant}");
        assert!(
            grant["last_path"]
                .as_str()
                .unwrap()
                .starts_with("/usr/bin/")
        );
    }
    let records = second.end();
    assert_eq!(basis(&records, "b"), ("allow", "grant"));
    let decisions = of_type(&records, "exec.decision");
    let mut mkdir = decisions.filter(|it| it["proc"]["argv"][0] == "/usr/bin/mkdir");
    let mkdir = mkdir.nth(1).expect("the second session's");
    assert_eq!(mkdir["decision"]["reason"], "grant");
    let src = mkdir["decision"]["rule"]["src"].as_str().unwrap();
    assert!(src.contains("/grants.toml:"), "{src}");
    // What came of them is written down with the end.
    let text =
        std::fs::read_to_string(second.ground().path("config/execward/grants.toml")).unwrap();
    assert_eq!(text.matches("uses = 1").count(), 2, "{text}");
    assert!(
        text.contains("expires = 20") && text.contains("no \"directories\""),
        "{text}"
    );
}

/// What was shown was this file: another in its place is another question.
#[test]
fn a_grant_of_a_file_that_the_session_can_change_is_bound_to_its_content() {
    needs_answers!();
    let ground = ground();
    let _tool = ground.copy("/usr/bin/echo", "tool");
    let script =
        "./tool a; ./tool a; cp --remove-destination /usr/bin/touch tool; ./tool a; echo $?";
    let mut asking = Asking::start(ground, "socket", script);
    asking.answer(&["allow", &asking.question().id, "--for", "always"]);
    for _ in 0..2 {
        assert_eq!(asking.stdout.next_line().unwrap(), "a");
    }
    asking.answer(&["deny", &asking.question().id]);
    assert_eq!(asking.stdout.next_line().unwrap(), "126");
    let records = asking.end();
    assert_eq!(of_type(&records, "exec.held").count(), 2);
    let rule = of_type(&records, "grant.added").next().unwrap()["grant"]["rule"].to_string();
    assert!(rule.contains("sha256 = "), "{rule}");
}

#[test]
fn a_grant_of_a_script_ends_with_its_content_and_its_arguments() {
    needs_answers!();
    let ground = ground();
    let script = ground.script("build", "echo \"$1\"");
    let text = format!(
        "/usr/bin/sh {script} a; /usr/bin/sh {script} a; echo 'echo evil' | /usr/bin/sh -s {script} a; echo $?; \
         echo 'echo other' >{script}; /usr/bin/sh {script} a; echo $?"
    );
    let mut asking = Asking::start(ground, "socket", &text);
    let first = asking.question();
    let wider = ["allow", &first.id, "--for", "session", "--scope", "program"];
    assert_eq!(asking.client(&wider).0, Some(1));
    asking.answer(&["allow", &first.id, "--for", "session"]);
    for expected in ["a", "a"] {
        assert_eq!(asking.stdout.next_line().unwrap(), expected);
    }
    for _ in 0..2 {
        asking.answer(&["deny", &asking.question().id]);
        assert_eq!(asking.stdout.next_line().unwrap(), "126");
    }
    let records = asking.end();
    assert_eq!(of_type(&records, "exec.held").count(), 3);
}

#[test]
fn a_grant_that_is_taken_back_counts_no_more() {
    needs_answers!();
    for span in ["session", "always"] {
        let mut asking = asking(
            "/usr/bin/touch a; rm a; /usr/bin/touch a; rm a; echo on; read x; /usr/bin/touch a; echo $?",
        );
        asking.answer(&["allow", &asking.question().id, "--for", span]);
        assert_eq!(asking.stdout.next_line().unwrap(), "on");
        let grants = listed(&asking);
        let id = grants[0]["id"].as_str().unwrap();
        assert_eq!(grants[0]["uses"], 1);
        asking.answer(&["grants", "revoke", &id[..5]]);
        assert!(listed(&asking).is_empty());
        let (code, _, said) = asking.client(&["grants", "revoke", id]);
        assert_eq!(code, Some(1), "{said}");
        std::io::Write::write_all(&mut asking.stdin(), b"go\n").unwrap();
        asking.answer(&["deny", &asking.question().id]);
        assert_eq!(asking.stdout.next_line().unwrap(), "126");
        let records = asking.end();
        assert_eq!(reasons(&records, "a"), ["user", "grant", "user"]);
        let removed = of_type(&records, "grant.removed").next().unwrap();
        assert_eq!(removed["grant"]["id"], id);
        assert_eq!(removed["grant"]["uses"], 1);
        assert!(removed["sender"]["pid"].is_u64());
        assert!(!asking.has_run("a"));
    }
}

#[test]
fn an_answer_that_would_not_be_heeded_is_not_taken_and_the_question_stays() {
    needs_answers!();
    // A rule of the user's that asks means each time; of a shell's text no rule could be saved, and none of
    // a flag that the language cannot spell.
    let ask = "[[ask]]\nid = \"each\"\nprogram = \"touch\"\n";
    for (ground, script, scope) in [
        (Ground::full(ask), "/usr/bin/touch a", "exact"),
        (ground(), "/usr/bin/bash -c ':; touch a'", "exact"),
        (ground(), "/usr/bin/touch a '-é'", "flags"),
    ] {
        let mut asking = Asking::start(ground, "socket", &format!("{script}; echo $?"));
        let question = asking.question();
        let words = ["allow", &question.id, "--for", "session", "--scope", scope];
        let (code, _, said) = asking.client(&words);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("is not offered here"), "{said}");
        // A refusal can be meant for good.
        asking.answer(&["deny", &question.id, "--for", "session"]);
        assert_eq!(asking.stdout.next_line().unwrap(), "126");
        let records = asking.end();
        assert_eq!(of_type(&records, "grant.added").count(), 1);
        assert!(!asking.has_run("a"));
    }
}

#[test]
fn a_scope_without_a_span_is_a_contradiction() {
    needs_answers!();
    let mut asking = asking("/usr/bin/touch a");
    let question = asking.question();
    let (code, _, said) = asking.client(&["allow", &question.id, "--scope", "prefix"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("say how long"), "{said}");
    for span in ["never", "1999-01-01", "0h"] {
        let (code, _, said) = asking.client(&["allow", &question.id, "--for", span]);
        assert_eq!(code, Some(2), "{said}");
    }
    asking.answer(&["deny", &question.id]);
    assert!(of_type(&asking.end(), "grant.added").next().is_none());
}
