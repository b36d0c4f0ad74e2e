//! What looks like a secret is written down nowhere.

use std::fs;
use std::path::Path;

use execward_tests::{Asking, Ground, needs_answers, of_type};
use serde_json::{Value, json};

const SENTINEL: &str = "S3NTINELofaTOKEN0123456789";

const ASKING: &str = "version = 1\n[mode]\nsecurity = \"allowlist\"\n\
    [[allow]]\nid = \"shell\"\nprogram = [\"sh\", \"dash\"]\n\
    [[deny]]\nid = \"no-wget\"\nprogram = \"**/wget\"\n";

/// Two calls that are asked about, with a secret in each, and one that is refused.
fn script() -> String {
    format!(
        "./curl -H 'Authorization: Bearer {SENTINEL}' https://a.example/; \
         ./curl --token {SENTINEL} -u me:{SENTINEL} https://me:{SENTINEL}@b.example/?access_token={SENTINEL}; \
         f=w; ./${{f}}get --password={SENTINEL} https://c.example/"
    )
}

fn asking(option: Option<&str>) -> Asking {
    let mut ground = Ground::new(ASKING);
    if let Some(option) = option {
        ground = ground.option(option);
    }
    for name in ["curl", "wget"] {
        let _path = ground.copy("/bin/true", name);
    }
    Asking::start(ground, "socket", &script())
}

/// The files below `directory` that hold the secret.
fn holders(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let kind = fs::symlink_metadata(&path).expect("a file");
        if kind.is_dir() {
            holders(&path, found);
        } else if kind.is_file() {
            let bytes = fs::read(&path).expect("a file");
            let holds = bytes
                .windows(SENTINEL.len())
                .any(|part| part == SENTINEL.as_bytes());
            found.extend(holds.then(|| path.display().to_string()));
        }
    }
}

fn no_holder(ground: &Ground) {
    let mut found = Vec::new();
    holders(&ground.path(""), &mut found);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_secret_that_was_asked_allowed_learned_and_replayed_is_in_no_file() {
    needs_answers!();
    let mut asking = asking(None);
    let first = asking.question();
    assert!(!first.message.to_string().contains(SENTINEL), "{first:?}");
    let argv = first.message.pointer("/request/proc/argv/2").unwrap();
    assert_eq!(argv, "Authorization: Bearer ***");
    asking.answer(&["allow", &first.id]);
    let second = asking.question();
    let (_, shown, _) = asking.client(&["pending"]);
    assert!(shown.contains("hides what looks like a secret"), "{shown}");
    assert!(!second.message.to_string().contains(SENTINEL), "{second:?}");
    // A rule of exactly this call would hold it, and is not to be had.
    let exact = ["allow", &second.id, "--for", "always", "--scope", "exact"];
    let (code, _, said) = asking.client(&exact);
    assert_eq!(code, Some(1), "{said}");
    asking.answer(&["allow", &second.id, "--for", "always", "--scope", "program"]);
    let records = asking.end();
    let masked = masked(&records);
    assert_eq!(masked.len(), 4, "{masked:?}");
    assert_eq!(masked[0].0, json!([2]));
    assert_eq!(masked[1].0, json!([2]));
    let second = "./curl --token *** -u me:*** https://***@b.example/?access_token=***";
    assert_eq!(masked[2].1, second);
    assert_eq!(masked[3].1, "./wget --password=*** https://c.example/");
    no_holder(asking.ground());
    is_used(asking.ground(), &masked[3].2);
    no_holder(asking.ground());
}

/// The decisions of what has a secret: which arguments, all of them, and the ID.
fn masked(records: &[Value]) -> Vec<(Value, String, String)> {
    let decisions = of_type(records, "exec.decision");
    let masked = decisions.filter_map(|record| {
        let redacted = record.pointer("/proc/redacted")?.clone();
        let argv = record.pointer("/proc/argv")?.as_array()?;
        let words: Vec<_> = argv.iter().filter_map(Value::as_str).collect();
        let id = record.pointer("/exec_id")?.as_str()?;
        Some((redacted, words.join(" "), id.to_owned()))
    });
    masked.collect()
}

/// What else is made of the log works, and holds none.
fn is_used(ground: &Ground, id: &str) {
    let by = |words: &str| -> (Option<i32>, String) {
        let words: Vec<&str> = words.split(' ').collect();
        ground.says(&words)
    };
    let (code, learned) = by("policy learn --policy policy.toml audit.jsonl");
    assert_eq!(code, Some(0), "{learned}");
    assert!(learned.contains("curl") && !learned.contains(SENTINEL));
    fs::write(ground.path("learned.toml"), learned).expect("a policy");
    let (code, replayed) = by("policy replay --policy policy.toml audit.jsonl");
    assert_eq!(code, Some(0), "{replayed}");
    let both = "--policy policy.toml --policy learned.toml";
    let (_, replayed) = by(&format!("policy replay {both} audit.jsonl"));
    assert!(!replayed.contains(SENTINEL), "{replayed}");
    let (code, said) = by("audit expect --learn -o expected.toml audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = by("audit expect --against expected.toml audit.jsonl");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = by(&format!(
        "explain {id} --rule --policy policy.toml --log audit.jsonl"
    ));
    assert_eq!(code, Some(1), "{said}");
}

/// Who is asked sees it, and nobody else.
#[test]
fn what_is_revealed_is_revealed_to_who_is_asked() {
    needs_answers!();
    let mut asking = asking(Some("--reveal"));
    for _ in 0..2 {
        let question = asking.question();
        assert!(
            question.message.to_string().contains(SENTINEL),
            "{question:?}"
        );
        asking.answer(&["allow", &question.id]);
    }
    let _records = asking.end();
    no_holder(asking.ground());
}

/// Neither are the texts that a session's own tools give to execward.
#[test]
fn a_policy_names_what_else_is_a_secret() {
    let ground = Ground::full("[audit]\nredact = [\"--ticket\", \"ACME-*\"]\n");
    let script = format!("/bin/true --ticket {SENTINEL} ACME-{SENTINEL} rest");
    let ran = ground.run(&["sh", "-c", &script]);
    let decisions = ran.decisions(&["/bin/true"]);
    let argv = json!(["/bin/true", "--ticket", "***", "***", "rest"]);
    assert_eq!(decisions[0]["proc"]["argv"], argv);
    no_holder(&ground);
}

/// What is made of the arguments beside them has no secret either.
#[test]
fn what_a_call_names_and_a_hosts_reason_hold_none() {
    let ground = Ground::full(
        "[[deny]]\nid = \"keys\"\npath = \"~/.ssh/\"\n[[deny]]\nid = \"no-ls\"\nprogram = \"ls\"\n",
    );
    let script = ground.script(
        "s",
        &format!(
            "./foo https://x:{SENTINEL}@h.example/a --pass {SENTINEL} pass:{SENTINEL}; \
             sh -c 'mysql -p{SENTINEL} db; if true; then curl -su me:{SENTINEL} u; fi'; ./interpreted"
        ),
    );
    let _foo = ground.copy("/bin/true", "foo");
    let _own = ground.script(
        "interpreted",
        &format!("#!/bin/true --password={SENTINEL}\n"),
    );
    let _ran = ground.run(&["sh", &script]);
    let _records = ground.records_at_rest();
    for input in ["s", "interpreted"] {
        fs::remove_file(ground.path(input)).unwrap();
    }
    no_holder(&ground);
}
