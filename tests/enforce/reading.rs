//! Logs in figures, as trees, and in the forms of others.

mod export;
mod stats;
mod tree;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use execward_tests::{Ground, binary};
use serde_json::Value;

/// What moves a cursor, turns text around, ends a script, and is a formula.
const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}\u{1b}[2J\n=1+1";

/// Rules that allow, ask and deny, and one that nothing is about.
const RULES: &str = "[[deny]]\nid = \"no-mkdir\"\nprogram = \"mkdir\"\n\
                     [[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n\
                     [[deny]]\nid = \"never\"\nprogram = \"no-such-program\"\n";

/// A session of each kind of exec; with [`HOSTILE`] in place of `WORD`.
const SCRIPT: &str = "for i in 1 2 3; do /usr/bin/true x; done\n\
                      /usr/bin/mkdir 'WORD'\n\
                      /usr/bin/touch 'WORD'\n\
                      /bin/sh -c '/usr/bin/true below; :'\n\
                      /usr/bin/true \"$(printf 'a\\377')\"\n\
                      no-such-program-at-all\n";

/// A ground with the log of such a session at its end.
fn ground() -> Ground {
    let ground = Ground::full(RULES).option("--prompt=none");
    let ran = ground.sh(&SCRIPT.replace("WORD", HOSTILE));
    let records = ground.records_at_end();
    assert!(records.len() > 15, "{}", ran.stderr);
    ground
}

/// What a command writes that ends so.
fn written(ground: &Ground, words: &[&str], code: i32) -> String {
    let output = ground.execward(words);
    let said = output.stderr.escape_ascii().to_string();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Nothing that a terminal does anything at.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| matches!(c, ' '..='~' | '\n'))
}

/// The log with a line that is none in its middle, as `damaged.jsonl`.
fn damage(ground: &Ground) {
    let log = fs::read_to_string(ground.path("audit.jsonl")).expect("a log");
    let (first, rest) = log.split_once('\n').expect("lines");
    let damaged = format!("{first}\n{{\"v\":\u{202e}\n{rest}");
    fs::write(ground.path("damaged.jsonl"), damaged).expect("a log");
}

/// What holds of each command: a damaged log is said and used all the same, one that is not there is a failure,
/// and whoever reads may stop.
fn holds_for_any_log(ground: &Ground, words: &[&str]) -> String {
    let whole = written(ground, &[words, &["audit.jsonl"]].concat(), 0);
    damage(ground);
    let words_of = |log| [words, &[log]].concat();
    let damaged = ground.execward(&words_of("damaged.jsonl"));
    let said = damaged.stderr.escape_ascii().to_string();
    assert_eq!(damaged.status.code(), Some(4), "{said}");
    assert!(
        said.contains("line 2 of") || said.contains("line 2 is no record"),
        "{said}"
    );
    assert!(
        is_plain(std::str::from_utf8(&damaged.stderr).expect("UTF-8")),
        "{said}"
    );
    let of_whole = String::from_utf8(damaged.stdout).expect("UTF-8");
    assert_eq!(
        of_whole.lines().count(),
        whole.lines().count(),
        "{of_whole}"
    );
    written(ground, &words_of("nowhere.jsonl"), 7);
    let mut closed = Command::new(binary("execward"))
        .args(words_of("audit.jsonl"))
        .current_dir(ground.path(""))
        .stdout(Stdio::piped())
        .spawn()
        .expect("execward");
    drop(closed.stdout.take());
    assert!(closed.wait().expect("an end").success());
    whole
}

/// As of a log that was kept compressed.
#[test]
fn standard_input_is_read_as_a_log() {
    let ground = ground();
    for words in [
        &["audit", "tail"][..],
        &["audit", "tail", "--follow", "--lines", "3"],
        &["audit", "stats", "--json"],
        &["audit", "tree"],
        &["audit", "export", "--as", "csv"],
    ] {
        let unfollowed = words.iter().filter(|word| **word != "--follow").copied();
        let named: Vec<_> = unfollowed.chain(["audit.jsonl"]).collect();
        let named = written(&ground, &named, 0);
        let mut command = Command::new(binary("execward"));
        command.args(words).arg("-").current_dir(ground.path(""));
        let mut piped = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("execward");
        let log = fs::read(ground.path("audit.jsonl")).expect("a log");
        let mut stdin = piped.stdin.take().expect("stdin");
        stdin.write_all(&log).expect("a reader");
        drop(stdin);
        let output = piped.wait_with_output().expect("an end");
        let read = String::from_utf8(output.stdout).expect("UTF-8");
        // Figures name the log.
        assert_eq!(read.replace("\"-\"", "\"audit.jsonl\""), named, "{words:?}");
        assert!(output.status.success());
    }
}
