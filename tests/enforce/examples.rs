//! The examples of tests/examples, as they are, and what becomes of them when the agent does something else.

use std::fs;
use std::process::Command;

use execward_tests::{Ground, binary, finish, skip};

/// Nothing, and what nobody expects of the agent though the policy lets it.
const SURPRISES: [(&str, bool); 2] = [("", false), ("/usr/bin/touch surprise", true)];

/// The examples, by name.
const FILES: [(&str, &str); 5] = [
    ("agent.sh", include_str!("../examples/agent.sh")),
    ("expected.toml", include_str!("../examples/expected.toml")),
    ("policy.toml", include_str!("../examples/policy.toml")),
    ("test_agent.py", include_str!("../examples/test_agent.py")),
    ("workflow.yml", include_str!("../examples/workflow.yml")),
];

/// A copy of them in a directory of their own.
fn examples() -> Ground {
    let ground = Ground::new("");
    fs::create_dir_all(ground.path("home")).expect("a directory");
    for (name, text) in FILES {
        fs::write(ground.path(name), text).expect("a copy");
    }
    ground
}

/// `words` in there, with `execward` among the programs that have no path.
fn within(ground: &Ground, words: &[&str], surprise: &str) -> (Option<i32>, String) {
    let programs = binary("execward");
    let programs = programs.parent().expect("a directory").display();
    let home = ground.path("home");
    let mut command = Command::new("env");
    command
        .args(words)
        .current_dir(ground.path(""))
        .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_STATE_HOME", home.join("state"))
        .env("XDG_RUNTIME_DIR", &home)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SURPRISE", surprise);
    let (status, stdout, stderr) = finish(command);
    (status.code(), stdout + &stderr)
}

/// What a runner gives to a shell: the indented lines below each `run: |`.
fn steps(workflow: &str) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    let mut depth = None;
    for line in workflow.lines() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start() == "run: |" {
            depth = Some(indent);
            steps.push(String::new());
        } else if depth.is_some_and(|depth| indent > depth) {
            let step = steps.last_mut().expect("a step");
            *step += line.trim_start();
            step.push('\n');
        } else {
            depth = None;
        }
    }
    steps
}

#[test]
fn the_workflow_fails_when_the_agent_does_something_else() {
    for (surprise, is_one) in SURPRISES {
        let ground = examples();
        let workflow = fs::read_to_string(ground.path("workflow.yml")).expect("a workflow");
        let steps = steps(&workflow);
        assert_eq!(steps.len(), 2, "{steps:?}");
        for step in &steps {
            let (code, said) = within(&ground, &["bash", "-e", "-c", step], surprise);
            assert_eq!(code, Some(i32::from(is_one)), "{said}");
            assert_eq!(
                said.contains("+ /usr/bin/touch surprise  ["),
                is_one,
                "{said}"
            );
        }
        assert_eq!(ground.has("surprise"), is_one);
        let report = fs::read_to_string(ground.path("execs.xml")).expect("a report");
        let failures = format!("failures=\"{}\"", u8::from(is_one));
        assert!(report.contains(&failures), "{report}");
    }
}

#[test]
fn the_test_of_pytest_fails_when_the_agent_does_something_else() {
    let (code, _) = within(&examples(), &["python3", "-c", "import pytest"], "");
    if code != Some(0) {
        return skip("there is no pytest");
    }
    for (surprise, is_one) in SURPRISES {
        let ground = examples();
        let words = [
            "python3",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "test_agent.py",
        ];
        let (code, said) = within(&ground, &words, surprise);
        assert_eq!(code, Some(i32::from(is_one)), "{said}");
        let outcome = if is_one { "1 failed" } else { "1 passed" };
        assert!(said.contains(outcome), "{said}");
        assert_eq!(
            said.contains("+ /usr/bin/touch surprise  ["),
            is_one,
            "{said}"
        );
    }
}
