//! The difference as a JUnit report: a test case for each entry of the list, and one for each kind of exec that
//! is in none.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::difference::Difference;

/// The report's text.
///
/// # Errors
/// If it cannot be written as XML.
pub(super) fn report(difference: &Difference<'_>) -> Result<String, quick_junit::SerializeError> {
    let mut suite = TestSuite::new(difference.list.name.as_str());
    for (expected, times) in difference.entries() {
        let status = match expected.count {
            Some(count) if count != times => failed(&format!("{times} instead of {count} times")),
            None if times == 0 => {
                let mut skipped = TestCaseStatus::skipped();
                skipped.set_message("never executed");
                skipped
            }
            Some(_) | None => TestCaseStatus::success(),
        };
        suite.add_test_case(TestCase::new(expected.in_words(), status));
    }
    for found in &difference.unexpected {
        let status = failed(&format!("not expected: {}", found.in_words()));
        let mut case = TestCase::new(found.first.in_words(), status);
        case.set_system_out(format!("execward explain {}\n", found.first.id));
        suite.add_test_case(case);
    }
    for gap in difference.gaps {
        let status = failed("what was executed is not all known");
        suite.add_test_case(TestCase::new(gap.as_str(), status));
    }
    let mut report = Report::new("execward");
    report.add_test_suite(suite);
    report.to_string()
}

fn failed(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(message);
    status
}
