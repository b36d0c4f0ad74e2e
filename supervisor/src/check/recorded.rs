//! Calls out of the audit log.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::CheckError;
use super::call::Call;
use crate::audit::{TailError, escaped};
use crate::regular;

/// Largest record that is read, in bytes. The gate writes none so long.
const RECORD_MAX_BYTES: u64 = 64 << 20;

/// Reads one record from a file, or from standard input for `-`.
pub(super) fn read(path: &Path) -> Result<Value, CheckError> {
    let failed = |error| CheckError::Read {
        path: path.to_owned(),
        error,
    };
    let mut text = String::new();
    if path == Path::new("-") {
        io::stdin().take(RECORD_MAX_BYTES).read_to_string(&mut text)
    } else {
        let file = File::open(path).map_err(failed)?;
        file.take(RECORD_MAX_BYTES).read_to_string(&mut text)
    }
    .map_err(failed)?;
    serde_json::from_str(&text).map_err(|error| CheckError::NoRecord(error.to_string()))
}

/// The last decision in `log` whose ID starts with `id`.
pub(super) fn find(log: &Path, id: &str) -> Result<Value, CheckError> {
    let failed = |error| CheckError::Read {
        path: log.to_owned(),
        error,
    };
    let (mut found, mut damaged) = (None, None);
    let file = regular::open(log).map_err(failed)?;
    for (line, number) in BufReader::new(file).split(b'\n').zip(1..) {
        let record = match serde_json::from_slice::<Value>(&line.map_err(failed)?) {
            Ok(record) => record,
            Err(error) => {
                damaged = damaged.or(Some((number, error)));
                continue;
            }
        };
        let text = |pointer| record.pointer(pointer).and_then(Value::as_str);
        let is_it = text("/type") == Some("exec.decision")
            && text("/exec_id").is_some_and(|own| own.starts_with(id));
        if is_it {
            found = Some(record);
        }
    }
    match (found, damaged) {
        (Some(record), _) => Ok(record),
        // It may have been in that line.
        (None, Some((line, error))) => Err(TailError::Damaged { line, error }.into()),
        (None, None) => Err(CheckError::NoSuch {
            id: id.to_owned(),
            log: PathBuf::from(log),
        }),
    }
}

/// The call that a record is about, byte for byte.
pub(super) fn call_of(record: &Value) -> Result<Call, CheckError> {
    let lacks = |what: &str| CheckError::NoRecord(format!("it has no `{what}`"));
    let argv = record.pointer("/proc/argv").and_then(Value::as_array);
    if record.pointer("/proc/argv_cut") == Some(&Value::Bool(true)) {
        return Err(CheckError::NoRecord("its argv is cut".to_owned()));
    }
    let argv = argv.ok_or_else(|| lacks("proc.argv"))?;
    let argv: Option<_> = (0..argv.len())
        .map(|at| bytes(record, &format!("/proc/argv/{at}")))
        .collect();
    let path = bytes(record, "/proc/req_path").or_else(|| bytes(record, "/proc/path"));
    let path = path.ok_or_else(|| lacks("proc.req_path"))?;
    let cwd = bytes(record, "/proc/cwd");
    let path = match &cwd {
        Some(cwd) if !path.starts_with(b"/") => [cwd, b"/".as_slice(), &path].concat(),
        _ => path,
    };
    Ok(Call {
        path,
        argv: argv.ok_or_else(|| lacks("proc.argv"))?,
        cwd,
        resolved: bytes(record, "/proc/path"),
    })
}

/// What was decided then.
pub(super) fn verdict_in_words(record: &Value) -> String {
    let text = |pointer| {
        escaped(
            record
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or("-"),
        )
    };
    let rule = record.pointer("/decision/rule/id").and_then(Value::as_str);
    let rule = rule.map_or(String::new(), |rule| format!(", rule {}", escaped(rule)));
    format!(
        "then: {} ({}{rule}) at {}; the policy as it is now:",
        text("/decision/verdict"),
        text("/decision/reason"),
        text("/ts")
    )
}

/// The rule whose deny the record is of, if it is of one.
pub(super) fn denying_rule(record: &Value) -> Option<&str> {
    let text = |pointer| record.pointer(pointer).and_then(Value::as_str);
    let is_denied =
        text("/decision/verdict") == Some("deny") && text("/decision/reason") == Some("rule");
    text("/decision/rule/id").filter(|_| is_denied)
}

/// A value: its exact bytes if the record has them, else its text.
fn bytes(record: &Value, pointer: &str) -> Option<Vec<u8>> {
    let exact = record.get("bytes").and_then(|bytes| bytes.get(pointer));
    match exact.and_then(Value::as_str) {
        Some(encoded) => STANDARD.decode(encoded).ok(),
        None => Some(record.pointer(pointer)?.as_str()?.into()),
    }
}
