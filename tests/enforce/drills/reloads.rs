//! Policies that change faster than anybody would change them.

#![expect(
    clippy::indexing_slicing,
    reason = "a record without the field is a failed test"
)]

use execward_tests::drill::{Latencies, report, scale};
use execward_tests::{Asking, Ground, needs_answers};
use serde_json::Value;

/// What one policy denies and the other allows, until there is a file `stop`.
const BOTH: &str = "echo on; while [ ! -e stop ]; do /usr/bin/touch t 2>/dev/null; \
    /usr/bin/mkdir -p d 2>/dev/null; done";

/// Each decision is by the policy that the records before it name as loaded, and one with a fault is
/// never loaded.
#[test]
fn t13_each_decision_is_by_the_policy_in_force() {
    needs_answers!();
    let loads = scale(20, 1000);
    let policy = |program: &str| {
        format!(
            "version = 1\nmode.security = \"full\"\n[[deny]]\nid = \"{program}\"\nprogram = \"{program}\"\n"
        )
    };
    let ground = Ground::new(&policy("mkdir"));
    // In a file: what a shell is given as text is judged before it runs.
    let script = ground.script("script", BOTH);
    let mut asking = Asking::start(ground, "socket", &format!(". {script}"));
    assert_eq!(asking.stdout.next_line().as_deref(), Some("on"));
    let file = |name: &str, text: &str| {
        let path = asking.ground().path(name);
        std::fs::write(&path, text).expect("a policy");
        path.display().to_string()
    };
    let texts = ["touch", "mkdir"].map(|program| file(program, &policy(program)));
    let faulty = file(
        "faulty",
        "version = 1\nmode.security = \"full\"\n[[deny]]\nid = 7\n",
    );
    for number in 0..loads {
        let (path, code) = match number % 4 {
            0 => (&texts[0], 0),
            2 => (&texts[1], 0),
            _ => (&faulty, 2),
        };
        let (ended, _, stderr) = asking.client(&["policy", "load", path]);
        assert_eq!(ended, Some(code), "{stderr}");
    }
    std::fs::write(asking.ground().path("stop"), "").expect("a file");
    let records = asking.end();
    let [loaded, rejected, decisions] = by_policy_in_force(&records);
    assert_eq!((loaded, rejected), (loads / 2, loads / 2));
    assert!(decisions > 1);
    report(
        "T13",
        &format!("{loads} policies offered, every other with a fault, while execs run"),
        &format!(
            "{loaded} loaded, {rejected} rejected, each of {decisions} decisions by the policy in force; {}",
            Latencies::of(&records, "/usr/bin/touch").in_words()
        ),
    );
}

/// How many policies were loaded and rejected, and how many decisions there were, each of which is by
/// the policy that was loaded last.
fn by_policy_in_force(records: &[Value]) -> [usize; 3] {
    let (mut denied, mut loaded, mut rejected, mut decisions) = ("mkdir", 0, 0, 0);
    for record in records {
        match record["type"].as_str().expect("a type") {
            "policy.loaded" => {
                let name = record["policy"][0]["name"].as_str().expect("a name");
                denied = if name.ends_with("touch") {
                    "touch"
                } else {
                    "mkdir"
                };
                loaded += 1;
            }
            "policy.rejected" => rejected += 1,
            "exec.decision" => {
                let program = record["proc"]["argv"][0].as_str().expect("a program");
                let is_denied = record["decision"]["verdict"] == "deny";
                assert_eq!(
                    is_denied,
                    program == format!("/usr/bin/{denied}"),
                    "{record}"
                );
                decisions += 1;
            }
            _ => {}
        }
    }
    [loaded, rejected, decisions]
}
