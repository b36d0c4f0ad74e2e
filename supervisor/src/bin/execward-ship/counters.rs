//! What is counted of a log's records. No word of a task gets in: each label has the values that execward has for it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::record::Record;

/// What a policy says.
const VERDICTS: [&str; 4] = ["allow", "ask", "deny", "none"];

/// On what grounds (`supervisor/src/audit/reason.rs`).
const REASONS: [&str; 21] = [
    "rule",
    "default",
    "children",
    "safe_bin",
    "wrapper",
    "unknown_tool",
    "operator",
    "user",
    "grant",
    "store_invalid",
    "no_approver",
    "timeout",
    "signalled",
    "withdrawn",
    "changed_since_prompt",
    "overload",
    "unreadable",
    "unverifiable",
    "read_deadline",
    "target_missing",
    "sup_error",
];

/// What became of an exec.
const RESULTS: [&str; 6] = [
    "verified",
    "changed",
    "killed",
    "failed",
    "vanished",
    "unverified",
];

/// What stands for every other word.
const OTHER: &str = "other";

/// How long decisions take: the bounds of the counts, in microseconds.
pub(crate) const DECISION_BOUNDS: [u64; 13] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    30_000_000,
];

/// Likewise how long a question waits.
pub(crate) const WAIT_BOUNDS: [u64; 9] = [
    1_000_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    900_000_000,
    3_600_000_000,
];

/// Numbers by a label's values, and by another's below these.
pub(crate) type ByTwo = BTreeMap<String, BTreeMap<String, u64>>;
/// Numbers by a label's values.
pub(crate) type ByOne = BTreeMap<String, u64>;

/// The figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Counters {
    /// By verdict, and reason.
    pub(crate) decisions: ByTwo,
    /// Decisions that a question was asked about, likewise.
    pub(crate) answers: ByTwo,
    /// Calls of tools, by verdict.
    pub(crate) tools: ByOne,
    /// By result.
    pub(crate) outcomes: ByOne,
    pub(crate) questions: u64,
    /// Execs of files that are not there.
    pub(crate) missing_targets: u64,
    /// Times that records are missing: `log` where the gate could not write, `shipping` where they were gone before
    /// they were read.
    pub(crate) gaps: ByOne,
    /// How many records, likewise.
    pub(crate) missing_records: ByOne,
    /// Files of the log that were removed.
    pub(crate) evicted: u64,
    pub(crate) sessions_started: u64,
    pub(crate) sessions_ended: u64,
    /// How long decisions took.
    pub(crate) decision_time: Spread,
    /// How long questions waited.
    pub(crate) question_wait: Spread,
    /// Of the last record.
    pub(crate) last: Option<Last>,
}

/// Times by how long they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Spread {
    /// How many are no longer than that, in microseconds.
    pub(crate) within: BTreeMap<u64, u64>,
    pub(crate) count: u64,
    /// All together, in microseconds.
    pub(crate) sum: u64,
}

/// The last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Last {
    pub(crate) seq: u64,
    /// When it was written, in microseconds since 1970.
    pub(crate) written: i64,
    /// How long after that it was counted, in microseconds.
    pub(crate) lag: u64,
}

impl Spread {
    fn add(&mut self, bounds: &[u64], time: u64) {
        for bound in bounds {
            *self.within.entry(*bound).or_default() += u64::from(time <= *bound);
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(time);
    }
}

impl Counters {
    /// Counts a record, at that time.
    pub(crate) fn add(&mut self, record: &Record, now: Timestamp) {
        match record.kind() {
            "exec.decision" => self.decision(record),
            "exec.outcome" => {
                count(
                    &mut self.outcomes,
                    word(record, "/outcome/result", &RESULTS),
                    1,
                );
            }
            "exec.held" => self.questions += 1,
            "exec.summary" => {
                let missing = record.number("/target_missing").unwrap_or(0);
                self.missing_targets = self.missing_targets.saturating_add(missing);
            }
            "tool.decision" => {
                count(
                    &mut self.tools,
                    word(record, "/decision/verdict", &VERDICTS),
                    1,
                );
            }
            "audit.gap" => self.gap(record, "log"),
            "audit.evicted" => self.evicted += 1,
            "session.start" => self.sessions_started += 1,
            "session.end" => self.sessions_ended += 1,
            _ if record.is_hole() => return self.gap(record, "shipping"),
            _ => {}
        }
        let written = record
            .text("/ts")
            .and_then(|ts| ts.parse::<Timestamp>().ok());
        if let Some(written) = written {
            let lag = now
                .as_microsecond()
                .saturating_sub(written.as_microsecond());
            self.last = Some(Last {
                seq: record.place.seq,
                written: written.as_microsecond(),
                // A clock that was set back makes none.
                lag: u64::try_from(lag).unwrap_or(0),
            });
        }
    }

    fn decision(&mut self, record: &Record) {
        let verdict = word(record, "/decision/verdict", &VERDICTS);
        let reason = word(record, "/decision/reason", &REASONS);
        let of = |all: &mut ByTwo| count(all.entry(verdict.to_owned()).or_default(), reason, 1);
        of(&mut self.decisions);
        let wait = record.number("/approval/wait_ms");
        if record.at("/approval").is_some() {
            of(&mut self.answers);
        }
        match (wait, record.number("/lat/total")) {
            (Some(wait), _) => {
                let wait = wait.saturating_mul(1000);
                self.question_wait.add(&WAIT_BOUNDS, wait);
            }
            // With a question in it, it tells of people.
            (None, Some(time)) => self.decision_time.add(&DECISION_BOUNDS, time),
            (None, None) => {}
        }
    }

    fn gap(&mut self, record: &Record, place: &str) {
        count(&mut self.gaps, place, 1);
        let missing = record.number("/gap/count").unwrap_or(0);
        count(&mut self.missing_records, place, missing);
    }
}

fn count(all: &mut ByOne, word: &str, more: u64) {
    let seen = all.entry(word.to_owned()).or_default();
    *seen = seen.saturating_add(more);
}

/// The word there, if it is one of these.
fn word(record: &Record, pointer: &str, known: &[&'static str]) -> &'static str {
    let said = record.text(pointer).unwrap_or_default();
    let known = known.iter().copied().find(|known| *known == said);
    known.unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_word_of_a_log_becomes_a_label_that_execward_does_not_have() {
        let mut counters = Counters::default();
        for seq in 0..100 {
            let word = format!("x{seq}\"}} 1\n");
            let decision = json!({"verdict": word, "reason": word});
            let record = json!({"type": "exec.decision", "decision": decision});
            counters.add(&Record::test(seq, &record), Timestamp::UNIX_EPOCH);
            let outcome = json!({"type": "exec.outcome", "outcome": {"result": word}});
            counters.add(&Record::test(seq, &outcome), Timestamp::UNIX_EPOCH);
        }
        assert_eq!(counters.decisions["other"]["other"], 100);
        assert_eq!(counters.decisions.len(), 1);
        assert_eq!(counters.outcomes, ByOne::from([("other".to_owned(), 100)]));
    }

    #[test]
    fn counters_come_back_from_the_position_file() {
        let mut counters = Counters::default();
        counters.add(&Record::hostile(), Timestamp::UNIX_EPOCH);
        let text = serde_json::to_string(&counters).unwrap();
        assert_eq!(serde_json::from_str::<Counters>(&text).unwrap(), counters);
    }
}
