//! What a record says, in a line of printable ASCII, and how much it matters.

use crate::record::{HOLE, Record};
use crate::said::{cut, escaped, quoted};

/// Longest line, in bytes.
const SENTENCE_MAX: usize = 1024;

/// How much a record matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// As it should be.
    Info,
    /// Somebody is asked, or refused it.
    Notice,
    /// Something was kept from running.
    Warning,
    /// Records are missing.
    Error,
}

impl Level {
    /// The level of a record.
    pub(crate) fn of(record: &Record) -> Self {
        let verdict = record.text("/decision/verdict");
        match record.kind() {
            HOLE | "audit.gap" | "audit.evicted" => Self::Error,
            "exec.decision" if record.text("/decision/reason") == Some("user") => {
                match is_refused(record) {
                    true => Self::Notice,
                    false => Self::Info,
                }
            }
            "exec.decision" if is_refused(record) => Self::Warning,
            "tool.decision" if verdict == Some("deny") => Self::Warning,
            "exec.outcome" if record.text("/outcome/result") == Some("killed") => Self::Warning,
            "approval.refused" | "policy.rejected" => Self::Warning,
            "exec.held" | "escalation.held" | "policy.loaded" | "session.stop" => Self::Notice,
            "exec.decision" if verdict == Some("deny") => Self::Notice,
            _ => Self::Info,
        }
    }

    /// The severity of syslog (RFC 5424, 6.2.1), and of journald.
    pub(crate) fn severity(self) -> u8 {
        match self {
            Self::Info => 6,
            Self::Notice => 5,
            Self::Warning => 4,
            Self::Error => 3,
        }
    }
}

fn is_refused(record: &Record) -> bool {
    record.text("/effect/sent") == Some("errno") && record.text("/decision/verdict") != Some("none")
}

/// `TYPE WORD (WHY) WHAT`, as far as the record has it.
pub(crate) fn sentence(record: &Record) -> String {
    let word = record
        .text("/outcome/result")
        .or_else(|| record.text("/decision/verdict"));
    let rule = record
        .text("/decision/rule/id")
        .map(|rule| format!("rule {}", quoted(rule)));
    let why = rule.or_else(|| record.text("/decision/reason").map(escaped));
    let parts = [
        Some(escaped(record.kind())),
        word.map(escaped),
        why.map(|why| format!("({why})")),
        what(record),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let mut sentence = parts.join(" ");
    cut(&mut sentence, SENTENCE_MAX);
    sentence
}

/// The call, or else what its kind of record is about.
fn what(record: &Record) -> Option<String> {
    let missing = |record: &Record| record.number("/gap/count").unwrap_or(0);
    match record.kind() {
        HOLE => Some(format!(
            "{} records, from {}, are not in the log",
            missing(record),
            record.number("/gap/first").unwrap_or(0)
        )),
        "audit.gap" => Some(format!("{} records are missing", missing(record))),
        "audit.evicted" => record.text("/segment/name").map(quoted),
        "exec.summary" => {
            let missing = record.number("/target_missing").unwrap_or(0);
            Some(format!("{missing} execs of files that are not there"))
        }
        "session.start" => words(record, "/cmd"),
        _ => words(record, "/proc/argv")
            .or_else(|| record.text("/tool/name").map(quoted))
            .or_else(|| record.text("/outcome/errno").map(escaped))
            .or_else(|| record.text("/detail").map(escaped)),
    }
}

/// A call as it could be typed.
pub(crate) fn words(record: &Record, pointer: &str) -> Option<String> {
    let words: Vec<_> = record.texts(pointer)?.map(quoted).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_sentence_is_one_line_of_ascii_whatever_a_task_is_called() {
        assert_eq!(
            sentence(&Record::hostile()),
            "exec.decision deny (rule no-true) /tmp/a \"x]\\ny=\\\"\" \"\\u{1b}[2J\" \"\""
        );
        let long = json!({"type": "exec.decision", "proc": {"argv": ["x".repeat(4000)]}});
        let long = sentence(&Record::test(0, &long));
        assert_eq!(long.len(), SENTENCE_MAX);
        assert!(long.ends_with(" ..."), "{long}");
    }

    #[test]
    fn what_is_missing_matters_most_and_what_a_person_refused_less_than_what_a_rule_did() {
        let refused = |reason| {
            json!({"type": "exec.decision", "decision": {"verdict": "deny", "reason": reason},
                   "effect": {"sent": "errno"}})
        };
        let level = |fields| Level::of(&Record::test(1, &fields));
        assert_eq!(level(refused("rule")), Level::Warning);
        assert_eq!(level(refused("user")), Level::Notice);
        assert_eq!(level(json!({"type": "audit.gap"})), Level::Error);
        assert_eq!(level(json!({"type": "exec.held"})), Level::Notice);
        assert_eq!(level(json!({"type": "exec.outcome"})), Level::Info);
        assert_eq!(Level::of(&Record::hostile().hole_before(0)), Level::Error);
    }
}
