//! A record as one line.

use serde_json::Value;

use crate::audit::shown::{called, escaped, is_plain, quoted};

/// Most bytes of one shown line.
const SHOWN_MAX_BYTES: usize = 400;

/// A line without what moves a cursor, also where a log was written by somebody else than a gate.
pub(super) fn printable(line: &str) -> String {
    let escape = |c: char| match c {
        ' '..='~' => String::from(c),
        other => other.escape_default().to_string(),
    };
    line.chars().map(escape).collect()
}

/// `TIME ID WHAT …`.
pub(super) fn one_line(record: &Value) -> String {
    let time = text(record, "/ts").get(11..23).unwrap_or_default();
    let what = match text(record, "/type") {
        "exec.decision" => decision(record),
        "exec.held" => held(record),
        "escalation.held" => format!("{}, of {}", held(record), from_below(record)),
        "escalation.settled" => format!(
            "{} {} ({}), of {}",
            text(record, "/exec_id"),
            text(record, "/decision/verdict"),
            escaped(text(record, "/decision/reason")),
            from_below(record)
        ),
        "exec.outcome" => outcome(record),
        "tool.decision" => tool(record),
        "approval.refused" => format!(
            "- {} may not answer: {}",
            sender(record),
            escaped(text(record, "/detail"))
        ),
        "grant.added" => format!("- {} says {}", sender(record), grant(record)),
        "grant.removed" => format!(
            "- no longer {}, after {} uses",
            grant(record),
            number(record, "/grant/uses")
        ),
        "policy.loaded" => format!("- {} loads policy {}", sender(record), policy(record)),
        "policy.rejected" => format!(
            "- {} offers a policy that is not loaded: {}",
            sender(record),
            escaped(text(record, "/detail"))
        ),
        "exec.summary" => {
            format!(
                "- {} execs of files that are not there",
                number(record, "/target_missing")
            )
        }
        other => of_log(record, other),
    };
    let mut line = format!("{time} {what}");
    line.truncate(SHOWN_MAX_BYTES);
    line.truncate(line.trim_end().len());
    line
}

/// What a record of a session or of the log itself says.
fn of_log(record: &Value, kind: &str) -> String {
    let name = text(record, "/session/name");
    match kind {
        "session.start" => format!(
            "- session {name} starts{}: {}{}",
            observed(record),
            command(record),
            recovered(record)
        ),
        "session.stop" if record.pointer("/kill") == Some(&Value::Bool(true)) => {
            format!("- {} kills the session", sender(record))
        }
        "session.stop" => format!("- {} ends the session", sender(record)),
        "session.end" => format!("- session {name} ends: {}", counts(record)),
        "audit.gap" => {
            let (count, reason) = (number(record, "/gap/count"), text(record, "/gap/reason"));
            format!("- {count} records are missing here: {reason}")
        }
        "audit.checkpoint" => format!("- {} records signed", number(record, "/checkpoint/count")),
        "audit.close" => format!(
            "- file {} ends ({})",
            number(record, "/segment/number"),
            text(record, "/segment/reason")
        ),
        "audit.open" => format!("- file {} begins", number(record, "/segment/number")),
        "audit.sealed" => format!(
            "- {} seals all before, which has {} faults: {}",
            sender(record),
            number(record, "/faults"),
            escaped(text(record, "/detail"))
        ),
        "audit.evicted" => format!(
            "- file {} is removed: {}",
            number(record, "/segment/number"),
            escaped(text(record, "/segment/name"))
        ),
        other => format!("- {}", escaped(other)),
    }
}

fn from_below(record: &Value) -> String {
    format!(
        "session {}, where it is {}",
        escaped(text(record, "/approval/escalated_from/session")),
        escaped(text(record, "/approval/escalated_from/requestId"))
    )
}

/// Whether everything runs, whatever the verdicts say.
fn observed(record: &Value) -> &'static str {
    match record.pointer("/observe") {
        Some(Value::Bool(true)) => ", only observed",
        _ => "",
    }
}

/// What an earlier session left of a record, if it did.
fn recovered(record: &Value) -> String {
    match number(record, "/log/recovered") {
        0 => String::new(),
        bytes => format!(" ({bytes} bytes of a torn record are set apart)"),
    }
}

fn sender(record: &Value) -> String {
    let (pid, uid) = (number(record, "/sender/pid"), number(record, "/sender/uid"));
    format!("process {pid} of uid {uid}")
}

