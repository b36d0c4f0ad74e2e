//! The chain of hashes of a log, followed as the documentation has it.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The records of a log, each of which follows the one before it in its session, and what there is of a
/// last line that was not written whole.
///
/// # Panics
/// If a line is no record, was changed, or the one before it is missing.
#[must_use]
pub fn chained(log: &[u8]) -> (Vec<Value>, Vec<u8>) {
    let end = log.iter().rposition(|byte| *byte == b'\n');
    let (whole, torn) = log.split_at(end.map_or(0, |end| end + 1));
    let mut heads: Vec<(Value, [u8; 32])> = Vec::new();
    let lines = whole.split_inclusive(|byte| *byte == b'\n');
    let records = lines.map(|line| {
        let line = str::from_utf8(line).expect("text").trim_end();
        let record: Value = serde_json::from_str(line).expect("a record");
        let at = heads
            .iter()
            .position(|(chain, _)| *chain == record["chain"]);
        let at = at.unwrap_or_else(|| {
            heads.push((record["chain"].clone(), [0; 32]));
            heads.len() - 1
        });
        let head = &mut heads[at].1;
        assert_eq!(record["prev"], hexadecimal(head), "a record is missing");
        let (body, _) = line.rsplit_once(",\"hash\":").expect("a hash");
        let mut digest = Sha256::new();
        digest.update(b"execward-audit-v1\0");
        digest.update(*head);
        digest.update(body);
        *head = digest.finalize().into();
        assert_eq!(record["hash"], hexadecimal(head), "a record was changed");
        record
    });
    (records.collect(), torn.to_vec())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
