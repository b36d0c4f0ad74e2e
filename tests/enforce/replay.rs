//! `policy replay` puts the execs of a real session to a policy again.

use std::fs;
use std::process::Output;

use execward_tests::{Asking, Ground, said};
use serde_json::Value;

/// Rules that look at everything that a rule can look at.
const RULES: &str = r#"
[[allow]]
id = "shell"
program = ["sh", "dash"]
[[allow]]
id = "make"
command = "make"
children = ["/usr/bin/*", "/bin/*", "!**/touch"]
[[allow]]
id = "read"
tool = ["file_read", "file_list"]
path = "~/"
[[allow]]
id = "below-a-script"
command = "mkdir"
via = "**/inner"
[[allow]]
id = "inner"
program = "~/inner"
[[allow]]
id = "date-in-any-zone"
command = "date"
env = "TZ"
[[ask]]
id = "remove"
command = "rm"
[[deny]]
id = "no-copy"
command = "cp"
env = "PROFILE"
[[deny]]
id = "kept"
tool = "file_write"
path = "~/kept"
"#;

const WORKLOAD: &str = r"
echo one > data
cat data
cat /etc/hostname
./inner
mkdir outside
make -s
touch unlisted
head -n 1 < data
LD_AUDIT=/none head -n 1 data
LD_AUDIT=/none nice cat data
TZ=UTC LD_PRELOAD=/none date
TZ=UTC date
PROFILE=x cp data copy
cp data copy
sh -c 'echo x > kept'
sh -c 'cat data > free; cat data'
sh -c 'cd / && cat etc/hostname'
rm data
(exec sh -c './inner; :')
nosuchprogram
";

fn ground(rules: &str) -> Ground {
    let policy = format!("version = 1\n[mode]\nsecurity = \"allowlist\"\n{rules}");
    let ground = Ground::new(&policy).option("--prompt=none");
    ground.script("inner", "#!/bin/sh\nmkdir -p made\ntrue\n");
    ground.script("workload", WORKLOAD);
    fs::write(
        ground.path("Makefile"),
        "all:\n\tcat data\n\ttouch made-by-make\n",
    )
    .expect("a makefile");
    ground
}

/// `policy replay` of the ground's log by the policy with these rules.
fn replay(ground: &Ground, rules: &str, options: &[&str]) -> Output {
    let policy = format!("version = 1\n[mode]\nsecurity = \"allowlist\"\n{rules}");
    fs::write(ground.path("other.toml"), policy).expect("a policy");
    ground.execward(
        &[
            &["policy", "replay", "--policy", "other.toml", "audit.jsonl"],
            options,
        ]
        .concat(),
    )
}

/// The last line of `--json`, with the counts.
fn tally(ground: &Ground, rules: &str) -> Value {
    let output = replay(ground, rules, &["--json"]);
    let text = said(&output);
    let last = text.lines().last().expect("a line");
    serde_json::from_str(last).expect("JSON")
}

#[test]
fn the_same_policy_says_the_same_of_every_exec() {
    let ground = ground(RULES);
    let ran = ground.run(&["sh", "workload"]);
    assert!(ground.records_at_end().len() > 40, "{}", ran.stderr);
    let output = replay(&ground, RULES, &[]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        said(&output),
        ran.stderr
    );
    let tally = tally(&ground, RULES);
    assert_eq!(tally["changed"], 0, "{tally}");
    assert_eq!(tally["indeterminate"], 0, "{tally}");
    assert!(tally["unchanged"].as_u64() > Some(20), "{tally}");
}

