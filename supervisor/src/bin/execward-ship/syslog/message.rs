//! A record as a syslog message: RFC 5424, printable ASCII, of bounded length.

use jiff::Timestamp;

use crate::record::Record;
use crate::said::{cut, escaped};
use crate::sentence::{Level, sentence};

/// Longest message, in bytes: what every receiver should take (RFC 5424, 6.1).
pub(super) const MESSAGE_MAX: usize = 2048;

/// Longest value in the structured data, in bytes before RFC 5424's own escapes.
const VALUE_MAX: usize = 96;

/// Longest structured data, in bytes: the head has less than 400, and what is left is the text's.
const DATA_MAX: usize = 1400;

/// Security messages, `authpriv` (RFC 5424, 6.2.1).
const FACILITY: u8 = 10;

/// Names without a number are IANA's; this number is for examples (RFC 5612), as execward has none of its own.
const DATA_ID: &str = "execward@32473";

/// The values of the structured data that are made of a text of the record, as far as it has it.
const VALUES: [(&str, &str); 9] = [
    ("session", "/session/name"),
    ("id", "/id"),
    ("exec_id", "/exec_id"),
    ("verdict", "/decision/verdict"),
    ("reason", "/decision/reason"),
    ("rule", "/decision/rule/id"),
    ("result", "/outcome/result"),
    ("exe", "/proc/path"),
    ("tool", "/tool/name"),
];

/// The message of a record, from that host.
pub(super) fn message(record: &Record, host: &str) -> String {
    let priority = FACILITY * 8 + Level::of(record).severity();
    let mut message = format!(
        "<{priority}>1 {} {} execward - {} ",
        time(record),
        word(host, 255),
        word(record.kind(), 32)
    );
    let (data, mut is_cut) = data(record);
    let mut text = sentence(record);
    // With `cut` in it.
    let room = MESSAGE_MAX.saturating_sub(message.len() + data.len() + 16);
    is_cut |= cut(&mut text, room);
    message.push_str(&data);
    if is_cut {
        message.push_str(" cut=\"yes\"");
    }
    message.push_str("] ");
    message.push_str(&text);
    message
}

/// Microseconds are the finest that a message may have (RFC 5424, 6.2.3).
fn time(record: &Record) -> String {
    let time = record
        .text("/ts")
        .and_then(|ts| ts.parse::<Timestamp>().ok());
    time.map_or_else(|| "-".to_owned(), |time| format!("{time:.6}"))
}

/// A field of the head: no spaces, and `-` for nothing.
fn word(text: &str, length_max: usize) -> String {
    let graphic = text.chars().filter(char::is_ascii_graphic);
    let word: String = graphic.take(length_max).collect();
    if word.is_empty() {
        "-".to_owned()
    } else {
        word
    }
}

/// The structured data without its end, and whether something in it is cut.
fn data(record: &Record) -> (String, bool) {
    let mut data = format!("[{DATA_ID}");
    let mut is_cut = false;
    let mut put = |name: &str, value: &str| {
        let mut value = escaped(value);
        is_cut |= cut(&mut value, VALUE_MAX);
        // RFC 5424, 6.3.3.
        let value = value.replace('\\', "\\\\");
        let value = value.replace('"', "\\\"").replace(']', "\\]");
        if data.len() + name.len() + value.len() + 4 > DATA_MAX {
            is_cut = true;
            return;
        }
        data.push_str(&format!(" {name}=\"{value}\""));
    };
    put("chain", &record.place.chain);
    put("seq", &record.place.seq.to_string());
    for (name, pointer) in VALUES {
        if let Some(text) = record.text(pointer) {
            put(name, text);
        }
    }
    if let Some(pid) = record.number("/proc/pid") {
        put("pid", &pid.to_string());
    }
    (data, is_cut)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_is_one_message_whatever_is_in_it() {
        assert_eq!(
            message(&Record::hostile(), "host"),
            "<84>1 2026-11-30T00:22:51.000857Z host execward - exec.decision [execward@32473 chain=\"c\" \
             seq=\"3\" session=\"build\" id=\"01a229d5\" exec_id=\"be4170\" verdict=\"deny\" reason=\"rule\" \
             rule=\"no-true\" exe=\"/tmp/a\\\"\\]\\\\n<0>\\\\u{0}\\\\u{202e}\" pid=\"41\"] exec.decision deny \
             (rule no-true) /tmp/a \"x]\\ny=\\\"\" \"\\u{1b}[2J\" \"\""
        );
    }

    #[test]
    fn a_message_has_its_length_and_says_that_it_is_cut() {
        let long = "\u{202e}]\"\\".repeat(5000);
        let fields = json!({
            "type": long, "id": long, "exec_id": long, "session": {"name": long}, "tool": {"name": long},
            "decision": {"verdict": long, "reason": long, "rule": {"id": long}}, "ts": long,
            "outcome": {"result": long}, "proc": {"path": long, "argv": [long]},
        });
        let message = message(&Record::test(u64::MAX, &fields), &"h".repeat(400));
        assert!(message.len() <= MESSAGE_MAX, "{}", message.len());
        assert!(message.contains(" cut=\"yes\"] "), "{message}");
        assert!(message.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }
}
