//! What was decided can be decided again, by the policy that was kept beside the log.

use std::fs;
use std::path::PathBuf;

use execward_tests::{Asking, Ground, needs_answers, of_type};

const RULES: &str = "[[deny]]\nid = \"no-ls\"\nprogram = \"ls\"\n";

fn all(ground: &Ground) -> (Option<i32>, String) {
    ground.says(&["explain", "--all", "--log", "audit.jsonl"])
}

/// The policies that are kept beside the log.
fn kept(ground: &Ground) -> Vec<PathBuf> {
    let entries = fs::read_dir(ground.path("")).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.display().to_string().contains(".policy-"))
        .collect()
}

#[test]
fn an_exec_is_explained_by_the_policy_of_then_whatever_became_of_its_file() {
    let ground = Ground::full(RULES);
    let ran = ground.sh("/bin/ls; /bin/true");
    let id = ran.decisions(&["/bin/ls"])[0]["exec_id"].clone();
    fs::write(
        ground.path("policy.toml"),
        "version = 1\nmode.security = \"full\"\n",
    )
    .unwrap();
    let explain = ["explain", id.as_str().unwrap(), "--log", "audit.jsonl"];
    let (code, said) = ground.says(&explain);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("the policy of then:\ndeny: rule no-ls"),
        "{said}"
    );
    assert!(
        said.ends_with("from the record alone: deny (rule no-ls), as then\n"),
        "{said}"
    );
    // Another one by its name.
    let other = [explain.as_slice(), &["--policy", "policy.toml"]].concat();
    let (_, said) = ground.says(&other);
    assert!(said.contains("the policy as it is now:\nallow"), "{said}");
}

#[test]
fn every_decision_comes_out_the_same_again() {
    let ground = Ground::full(RULES);
    let _ran = ground.sh(
        "i=0; while [ $i -lt 20 ]; do /bin/ls $i; /bin/true $i; env true; sh -c 'exit 0'; i=$((i+1)); done; \
         /usr/bin/env /bin/ls; ./missing; find . -name x -exec true {} +",
    );
    let records = ground.records_at_rest();
    let count = of_type(&records, "exec.decision").count();
    let (code, said) = all(&ground);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains(&format!(": {count} agree, 0 disagree, 0 cannot")),
        "{said}"
    );
}

#[test]
fn what_was_decided_by_two_policies_is_decided_again_by_each() {
    needs_answers!();
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let script = "/usr/bin/touch a; /usr/bin/touch b; /bin/ls; /bin/true";
    let mut asking = Asking::start(Ground::full(ask), "socket", script);
    let first = asking.question();
    let text = format!("version = 1\n[mode]\nsecurity = \"full\"\n{ask}{RULES}");
    fs::write(asking.ground().path("other.toml"), text).unwrap();
    let other = asking.ground().path("other.toml").display().to_string();
    let (code, _, said) = asking.client(&["policy", "load", &other]);
    assert_eq!(code, Some(0), "{said}");
    asking.answer(&["allow", &first.id]);
    asking.answer(&["deny", &asking.question().id]);
    let records = asking.end();
    let ground = asking.ground();
    assert_eq!(kept(ground).len(), 2);
    let denied =
        of_type(&records, "exec.decision").filter(|it| it["decision"]["rule"]["id"] == "no-ls");
    assert_eq!(denied.count(), 1);
    let (code, said) = all(ground);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(" 0 disagree, 0 cannot"), "{said}");
}

/// Neither a record nor a policy that somebody changed passes for what was.
#[test]
fn what_was_changed_since_does_not_agree() {
    let ground = Ground::full(RULES);
    let _ran = ground.sh("/bin/ls; /bin/true");
    let _records = ground.records_at_rest();
    let log = fs::read_to_string(ground.path("audit.jsonl")).unwrap();
    let forged = log.replacen("\"verdict\":\"deny\"", "\"verdict\":\"allow\"", 1);
    fs::write(ground.path("forged.jsonl"), forged).unwrap();
    let forged = ["explain", "--all", "--log", "forged.jsonl"];
    let (code, said) = ground.says(&forged);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("1 disagree") && said.contains("deny (rule no-ls), then allow"),
        "{said}"
    );
    let [kept] = <[PathBuf; 1]>::try_from(kept(&ground)).unwrap();
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(&kept, text.replacen("\"version\":1", "\"version\": 1", 1)).unwrap();
    let (code, said) = all(&ground);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("is not as it was"), "{said}");
    fs::remove_file(&kept).unwrap();
    let (code, said) = all(&ground);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("cannot be read"), "{said}");
}

/// Beside standard input lies nothing: nobody says that all of nothing agrees.
#[test]
fn standard_input_is_no_place_where_policies_are_kept() {
    let ground = Ground::full(RULES);
    let (code, said) = ground.says(&["explain", "--all", "--log", "-"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("kept beside a log"), "{said}");
}

/// What became of the policy of another session is no matter.
#[test]
fn an_exec_is_explained_by_the_policy_of_its_own_session() {
    let ground = Ground::full(RULES);
    let log = ground.path("shared.jsonl").display().to_string();
    let ground = ground.option("--audit").option(&log);
    let _ran = ground.run(&["/bin/true"]);
    let [first] = <[PathBuf; 1]>::try_from(kept(&ground)).unwrap();
    let text = fs::read_to_string(ground.path("policy.toml")).unwrap();
    fs::write(ground.path("policy.toml"), text + "# another\n").unwrap();
    let _ran = ground.run(&["/bin/ls"]);
    assert_eq!(kept(&ground).len(), 2);
    let records = fs::read_to_string(&log).unwrap();
    let ids = records.lines().filter_map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        (record["type"] == "exec.decision").then(|| record["exec_id"].as_str().unwrap().to_owned())
    });
    let ids: Vec<String> = ids.collect();
    fs::remove_file(first).unwrap();
    let (code, said) = ground.says(&["explain", &ids[1], "--log", &log]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("deny (rule no-ls), as then\n"), "{said}");
    let (code, said) = ground.says(&["explain", &ids[0], "--log", &log]);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("explain ID --policy FILE"), "{said}");
}
