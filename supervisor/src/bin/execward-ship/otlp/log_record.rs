//! A record as OpenTelemetry has it: the JSON form of its `LogRecord`.
//!
//! Attributes have the names of the semantic conventions (its registry) where there are some, and `execward.*`
//! otherwise. The body is the record's line, so that its digest can be checked also there.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::record::Record;
use crate::sentence::{Level, sentence};

/// The attributes that are a text of the record.
const TEXTS: [(&str, &str); 16] = [
    ("process.executable.path", "/proc/path"),
    ("process.working_directory", "/proc/cwd"),
    ("execward.session.name", "/session/name"),
    ("execward.session.id", "/session/id"),
    ("execward.id", "/id"),
    ("execward.exec_id", "/exec_id"),
    ("execward.verdict", "/decision/verdict"),
    ("execward.reason", "/decision/reason"),
    ("execward.rule.id", "/decision/rule/id"),
    ("execward.rule.source", "/decision/rule/src"),
    ("execward.effect", "/effect/sent"),
    ("execward.errno", "/effect/errno"),
    ("execward.result", "/outcome/result"),
    ("execward.requested_path", "/proc/req_path"),
    ("execward.tool", "/tool/name"),
    ("execward.hash", "/hash"),
];

/// Those that are a number.
const NUMBERS: [(&str, &str); 8] = [
    ("process.pid", "/proc/pid"),
    ("process.parent_pid", "/proc/ppid"),
    ("process.user.id", "/proc/uid_e"),
    ("process.real_user.id", "/proc/uid_r"),
    ("execward.approver.uid", "/approval/by/uid"),
    ("execward.wait_ms", "/approval/wait_ms"),
    ("execward.duration_us", "/lat/total"),
    ("execward.gap.count", "/gap/count"),
];

/// The record, seen at that time.
pub(super) fn log_record(record: &Record, seen: Timestamp) -> Value {
    let (number, name) = severity(Level::of(record));
    let mut log_record = json!({
        "observedTimeUnixNano": seen.as_nanosecond().to_string(),
        "severityNumber": number,
        "severityText": name,
        "eventName": format!("execward.{}", record.kind()),
        "body": {"stringValue": record.line},
        "attributes": attributes(record),
    });
    let time = record
        .text("/ts")
        .and_then(|ts| ts.parse::<Timestamp>().ok());
    if let (Some(time), Some(fields)) = (time, log_record.as_object_mut()) {
        let time = time.as_nanosecond().to_string();
        fields.insert("timeUnixNano".to_owned(), time.into());
    }
    log_record
}

/// A text as an attribute.
pub(super) fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// Numbers of 64 bits are texts in protobuf's JSON.
fn number(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn attributes(record: &Record) -> Vec<Value> {
    let place = &record.place;
    let mut attributes = vec![
        text("execward.chain", &place.chain),
        number("execward.seq", place.seq),
        text("execward.message", &sentence(record)),
    ];
    let texts = TEXTS.iter();
    attributes.extend(texts.filter_map(|(key, at)| Some(text(key, record.text(at)?))));
    let numbers = NUMBERS.iter();
    attributes.extend(numbers.filter_map(|(key, at)| Some(number(key, record.number(at)?))));
    if let Some(words) = record.texts("/proc/argv") {
        let words: Vec<_> = words.map(|word| json!({"stringValue": word})).collect();
        attributes.push(
            json!({"key": "process.command_args", "value": {"arrayValue": {"values": words}}}),
        );
    }
    attributes
}

/// Of the data model: <https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber>
fn severity(level: Level) -> (u8, &'static str) {
    match level {
        Level::Info => (9, "INFO"),
        Level::Notice => (10, "NOTICE"),
        Level::Warning => (13, "WARN"),
        Level::Error => (17, "ERROR"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_names_of_the_conventions() {
        let record = Record::hostile();
        let seen = log_record(&record, Timestamp::from_second(1).unwrap());
        assert_eq!(seen["observedTimeUnixNano"], "1000000000");
        assert_eq!(seen["timeUnixNano"], "1795998171000857813");
        assert_eq!(seen["severityNumber"], 13);
        assert_eq!(seen["eventName"], "execward.exec.decision");
        assert_eq!(seen["body"]["stringValue"], record.line);
        let of = |key: &str| {
            let attributes = seen["attributes"].as_array().unwrap();
            let found = attributes.iter().find(|it| it["key"] == key);
            found.map(|it| it["value"].clone())
        };
        assert_eq!(of("process.pid"), Some(json!({"intValue": "41"})));
        assert_eq!(of("process.user.id"), Some(json!({"intValue": "1000"})));
        let path = json!({"stringValue": "/tmp/a\"]\n<0>\0\u{202e}"});
        assert_eq!(of("process.executable.path"), Some(path));
        let words = of("process.command_args").unwrap();
        assert_eq!(words["arrayValue"]["values"][3], json!({"stringValue": ""}));
        assert_eq!(
            of("execward.rule.id"),
            Some(json!({"stringValue": "no-true"}))
        );
        assert_eq!(of("execward.result"), None);
    }
}