#[test]
fn a_narrower_policy_and_a_wider_one_differ_where_they_differ() {
    let ground = ground(RULES);
    let ran = ground.run(&["sh", "workload"]);
    let _records = ground.records_at_end();
    let narrower = format!("{RULES}[[deny]]\nid = \"no-mkdir\"\ncommand = \"mkdir\"\n");
    let output = replay(&ground, &narrower, &[]);
    let shown = said(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    // Below the script, twice, it was allowed; elsewhere it was a question, once for each directory
    // in which the shell looks.
    assert!(
        shown.contains("allow -> deny: 2\n"),
        "{shown}{}",
        ran.stderr
    );
    assert!(shown.contains("ask -> deny: 2\n"), "{shown}");
    assert!(
        shown.contains("/mkdir: rule below-a-script -> rule no-mkdir ["),
        "{shown}"
    );

    let wider = RULES.replace("[[ask]]\nid = \"remove\"", "[[allow]]\nid = \"remove\"");
    let output = replay(&ground, &wider, &[]);
    let shown = said(&output);
    assert!(
        shown.contains("questions saved, ask -> allow: 2\n"),
        "{shown}"
    );
    assert!(
        shown.contains("/rm: rule remove -> rule remove ["),
        "{shown}"
    );
    let id = ran.decisions(&["rm"])[0]["exec_id"].as_str().unwrap();
    assert!(shown.contains(&format!("[{id} ")), "{shown}");
}

#[test]
fn what_was_not_recorded_is_guessed_nowhere() {
    // Nobody looked at history, digests or these variables.
    let ground = ground("[[allow]]\nid = \"all\"\nprogram = [\"sh\", \"cat\"]\n");
    let ran = ground.sh("cat workload\ntrue\n");
    assert_eq!(ran.decisions(&["cat"]).len(), 1, "{}", ran.stderr);
    let _records = ground.records_at_end();
    let of = |keys: &str| {
        let rules = format!("[[allow]]\nid = \"all\"\nprogram = [\"sh\", \"cat\"]\n{keys}");
        tally(&ground, &rules)
    };
    for (keys, indeterminate) in [
        ("", 0),
        ("[[deny]]\nid = \"d\"\nprogram = \"cat\"\nvia = \"sh\"\n", 1),
        (
            "[[deny]]\nid = \"d\"\nprogram = \"cat\"\nenv = \"X=1\"\n",
            1,
        ),
        (
            "[[deny]]\nid = \"d\"\nprogram = \"cat\"\npath = \"/etc/\"\n",
            0,
        ),
        (
            "[[deny]]\nid = \"d\"\nprogram = \"no-such\"\nvia = \"sh\"\n",
            0,
        ),
    ] {
        let tally = of(keys);
        assert_eq!(tally["indeterminate"], indeterminate, "{keys} {tally}");
        assert_eq!(tally["changed"], 0, "{keys} {tally}");
    }
    // And none of it is taken for fine.
    let unknown = "[[allow]]\nid = \"all\"\nprogram = [\"sh\", \"cat\"]\n\
                   [[deny]]\nid = \"d\"\nprogram = \"cat\"\nvia = \"sh\"\n";
    let output = replay(&ground, unknown, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("/cat: not recorded: what started it ["));
}

#[test]
fn a_question_is_one_whatever_a_person_answered() {
    let mut asking = Asking::sh("", "/usr/bin/touch a & /usr/bin/touch b & wait");
    let questions = asking.questions(2);
    for (verb, question) in ["allow", "deny"].into_iter().zip(&questions) {
        asking.answer(&[verb, &question.id]);
    }
    let _records = asking.end();
    let policy = fs::read_to_string(asking.ground().path("policy.toml")).unwrap();
    for (text, code, expected) in [
        (policy.clone(), 0, "0 change"),
        (policy.replace("[[ask]]", "[[deny]]"), 1, "ask -> deny: 2\n"),
    ] {
        fs::write(asking.ground().path("other.toml"), text).unwrap();
        let words = ["policy", "replay", "--policy", "other.toml", "audit.jsonl"];
        let output = asking.ground().execward(&words);
        assert_eq!(output.status.code(), Some(code), "{}", self::said(&output));
        assert!(
            self::said(&output).contains(expected),
            "{}",
            self::said(&output)
        );
    }
}

#[test]
fn a_damaged_log_is_said_and_the_rest_is_shown() {
    let ground = ground(RULES);
    let _ran = ground.run(&["sh", "workload"]);
    let _records = ground.records_at_end();
    let log = fs::read_to_string(ground.path("audit.jsonl")).unwrap();
    let mut lines: Vec<&str> = log.lines().collect();
    let decision = lines
        .iter()
        .position(|line| line.contains("exec.decision"))
        .unwrap();
    let half = lines[decision + 2].split_at(90).0.to_owned() + "\u{202e}";
    lines[decision + 2] = &half;
    // What its names mean, nobody can tell.
    let last = lines
        .last()
        .unwrap()
        .replace("{\"v\":\"1.0\"", "{\"v\":\"2.0\"");
    lines.push(&last);
    fs::write(ground.path("edited.jsonl"), lines.join("\n")).unwrap();
    let words = [
        "policy",
        "replay",
        "--policy",
        "policy.toml",
        "edited.jsonl",
    ];
    let output = ground.execward(&words);
    let shown = said(&output);
    assert_eq!(output.status.code(), Some(4), "{shown}");
    let place = format!("damaged: line {} is no record", decision + 3);
    assert!(shown.starts_with(&place), "{shown}");
    assert!(shown.contains(": of version 2.0, and this"), "{shown}");
    assert!(shown.contains(" do not"), "{shown}");
    assert!(shown.is_ascii(), "{shown}");
}
