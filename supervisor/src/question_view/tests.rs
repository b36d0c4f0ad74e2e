use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::control::Required;

fn required(proc: Value, rest: Value) -> Required {
    let mut request = json!({
        "proc": proc, "askedAt": "2026-11-28T00:00:00Z", "expiresAt": "2026-11-28T00:05:00Z",
    });
    for (key, value) in rest.as_object().unwrap() {
        request[key] = value.clone();
    }
    let message = json!({"sessionId": "s", "requestId": "3f9c", "digest": "d", "request": request});
    serde_json::from_value(message).unwrap()
}

fn view(proc: Value, rest: Value) -> QuestionView {
    let now: Timestamp = "2026-11-28T00:00:02Z".parse().unwrap();
    QuestionView::of(&required(proc, rest), now)
}

fn shown(view: &QuestionView, width: usize) -> String {
    let rows = view.rows(width);
    let rows = rows.iter().map(Row::in_full);
    rows.map(|row| row.trim_end().to_owned() + "\n").collect()
}

#[test]
fn a_question_is_shown_whole() {
    let view = view(
        json!({"pid": 7, "req_path": "/x/curl", "path": "/usr/bin/curl", "cwd": "/w",
               "argv": ["curl", "", "a b", "https://example.org/a/long/way/to/go"], "argc": 4,
               "shell": {"commands": ["ls -l"], "cut": true}, "file": {"size": 4000}}),
        json!({"rule": {"id": "net", "src": "p.toml:1"}, "reason": "it sends what it is given to others",
               "ancestry": [{"pid": 5, "path": "/usr/bin/dash"}, {"pid": 4, "path": "/usr/bin/make"}],
               "environment": {"changed": ["PATH"], "gone": ["HOME"]},
               "script": {"head": "#!/bin/sh\n\nrm \u{202e}x\n", "cut": true, "sha256": "ab"},
               "amendments": [{"scope": "prefix", "covers": "`curl` as usual", "rule": "r"}]}),
    );
    assert!(view.gaps.is_empty());
    let expected = "\
program    /usr/bin/curl
           given as /x/curl
arguments   0 curl
            1 \"\"
            2 \"a b\"
            3 https://example.org/a/lo
              ng/way/to/go
directory  /w
shell      - \"ls -l\"
           and more: read the
           arguments
script     sha256 ab
           | \"#!/bin/sh\"
           | \"\"
           | \"rm \\u{202e}x\"
           ... 19 of 4000 bytes, as
           seen
process    7 asks
           ^ 5 /usr/bin/dash
            ^ 4 /usr/bin/make
variables  changed PATH
           gone    HOME
rule       net (p.toml:1)
           it sends what it is given
           to others
time       denied in 4m58s
can last   prefix  `curl` as usual
";
    assert_eq!(shown(&view, 38), expected);
}

#[test]
fn no_argument_draws_a_row_of_another() {
    let newline = "x\n 1 --dry-run\r\u{1b}[1A\u{85}\u{2028}";
    let wide = format!("{:24} 2 --dry-run", "y");
    let view = view(
        json!({"path": "/bin/x", "argv": ["x", newline, wide, "\u{fffd}"], "cwd": "/"}),
        json!({"bytes": {"/proc/argv/3": "/w=="}}),
    );
    let rows = view.rows(38);
    let numbered: Vec<_> = rows
        .iter()
        .filter(|row| row.margin.ends_with("2 "))
        .collect();
    let [second] = numbered.as_slice() else {
        panic!("{numbered:?}")
    };
    assert!(second.text.starts_with("\"y\\x20"));
    assert!(rows.iter().any(|row| row.text == "\"\\xff\""));
    for row in &rows {
        let text = row.in_full();
        assert!(text.len() <= 38 && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
    }
}

#[test]
fn what_is_not_shown_whole_is_said() {
    let gaps = |proc, rest| view(proc, rest).gaps;
    let whole = json!({"path": "/bin/x", "argv": ["x"], "cwd": "/"});
    assert!(gaps(whole.clone(), json!({})).is_empty());
    for (key, value) in [
        ("argv_cut", json!(true)),
        ("argc", json!(2)),
        ("argv", Value::Null),
        ("argv", json!(["x", "y".repeat(5000)])),
        ("cwd", json!(format!("/{}", "d".repeat(4095)))),
    ] {
        let mut proc = whole.clone();
        proc[key] = value;
        let view = view(proc, json!({}));
        assert_eq!(view.gaps.len(), 1, "{key}");
        assert!(shown(&view, 80).starts_with("not whole  "), "{key}");
    }
    assert_eq!(
        gaps(whole.clone(), json!({"bytes": {"/proc/cwd": "?"}})).len(),
        1
    );
    assert_eq!(gaps(whole, json!({"environment": {"others": 1}})).len(), 1);
}

#[test]
fn what_is_odd_about_a_program_is_said() {
    let view = view(
        json!({"req_path": "/proc/self/fd/3", "argv": ["ls"], "cwd": "/", "uid_r": 1000, "uid_e": 0,
               "file": {"origin": "anonymous"}}),
        json!({}),
    );
    let rows = view.rows(80);
    let strange = rows.iter().filter(|row| row.tone == Tone::Strange);
    let strange: Vec<_> = strange.map(|row| row.text.as_str()).collect();
    assert_eq!(
        strange,
        [
            "a file without a name: memory, or deleted",
            "(called ls)",
            "its path proves nothing: it lies on what is anonymous",
            "uid 1000 acts as uid 0",
        ]
    );
}
