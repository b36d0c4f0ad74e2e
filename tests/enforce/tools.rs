//! Calls of tools that a host asks about: typed, and over the control channel.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};

use execward_tests::{Asking, Ground, binary, needs_answers, of_type};
use serde_json::{Value, json};

const RULES: &str = "[tools.file_write]\nask = \"on-miss\"\n\
    [[allow]]\nid = \"edit\"\ntool = \"file_write\"\npath = \"DIR/in/\"\n\
    [[deny]]\nid = \"secret\"\npath = \"DIR/secret\"\nreason = \"it is secret\"\ninstead = \"ask\"\n\
    [[allow]]\nid = \"docs\"\ntool = \"web_fetch\"\nhost = \"docs.rs\"\n";

/// A directory `in`, a file `secret`, and links in the one that lead to the other and away.
fn ground() -> Ground {
    let ground = Ground::full(RULES);
    fs::create_dir(ground.path("in")).expect("a directory");
    fs::write(ground.path("secret"), "").expect("a file");
    symlink(ground.path("secret"), ground.path("in/to-secret")).expect("a link");
    symlink("/etc", ground.path("in/away")).expect("a link");
    symlink("missing", ground.path("in/dangling")).expect("a link");
    ground
}

/// A tool, what it is given, and what becomes of it by which rule.
type Case = (
    &'static str,
    &'static [&'static str],
    &'static str,
    Option<&'static str>,
);

const CASES: [Case; 12] = [
    ("file_write", &["in/x"], "allow", Some("edit")),
    ("file_write", &["in/dangling"], "allow", Some("edit")),
    ("file_write", &["in/new/x"], "allow", Some("edit")),
    ("file_write", &["in/../x"], "ask", None),
    ("file_write", &["in/away/passwd"], "ask", None),
    ("file_write", &["in/x", "x"], "ask", None),
    ("file_write", &["in/to-secret"], "deny", Some("secret")),
    ("file_write", &["~/x"], "deny", Some("secret")),
    ("mcp__any", &["secret"], "deny", Some("secret")),
    ("mcp__any", &["other"], "deny", None),
    ("web_fetch", &["https://docs.rs/x"], "allow", Some("docs")),
    ("web_fetch", &["https://docs.rs@evil.example/"], "ask", None),
];

fn is_url(text: &str) -> bool {
    text.contains("://")
}

fn check(ground: &Ground, words: &[&str]) -> Output {
    Command::new(binary("execward"))
        .args(["check", "--policy", "policy.toml", "--json"])
        .args(words)
        .current_dir(ground.path(""))
        .env("HOME", ground.path(""))
        .output()
        .expect("execward")
}

#[test]
fn a_typed_call_is_judged_where_its_paths_lead() {
    let ground = ground();
    for (tool, named, verdict, rule) in CASES {
        let options = named
            .iter()
            .map(|text| if is_url(text) { "--url" } else { "--path" });
        let named: Vec<&str> = options
            .zip(named)
            .flat_map(|(option, text)| [option, *text])
            .collect();
        let output = check(&ground, &[&["--tool", tool], named.as_slice()].concat());
        let status = match verdict {
            "allow" => 0,
            "ask" => 3,
            _ => 4,
        };
        assert_eq!(output.status.code(), Some(status), "{tool} {named:?}");
        let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(shown["verdict"], verdict, "{shown}");
        assert_eq!(shown["rule"]["id"].as_str(), rule, "{shown}");
        assert_eq!(shown["tool"], tool);
    }
}

