//! The log is what happened.

use std::collections::HashMap;

use execward_tests::{Ground, of_type, under};

#[test]
fn every_exec_has_one_decision_and_every_continue_one_outcome_in_order() {
    let execs: usize = std::env::var("EXECWARD_TEST_EXECS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2000);
    let ground =
        Ground::full("[[deny]]\nid = \"evil\"\nprogram = \"false\"\n").option("--no-notice");
    let script = format!(
        "i=0; while [ $i -lt {} ]; do /usr/bin/true; /usr/bin/false; i=$((i+1)); done 2>/dev/null",
        execs / 2
    );
    let mut ran = ground.sh(&script);
    // The gate ends after the front.
    ran.records = ground.records_at_end();
    let (mut decided, mut outcomes) = (HashMap::new(), 0);
    for (seq, record) in ran.records.iter().enumerate() {
        assert_eq!(record["seq"], seq);
        let id = record["exec_id"].as_str().map(str::to_owned);
        match record["type"].as_str().unwrap() {
            "exec.decision" => {
                let sent = record["effect"]["sent"].clone();
                assert!(decided.insert(id.unwrap(), sent).is_none(), "two decisions");
            }
            "exec.outcome" => {
                assert_eq!(decided[&id.unwrap()], "continue");
                outcomes += 1;
            }
            _ => {}
        }
    }
    assert_eq!(decided.len(), execs + 1);
    assert_eq!(outcomes, execs / 2 + 1);
    let count = &of_type(&ran.records, "session.end").next().unwrap()["count"];
    assert_eq!(
        (&count["decisions"], &count["verified"]),
        (&(execs + 1).into(), &outcomes.into())
    );
}

#[test]
fn the_chain_of_hashes_holds() {
    let ground = Ground::full("");
    let _ran = ground.sh("/bin/echo a; /bin/echo b");
    let _records = ground.records_at_end();
    let (records, torn) = ground.chained();
    assert!(records.len() > 4 && torn.is_empty());
}

#[test]
fn a_log_that_cannot_be_written_refuses_execs() {
    let ground = Ground::full("");
    // A limit on file size is a full disk for this one session.
    let gated = ground.command(&["sh", "-c", "while /bin/true; do :; done; echo refused"]);
    let limited = under(&["sh", "-c", "ulimit -f 8; exec \"$@\"", "x"], &gated);
    let (_, stdout, stderr) = execward_tests::finish(limited);
    assert_eq!(stdout, "refused\n", "{stderr}");
    for record in ground.records() {
        assert!(record["seq"].is_u64());
    }
}
