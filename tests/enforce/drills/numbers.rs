//! Numbers of processes that come again while they are asked about.

use std::collections::HashSet;

use execward_tests::drill::{report, scale};
use execward_tests::{Ground, binary, is_root, of_type, skip, under};

/// Whether a pid namespace has a limit of its own on numbers (Linux 6.14): without, it is the machine's.
fn has_limit_of_its_own() -> bool {
    let release = nix::sys::utsname::uname().expect("a kernel");
    let release = release.release().to_str().expect("text").to_owned();
    let mut numbers = release.split(['.', '-']).map(|n| n.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 14)
}

/// Each number is given away again a hundred forks later, to a process that asks for something else, and
/// half of them are killed while they ask. What is answered is what was asked: a denied mark never
/// shows, an allowed one once.
#[test]
fn t18_a_number_that_comes_again_gets_no_answer_of_another() {
    if !is_root() {
        return skip("a namespace with few process numbers needs root");
    }
    if !has_limit_of_its_own() {
        return skip("a pid namespace has no limit of its own on numbers (Linux 6.14)");
    }
    let count = scale(2000, 100_000);
    let ground =
        Ground::full("[[deny]]\nid = \"no\"\nprogram = \"DIR/no\"\n").option("--no-notice");
    let (yes, no) = (
        ground.copy("/bin/echo", "yes"),
        ground.copy("/usr/bin/printf", "no"),
    );
    let pids = binary("fixture-pids").display().to_string();
    let gated = ground.command(&[&pids, &count.to_string(), &yes, &no]);
    let first = "echo 400 >/proc/sys/kernel/pid_max && \"$@\"; code=$?; \
         until grep -q '\"session.end\"' audit.jsonl; do :; done; exit $code";
    let alone = ["unshare", "--pid", "--fork", "--mount-proc"];
    let words = [&alone[..], &["sh", "-c", first, "sh"]].concat();
    let ran = ground.end(under(&words, &gated));
    assert!(ran.status.success(), "{}", ran.stderr);
    let mut shown = HashSet::new();
    for line in ran.stdout.lines() {
        assert!(line.starts_with(['y', 'l']), "{line} ran");
        assert!(shown.insert(line), "{line} ran twice");
    }
    let allowed = (0..count).step_by(4);
    for number in allowed.clone() {
        assert!(
            shown.contains(&*format!("y{number}")),
            "y{number} is missing"
        );
    }
    let (mut decided, mut numbers) = (0, HashSet::new());
    for record in of_type(&ran.records, "exec.decision") {
        let mark = record["proc"]["argv"][1].as_str().unwrap_or_default();
        let verdict = record["decision"]["verdict"].as_str();
        match mark.chars().next() {
            Some('y' | 'l') => assert_eq!(verdict, Some("allow"), "{record}"),
            Some('n' | 'm') => assert_eq!(verdict, Some("deny"), "{record}"),
            _ => continue,
        }
        decided += 1;
        numbers.insert(record["proc"]["pid"].as_u64());
    }
    // All that were not killed, by fewer numbers than the namespace has.
    assert!(decided >= count / 2 && numbers.len() < 400, "{decided}");
    report(
        "T18",
        &format!(
            "{count} processes by {} numbers, half of them killed while they ask",
            numbers.len()
        ),
        &format!("{decided} decisions, each of what its process asked for"),
    );
}
