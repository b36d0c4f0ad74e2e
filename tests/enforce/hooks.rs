//! Agents that ask before they use a tool, each in its own words.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::{Command, Output, Stdio};

use execward_tests::{Ground, binary};
use nix::sys::stat::Mode;
use nix::unistd::{geteuid, mkfifo};
use serde_json::Value;

const RULES: &str = "[[deny]]\nid = \"no-push\"\ncommand = \"git push\"\nreason = \"a person publishes\"\n\
    instead = \"commit\"\n\
    [[ask]]\nid = \"pods\"\ncommand = \"kubectl delete\"\nreason = \"pods are shared\"\n\
    [[deny]]\nid = \"secret\"\npath = \"DIR/secret\"\n\
    [[deny]]\nid = \"no-evil\"\nhost = \"evil.example\"\n\
    [[allow]]\nid = \"notes\"\ntool = \"mcp__notes__*\"\n";

const AGENTS: [(&str, &str); 4] = [
    ("claude", include_str!("../golden/hooks/claude.jsonl")),
    ("codex", include_str!("../golden/hooks/codex.jsonl")),
    ("gemini", include_str!("../golden/hooks/gemini.jsonl")),
    ("cursor", include_str!("../golden/hooks/cursor.jsonl")),
];

fn ground() -> Ground {
    let ground = Ground::full(RULES);
    fs::create_dir(ground.path("sub")).expect("a directory");
    fs::write(ground.path("secret"), "").expect("a file");
    // The programs that the exchanges name are where nobody looks: `/usr/bin/NAME` is taken.
    fs::create_dir(ground.path("empty")).expect("a directory");
    ground
}

