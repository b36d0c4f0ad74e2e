//! `audit export`: what a real session's log becomes is held to the field lists of `golden`.

use std::collections::BTreeMap;
use std::fs;

use execward_tests::of_type;
use jiff::Timestamp;
use serde_json::Value;

use super::{HOSTILE, ground, holds_for_any_log, is_plain, json, written};

const ECS: &str = include_str!("../../golden/ecs-fields.txt");
const OCSF: &str = include_str!("../../golden/ocsf-1007-fields.txt");

/// What a list says of a field.
#[derive(Debug)]
struct Listed<'a> {
    kind: &'a str,
    is_array: bool,
    is_required: bool,
}

fn listed(list: &str) -> BTreeMap<&str, Listed<'_>> {
    let lines = list.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ');
            let (name, kind) = (words.next().expect("a name"), words.next().expect("a type"));
            let more: Vec<_> = words.collect();
            let listed = Listed {
                kind,
                is_array: more.contains(&"array"),
                is_required: more.contains(&"required"),
            };
            (name, listed)
        })
        .collect()
}

/// Every value of an event by its name, those of objects within too, but not what is in `open`.
fn fields(event: &Value, open: &str) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    let mut left = vec![(String::new(), event.clone())];
    while let Some((name, value)) = left.pop() {
        if let Some(object) = value.as_object().filter(|_| name != open) {
            for (key, inner) in object {
                let point = if name.is_empty() { "" } else { "." };
                left.push((format!("{name}{point}{key}"), inner.clone()));
            }
        }
        if !name.is_empty() {
            fields.insert(name, value);
        }
    }
    fields
}

/// Whether a single value is of a type of ECS or OCSF.
fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "keyword" | "match_only_text" | "wildcard" => value.is_string(),
        "date" => value
            .as_str()
            .is_some_and(|text| text.parse::<Timestamp>().is_ok()),
        "boolean_t" => value.is_boolean(),
        "long" | "integer_t" | "long_t" | "timestamp_t" => value.is_u64(),
        kind if kind.ends_with("_t") => value.is_string(),
        _ => value.is_object(),
    }
}

/// Holds an event to a list; `objects` are named by their fields alone there.
fn hold(event: &Value, list: &str, open: &str) {
    let listed = listed(list);
    let fields = fields(event, open);
    for (name, value) in &fields {
        let is_object =
            value.is_object() && listed.keys().any(|it| it.starts_with(&format!("{name}.")));
        let Some(expected) = listed.get(name.as_str()) else {
            assert!(is_object, "{name} is in no list: {event}");
            continue;
        };
        let values = match (expected.is_array, value.as_array()) {
            (true, Some(values)) => values.clone(),
            (is_array, _) => {
                assert!(!is_array, "{name} is no list: {event}");
                vec![value.clone()]
            }
        };
        for value in values {
            assert!(
                is_of(&value, expected.kind),
                "{name}: {value} is no {}",
                expected.kind
            );
        }
    }
    for (name, expected) in &listed {
        let above = name.rsplit_once('.').map(|(above, _)| above);
        let is_there = above.is_none_or(|above| fields.contains_key(above));
        let is_missing = expected.is_required && is_there && !fields.contains_key(*name);
        assert!(!is_missing, "{name} is missing: {event}");
    }
}

fn events(text: &str) -> Vec<Value> {
    assert!(is_plain(text), "{text}");
    text.lines().map(json).collect()
}

#[test]
fn every_record_is_an_event_of_the_common_schema() {
    let ground = ground();
    let words = ["audit", "export", "--as", "ecs"];
    let events = events(&holds_for_any_log(&ground, &words));
    let records = ground.records();
    assert_eq!(events.len(), records.len());
    for event in &events {
        hold(event, ECS, "labels");
        let labels = event["labels"].as_object().expect("labels");
        assert!(labels.values().all(Value::is_string), "{event}");
        assert!(
            event
                .get("host")
                .is_none_or(|host| host.get("name").is_none())
        );
    }
    let of = |program: &str| {
        let is_it = |event: &&Value| event["process"]["executable"] == program;
        events.iter().find(is_it).expect("an event").clone()
    };
    let denied = of("/usr/bin/mkdir");
    assert_eq!(denied["event"]["kind"], "alert");
    assert_eq!(
        denied["event"]["category"],
        serde_json::json!(["process", "intrusion_detection"])
    );
    assert_eq!(
        denied["event"]["type"],
        serde_json::json!(["start", "denied"])
    );
    assert_eq!(denied["event"]["outcome"], "failure");
    assert_eq!(
        [&denied["rule"]["id"], &denied["error"]["code"]],
        ["no-mkdir", "EPERM"]
    );
    assert_eq!(denied["process"]["args"][1], HOSTILE);
    // The twin.
    let allowed = of("/usr/bin/true");
    assert_eq!(allowed["event"]["kind"], "event");
    assert_eq!(allowed["event"]["category"], serde_json::json!(["process"]));
    assert_eq!(
        allowed["event"]["type"],
        serde_json::json!(["start", "allowed"])
    );
    assert_eq!(allowed["event"]["outcome"], "unknown");
    assert!(allowed.get("rule").is_none(), "{allowed}");
    let decision = of_type(&records, "exec.decision")
        .nth(1)
        .expect("a decision");
    let total = decision["lat"]["total"].as_u64().expect("microseconds");
    assert_eq!(allowed["event"]["duration"], total * 1000);
}

