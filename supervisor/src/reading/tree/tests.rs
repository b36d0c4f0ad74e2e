use serde_json::{Value, json};

use super::session::Session;
use super::*;
use crate::reading::entry::Entry;

/// The records of a session, begun by CMD, process 10 below the gate, 1.
#[derive(Default)]
struct Script(Vec<Value>);

impl Script {
    fn new() -> Self {
        Self::default().add(json!({"type": "session.start", "cmd": ["sh"], "policy": []}))
    }

    fn add(mut self, mut record: Value) -> Self {
        let at = self.0.len();
        for (key, value) in [
            ("v", json!("1.0")),
            ("boot_ns", json!(at * 1_000_000)),
            ("session", json!({"id": "s", "name": "n"})),
        ] {
            record.as_object_mut().unwrap().entry(key).or_insert(value);
        }
        self.0.push(record);
        self
    }

    /// An exec by `pid` below `ppid` that runs.
    fn ran(self, id: &str, pid: u32, ppid: u32, words: &[&str]) -> Self {
        self.decided(id, pid, ppid, words, "allow", "continue")
            .add(json!({"type": "exec.outcome", "exec_id": id, "outcome": {"result": "verified"}}))
    }

    fn decided(
        self,
        id: &str,
        pid: u32,
        ppid: u32,
        words: &[&str],
        verdict: &str,
        sent: &str,
    ) -> Self {
        self.add(json!({
            "type": "exec.decision",
            "exec_id": id,
            "proc": {"pid": pid, "ppid": ppid, "path": words[0], "argv": words},
            "decision": {"verdict": verdict, "reason": "default"},
            "effect": {"sent": sent},
        }))
    }

    fn session(&self) -> Session {
        let mut meant = Meant::called(None);
        for record in &self.0 {
            let line = record.to_string();
            meant.take(&serde_json::from_str::<Entry<'_>>(&line).unwrap());
        }
        meant.found().unwrap().0
    }

    /// The drawing's lines without their columns.
    fn drawn(&self) -> Vec<String> {
        let session = self.session();
        let text = drawn(&session).to_string();
        let lines = text
            .lines()
            .skip_while(|line| !line.ends_with("process"))
            .skip(1);
        lines
            .map(|line| line.get(30..).unwrap().to_owned())
            .collect()
    }
}

fn drawn(session: &Session) -> Drawn<'_> {
    Drawn {
        shapes: Shapes::of(&session.processes),
        session,
        others: 0,
    }
}

#[test]
fn each_process_stands_below_the_one_that_started_it() {
    let script = Script::new()
        .ran("1", 10, 1, &["/bin/sh", "-c", "x"])
        .ran("2", 11, 10, &["/bin/make"])
        .ran("3", 12, 11, &["/bin/cc"])
        .ran("4", 12, 11, &["/lib/cc1"])
        .decided("5", 13, 10, &["/bin/curl"], "deny", "errno");
    assert_eq!(
        script.drawn(),
        [
            "ran        /bin/sh -c x",
            "ran        +-- /bin/make",
            "ran        |   `-- /bin/cc",
            "ran        |       = /lib/cc1",
            "REFUSED    `-- /bin/curl  (default)",
        ]
    );
}

/// A subshell starts one program, and then executes the last one itself.
#[test]
fn what_was_started_before_an_exec_stands_before_it() {
    let script = Script::new()
        .ran("1", 10, 1, &["/bin/bash"])
        .ran("2", 12, 11, &["/bin/id"])
        .ran("3", 11, 10, &["/bin/true"])
        .ran("4", 13, 11, &["/bin/late"]);
    assert_eq!(
        script.drawn(),
        [
            "ran        /bin/bash",
            "           `-- (before it executed anything)",
            "ran            +-- /bin/id",
            "ran            = /bin/true",
            "ran            `-- /bin/late",
        ]
    );
    let session = script.session();
    let page = html::page(&drawn(&session)).unwrap();
    let at = |text: &str| page.find(text).unwrap();
    assert!(at("before it executed anything") < at("/bin/id") && at("/bin/id") < at("/bin/true"));
}

#[test]
fn siblings_that_look_alike_are_one_and_others_are_not() {
    let mut script = Script::new().ran("1", 10, 1, &["/bin/sh"]);
    for at in 0..120 {
        let pid = 100 + 2 * at;
        script = script
            .ran(&format!("a{at:x}"), pid, 10, &["/bin/make"])
            .ran(
                &format!("b{at:x}"),
                pid + 1,
                pid,
                &["/bin/cc", if at == 7 { "odd" } else { "x" }],
            );
    }
    let drawn = script.drawn();
    assert_eq!(drawn.len(), 5, "{drawn:#?}");
    assert!(
        drawn[1].starts_with("ran        +-- /bin/make  x 119, the last at "),
        "{drawn:#?}"
    );
    assert_eq!(
        drawn[3..],
        ["ran        `-- /bin/make", "ran            `-- /bin/cc odd"]
    );
}

