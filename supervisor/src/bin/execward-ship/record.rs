//! A record as it is shipped: its line, and what it is known by. Everything in it is text that nobody vouches for.

use serde::Deserialize;
use serde_json::{Value, json};

/// Longest name of a chain, in bytes. The gate's have 36: they are UUIDs.
const CHAIN_MAX: usize = 64;

/// What a hole in a chain is shipped as.
pub(crate) const HOLE: &str = "ship.gap";

/// What a record is known by, everywhere and for ever.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Place {
    /// Of the session.
    pub(crate) chain: String,
    /// Counts the chain's records from 0.
    pub(crate) seq: u64,
}

impl Place {
    /// Where the record of this line stands; `None` if it is no record.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        let place: Self = serde_json::from_slice(line).ok()?;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_sound = (1..=CHAIN_MAX).contains(&place.chain.len());
        (is_sound && place.chain.bytes().all(is_name)).then_some(place)
    }
}

/// A record of the log, or a hole in it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) place: Place,
    /// As it stands in the log; of a hole one like it.
    pub(crate) line: String,
    value: Value,
}

impl Record {
    /// The record of this line, which stands there; `None` if it is none.
    pub(crate) fn of(line: Vec<u8>, place: Place) -> Option<Self> {
        let line = String::from_utf8(line).ok()?;
        let value: Value = serde_json::from_str(&line).ok()?;
        Some(Self { place, line, value })
    }

    /// That the records of its chain from `first` up to before it are not in the log.
    pub(crate) fn hole_before(&self, first: u64) -> Self {
        let last = self.place.seq.saturating_sub(1);
        let count = self.place.seq.saturating_sub(first);
        let mut value = json!({"v": "1.0", "type": HOLE});
        let gap = json!({"reason": "not_in_log", "count": count, "first": first, "last": last});
        if let Some(fields) = value.as_object_mut() {
            fields.insert("gap".into(), gap);
            fields.insert("seq".into(), first.into());
            for key in ["ts", "session", "chain"] {
                fields.extend(
                    self.at(&["/", key].concat())
                        .map(|it| (key.into(), it.clone())),
                );
            }
        }
        let chain = self.place.chain.clone();
        Self {
            place: Place { chain, seq: first },
            line: value.to_string(),
            value,
        }
    }

    /// `exec.decision`, `session.start` …
    pub(crate) fn kind(&self) -> &str {
        self.text("/type").unwrap_or_default()
    }

    /// Whether it stands for records that are not in the log.
    pub(crate) fn is_hole(&self) -> bool {
        self.kind() == HOLE
    }

    /// What stands at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.value.pointer(pointer)
    }

    /// The text there.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str()
    }

    /// The number there.
    pub(crate) fn number(&self, pointer: &str) -> Option<u64> {
        self.at(pointer)?.as_u64()
    }

    /// The texts of the list there.
    pub(crate) fn texts(&self, pointer: &str) -> Option<impl Iterator<Item = &str>> {
        let list = self.at(pointer)?.as_array()?;
        Some(list.iter().filter_map(Value::as_str))
    }
}

#[cfg(test)]
impl Record {
    /// One with `fields`, at a place.
    pub(crate) fn test(seq: u64, fields: &Value) -> Self {
        let mut value = json!({"chain": "c", "seq": seq, "ts": "2026-11-30T00:22:51.000857813Z"});
        let own = value.as_object_mut().unwrap();
        own.extend(fields.as_object().unwrap().clone());
        let line = value.to_string().into_bytes();
        let place = Place::of(&line).unwrap();
        Self::of(line, place).unwrap()
    }

    /// A refusal, with all of a task's text as hostile as it can be.
    pub(crate) fn hostile() -> Self {
        let fields = json!({
            "type": "exec.decision", "exec_id": "be4170", "id": "01a229d5",
            "session": {"id": "01a2", "name": "build"},
            "proc": {"pid": 41, "ppid": 40, "uid_e": 1000, "path": "/tmp/a\"]\n<0>\0\u{202e}", "cwd": "/w\\",
                     "argv": ["/tmp/a", "x]\ny=\"", "\u{1b}[2J", ""]},
            "decision": {"verdict": "deny", "reason": "rule", "rule": {"id": "no-true", "src": "p.toml:4"}},
            "effect": {"sent": "errno", "errno": "EPERM"}, "lat": {"total": 1152},
        });
        Self::test(3, &fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_a_place_in_a_chain_is_a_record() {
        let place = Place::of(br#"{"chain":"01a2-b","seq":7}"#).unwrap();
        assert_eq!((place.chain.as_str(), place.seq), ("01a2-b", 7));
        for other in [
            r#"{"chain":"","seq":7}"#,
            r#"{"chain":"a b","seq":7}"#,
            r#"{"chain":"a","seq":-1}"#,
            r#"{"chain":"a"}"#,
            "[]",
            "",
            "x",
        ] {
            assert_eq!(Place::of(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_hole_says_which_records_are_missing() {
        let hole = Record::hostile().hole_before(1);
        assert_eq!(hole.place.seq, 1);
        assert_eq!(
            hole.line,
            "{\"v\":\"1.0\",\"type\":\"ship.gap\",\"gap\":{\"reason\":\"not_in_log\",\"count\":2,\"first\":1,\
             \"last\":2},\"seq\":1,\"ts\":\"2026-11-30T00:22:51.000857813Z\",\"session\":{\"id\":\"01a2\",\
             \"name\":\"build\"},\"chain\":\"c\"}"
        );
    }
}
