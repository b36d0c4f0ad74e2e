//! What one who may write the log can make of its lines: whole chains, but no signature.

use crate::audit::follows;

pub(super) fn hash_of(line: &str) -> &str {
    line.rsplit('"').nth(1).unwrap()
}

/// Gives every line from `from` on the digests that it would have had, as one who may write the log can.
pub(super) fn rechain(lines: &mut [String], from: usize) {
    for at in from..lines.len() {
        let prev = hash_of(&lines[at - 1]).to_owned();
        let (body, _) = lines[at].rsplit_once(",\"hash\":").unwrap();
        let (before, behind) = body.rsplit_once("\"prev\":\"").unwrap();
        let body = format!("{before}\"prev\":\"{prev}{}", &behind[64..]);
        let hash = follows(&prev, body.as_bytes()).unwrap();
        lines[at] = format!("{body},\"hash\":\"{hash}\"}}");
    }
}

/// Lines of a session that never was, each of a type and with more.
pub(super) fn forged_session(records: &[(&str, &str)]) -> Vec<String> {
    let mut prev = "0".repeat(64);
    let lines = records.iter().enumerate().map(|(seq, (kind, more))| {
        let body = format!(
            r#"{{"v":"1.0","type":"{kind}"{more},"seq":{seq},"ts":"2026-11-30T00:00:00Z","session":{{"id":"f","name":"f"}},"chain":"f","prev":"{prev}""#
        );
        prev = follows(&prev, body.as_bytes()).unwrap();
        format!("{body},\"hash\":\"{prev}\"}}")
    });
    lines.collect()
}