#[test]
fn every_record_of_an_exec_is_a_process_activity() {
    let ground = ground();
    let words = ["audit", "export", "--as", "ocsf", "--host", "build7"];
    let events = events(&holds_for_any_log(&ground, &words));
    let records = ground.records();
    let of_execs = records.iter().filter(|record| {
        matches!(
            record["type"].as_str(),
            Some("exec.decision" | "exec.held" | "exec.outcome")
        )
    });
    assert_eq!(events.len(), of_execs.count());
    for event in &events {
        hold(event, OCSF, "unmapped");
        let class = event["class_uid"].as_u64().expect("a class");
        let activity = event["activity_id"].as_u64().expect("an activity");
        assert_eq!(event["type_uid"], class * 100 + activity, "{event}");
        assert_eq!(event["device"]["hostname"], "build7");
    }
    let launches = |event: &&Value| event["activity_id"] == 1;
    let of = |program: &str| {
        let mut launched = events.iter().filter(launches);
        launched
            .find(|event| event["process"]["path"] == program)
            .expect("an event")
    };
    let told = |event: &Value| {
        ["severity_id", "status_id", "action_id", "disposition_id"].map(|key| event[key].as_u64())
    };
    let denied = of("/usr/bin/mkdir");
    assert_eq!(told(denied), [3, 2, 2, 2].map(Some), "{denied}");
    assert_eq!(
        [&denied["policy"]["uid"], &denied["status_code"]],
        ["no-mkdir", "EPERM"]
    );
    let allowed = of("/usr/bin/true");
    assert_eq!(told(allowed), [1, 0, 1, 1].map(Some), "{allowed}");
    let uid = &allowed["metadata"]["correlation_uid"];
    let outcomes = |event: &&Value| event["metadata"]["correlation_uid"] == *uid;
    let joined: Vec<_> = events.iter().filter(outcomes).collect();
    assert_eq!(joined.len(), 2, "{allowed}");
    assert_eq!(joined[1]["status_id"], 1, "{}", joined[1]);
}

/// The lines and fields of a text by RFC 4180.
fn parsed(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut letters) = (false, text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => line.push(std::mem::take(&mut field)),
            '\r' if !is_quoted => {
                assert_eq!(letters.next(), Some('\n'));
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            other => field.push(other),
        }
    }
    assert!(line.is_empty() && field.is_empty() && !is_quoted);
    lines
}

#[test]
fn a_table_has_a_line_an_exec_and_no_formula() {
    let ground = ground();
    let text = holds_for_any_log(&ground, &["audit", "export", "--as", "csv"]);
    assert!(is_plain(&text.replace("\r\n", "\n")), "{text}");
    let lines = parsed(&text);
    let (heading, rows) = lines.split_first().expect("a heading");
    let records = ground.records();
    let end = &records.last().expect("an end")["count"]["decisions"];
    assert_eq!(*end, rows.len());
    let column = |name: &str| heading.iter().position(|it| it == name).expect("a column");
    let (program, arguments) = (column("program"), column("arguments"));
    let of = |path: &str| rows.iter().find(|row| row[program] == path).expect("a row");
    let denied = of("/usr/bin/mkdir");
    assert_eq!(denied[column("result")], "refused");
    assert_eq!(denied[column("rule")], "no-mkdir");
    assert!(
        denied[arguments].starts_with("\"</script><img"),
        "{denied:?}"
    );
    assert_eq!(of("/usr/bin/true")[column("result")], "ran");
    let shell = rows
        .iter()
        .find(|row| row[arguments].contains("below; :"))
        .expect("a shell");
    assert!(shell[arguments].starts_with("'-c "), "{shell:?}");
    for row in rows {
        assert_eq!(row.len(), heading.len(), "{row:?}");
        assert!(
            row.iter()
                .all(|field| !field.starts_with(['=', '+', '-', '@'])),
            "{row:?}"
        );
    }
}

#[test]
fn a_report_fails_where_an_exec_was_refused() {
    let ground = ground();
    let text = holds_for_any_log(&ground, &["audit", "export", "--as", "junit"]);
    assert!(is_plain(&text), "{text}");
    let records = ground.records();
    let end = &records.last().expect("an end")["count"];
    let count = |key: &str| end[key].as_u64().expect("a count");
    assert!(
        text.contains(&format!("tests=\"{}\"", count("decisions"))),
        "{text}"
    );
    assert!(
        text.contains(&format!("failures=\"{}\"", count("refused"))),
        "{text}"
    );
    assert!(text.contains("REFUSED (rule no-mkdir)"), "{text}");
    assert!(
        text.contains("&lt;/script&gt;&lt;img") && !text.contains("<img"),
        "{text}"
    );
}

#[test]
fn an_export_is_written_over_no_other_file() {
    let ground = ground();
    let of = |file: &str, log: &str| {
        ground
            .execward(&["audit", "export", "--as", "csv", "-o", file, log])
            .status
            .code()
    };
    assert_eq!(of("out.csv", "audit.jsonl"), Some(0));
    let first = fs::read_to_string(ground.path("out.csv")).expect("a table");
    let again = written(
        &ground,
        &["audit", "export", "--as", "csv", "audit.jsonl"],
        0,
    );
    assert_eq!(first, again);
    let log = fs::read(ground.path("audit.jsonl")).expect("a log");
    for (file, log, code) in [
        ("out.csv", "audit.jsonl", 1),
        ("audit.jsonl", "audit.jsonl", 1),
        ("other.csv", "nowhere.jsonl", 7),
        ("no/such.csv", "audit.jsonl", 7),
    ] {
        assert_eq!(of(file, log), Some(code), "{file} {log}");
    }
    assert!(!ground.has("other.csv"));
    assert_eq!(fs::read(ground.path("audit.jsonl")).expect("a log"), log);
    assert_eq!(
        fs::read_to_string(ground.path("out.csv")).expect("a table"),
        first
    );
    let unknown = ["audit", "export", "--as", "xls", "audit.jsonl"];
    assert_eq!(ground.execward(&unknown).status.code(), Some(2));
}
