use super::*;

const DECISION: &str = r#"{"type":"exec.decision","ts":"2026-11-28T01:02:03.456789Z","exec_id":"1003","proc":{"path":"/bin/ls","argv":["ls","a b\u001b"]},"decision":{"verdict":"deny","reason":"rule","rule":{"id":"no-ls"}},"effect":{"errno":"EPERM"}}"#;
const TOOL: &str = r#"{"type":"tool.decision","ts":"2026-11-28T01:02:03.458Z","tool":{"name":"file_write","paths":["a b"],"args":["mode=x"]},"decision":{"verdict":"ask","reason":"default"}}"#;
const OUTCOME: &str = r#"{"type":"exec.outcome","ts":"2026-11-28T01:02:03.457Z","exec_id":"1004","outcome":{"result":"failed","errno":"EACCES"}}"#;

fn shown(text: &str, how: &Shown) -> Result<String, TailError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut out = Vec::new();
    tail(file.path(), how, &mut out).map(|()| String::from_utf8(out).unwrap())
}

fn all() -> Shown {
    Shown::default()
}

#[test]
fn one_liners_say_who_was_refused_and_why() {
    let text = shown(&format!("{DECISION}\n{OUTCOME}\n{TOOL}\n"), &all()).unwrap();
    assert_eq!(
        text,
        "01:02:03.456 1003 deny EPERM (rule no-ls) /bin/ls \"a b\\u{1b}\"\n\
         01:02:03.457 1004 -> failed EACCES\n\
         01:02:03.458 - ask (default) tool file_write path \"a b\" arg mode=x\n"
    );
}

#[test]
fn the_last_lines_only_and_as_they_are() {
    let how = Shown {
        as_json: true,
        last: Some(1),
        ..all()
    };
    let text = shown(&format!("{DECISION}\n{OUTCOME}\n"), &how).unwrap();
    assert_eq!(text, format!("{OUTCOME}\n"));
}

#[test]
fn a_forged_record_moves_no_cursor() {
    let forged = DECISION.replace("1003", "1003\\u001b[2J");
    let text = shown(&format!("{forged}\n"), &all()).unwrap();
    assert!(text.contains("1003\\u{1b}[2J"), "{text}");
}

#[test]
fn a_damaged_line_is_named() {
    let is_named = |error: &TailError| {
        let second = Place {
            line: 2,
            file: None,
        };
        matches!(error, TailError::Damaged { place, .. } if *place == second)
    };
    for nonsense in ["nonsense", "[1]", r#"{"v":"1.0"}"#, r#"{"type":null}"#] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{OUTCOME}\n{nonsense}\n\n{OUTCOME}\n")).unwrap();
        let mut out = Vec::new();
        let error = tail(file.path(), &all(), &mut out).unwrap_err();
        assert!(is_named(&error), "{error}");
        // What is behind it is shown.
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
    }
    let error = shown(&format!("{OUTCOME}\n{{\"torn\":"), &all()).unwrap_err();
    assert!(is_named(&error), "{error}");
}

fn passing(filter: Filter) -> String {
    let allowed = DECISION.replace("1003", "1005").replace("deny", "allow");
    let allowed = allowed.replace(r#""errno":"EPERM""#, r#""sent":"continue""#);
    let denied = DECISION.replace(r#""errno":"EPERM""#, r#""sent":"errno","errno":"EPERM""#);
    let outcome = OUTCOME.replace("1004", "1005");
    let gap = r#"{"type":"audit.gap","gap":{"count":3,"reason":"write_failed"}}"#;
    let text = [&denied, &allowed, &outcome, OUTCOME, gap, TOOL].map(|line| format!("{line}\n"));
    let how = Shown { filter, ..all() };
    let text = shown(&text.concat(), &how).unwrap();
    let ids = text
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap_or("").to_owned());
    ids.collect::<Vec<_>>().join(" ")
}

/// What is missing is shown whatever is asked for, and with an exec what came of it.
#[test]
fn only_what_meets_all_of_a_filter_is_shown() {
    let glob = |text| Some(globset::Glob::new(text).unwrap().compile_matcher());
    let none = Filter::default;
    assert_eq!(passing(none()), "1003 1005 1005 1004 - -");
    let is_refused = true;
    assert_eq!(
        passing(Filter {
            is_refused,
            ..none()
        }),
        "1003 -"
    );
    assert_eq!(
        passing(Filter {
            is_asked: true,
            ..none()
        }),
        "-"
    );
    let rule = || Some("no-ls".to_owned());
    assert_eq!(
        passing(Filter {
            rule: rule(),
            ..none()
        }),
        "1003 1005 1005 -"
    );
    let both = Filter {
        is_refused,
        rule: rule(),
        ..none()
    };
    assert_eq!(passing(both), "1003 -");
    let reason = Some("default".to_owned());
    assert_eq!(passing(Filter { reason, ..none() }), "- -");
    let program = glob("/bin/*");
    assert_eq!(passing(Filter { program, ..none() }), "1003 1005 1005 -");
    assert_eq!(
        passing(Filter {
            program: glob("/usr/*"),
            ..none()
        }),
        "-"
    );
    assert_eq!(
        passing(Filter {
            argument: glob("a ?*"),
            ..none()
        }),
        "1003 1005 1005 -"
    );
    assert_eq!(
        passing(Filter {
            argument: glob("ls"),
            ..none()
        }),
        "-"
    );
    let slow = Some(Duration::from_micros(1));
    assert_eq!(passing(Filter { slow, ..none() }), "-");
    let until = "2026-11-28T01:02:03.457Z".parse().ok();
    assert_eq!(passing(Filter { until, ..none() }), "1003 1005 1005 1004 -");
    let since = "2026-11-28T01:02:03.458Z".parse().ok();
    assert_eq!(passing(Filter { since, ..none() }), "- -");
}
