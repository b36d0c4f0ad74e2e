//! A record as journald takes it: a field a line, and one with a newline in it with its length before.

use crate::record::Record;
use crate::said::escaped;
use crate::sentence::{Level, sentence};

/// The fields that are made of a text of the record, as far as it has it.
const FIELDS: [(&str, &str); 12] = [
    ("EXECWARD_TYPE", "/type"),
    ("EXECWARD_SESSION", "/session/name"),
    ("EXECWARD_SESSION_ID", "/session/id"),
    ("EXECWARD_TIME", "/ts"),
    ("EXECWARD_ID", "/id"),
    ("EXECWARD_EXEC_ID", "/exec_id"),
    ("EXECWARD_VERDICT", "/decision/verdict"),
    ("EXECWARD_REASON", "/decision/reason"),
    ("EXECWARD_RULE", "/decision/rule/id"),
    ("EXECWARD_RESULT", "/outcome/result"),
    ("EXECWARD_EXE", "/proc/path"),
    ("EXECWARD_TOOL", "/tool/name"),
];

/// The datagram.
pub(super) fn entry(record: &Record) -> Vec<u8> {
    let mut entry = Vec::with_capacity(record.line.len() + 1024);
    put(&mut entry, "MESSAGE", &sentence(record));
    let priority = Level::of(record).severity();
    put(&mut entry, "PRIORITY", &priority.to_string());
    put(&mut entry, "SYSLOG_IDENTIFIER", "execward");
    put(&mut entry, "EXECWARD_CHAIN", &record.place.chain);
    put(&mut entry, "EXECWARD_SEQ", &record.place.seq.to_string());
    for (name, pointer) in FIELDS {
        if let Some(text) = record.text(pointer) {
            put(&mut entry, name, &escaped(text));
        }
    }
    if let Some(pid) = record.number("/proc/pid") {
        put(&mut entry, "EXECWARD_PID", &pid.to_string());
    }
    put(&mut entry, "EXECWARD_RECORD", &record.line);
    entry
}

fn put(entry: &mut Vec<u8>, name: &str, value: &str) {
    entry.extend_from_slice(name.as_bytes());
    if value.contains('\n') {
        entry.push(b'\n');
        // A usize has 64 bits at most.
        let length = u64::try_from(value.len()).unwrap_or(u64::MAX);
        entry.extend_from_slice(&length.to_le_bytes());
    } else {
        entry.push(b'=');
    }
    entry.extend_from_slice(value.as_bytes());
    entry.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_fields_a_line_each_whatever_is_in_it() {
        let record = Record::hostile();
        let text = String::from_utf8(entry(&record)).unwrap();
        let (fields, line) = text.rsplit_once("EXECWARD_RECORD=").unwrap();
        assert_eq!(line, record.line.clone() + "\n");
        assert_eq!(
            fields,
            "MESSAGE=exec.decision deny (rule no-true) /tmp/a \"x]\\ny=\\\"\" \"\\u{1b}[2J\" \"\"\n\
             PRIORITY=4\nSYSLOG_IDENTIFIER=execward\nEXECWARD_CHAIN=c\nEXECWARD_SEQ=3\n\
             EXECWARD_TYPE=exec.decision\nEXECWARD_SESSION=build\nEXECWARD_SESSION_ID=01a2\n\
             EXECWARD_TIME=2026-11-30T00:22:51.000857813Z\nEXECWARD_ID=01a229d5\nEXECWARD_EXEC_ID=be4170\n\
             EXECWARD_VERDICT=deny\nEXECWARD_REASON=rule\nEXECWARD_RULE=no-true\n\
             EXECWARD_EXE=/tmp/a\"]\\n<0>\\u{0}\\u{202e}\nEXECWARD_PID=41\n"
        );
    }

    #[test]
    fn a_value_of_several_lines_has_its_length_before_it() {
        let mut entry = Vec::new();
        put(&mut entry, "A", "x\ny");
        assert_eq!(entry, b"A\n\x03\0\0\0\0\0\0\0x\ny\n");
    }
}
