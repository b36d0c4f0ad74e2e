//! `audit stats`.

use execward_tests::{Asking, needs_answers, of_type};

use super::{ground, holds_for_any_log, is_plain, json, written};

#[test]
fn a_session_is_told_in_figures() {
    let ground = ground();
    let records = ground.records();
    let text = holds_for_any_log(&ground, &["audit", "stats"]);
    assert!(is_plain(&text), "{text}");
    for part in [
        "/usr/bin/true ",
        "no-mkdir (",
        "rules never hit: name the policy",
    ] {
        assert!(text.contains(part), "{part} {text}");
    }
    let words = [
        "audit",
        "stats",
        "--json",
        "audit.jsonl",
        "--policy",
        "policy.toml",
    ];
    let text = written(&ground, &words, 0);
    assert!(is_plain(&text), "{text}");
    let stats = json(&text);
    let end = &records.last().expect("a record")["count"];
    assert_eq!(stats["records"], records.len());
    assert_eq!(stats["decisions"], end["decisions"]);
    assert_eq!(stats["effects"]["errno"], end["refused"]);
    assert_eq!(stats["outcomes"]["verified"], end["verified"]);
    assert_eq!(stats["target_missing"], end["target_missing"]);
    assert_eq!(stats["refusals_by_reason"]["rule"], 1, "{stats}");
    assert_eq!(stats["questions"]["answers"]["nobody"], 1, "{stats}");
    let decided = of_type(&records, "exec.decision").count();
    assert_eq!(stats["latency_us"]["total"]["count"], decided, "{stats}");
    assert_eq!(stats["sessions"][0]["refused"], end["refused"]);
    let programs = stats["programs"].as_array().expect("programs");
    let of = |path: &str| programs.iter().find(|it| it["path"] == path);
    let made = of("/usr/bin/mkdir").expect("mkdir");
    assert_eq!([&made["count"], &made["refused"]], [1, 1]);
    assert_eq!(of("/usr/bin/true").expect("true")["count"], 5);
    let unhit = stats["rules_never_hit"].as_array().expect("rules");
    let unhit: Vec<_> = unhit.iter().map(|rule| &rule["id"]).collect();
    assert_eq!(unhit, ["never"], "{stats}");
}

#[test]
fn figures_are_of_the_time_that_is_meant() {
    let ground = ground();
    let records = |words: &[&str]| {
        let words = [&["audit", "stats", "--json", "audit.jsonl"], words].concat();
        json(&written(&ground, &words, 0))["records"].as_u64()
    };
    let all = ground.records();
    let middle = all[all.len() / 2]["ts"].as_str().expect("a time");
    let (before, after) = (records(&["--until", middle]), records(&["--since", middle]));
    assert_eq!(before, Some(all.len() as u64 / 2));
    assert_eq!(
        before.zip(after).map(|(a, b)| a + b),
        Some(all.len() as u64)
    );
    assert_eq!(records(&["--since", "1h"]), Some(all.len() as u64));
    assert_eq!(records(&["--until", "1h"]), Some(0));
    let wrong = ground.execward(&["audit", "stats", "--since", "soon", "audit.jsonl"]);
    assert_eq!(wrong.status.code(), Some(2));
    let wrong = [
        "audit",
        "stats",
        "--preset",
        "no-such-preset",
        "audit.jsonl",
    ];
    assert_eq!(ground.execward(&wrong).status.code(), Some(2));
}

#[test]
fn questions_are_told_with_their_answers() {
    needs_answers!();
    let mut asking = Asking::sh("", "/usr/bin/touch a & /usr/bin/touch b & wait");
    let questions = asking.questions(2);
    for (verb, question) in ["allow", "deny"].into_iter().zip(&questions) {
        asking.answer(&[verb, &question.id]);
    }
    let _records = asking.end();
    let words = ["audit", "stats", "--json", "audit.jsonl"];
    let stats = json(&written(asking.ground(), &words, 0));
    let questions = &stats["questions"];
    assert_eq!([&questions["count"], &questions["open"]], [2, 0], "{stats}");
    let answers = &questions["answers"];
    assert_eq!([&answers["allowed"], &answers["denied"]], [1, 1], "{stats}");
    assert_eq!(questions["wait_ms"]["count"], 2, "{stats}");
}
