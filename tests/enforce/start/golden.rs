//! `tests/golden/errors`: what `run` says when it cannot start.

use std::path::Path;
use std::sync::Mutex;

/// As built in: the tests also run where their sources are not.
const GOLDEN: &str = include_str!("../../golden/errors");

/// The tests that provoke them.
const SOURCES: [&str; 5] = [
    include_str!("audit_log.rs"),
    include_str!("control.rs"),
    include_str!("kernel.rs"),
    include_str!("places.rs"),
    include_str!("usage.rs"),
];

/// Fewest failures: the file grows and does not shrink.
const FAILURES_MIN: usize = 60;

fn failures(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once(": ").expect("NAME: MESSAGE"))
}

/// Compares what failure `name` said with the file, or writes it there.
pub(super) fn compare(name: &str, said: &str) {
    if std::env::var_os("EXECWARD_BLESS").is_some_and(|value| value == "1") {
        return bless(name, said);
    }
    let wanted = failures(GOLDEN).find(|(known, _)| *known == name);
    assert_eq!(
        wanted.map(|(_, message)| message),
        Some(said),
        "{name} in tests/golden/errors; EXECWARD_BLESS=1 writes it anew"
    );
}

fn bless(name: &str, said: &str) {
    static FILE: Mutex<()> = Mutex::new(());
    let _one_at_a_time = FILE.lock().expect("no test failed in here");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/errors");
    let text = std::fs::read_to_string(&path).expect("tests/golden/errors");
    let mut lines: Vec<_> = failures(&text)
        .filter(|(known, _)| *known != name)
        .collect();
    lines.push((name, said));
    lines.sort_unstable();
    let is_head = |line: &&str| line.starts_with('#');
    let head: String = text
        .lines()
        .filter(is_head)
        .map(|line| format!("{line}\n"))
        .collect();
    let body = lines.iter().map(|(name, said)| format!("{name}: {said}\n"));
    std::fs::write(path, head + &body.collect::<String>()).expect("tests/golden/errors");
}

#[test]
fn every_failure_of_the_file_is_provoked_and_begins_with_the_programs_name() {
    let mut count = 0;
    for (name, message) in failures(GOLDEN) {
        let quoted = format!("\"{name}\"");
        assert!(
            SOURCES.iter().any(|source| source.contains(&quoted)),
            "no test provokes {name}"
        );
        assert!(message.starts_with("execward: "), "{name}: {message}");
        count += 1;
    }
    assert!(count >= FAILURES_MIN, "{count} failures");
}
