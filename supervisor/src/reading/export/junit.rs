//! A JUnit report: a suite for each session, a test case for each exec, a failure where one was refused or killed.
//!
//! Its counts stand at its beginning, so all of it is in memory until the log ends.

use std::collections::BTreeMap;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::super::exec::Fate;
use super::joined::Joined;

/// The sessions so far, by their names.
#[derive(Debug, Default)]
pub(super) struct Suites(BTreeMap<(String, String), TestSuite>);

impl Suites {
    /// Adds an exec.
    pub(super) fn add(&mut self, joined: &Joined) {
        let exec = &joined.exec;
        let mut case = TestCase::new(exec.call.as_str(), status(joined));
        case.set_classname(joined.program.as_str());
        if let Some(microseconds) = joined.took_us {
            case.set_time(Duration::from_micros(microseconds));
        }
        if exec.fate.is_refused() {
            case.set_system_out(format!("execward explain {}\n", exec.id));
        }
        self.suite(&joined.session_name, &joined.session)
            .add_test_case(case);
    }

    /// Adds records that are missing: their execs were refused, and nobody knows which.
    pub(super) fn add_gap(&mut self, session_name: &str, session: &str, count: u64) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message("what was executed is not all known");
        let case = TestCase::new(format!("{count} records are missing (audit.gap)"), status);
        self.suite(session_name, session).add_test_case(case);
    }

    /// The report's text.
    ///
    /// # Errors
    /// If it cannot be written as XML.
    pub(super) fn report(self) -> Result<String, SerializeError> {
        let mut report = Report::new("execward");
        for suite in self.0.into_values() {
            report.add_test_suite(suite);
        }
        report.to_string()
    }

    fn suite(&mut self, name: &str, id: &str) -> &mut TestSuite {
        let key = (name.to_owned(), id.to_owned());
        self.0.entry(key).or_insert_with(|| TestSuite::new(name))
    }
}

fn status(joined: &Joined) -> TestCaseStatus {
    let exec = &joined.exec;
    let message = format!("{} ({})", exec.fate.word(), exec.why());
    match exec.fate {
        Fate::Refused | Fate::Killed => {
            let mut failed = TestCaseStatus::non_success(NonSuccessKind::Failure);
            failed.set_message(message).set_type(exec.reason.as_str());
            failed
        }
        Fate::Missing | Fate::Withdrawn | Fate::Vanished | Fate::Waits => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(message);
            skipped
        }
        Fate::LetGo
        | Fate::Ran
        | Fate::Changed
        | Fate::Unverified
        | Fate::Failed
        | Fate::Unknown => TestCaseStatus::success(),
    }
}