fn grant(record: &Value) -> String {
    let [id, action, duration, covers] =
        ["id", "action", "duration", "covers"].map(|key| text(record, &format!("/grant/{key}")));
    let covers = escaped(covers);
    format!("{action} for {duration}: {covers} (grant {})", escaped(id))
}

fn policy(record: &Value) -> String {
    let notes = record.pointer("/policy").and_then(Value::as_array);
    let names = notes
        .into_iter()
        .flatten()
        .map(|note| escaped(text(note, "/name")));
    names.collect::<Vec<_>>().join(", ")
}

fn decision(record: &Value) -> String {
    let id = text(record, "/exec_id");
    let verdict = text(record, "/decision/verdict");
    let answer = match (text(record, "/effect/errno"), text(record, "/effect/sent")) {
        ("", "continue") if matches!(verdict, "ask" | "deny") => ", and goes on".to_owned(),
        ("", _) => String::new(),
        (errno, _) => format!(" {errno}"),
    };
    let why = ground(record);
    let program = program(record);
    format!("{id} {verdict}{answer} ({why}) {program}")
}

fn held(record: &Value) -> String {
    let (id, why) = (text(record, "/exec_id"), ground(record));
    format!("{id} waits for an answer ({why}) {}", program(record))
}

fn tool(record: &Value) -> String {
    let (verdict, why) = (text(record, "/decision/verdict"), ground(record));
    let lists = [
        ("path", "/tool/paths"),
        ("url", "/tool/urls"),
        ("arg", "/tool/args"),
    ];
    let named = lists.into_iter().flat_map(|(key, list)| {
        let words = words(record.pointer(list));
        words.map(move |word| format!(" {key} {word}"))
    });
    let named: String = named.collect();
    let name = quoted(text(record, "/tool/name"));
    format!("- {verdict} ({why}) tool {name}{named}")
}

/// The rule, and the ground where that is another.
fn ground(record: &Value) -> String {
    let reason = text(record, "/decision/reason");
    match (text(record, "/decision/rule/id"), reason) {
        ("", reason) => reason.to_owned(),
        (rule, "rule") => format!("rule {rule}"),
        (rule, reason) => format!("rule {rule}, {reason}"),
    }
}

fn program(record: &Value) -> String {
    let path = record
        .pointer("/proc/path")
        .or(record.pointer("/proc/req_path"));
    let path = path.and_then(Value::as_str).unwrap_or("-");
    let called = record.pointer("/proc").and_then(called);
    let called = called.map_or(String::new(), |called| format!(" {called}"));
    format!("{}{called} {}", escaped(path), arguments(record))
}

fn outcome(record: &Value) -> String {
    let difference = match text(record, "/outcome/difference") {
        "" => String::new(),
        what => format!(" ({what})"),
    };
    let (id, errno) = (text(record, "/exec_id"), text(record, "/outcome/errno"));
    format!(
        "{id} -> {}{difference} {errno}",
        text(record, "/outcome/result")
    )
}

pub(super) fn text<'a>(record: &'a Value, pointer: &str) -> &'a str {
    record
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub(super) fn number(record: &Value, pointer: &str) -> u64 {
    record.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

fn arguments(record: &Value) -> String {
    let argv: Vec<String> = words(record.pointer("/proc/argv")).skip(1).collect();
    let more = if record.pointer("/proc/argv_cut").is_some() {
        " ..."
    } else {
        ""
    };
    format!("{}{more}", argv.join(" "))
}

fn counts(record: &Value) -> String {
    let count = record.pointer("/count").and_then(Value::as_object);
    let shown = count
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{value} {name}"));
    shown.collect::<Vec<_>>().join(", ")
}

/// CMD, whose words are escaped in the record already; a log that somebody has written may have
/// others.
fn command(record: &Value) -> String {
    let words = record.pointer("/cmd").and_then(Value::as_array);
    let words = words.into_iter().flatten().filter_map(Value::as_str);
    let printable = |c: char| match c {
        ' '..='~' => String::from(c),
        other => other.escape_default().to_string(),
    };
    let shown = words.map(|word| match is_plain(word.as_bytes()) {
        true => word.to_owned(),
        false => format!("\"{}\"", word.chars().map(printable).collect::<String>()),
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn words(list: Option<&Value>) -> impl Iterator<Item = String> {
    let words = list.and_then(Value::as_array);
    let words = words.into_iter().flatten();
    words.filter_map(Value::as_str).map(quoted)
}
