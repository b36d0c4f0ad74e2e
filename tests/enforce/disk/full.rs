//! A disk without room: what is set aside is for refusals, and no exec that goes on takes it.

use std::fs;

use execward_tests::drill::report;
use execward_tests::{Asking, Ground, is_root, needs_answers, of_type, skip, under, until};

use super::question_about;

/// How often each is tried on the full disk.
const TRIES: usize = 40;

/// A session with its log on a small disk of its own, and the words that start it: `mount` mounts it on
/// `disk`, and the log is kept as `copy` once what was set aside behind it is given back.
fn small(ground: Ground, mount: &str) -> (Ground, Vec<String>) {
    let disk = ground.path("disk").display().to_string();
    fs::create_dir(&disk).expect("a directory");
    let at = ground.path("").display().to_string();
    let outer = format!(
        "cd '{at}' && {{ {mount} || exit 99; }}; \"$@\" 2>/dev/null; code=$?
        until grep -q '\"session.end\"' disk/audit.jsonl; do :; done
        until [ $(stat -c %b disk/audit.jsonl) -lt 4096 ]; do :; done
        cp disk/audit.jsonl copying; mv copying copy; exit $code"
    );
    let words = ["unshare", "-m", "sh", "-c", &outer, "sh"].map(str::to_owned);
    let ground = ground
        .option("--no-notice")
        .option("--audit")
        .option(&format!("{disk}/audit.jsonl"));
    (ground, words.to_vec())
}

/// The log of such a session, once that is over.
fn kept(ground: &Ground) -> String {
    fs::read_to_string(ground.path("copy")).expect("a copy of the log")
}

/// Runs a session with its log on what `mount` mounts; its records.
fn end_of(ground: Ground, mount: &str) -> Option<Vec<serde_json::Value>> {
    let (ground, words) = small(ground, mount);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // The shell makes room by itself: that needs no exec.
    let script = format!(
        "/bin/cat /dev/zero >disk/fill; while /bin/true; do :; done; echo filled
        i=0; while [ $i -lt {TRIES} ]; do
            /bin/touch ran; /bin/false; i=$((i + 1))
        done
        : >disk/fill; /bin/touch ran-again && echo over"
    );
    let script = ground.script("script.sh", &script);
    let ran = ground.end(under(&words, &ground.command(&["sh", &script])));
    if ran.code() == Some(99) {
        return None;
    }
    assert_eq!(ran.stdout, "filled\nover\n", "{}", ran.stderr);
    assert!(!ground.has("ran") && ground.has("ran-again"));
    Some(super::records_of(&kept(&ground)))
}

#[test]
fn a_full_disk_takes_refusals_and_lets_nothing_go_on() {
    if !is_root() {
        return skip("mounting a small disk needs root");
    }
    let ext4 = "truncate -s 40M image && mkfs.ext4 -q image && mount -o loop image disk";
    let overlay = "mkdir base && mount -t tmpfs -o size=20m none base && mkdir base/u base/w base/l && \
         mount -t overlay none -o lowerdir=base/l,upperdir=base/u,workdir=base/w disk";
    for (kind, mount) in [
        ("tmpfs", "mount -t tmpfs -o size=20m none disk"),
        ("ext4", ext4),
        ("overlay", overlay),
    ] {
        let ground = Ground::full("[[deny]]\nid = \"no-false\"\nprogram = \"false\"\n");
        let Some(records) = end_of(ground, mount) else {
            skip(&format!("no small disk with {kind} can be made here"));
            continue;
        };
        assert_eq!(records[0]["log"]["reserve"], 16 << 20, "{kind}");
        let of_program = |name: &str| {
            let its = |it: &&serde_json::Value| it["proc"]["argv"][0] == name;
            of_type(&records, "exec.decision").filter(its).count()
        };
        assert_eq!(of_program("/bin/false"), TRIES, "{kind}");
        // The one behind the making of room.
        assert_eq!(of_program("/bin/touch"), 1, "{kind}");
        let gaps = of_type(&records, "audit.gap").map(|it| it["gap"]["count"].as_u64());
        let missing: u64 = gaps.flatten().sum();
        // And the first that was refused.
        assert_eq!(missing, TRIES as u64 + 1, "{kind}");
        let done = format!("the log's {kind} is full for {TRIES} allowed and {TRIES} denied execs");
        let happened = format!("every denied one recorded, none ran; gaps of {missing} in all");
        report("T11", &done, &happened);
    }
}

#[test]
fn a_person_is_asked_and_answers_on_a_full_disk() {
    needs_answers!();
    if !is_root() {
        return skip("mounting a small disk needs root");
    }
    let ask = "[[ask]]\nid = \"ask-touch\"\nprogram = \"touch\"\n";
    let (ground, words) = small(Ground::full(ask), "mount -t tmpfs -o size=20m none disk");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let script = "/bin/cat /dev/zero >disk/fill; while /bin/true; do :; done
        /bin/touch one; /bin/touch two; echo over; read x";
    let mut asking = Asking::start_under(&words, ground, "socket", script);
    for (verb, name) in [("allow", "one"), ("deny", "two")] {
        let id = question_about(&asking, name);
        asking.answer(&[verb, &id]);
    }
    assert_eq!(asking.stdout.next_line().as_deref(), Some("over"));
    assert!(asking.has_run("one") && !asking.has_run("two"));
    drop(asking.stdin());
    let log = until("the log", || {
        asking.ground().has("copy").then(|| kept(asking.ground()))
    });
    let records = super::records_of(&log);
    let answered = |record: &&serde_json::Value| record["approval"].get("by").is_some();
    let decisions = of_type(&records, "exec.decision").filter(answered);
    assert_eq!(decisions.count(), 2);
}
