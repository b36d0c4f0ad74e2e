//! What an earlier session left of a record that it died inside.

use std::fs::{self, File};
use std::io::Write;
use std::process::Command;

use execward_tests::{Ground, binary, finish, of_type};

#[test]
fn a_torn_record_of_an_earlier_session_is_set_apart_and_said() {
    let ground = Ground::full("");
    let log = ground.path("audit.jsonl");
    let run = || finish(ground.command(&["/bin/true"])).0.success();
    assert!(run());
    let first = ground.records_at_end();
    let whole = fs::read_to_string(&log).expect("a log");
    let torn = &whole[..100];
    let mut file = File::options().append(true).open(&log).expect("a log");
    file.write_all(torn.as_bytes()).expect("the log");
    drop(file);
    assert!(run());
    let records = ground.records_at_end();
    assert!(records.len() > first.len());
    let starts: Vec<_> = of_type(&records, "session.start").collect();
    assert!(starts[0]["log"].get("recovered").is_none());
    assert_eq!(starts[1]["log"]["recovered"], 100);
    let apart = fs::read_to_string(ground.path("audit.jsonl.torn")).expect("what was torn");
    assert_eq!(apart, format!("{torn}\n"));
    let mut tail = Command::new(binary("execward"));
    let (status, shown, _) = finish({
        tail.args(["audit", "tail"]).arg(&log);
        tail
    });
    assert!(status.success());
    assert!(
        shown.contains("100 bytes of a torn record are set apart"),
        "{shown}"
    );
}