#[test]
fn what_the_log_does_not_say_is_not_guessed() {
    let script = Script::new()
        .ran("1", 10, 1, &["/bin/sh"])
        // A subshell that executes nothing, and one whose parent has ended.
        .ran("2", 12, 11, &["/bin/a"])
        .ran("3", 13, 1, &["/bin/b"])
        // The number comes back below another.
        .ran("4", 12, 10, &["/bin/c"]);
    let drawn = script.drawn();
    let adopted = "  <- adopted: its parent had ended, and is not in the log";
    assert_eq!(
        drawn,
        [
            "ran        /bin/sh".to_owned(),
            "ran        `-- /bin/c".to_owned(),
            "           (executed nothing itself)  <- its parent is not in the log".to_owned(),
            "ran        `-- /bin/a".to_owned(),
            format!("ran        /bin/b{adopted}"),
        ]
    );
    // Where a rule looks at what led to an exec, the log does say it.
    let mut script = Script::new().ran("1", 10, 1, &["/bin/sh"]);
    for (id, ppid) in [("2", 11), ("3", 1)] {
        script = script.add(json!({
            "type": "exec.decision",
            "exec_id": id,
            "proc": {"pid": 20 + ppid, "ppid": ppid, "path": "/bin/a", "argv": ["a"],
                     "inputs": {"history": {"execs": ["1"]}}},
            "decision": {"verdict": "allow", "reason": "rule", "rule": {"id": "r", "src": "p:1"}},
            "effect": {"sent": "continue"},
        }));
    }
    assert_eq!(
        script.drawn(),
        [
            "ran        /bin/sh",
            "let go     `-- /bin/a  (rule r)  x 2, the last at 0.004"
        ]
    );
}

#[test]
fn a_question_becomes_its_decision() {
    let held = json!({
        "type": "exec.held",
        "exec_id": "1",
        "proc": {"pid": 10, "ppid": 1, "path": "/bin/a", "argv": ["a"]},
        "decision": {"verdict": "ask", "reason": "rule", "rule": {"id": "r", "src": "p:1"}},
    });
    let waits = Script::new().add(held);
    assert_eq!(waits.drawn(), ["WAITS      /bin/a  (rule r)"]);
    let answered = waits.ran("1", 10, 1, &["/bin/a"]);
    assert_eq!(answered.drawn(), ["ran        /bin/a"]);
}

/// A log may be anything: a circle, and any depth, end.
#[test]
fn a_log_of_any_shape_is_drawn() {
    let circle = Script::new()
        .ran("1", 10, 1, &["/bin/sh"])
        .ran("2", 20, 21, &["/bin/a"])
        .ran("3", 21, 20, &["/bin/b"])
        .ran("4", 30, 30, &["/bin/c"]);
    assert_eq!(circle.drawn().len(), 5, "{:#?}", circle.drawn());
    let mut deep = Script::new();
    for pid in 10..5000_u32 {
        deep = deep.ran(&format!("{pid:x}"), pid, pid - 1, &["/bin/a"]);
    }
    let session = deep.session();
    let drawn = drawn(&session);
    assert!(
        drawn
            .to_string()
            .contains("more is below, which --json has")
    );
    assert!(
        html::page(&drawn)
            .unwrap()
            .contains("more is below, which --json has")
    );
    let flat = serde_json::to_value(Flat::of(&session, 0)).unwrap();
    assert_eq!(flat["processes"].as_array().unwrap().len(), 4990);
}

#[test]
fn a_page_has_nothing_of_the_log_but_its_text() {
    let hostile = "</script><img src=x onerror=alert(1)>\u{202e}'\"&\n\u{1b}";
    let record = json!({
        "type": "exec.decision",
        "exec_id": "1",
        "proc": {"pid": 10, "ppid": 1, "path": hostile, "argv": [hostile, hostile]},
        "decision": {"verdict": hostile, "reason": hostile, "rule": {"id": hostile, "src": hostile}},
        "effect": {"sent": "errno"},
    });
    let mut script = Script::new().add(record);
    script.0[0]["cmd"] = json!([hostile]);
    script.0[0]["policy"] = json!([{"name": hostile, "sha256": hostile}]);
    for record in &mut script.0 {
        record["session"]["name"] = json!(hostile);
    }
    let session = script.session();
    let drawn = drawn(&session);
    let page = html::page(&drawn).unwrap();
    for text in [page.clone(), drawn.to_string()] {
        let is_plain = |c: char| matches!(c, ' '..='~' | '\n');
        assert!(text.chars().all(is_plain), "{text}");
    }
    assert!(!page.contains("<img") && !page.contains("<script") && !page.contains("</script"));
    assert!(
        page.matches("&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\\u{202e}")
            .count()
            >= 6
    );
    // Every tag is one of the page's own.
    let tags = page
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split(['>', ' ']).next());
    let own = "!doctype html head meta title style body h1 dl dt dd code p b main ul li details summary span i div";
    for tag in tags {
        let name = tag.trim_start_matches('/');
        assert!(own.split(' ').any(|known| known == name), "{tag}");
    }
}
