use super::*;

const DECISION: &str = r#"{"type":"exec.decision","ts":"2026-11-28T01:02:03.456789Z","exec_id":"1003","proc":{"path":"/bin/ls","argv":["ls","a b\u001b"]},"decision":{"verdict":"deny","reason":"rule","rule":{"id":"no-ls"}},"effect":{"errno":"EPERM"}}"#;
const TOOL: &str = r#"{"type":"tool.decision","ts":"2026-11-28T01:02:03.458Z","tool":{"name":"file_write","paths":["a b"],"args":["mode=x"]},"decision":{"verdict":"ask","reason":"default"}}"#;
const OUTCOME: &str = r#"{"type":"exec.outcome","ts":"2026-11-28T01:02:03.457Z","exec_id":"1004","outcome":{"result":"failed","errno":"EACCES"}}"#;

fn shown(text: &str, how: Shown) -> Result<String, TailError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut out = Vec::new();
    tail(file.path(), how, &mut out).map(|()| String::from_utf8(out).unwrap())
}

const ALL: Shown = Shown {
    as_json: false,
    last: None,
    follows: false,
};

#[test]
fn one_liners_say_who_was_refused_and_why() {
    let text = shown(&format!("{DECISION}\n{OUTCOME}\n{TOOL}\n"), ALL).unwrap();
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
        follows: false,
    };
    let text = shown(&format!("{DECISION}\n{OUTCOME}\n"), how).unwrap();
    assert_eq!(text, format!("{OUTCOME}\n"));
}

#[test]
fn a_forged_record_moves_no_cursor() {
    let forged = DECISION.replace("1003", "1003\\u001b[2J");
    let text = shown(&format!("{forged}\n"), ALL).unwrap();
    assert!(text.contains("1003\\u{1b}[2J"), "{text}");
}

#[test]
fn a_damaged_line_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{OUTCOME}\nnonsense\n\n{OUTCOME}\n")).unwrap();
    let mut out = Vec::new();
    let error = tail(file.path(), ALL, &mut out).unwrap_err();
    assert!(matches!(error, TailError::Damaged { line: 2, .. }));
    // What is behind it is shown.
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    let error = shown(&format!("{OUTCOME}\n{{\"torn\":"), ALL).unwrap_err();
    assert!(matches!(error, TailError::Damaged { line: 2, .. }));
}
