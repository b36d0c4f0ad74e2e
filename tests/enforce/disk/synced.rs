//! What is on the disk, and not in its cache alone, before somebody is told.

use execward_tests::{Asking, Ground, chained, needs_answers, needs_served_files, of_type, until};
use serde_json::Value;

use super::{Disk, question_about, records_of, served};

/// Touching is asked about.
const ASK: &str = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";

impl Disk {
    /// The records that are on the disk for certain.
    fn synced(&mut self) -> Vec<Value> {
        let synced: usize = self.be("synced audit.jsonl").parse().expect("a length");
        let written = self.bytes("cat audit.jsonl");
        chained(&written[..synced]).0
    }
}

/// The answer is in the log, but not on the disk.
#[test]
fn what_a_person_allows_does_not_run_before_it_is_on_the_disk() {
    needs_served_files!();
    needs_answers!();
    let (ground, words) = served(Ground::full(ASK));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let script = "/bin/touch one; /bin/touch two; echo over; read x";
    let mut asking = Asking::start_under(&words, ground, "socket", script);
    let mut disk = Disk::of(asking.ground());
    for (how, runs, name) in [("unsynced", false, "one"), ("ok", true, "two")] {
        let id = question_about(&asking, name);
        disk.be(how);
        let (code, _, _) = asking.client(&["allow", &id]);
        assert_eq!(code, Some(if runs { 0 } else { 1 }));
        until("the outcome", || {
            let records = disk.records();
            let mut outcomes = of_type(&records, "exec.outcome");
            let outcome = outcomes.find(|it| it["exec_id"] == id.as_str())?;
            let result = if runs { "verified" } else { "failed" };
            assert_eq!(outcome["outcome"]["result"], result);
            Some(())
        });
        if !runs {
            assert!(!asking.has_run(name));
        }
    }
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    assert!(!asking.has_run("one") && asking.has_run("two"));
    drop(asking.stdin());
    let _records = records_of(&disk.log_at_end());
    disk.be("end");
}

#[test]
fn what_a_person_said_is_on_the_disk_before_anyone_is_told() {
    needs_served_files!();
    needs_answers!();
    let (ground, words) = served(Ground::full(ASK));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let script = "for i in 1 2 3 4 5 6; do /bin/touch q$i; done; echo over; read x";
    let mut asking = Asking::start_under(&words, ground, "socket", script);
    let mut disk = Disk::of(asking.ground());
    for (at, verb) in ["deny", "allow"].iter().cycle().take(6).enumerate() {
        let id = question_about(&asking, &format!("q{}", at + 1));
        asking.answer(&[verb, &id]);
        let synced = disk.synced();
        let is_its = |it: &&Value| it["exec_id"] == id.as_str();
        let decision = of_type(&synced, "exec.decision").find(is_its);
        let decision = decision.unwrap_or_else(|| panic!("`{verb}` is not on the disk"));
        assert_eq!(decision["decision"]["verdict"], *verb);
    }
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    drop(asking.stdin());
    let _records = records_of(&disk.log_at_end());
    disk.be("end");
}
