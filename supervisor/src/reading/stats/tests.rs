use serde_json::{Value, json};

use super::*;
use crate::reading::entry::Entry;
use crate::reading::source::Damage;

/// A decision as a log has it, with more of its own.
fn decision(second: u32, more: Value) -> Value {
    let mut record = json!({
        "v": "1.0",
        "type": "exec.decision",
        "exec_id": "1001",
        "proc": {"pid": 1, "path": "/usr/bin/a"},
        "decision": {"verdict": "allow", "reason": "default"},
        "effect": {"sent": "continue"},
        "lat": {"total": 500, "look_up": 7},
        "ts": format!("2027-01-31T00:00:{second:02}Z"),
        "session": {"id": "s", "name": "n"},
    });
    for (key, value) in more.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

fn report(records: &[Value]) -> (Value, String) {
    let mut figures = Figures::default();
    for record in records {
        let line = record.to_string();
        let entry: Entry<'_> = serde_json::from_str(&line).unwrap();
        figures.take(&entry, entry.time());
    }
    let damage = Damage::default();
    let report = Report::of(figures, "a.jsonl".as_ref(), None, &damage);
    (serde_json::to_value(&report).unwrap(), report.to_string())
}

#[test]
fn decisions_are_counted_by_all_that_they_say() {
    let denied = json!({
        "decision": {"verdict": "deny", "reason": "rule", "rule": {"id": "no", "src": "p:1"}},
        "effect": {"sent": "errno", "errno": "EPERM"},
        "lat": {"total": 20_000},
    });
    let (report, text) = report(&[
        decision(0, json!({})),
        decision(0, json!({"proc": {"req_path": "b"}})),
        decision(9, denied),
        decision(
            10,
            json!({"proc": null, "decision": {"verdict": "none", "reason": "target_missing"}}),
        ),
    ]);
    assert_eq!(
        report["verdicts"],
        json!({"allow": 2, "deny": 1, "none": 1})
    );
    assert_eq!(report["refusals_by_reason"], json!({"rule": 1}));
    assert_eq!(report["rate"]["mean"], 0.4);
    assert_eq!(report["rate"]["busiest"], 2);
    assert_eq!(report["latency_us"]["total"]["max"], 20_000);
    assert_eq!(report["latency_us"]["total"]["over_10_ms"], 0.25);
    assert_eq!(report["latency_us"]["look_up"]["p50"], 7);
    let programs = json!([
        {"path": "/usr/bin/a", "count": 2, "refused": 1},
        {"path": "b", "count": 1, "refused": 0},
    ]);
    assert_eq!(report["programs"], programs);
    let rules = json!([{"id": "no", "src": "p:1", "hits": 1, "verdicts": {"deny": 1}}]);
    assert_eq!(report["rules"], rules);
    assert!(report.get("rules_never_hit").is_none());
    assert!(text.contains("--policy FILE"), "{text}");
}

#[test]
fn a_question_is_counted_by_its_answer_and_no_time_of_the_gate() {
    let asked = |reason: &str, verdict: &str, id: &str| {
        decision(
            0,
            json!({
                "exec_id": id,
                "decision": {"verdict": verdict, "reason": reason},
                "approval": {"wait_ms": 40},
            }),
        )
    };
    let held = |id: &str| decision(0, json!({"type": "exec.held", "exec_id": id}));
    let nobody = json!({"decision": {"verdict": "ask", "reason": "no_approver"}, "exec_id": "6"});
    let (report, _) = report(&[
        held("1"),
        held("2"),
        asked("user", "allow", "1"),
        asked("user", "deny", "3"),
        asked("timeout", "ask", "4"),
        asked("withdrawn", "ask", "5"),
        decision(0, nobody),
    ]);
    let questions = &report["questions"];
    let answers = json!({
        "allowed": 1, "denied": 1, "expired": 1, "withdrawn": 1, "nobody": 1, "other": 0,
    });
    assert_eq!(questions["answers"], answers);
    assert_eq!([&questions["count"], &questions["open"]], [5, 1]);
    assert_eq!(questions["wait_ms"]["count"], 4);
    assert_eq!(questions["per_session"], 5.0);
    // Of those that a person was asked about it is the person's time.
    assert_eq!(report["latency_us"]["total"]["count"], 1);
}

#[test]
fn what_a_log_says_is_shown_as_text_alone() {
    let hostile = "\u{202e}\n\u{1b}[2J</script>";
    let (report, text) = report(&[decision(
        0,
        json!({
            "proc": {"path": hostile},
            "lat": {hostile: 1},
            "decision": {"verdict": hostile, "reason": hostile, "rule": {"id": hostile, "src": hostile}},
            "session": {"id": hostile, "name": hostile},
        }),
    )]);
    let is_plain = |c: char| matches!(c, ' '..='~' | '\n');
    assert!(text.chars().all(is_plain), "{text}");
    assert_eq!(text.matches("\\u{202e}\\n").count(), 6, "{text}");
    assert_eq!(report["programs"][0]["path"], hostile);
}

#[test]
fn a_window_has_its_beginning_and_not_its_end() {
    let at = |text: &str| Some(text.parse().unwrap());
    let window = Window {
        since: at("2027-01-31T00:00:01Z"),
        until: at("2027-01-31T00:00:02Z"),
    };
    assert!(window.has(at("2027-01-31T00:00:01Z")) && !window.has(at("2027-01-31T00:00:02Z")));
    assert!(!window.has(at("2027-01-31T00:00:00Z")) && !window.has(None));
    let whole = Window {
        since: None,
        until: None,
    };
    assert!(whole.has(None));
}
