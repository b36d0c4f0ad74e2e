//! The tables of `tests/README.md` and of the front page: their rows are all there, and each test that
//! they name is one.

const TABLE: &str = include_str!("../README.md");
const FRONT: &str = include_str!("../../README.md");

/// The texts of the kernel tests, and of the one of the policy crate that the front page names.
const TESTS: [&str; 48] = [
    include_str!("../../policy/src/ruleset/tests/tables.rs"),
    include_str!("accept.rs"),
    include_str!("accept/verb.rs"),
    include_str!("approvals.rs"),
    include_str!("audit.rs"),
    include_str!("disk.rs"),
    include_str!("disk/full.rs"),
    include_str!("disk/synced.rs"),
    include_str!("disk/torn.rs"),
    include_str!("dodges.rs"),
    include_str!("failed.rs"),
    include_str!("floods.rs"),
    include_str!("grants/hindsight.rs"),
    include_str!("grants/store.rs"),
    include_str!("grants/subtree.rs"),
    include_str!("hidden.rs"),
    include_str!("identity.rs"),
    include_str!("input.rs"),
    include_str!("interpreter.rs"),
    include_str!("learn.rs"),
    include_str!("lifetime.rs"),
    include_str!("named.rs"),
    include_str!("notify.rs"),
    include_str!("operated.rs"),
    include_str!("pid_namespace.rs"),
    include_str!("pid_namespace/ends.rs"),
    include_str!("drills/numbers.rs"),
    include_str!("drills/power.rs"),
    include_str!("preflight.rs"),
    include_str!("proof.rs"),
    include_str!("race.rs"),
    include_str!("reload.rs"),
    include_str!("rights.rs"),
    include_str!("selectors.rs"),
    include_str!("senders.rs"),
    include_str!("signals.rs"),
    include_str!("start/audit_log.rs"),
    include_str!("task.rs"),
    include_str!("terminal.rs"),
    include_str!("terminal/prompt.rs"),
    include_str!("terminal/relay.rs"),
    include_str!("threads.rs"),
    include_str!("tier.rs"),
    include_str!("unattended.rs"),
    include_str!("user.rs"),
    include_str!("verdict.rs"),
    include_str!("watch.rs"),
    include_str!("withdrawn.rs"),
];

#[test]
fn every_way_has_its_row() {
    let rows = TABLE.lines().filter_map(|line| line.strip_prefix("| "));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split(" | ").collect()).collect();
    let numbers = rows.iter().filter_map(|cells| cells.first());
    let numbers: Vec<u8> = numbers
        .flat_map(|cell| cell.split(", ").filter_map(|number| number.parse().ok()))
        .collect();
    assert_eq!(numbers, (1..=54).collect::<Vec<_>>());
}

#[test]
fn each_test_that_is_named_is_there() {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    for (text, least) in [(TABLE, 40), (FRONT, 30)] {
        let names = text.split('`').filter(|it| it.matches('_').count() > 2);
        let names: Vec<&str> = names.filter(|it| it.chars().all(is_word)).collect();
        assert!(names.len() > least, "{}", names.len());
        for name in names {
            let is_there = |text: &&str| text.contains(&format!("fn {name}("));
            assert!(TESTS.iter().any(is_there), "{name}");
        }
    }
}
