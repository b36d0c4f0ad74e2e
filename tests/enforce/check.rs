//! `check` and `explain` say of a call what `run` does with it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use execward_tests::{Ground, binary};
use serde_json::Value;

const RULES: &str = "[[allow]]\nid = \"sh\"\nprogram = \"sh\"\n\
    [[allow]]\nid = \"t\"\ncommand = \"touch a\"\n\
    [[allow]]\nid = \"below\"\ncommand = \"touch c\"\nvia = \"sh\"\n\
    [[ask]]\nid = \"q\"\ncommand = \"touch asked\"\n\
    [[deny]]\nid = \"d\"\ncommand = \"touch b\"\nreason = \"no b\"\n";

fn ground() -> Ground {
    let policy = format!("version = 1\nmode = {{ security = \"allowlist\" }}\n{RULES}");
    Ground::new(&policy).option("--prompt").option("none")
}

fn execward(ground: &Ground, words: &[&str]) -> Command {
    let mut command = Command::new(binary("execward"));
    command
        .args(words)
        .current_dir(ground.path(""))
        .env("HOME", ground.path(""))
        .env("PATH", "/usr/bin:/bin");
    command
}

fn check(ground: &Ground, words: &[&str]) -> Output {
    let all = [&["check", "--policy", "policy.toml"], words].concat();
    execward(ground, &all).output().expect("execward")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

#[test]
fn the_status_is_that_of_the_verdict() {
    let ground = ground();
    for (words, status, start) in [
        (["--", "touch", "a"], 0, "allow: rule t (policy.toml:6)\n"),
        (
            ["--", "touch", "asked"],
            3,
            "ask: rule q (policy.toml:13); if nobody answers: deny\n",
        ),
        (
            ["--", "touch", "b"],
            4,
            "deny: rule d (policy.toml:16): no b\n",
        ),
        (["--", "touch", "z"], 3, "ask: no rule decides"),
        (["--", "/no/such/touch", "b"], 4, "deny: rule d"),
        (["--missing", "--", "/no/such/touch"], 0, "none: "),
    ] {
        let output = check(&ground, &words);
        assert_eq!(output.status.code(), Some(status), "{words:?}");
        assert!(
            text(&output.stdout).starts_with(start),
            "{words:?}: {}",
            text(&output.stdout)
        );
    }
    assert_eq!(check(&ground, &["--", "touch", "c"]).status.code(), Some(3));
    assert_eq!(
        check(&ground, &["--via", "sh", "--", "touch", "c"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn json_names_the_winner_and_the_key_that_failed() {
    let output = check(&ground(), &["--json", "--", "touch", "b"]);
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["verdict"], "deny");
    assert_eq!(shown["rule"]["id"], "d");
    assert_eq!(shown["hits"][0]["outcome"], "winner");
    let misses = shown["misses"].as_array().unwrap();
    assert!(
        misses
            .iter()
            .any(|miss| miss["id"] == "t" && miss["failed"] == "command")
    );
}

#[test]
fn a_fault_of_the_policy_is_a_fault_and_no_verdict() {
    let ground = Ground::new("version = 1\nmode.security = 1\n");
    let output = check(&ground, &["--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("policy.toml:2:17"),
        "{}",
        text(&output.stderr)
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_record_is_a_request_and_its_id_is_explained() {
    let ground = ground();
    let ran = ground.sh("/usr/bin/touch b; /usr/bin/touch a; /usr/bin/touch z");
    assert!(ground.has("a") && !ground.has("b") && !ground.has("z"));
    for (word, status) in [("b", 4), ("a", 0), ("z", 3)] {
        let record = ran.decisions(&["/usr/bin/touch", word])[0];
        let mut checking = execward(
            &ground,
            &["check", "--policy", "policy.toml", "--request", "-"],
        );
        let mut child = checking
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(record.to_string().as_bytes())
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(status), "{word}");
        let id = record["exec_id"].as_str().unwrap();
        let words = [
            "explain",
            id,
            "--log",
            "audit.jsonl",
            "--policy",
            "policy.toml",
        ];
        let output = execward(&ground, &words).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(
            text(&output.stdout).starts_with("then: "),
            "{}",
            text(&output.stdout)
        );
    }
    let output = execward(&ground, &["explain", "ffff", "--log", "audit.jsonl"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_rule_of_an_explanation_lets_the_retry_pass() {
    let ground = ground();
    let ran = ground.sh("/usr/bin/touch 'z *'");
    assert!(!ground.has("z *"));
    let id = ran.decisions(&["/usr/bin/touch", "z *"])[0]["exec_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let output = execward(&ground, &["explain", &id, "--rule", "--log", "audit.jsonl"])
        .output()
        .unwrap();
    let policy = std::fs::read_to_string(ground.path("policy.toml")).unwrap();
    std::fs::write(ground.path("policy.toml"), policy + text(&output.stdout)).unwrap();
    let _ran = ground.sh("/usr/bin/touch 'z *'; /usr/bin/touch 'z *' y");
    assert!(
        ground.has("z *") && !ground.has("y"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn the_rule_of_a_relative_path_loads() {
    let ground = ground();
    ground.script("tool", "#!/bin/sh\n");
    let ran = ground.sh("./tool; .//./tool");
    let ids = ran
        .decisions(&["./tool"])
        .into_iter()
        .chain(ran.decisions(&[".//./tool"]));
    for record in ids {
        let id = record["exec_id"].as_str().unwrap();
        let output = execward(&ground, &["explain", id, "--rule", "--log", "audit.jsonl"])
            .output()
            .unwrap();
        let policy = std::fs::read_to_string(ground.path("policy.toml")).unwrap();
        std::fs::write(ground.path("p.toml"), policy + text(&output.stdout)).unwrap();
        let words = ["check", "--policy", "p.toml", "--cwd", ".", "--", "./tool"];
        let checked = execward(&ground, &words).status().unwrap();
        assert_eq!(checked.code(), Some(0), "{}", text(&output.stdout));
    }
}

#[test]
fn the_first_policy_loads_and_is_not_overwritten() {
    let ground = ground();
    let init = |file| {
        execward(&ground, &["policy", "init", file])
            .args(ground.state())
            .output()
            .unwrap()
    };
    assert_eq!(init("first.toml").status.code(), Some(0));
    let again = init("first.toml");
    assert_eq!(again.status.code(), Some(1), "{}", text(&again.stderr));
    let words = ["check", "--policy", "first.toml", "--", "git", "push", "-f"];
    assert_eq!(execward(&ground, &words).status().unwrap().code(), Some(4));
    let shown = execward(&ground, &["policy", "show", "--policy", "first.toml"])
        .output()
        .unwrap();
    assert!(
        text(&shown.stdout).contains("deny no-force-push (user, first.toml:"),
        "{}",
        text(&shown.stdout)
    );
    let schema = execward(&ground, &["policy", "schema"]).output().unwrap();
    assert!(serde_json::from_slice::<Value>(&schema.stdout).is_ok());
}

#[test]
fn what_cannot_be_a_call_or_a_log_is_refused_at_once() {
    let ground = ground();
    assert_eq!(check(&ground, &["--", ""]).status.code(), Some(2));
    let fifo = ground.path("fifo").display().to_string();
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for log in [fifo.as_str(), "/dev/zero"] {
        let output = execward(&ground, &["explain", "1000", "--log", log])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(7), "{log}");
        assert!(text(&output.stderr).contains("not a regular file"), "{log}");
    }
}

#[test]
fn check_takes_the_digests_that_rules_ask_for() {
    let ground = Ground::new("");
    let tool = ground.copy("/usr/bin/touch", "tool");
    let line = Command::new("sha256sum")
        .arg(&tool)
        .output()
        .unwrap()
        .stdout;
    let digest = text(&line).split(' ').next().unwrap().to_owned();
    for (action, sha256, status) in [
        ("allow", digest.as_str(), 0),
        ("allow", &"0".repeat(64), 4),
        ("deny", &digest, 4),
        ("deny", &"0".repeat(64), 0),
    ] {
        let security = if action == "deny" {
            "full"
        } else {
            "allowlist"
        };
        let policy = format!(
            "version = 1\nmode = {{ security = \"{security}\", ask = \"off\" }}\n\
             [[{action}]]\nid = \"r\"\nprogram = \"{tool}\"\nsha256 = \"{sha256}\"\n"
        );
        std::fs::write(ground.path("policy.toml"), policy).unwrap();
        let output = check(&ground, &["--", &tool, "x"]);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{action} {sha256}: {}",
            text(&output.stdout)
        );
    }
}

#[test]
fn check_takes_the_digests_of_scripts_too() {
    let ground = Ground::new("");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let policy = format!(
        "version = 1\nmode = {{ security = \"allowlist\", ask = \"off\" }}\n\
         [[allow]]\nid = \"r\"\nprogram = \"sh\"\nscript = \"/**\"\nsha256 = \"{empty}\"\n"
    );
    std::fs::write(ground.path("policy.toml"), policy).unwrap();
    for (content, status) in [("", 0), ("true\n", 4)] {
        std::fs::write(ground.path("a.sh"), content).unwrap();
        let output = check(&ground, &["--", "sh", "a.sh"]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{content:?}: {said}");
    }
}

#[test]
fn under_ci_what_is_typed_is_judged_like_anything_else() {
    let ground = Ground::new(
        "version = 1\ninclude = [\"preset:ci\"]\n[[allow]]\nid = \"t\"\ncommand = \"touch a\"\n",
    );
    assert_eq!(ground.run(&["touch", "a"]).code(), Some(0));
    assert_eq!(ground.run(&["touch", "b"]).code(), Some(126));
    assert!(ground.has("a") && !ground.has("b"));
}

#[test]
fn a_typed_call_has_the_environment_that_is_said() {
    let ground = Ground::full("[[ask]]\nid = \"q\"\nenv = \"AWS_PROFILE=prod*\"\n");
    let check = |words: &[&str]| {
        let words = [
            &["check", "--policy", "policy.toml"],
            words,
            &["--", "true"],
        ]
        .concat();
        execward(&ground, &words).status().unwrap().code()
    };
    assert_eq!(check(&[]), Some(0));
    assert_eq!(check(&["--env", "AWS_PROFILE=dev"]), Some(0));
    assert_eq!(
        check(&["--env", "A=b", "--env", "AWS_PROFILE=production"]),
        Some(3)
    );
}

#[test]
fn wrappers_that_nobody_would_follow_are_denied() {
    let ground = ground();
    let words = [&["--"], ["env"; 500].as_slice(), &["touch", "a"]].concat();
    let output = check(&ground, &words);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("deny: wrappers around wrappers"));
}