#[test]
fn what_is_no_call_of_a_tool_is_a_fault_of_usage() {
    let ground = ground();
    for words in [
        &["--tool", ""][..],
        &["--tool", "x", "--arg", "novalue"],
        &["--tool", "x", "--arg", "=v"],
        &["--tool", "x", "--", "ls"],
        &["--tool", "x", "--env", "A=B"],
        &["--path", "x", "--", "ls"],
        &["--tool"],
    ] {
        let output = check(&ground, words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(!output.stderr.is_empty(), "{words:?}");
    }
}

/// A client that has said hello.
struct Host {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Host {
    fn of(session: &Asking) -> Self {
        let stream = session.connect();
        let lines = BufReader::new(stream.try_clone().expect("a socket"));
        let mut host = Self { stream, lines };
        assert_eq!(host.hear()["type"], "hello");
        host.say(&json!({"type": "hello", "protocol": 1}));
        host
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.stream, "{message}").expect("a socket");
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("a message")
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.say(message);
        self.hear()
    }
}

fn session() -> Asking {
    Asking::start(ground(), "socket", "read go")
}

#[test]
fn a_host_hears_the_verdict_and_the_log_has_it() {
    needs_answers!();
    let mut session = session();
    let directory = session.ground().path("").display().to_string();
    let mut host = Host::of(&session);
    for (number, (tool, named, verdict, rule)) in CASES.into_iter().enumerate() {
        let (urls, paths): (Vec<&str>, Vec<&str>) =
            named.iter().copied().partition(|text| is_url(text));
        let id = format!("q{number}");
        let heard = host.ask(&json!({
            "type": "tool_check", "requestId": id, "tool": tool, "paths": paths, "urls": urls,
            "cwd": directory,
        }));
        assert_eq!(heard["type"], "tool_verdict", "{heard}");
        assert_eq!(heard["requestId"], id, "{heard}");
        assert_eq!(heard["verdict"], verdict, "{tool} {named:?}: {heard}");
        assert_eq!(heard["rule"]["id"].as_str(), rule, "{heard}");
        let is_secret = rule == Some("secret");
        assert_eq!(heard["instead"] == "ask", is_secret, "{heard}");
        assert_eq!(
            heard["unanswered"].as_str(),
            (verdict == "ask").then_some("deny")
        );
    }
    let records = session.end();
    let logged: Vec<_> = of_type(&records, "tool.decision").collect();
    assert_eq!(logged.len(), CASES.len());
    for (record, (tool, named, verdict, rule)) in logged.iter().zip(CASES) {
        assert_eq!(record["tool"]["name"], tool);
        let list = if is_url(named[0]) { "urls" } else { "paths" };
        assert_eq!(record["tool"][list], json!(named));
        assert_eq!(record["decision"]["verdict"], verdict);
        assert_eq!(record["decision"]["rule"]["id"].as_str(), rule);
        assert_eq!(record["sender"]["pid"], std::process::id());
    }
    let unknown = logged[9];
    assert_eq!(unknown["decision"]["reason"], "unknown_tool");
    let end = of_type(&records, "session.end").next().expect("an end");
    assert_eq!(end["count"]["tool_calls"], CASES.len());
}

#[test]
fn a_text_for_the_shell_of_a_tool_is_judged_as_one() {
    needs_answers!();
    let rules = "[[allow]]\nid = \"log\"\ncommand = \"git log\"\n\
        [[deny]]\nid = \"no-push\"\ncommand = \"git push\"\n\
        [[deny]]\nid = \"no-tool\"\ntool = \"bash_execute\"\nargs = \"command=*stop*\"\n";
    let ground = Ground::new("");
    let text = format!("version = 1\n[mode]\nsecurity = \"allowlist\"\n{rules}");
    fs::write(ground.path("policy.toml"), text).expect("a policy");
    // By a host that asks a session nothing is allowed: it hears of the mode, or of a deny.
    let cases = [
        ("git log -1", 0, "ask"),
        ("git log; git push", 4, "deny"),
        ("git log > x", 3, "ask"),
        ("make", 3, "ask"),
        ("git log stop", 4, "deny"),
    ];
    for (text, status, _) in cases {
        let argument = format!("command={text}");
        let checked = check(&ground, &["--tool", "bash_execute", "--arg", &argument]);
        assert_eq!(checked.status.code(), Some(status), "{text}");
    }
    let mut session = Asking::start(ground, "socket", "read go");
    let mut host = Host::of(&session);
    for (text, _, verdict) in cases {
        let heard = host.ask(&json!({
            "type": "tool_check", "requestId": "1", "tool": "bash_execute",
            "arguments": {"command": text}, "cwd": "/",
        }));
        assert_eq!(heard["verdict"], verdict, "{text}: {heard}");
    }
    let records = session.end();
    let logged: Vec<_> = of_type(&records, "tool.decision").collect();
    assert_eq!(logged.len(), cases.len());
    let shell = &logged[1]["tool"]["shell"];
    assert_eq!(shell["commands"], json!(["git log", "git push"]));
    assert_eq!(logged[1]["decision"]["detail"], "its text: \"git push\"");
}

#[test]
fn what_a_host_says_wrongly_is_answered_and_judged_by_nobody() {
    needs_answers!();
    let mut session = session();
    let mut host = Host::of(&session);
    for wrong in [
        json!({"tool": "file_read"}),
        json!({"requestId": "1"}),
        json!({"requestId": "1", "tool": ""}),
        json!({"requestId": "1", "tool": "file_read", "path": "/etc/shadow"}),
        json!({"requestId": "1", "tool": "file_read", "paths": ["a\0b"]}),
        json!({"requestId": "1", "tool": "file_read", "paths": [""]}),
        json!({"requestId": "1", "tool": "file_read", "cwd": "relative"}),
        json!({"requestId": "x".repeat(129), "tool": "file_read"}),
    ] {
        let mut message = wrong.clone();
        message["type"] = "tool_check".into();
        assert_eq!(host.ask(&message)["type"], "error", "{wrong}");
    }
    // Without a directory nobody can tell where a relative path leads.
    let untold =
        json!({"type": "tool_check", "requestId": "1", "tool": "file_write", "paths": ["in/x"]});
    assert_eq!(host.ask(&untold)["rule"]["id"], "secret");
    let records = session.end();
    assert_eq!(of_type(&records, "tool.decision").count(), 1);
}

/// Its host makes the call, as an exec would run.
#[test]
fn a_call_that_is_only_observed_is_allowed_and_the_log_says_what_it_was() {
    needs_answers!();
    let ground = ground().option("--observe");
    let mut session = Asking::start(ground, "socket", "read go");
    let call = json!({"type": "tool_check", "requestId": "1", "tool": "no-such-tool", "cwd": "/"});
    let heard = Host::of(&session).ask(&call);
    assert_eq!(heard["verdict"], "allow", "{heard}");
    let records = session.end();
    let logged = of_type(&records, "tool.decision").next().expect("a record");
    assert_eq!(logged["decision"]["reason"], "unknown_tool");
    assert_ne!(logged["decision"]["verdict"], "allow", "{logged}");
}

#[test]
fn a_member_of_the_session_is_not_heard() {
    needs_answers!();
    let parks = binary("fixture-parks").display().to_string();
    let script = format!("read socket; read text; {parks} sends \"$text\" $socket; read go");
    let mut session = Asking::start(ground(), "socket", &script);
    let _outside = session.connect();
    let socket = session.socket().display().to_string();
    let check =
        json!({"type": "tool_check", "requestId": "1", "tool": "file_read", "paths": ["/x"]});
    let hello = json!({"type": "hello", "protocol": 1});
    let text = format!("{hello}\\n{check}").replace('\\', "\\\\");
    let mut stdin = session.stdin();
    write!(stdin, "{socket}\n{text}\n").expect("stdin");
    execward_tests::until("the refusal", || {
        let records = session.ground().records();
        of_type(&records, "approval.refused").next().map(drop)
    });
    writeln!(stdin, "go").expect("stdin");
    drop(stdin);
    let records = session.end();
    assert_eq!(of_type(&records, "tool.decision").count(), 0);
}

#[test]
fn a_call_that_waits_for_its_paths_when_the_session_ends_has_its_record() {
    needs_answers!();
    execward_tests::needs_served_files!();
    let ground = ground();
    let stalls = ground.path("stalls").display().to_string();
    fs::create_dir(&stalls).expect("a directory");
    let fixture = binary("fixture-stalls").display().to_string();
    let words = ["unshare", "-m", &fixture, &stalls, "--"];
    let mut session = Asking::start_under(&words, ground, "socket", "read go");
    let _outside = session.connect();
    let hello = json!({"type": "hello", "protocol": 1});
    let call = |id: &str, paths: &[String]| json!({"type": "tool_check", "requestId": id, "tool": "file_write", "paths": paths});
    let (waits, plain) = (call("1", &[format!("{stalls}/x")]), call("2", &[]));
    let mut host = Command::new("nsenter")
        .args(["-m", "-t", &session.front().id().to_string()])
        .arg(binary("fixture-parks"))
        .args(["sends", &format!("{hello}\n{waits}\n{plain}")])
        .arg(session.socket())
        .stdout(Stdio::null())
        .spawn()
        .expect("a host");
    let decided = |records: &[Value]| of_type(records, "tool.decision").count();
    // It was taken after the one that waits.
    execward_tests::until("the plain call's record", || {
        (decided(&session.ground().records()) > 0).then_some(())
    });
    let records = session.end();
    assert_eq!(decided(&records), 2);
    // Of what could not be followed nobody can tell that it is not the secret.
    let verdicts = of_type(&records, "tool.decision").map(|it| &it["decision"]["verdict"]);
    assert!({ verdicts }.all(|verdict| verdict == "deny"));
    assert!(host.wait().expect("a host").success());
}
