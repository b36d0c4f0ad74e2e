use serde_json::{Value, json};

use super::*;

/// What a log of these records is in a form.
fn exported(form: Form, records: &[Value]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("a.jsonl");
    let lines: Vec<_> = records.iter().map(Value::to_string).collect();
    std::fs::write(&log, lines.join("\n") + "\n").unwrap();
    let mut out = Vec::new();
    write(&log, form, None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn record(kind: &str, more: Value) -> Value {
    let mut record = json!({
        "v": "1.0",
        "type": kind,
        "exec_id": "1001",
        "ts": "2027-01-31T00:00:00.5Z",
        "session": {"id": "s", "name": "n"},
    });
    for (key, value) in more.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

fn decision(verdict: &str, reason: &str, sent: &str) -> Value {
    record(
        "exec.decision",
        json!({
            "proc": {"pid": 7, "path": "/bin/a", "argv": ["a"]},
            "decision": {"verdict": verdict, "reason": reason},
            "effect": {"sent": sent},
        }),
    )
}

#[test]
fn a_disposition_says_who_decided() {
    let by = json!({"by": {"uid": 1000, "pid": 5}, "wait_ms": 9});
    let answered = |verdict: &str, sent: &str| {
        let mut record = decision(verdict, "user", sent);
        record["approval"] = by.clone();
        record
    };
    for (record, expected) in [
        (decision("allow", "rule", "continue"), Some(1)),
        (decision("deny", "rule", "errno"), Some(2)),
        (decision("deny", "unreadable", "errno"), Some(27)),
        (answered("allow", "continue"), Some(8)),
        (answered("deny", "errno"), Some(25)),
        (decision("none", "target_missing", "errno"), None),
        (decision("ask", "withdrawn", "none"), None),
    ] {
        let event: Value = serde_json::from_str(&exported(Form::Ocsf, &[record])).unwrap();
        assert_eq!(
            event.get("disposition_id").and_then(Value::as_u64),
            expected,
            "{event}"
        );
    }
}

#[test]
fn what_was_killed_is_an_alert_and_what_ran_is_none() {
    for (result, kind, outcome) in [
        ("verified", "event", "success"),
        ("failed", "event", "failure"),
        ("killed", "alert", "failure"),
    ] {
        let more = json!({"proc": {"pid": 7}, "outcome": {"result": result}});
        let text = exported(Form::Ecs, &[record("exec.outcome", more)]);
        let event: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(event["event"]["kind"], kind, "{event}");
        assert_eq!(event["event"]["outcome"], outcome, "{event}");
        let is_detected = event["event"]["category"].as_array().unwrap().len() == 2;
        assert_eq!(is_detected, kind == "alert", "{event}");
    }
}

#[test]
fn records_that_are_missing_are_said_in_every_form_that_has_room_for_it() {
    let gap = record(
        "audit.gap",
        json!({"gap": {"reason": "write_failed", "count": 3}}),
    );
    let ocsf: Value =
        serde_json::from_str(&exported(Form::Ocsf, std::slice::from_ref(&gap))).unwrap();
    assert_eq!(
        [&ocsf["class_uid"], &ocsf["severity_id"], &ocsf["count"]],
        [0, 4, 3]
    );
    assert_eq!(ocsf["is_alert"], true);
    let ecs: Value =
        serde_json::from_str(&exported(Form::Ecs, std::slice::from_ref(&gap))).unwrap();
    assert_eq!(
        [&ecs["event"]["kind"], &ecs["labels"]["gap_count"]],
        ["alert", "3"]
    );
    let junit = exported(Form::Junit, &[gap]);
    assert!(
        junit.contains("3 records are missing (audit.gap)"),
        "{junit}"
    );
    assert!(junit.contains("failures=\"1\""), "{junit}");
}

#[test]
fn an_exec_is_one_line_with_its_outcome_or_without() {
    let outcome =
        json!({"proc": {"pid": 7}, "outcome": {"result": "killed", "difference": "argv"}});
    let started = decision("allow", "rule", "continue");
    let mut other = started.clone();
    other["exec_id"] = json!("1002");
    let text = exported(
        Form::Csv,
        &[started, other, record("exec.outcome", outcome)],
    );
    let lines: Vec<_> = text.split("\r\n").collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(
        lines[1].contains(",1001,") && lines[1].contains(",killed,another argv,"),
        "{text}"
    );
    assert!(
        lines[2].contains(",1002,") && lines[2].contains(",let go,"),
        "{text}"
    );
}

/// A session's own beginning is beside its records alone, and the policy is the one in force.
#[test]
fn a_record_has_what_its_session_began_with() {
    let start = |id: &str, version: &str| {
        let more = json!({
            "session": {"id": id, "name": id},
            "sup": {"version": version, "pid": 1},
            "policy": [{"name": "one.toml", "sha256": "0"}],
            "kernel": "6.18",
        });
        record("session.start", more)
    };
    let denied = |id: &str| {
        let mut record = decision("deny", "rule", "errno");
        record["session"] = json!({"id": id, "name": id});
        record["decision"]["rule"] = json!({"id": "r", "src": "one.toml:1"});
        record
    };
    let loaded = json!({
        "session": {"id": "b", "name": "b"},
        "policy": [{"name": "two.toml", "sha256": "1"}],
    });
    let end = record("session.end", json!({"session": {"id": "a", "name": "a"}}));
    let text = exported(
        Form::Ecs,
        &[
            start("a", "1"),
            start("b", "2"),
            denied("a"),
            record("policy.loaded", loaded),
            denied("b"),
            end,
            denied("a"),
        ],
    );
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told = |at: usize| {
        let event = &events[at];
        [&event["observer"]["version"], &event["rule"]["ruleset"]]
            .map(|it| it.as_str().map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(told(2), [some("1"), some("one.toml")]);
    assert_eq!(told(4), [some("2"), some("two.toml")]);
    assert_eq!(told(6), [None, None]);
}