fn hook(ground: &Ground, words: &[&str], message: &[u8]) -> Output {
    let mut child = Command::new(binary("execward"))
        .arg("hook")
        .args(words)
        .current_dir(ground.path(""))
        .env("HOME", ground.path("home"))
        .env("PATH", ground.path("empty"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("execward");
    let mut stdin = child.stdin.take().expect("stdin");
    // A message that is too long is not read to its end.
    stdin.write_all(message).unwrap_or_default();
    drop(stdin);
    child.wait_with_output().expect("its output")
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap_or_default()
}

/// Whether a reply refuses, in any agent's words.
fn refuses(reply: &Value) -> bool {
    let words = [
        "/hookSpecificOutput/permissionDecision",
        "/decision",
        "/permission",
    ];
    words
        .iter()
        .any(|at| reply.pointer(at).is_some_and(|it| it == "deny"))
}

#[test]
fn each_recorded_exchange_goes_as_it_went() {
    let ground = ground();
    let directory = ground.path("").display().to_string();
    for (agent, exchanges) in AGENTS {
        for line in exchanges.lines() {
            let exchange = json(line.replace("DIR", &directory).as_bytes());
            let message = exchange["in"].to_string();
            let output = hook(
                &ground,
                &[agent, "--policy", "policy.toml"],
                message.as_bytes(),
            );
            let (reply, said) = (
                json(&output.stdout),
                output.stderr.escape_ascii().to_string(),
            );
            let status = exchange["status"].as_i64().unwrap_or(0);
            assert_eq!(
                output.status.code().map(i64::from),
                Some(status),
                "{line}: {said}"
            );
            match exchange["says"].as_str() {
                None => assert_eq!(reply, exchange["out"], "{line}"),
                Some(why) => {
                    assert!(refuses(&reply), "{line}: {reply}");
                    assert!(said.contains(why), "{line}: {said}");
                }
            }
        }
    }
}

#[test]
fn what_is_no_message_is_refused_in_the_agents_own_words() {
    let ground = ground();
    let long = vec![b' '; 10 << 20];
    let deep = "[".repeat(100_000);
    let messages = [
        &b""[..],
        b"{",
        b"[]",
        b"\xff\xfe",
        b"{}",
        b"null",
        br#"{"hook_event_name":1}"#,
        &long,
        deep.as_bytes(),
    ];
    for (agent, _) in AGENTS {
        for message in messages {
            let output = hook(&ground, &[agent, "--policy", "policy.toml"], message);
            let shown = message
                .escape_ascii()
                .take(40)
                .map(char::from)
                .collect::<String>();
            assert_eq!(output.status.code(), Some(2), "{agent}: {shown}");
            assert!(refuses(&json(&output.stdout)), "{agent}: {shown}");
            assert!(
                output.stderr.starts_with(b"execward: the call is refused"),
                "{shown}"
            );
        }
        // Without a policy that holds nothing can be said but no.
        let message = br#"{"cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        let message = match agent {
            "cursor" => &br#"{"hook_event_name":"beforeShellExecution","command":"ls"}"#[..],
            "gemini" => {
                &br#"{"cwd":"/","hook_event_name":"BeforeTool","tool_name":"glob","tool_input":{}}"#
                    [..]
            }
            _ => message,
        };
        let output = hook(&ground, &[agent, "--policy", "none.toml"], message);
        assert_eq!(output.status.code(), Some(2), "{agent}");
    }
}

/// The settings that an agent has, then those after a command, and what that printed.
fn changed(ground: &Ground, agent: &str, words: &[&str]) -> (Option<String>, String) {
    let file = match agent {
        "claude" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "gemini" => ".gemini/settings.json",
        _ => ".cursor/hooks.json",
    };
    let words = [words, &["--for", agent]].concat();
    let output = hook(ground, &words, b"");
    let said = output.stderr.escape_ascii().to_string();
    assert_eq!(output.status.code(), Some(0), "{agent}: {said}");
    let shown = String::from_utf8(output.stdout).expect("text");
    (
        fs::read_to_string(ground.path("home").join(file)).ok(),
        shown,
    )
}

#[test]
fn a_hook_is_installed_once_and_taken_out_again() {
    for (agent, _) in AGENTS {
        let ground = ground();
        let (dry, shown) = changed(&ground, agent, &["install", "--dry-run"]);
        assert_eq!(dry, None);
        assert!(shown.contains(&format!("hook {agent}")), "{shown}");
        let policy = ["install", "--policy", "policy.toml"];
        let (first, _) = changed(&ground, agent, &policy);
        let first = first.expect("settings");
        let absolute = ground.path("policy.toml").display().to_string();
        assert!(
            first.contains(&format!("hook {agent} --policy {absolute}")),
            "{first}"
        );
        let (again, shown) = changed(&ground, agent, &policy);
        assert_eq!(again.as_ref(), Some(&first));
        assert!(shown.contains("nothing to change"), "{shown}");
        // Another policy takes the place of the first.
        let (other, shown) = changed(&ground, agent, &["install", "--preset", "strict"]);
        let other = other.expect("settings");
        assert!(
            !other.contains("policy.toml") && other.contains("--preset strict"),
            "{other}"
        );
        assert!(shown.contains("-") && shown.contains("+"), "{shown}");
        let (gone, _) = changed(&ground, agent, &["uninstall"]);
        assert!(!gone.expect("settings").contains("execward"));
        let (_, shown) = changed(&ground, agent, &["uninstall"]);
        assert!(shown.contains("nothing to change"), "{shown}");
    }
}

#[test]
fn what_else_the_settings_say_stays() {
    let ground = ground();
    let home = ground.path("home");
    fs::create_dir_all(home.join(".claude")).expect("a directory");
    let settings = home.join(".claude/settings.json");
    let own = "{\n  \"zeta\": 1,\n  \"alpha\": [\n    \"é\"\n  ],\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \
        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \
        \"command\": \"/opt/other hook claude\"\n          }\n        ]\n      }\n    ]\n  }\n}\n";
    fs::write(&settings, own).expect("settings");
    let (with, _) = changed(&ground, "claude", &["install"]);
    let with = with.expect("settings");
    assert!(with.contains("/opt/other hook claude") && with.contains("execward hook claude"));
    let (without, _) = changed(&ground, "claude", &["uninstall"]);
    assert_eq!(without.as_deref(), Some(own));
    // What is no JSON is left as it is.
    for wrong in [
        "{ // a comment\n}",
        "[]",
        "{\"hooks\": 1}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        // It would be written again as another.
        "{\"id\": 12345678901234567890123}",
        "{\"a\": 1, \"a\": 2}",
    ] {
        fs::write(&settings, wrong).expect("settings");
        let output = hook(&ground, &["install", "--for", "claude"], b"");
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert_eq!(fs::read_to_string(&settings).expect("settings"), wrong);
    }
}

#[test]
fn a_settings_file_is_replaced_only_where_nothing_is_lost() {
    let ground = ground();
    let directory = ground.path("home").join(".claude");
    fs::create_dir_all(&directory).expect("a directory");
    let settings = directory.join("settings.json");
    let install = || hook(&ground, &["install", "--for", "claude"], b"");
    let refused = |what: &str| {
        let output = install();
        assert_eq!(output.status.code(), Some(7), "{what}");
        fs::remove_file(&settings).expect("the file");
    };
    symlink("../none", &settings).expect("a link");
    refused("a link that leads to nothing");
    mkfifo(&settings, Mode::S_IRWXU).expect("a FIFO");
    refused("a FIFO");
    fs::write(&settings, "{}").expect("settings");
    fs::hard_link(&settings, directory.join("other")).expect("a link");
    refused("a file with another name");
    fs::write(&settings, "{}").expect("settings");
    fs::set_permissions(&settings, Permissions::from_mode(0o444)).expect("a mode");
    refused("a file that is read-only");
    // Where a link leads, the file is replaced, and is whose it was.
    let kept = ground.path("kept.json");
    fs::write(&kept, "{}").expect("settings");
    fs::set_permissions(&kept, Permissions::from_mode(0o640)).expect("a mode");
    let owner = if geteuid().is_root() {
        65534
    } else {
        geteuid().as_raw()
    };
    chown(&kept, Some(owner), None).expect("an owner");
    symlink("../../kept.json", &settings).expect("a link");
    assert_eq!(install().status.code(), Some(0));
    let seen = fs::metadata(&kept).expect("the file");
    assert_eq!((seen.uid(), seen.mode() & 0o777), (owner, 0o640));
    assert!(
        fs::read_to_string(&kept)
            .expect("settings")
            .contains("hook claude")
    );
    // Without a hook of execward's there is nothing to take out.
    fs::write(&kept, "{\"hooks\":{}}").expect("settings");
    let (kept, shown) = changed(&ground, "claude", &["uninstall"]);
    assert_eq!(kept.as_deref(), Some("{\"hooks\":{}}"), "{shown}");
}
