//! What a session left behind.

use std::process::ExitStatus;

use serde_json::Value;

use crate::of_type;

/// What a session left behind.
#[derive(Debug)]
pub struct Ran {
    /// How the front ended.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The audit log, parsed.
    pub records: Vec<Value>,
}

impl Ran {
    /// The exit code; 128+N would show as a code too.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The `exec.decision` records whose argv starts with `words`.
    #[must_use]
    pub fn decisions(&self, words: &[&str]) -> Vec<&Value> {
        let starts = |record: &&Value| {
            let argv = record["proc"]["argv"].as_array();
            argv.is_some_and(|argv| {
                argv.len() >= words.len() && argv.iter().zip(words).all(|(a, b)| a == b)
            })
        };
        of_type(&self.records, "exec.decision")
            .filter(starts)
            .collect()
    }

    /// The outcome of the first exec whose argv starts with `words`.
    ///
    /// # Panics
    /// If there is no such exec or it has no outcome.
    #[must_use]
    pub fn outcome(&self, words: &[&str]) -> &Value {
        let decisions = self.decisions(words);
        let id = &decisions.first().expect("a decision")["exec_id"];
        of_type(&self.records, "exec.outcome")
            .find(|record| record["exec_id"] == *id)
            .map(|record| &record["outcome"])
            .expect("an outcome")
    }

    /// How many outcomes have this result.
    #[must_use]
    pub fn results(&self, result: &str) -> usize {
        of_type(&self.records, "exec.outcome")
            .filter(|record| record["outcome"]["result"] == result)
            .count()
    }
}
