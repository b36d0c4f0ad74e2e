//! Drills: a fault or a crowd, and figures of what happened. Each is a test, small in the ordinary run
//! and as large as it was meant under `scripts/check --drill`.

use std::path::Path;

use serde_json::Value;

use crate::of_type;

/// `full` in a drill that was asked for (`EXECWARD_DRILL`), else `short`.
#[must_use]
pub fn scale(short: usize, full: usize) -> usize {
    if std::env::var_os("EXECWARD_DRILL").is_some() {
        full
    } else {
        short
    }
}

/// Says what was done and what came of it, as a row of a table.
#[expect(clippy::print_stdout, reason = "what a drill is for")]
pub fn report(name: &str, done: &str, happened: &str) {
    println!("| {name} | {done} | {happened} |");
}

/// How long the gate took for decisions, from the notification to the record, sorted.
#[derive(Debug)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Of the decisions in `records` about `program`.
    #[must_use]
    pub fn of(records: &[Value], program: &str) -> Self {
        let own = of_type(records, "exec.decision")
            .filter(|record| record["proc"]["argv"][0] == program)
            .filter_map(|record| record["lat"]["total"].as_u64());
        let mut all: Vec<u64> = own.collect();
        all.sort_unstable();
        Self(all)
    }

    /// That which `percent` of a hundred do not exceed, in microseconds.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> u64 {
        let at = (self.0.len() * percent).div_ceil(100).max(1) - 1;
        self.0[at]
    }

    /// Median, 99th percentile and worst.
    #[must_use]
    pub fn in_words(&self) -> String {
        let [median, high, worst] = [50, 99, 100].map(|percent| self.percentile(percent));
        format!("a decision took {median} us, 99 % at most {high}, the worst {worst}")
    }
}

/// Resident memory of process `pid` in KiB, and the most it ever had: `VmRSS` and `VmHWM` of
/// proc_pid_status(5).
///
/// # Panics
/// If it is gone.
#[must_use]
pub fn memory_kib(pid: impl std::fmt::Display) -> [u64; 2] {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|text| text.parse().ok()).expect("a number")
    })
}

/// How many descriptors process `pid` has open; `None` if only root may see.
#[must_use]
pub fn descriptors(pid: impl std::fmt::Display) -> Option<usize> {
    let path = format!("/proc/{pid}/fd");
    Some(std::fs::read_dir(Path::new(&path)).ok()?.count())
}
