//! A log of several files is one log, and whoever tampers with it is found out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use execward_tests::{Ground, Lines, binary, finish, of_type};
use serde_json::Value;

/// The log of two sessions, in some files each.
fn rotated() -> Ground {
    let ground = Ground::full("").option("--audit-segment").option("64K");
    for name in ["one", "two"] {
        begun(
            &ground,
            &format!("i=0; while [ $i -lt 100 ]; do /bin/true {name}; i=$((i+1)); done"),
        );
        let _records = ground.records_at_rest();
    }
    assert!(ground.log_files().len() > 3, "{:?}", ground.log_files());
    ground
}

/// Another session, behind those that the log has.
fn begun(ground: &Ground, script: &str) {
    fs::write(ground.path("script.sh"), script).expect("a script");
    let (status, ..) = finish(ground.command(&["sh", "script.sh"]));
    assert!(status.success());
}

fn said(mut command: Command, log: &Path) -> (Option<i32>, String) {
    command.arg(log).stdin(Stdio::null());
    let (status, stdout, stderr) = finish(command);
    (status.code(), stdout + &stderr)
}

/// What `audit verify` says of a log, and with which status.
fn verified(log: &Path, more: &[&Path]) -> (Option<i32>, Value) {
    let mut command = Command::new(binary("execward"));
    command.args(["audit", "verify", "--json"]);
    for copies in more {
        command.arg("--anchor").arg(copies);
    }
    let (code, text) = said(command, log);
    (code, serde_json::from_str(&text).expect("an object"))
}

/// A copy of a log, to tamper with.
struct Copied {
    directory: tempfile::TempDir,
}

impl Copied {
    fn of(ground: &Ground) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for file in ground.log_files() {
            let name = file.file_name().expect("a name");
            fs::copy(&file, directory.path().join(name)).expect("a copy");
        }
        Self { directory }
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("audit.jsonl")
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory.path()).expect("a directory");
        let mut files: Vec<_> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        // The one that has no number is the last.
        files.rotate_left(1);
        files
    }

    fn file(&self, at: usize) -> PathBuf {
        self.files().swap_remove(at)
    }

    fn change(&self, file: usize, change: impl FnOnce(&mut Vec<String>)) {
        let path = &self.file(file);
        let text = fs::read_to_string(path).expect("a file");
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        change(&mut lines);
        fs::write(path, lines.concat()).expect("a file");
    }
}

/// Both verifiers: the status, and in which file and line the first fault is.
fn places(copied: &Copied) -> [(Option<i32>, String); 2] {
    let (code, shown) = verified(&copied.log(), &[]);
    let file = shown.pointer("/found/0/file").and_then(Value::as_str);
    let line = shown.pointer("/found/0/line").and_then(Value::as_u64);
    let ours = format!("{}:{}", file.unwrap_or("audit.jsonl"), line.unwrap_or(0));
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/verify.py");
    let mut command = Command::new("python3");
    command.arg(example);
    let (others, text) = said(command, &copied.log());
    let place: Vec<_> = text.splitn(3, ':').take(2).collect();
    [(code, ours), (others, place.join(":"))]
}

/// What is done to a log, and at which of its files and lines that is found, if it is always the same.
type Tampering = (&'static str, fn(&Copied), Option<(usize, usize)>);

const TAMPERINGS: [Tampering; 7] = [
    (
        "a flipped bit",
        |log| {
            log.change(1, |lines| {
                for line in lines.iter_mut().skip(6).take(1) {
                    *line = line.replacen("\"boot_ns\":", "\"boot_nS\":", 1);
                }
            });
        },
        Some((1, 7)),
    ),
    (
        "a dropped line",
        |log| log.change(1, |lines| drop(lines.remove(6))),
        Some((1, 7)),
    ),
    (
        "a line twice",
        |log| {
            log.change(1, |lines| {
                let twice = lines.get(6).cloned();
                lines.splice(7..7, twice);
            });
        },
        Some((1, 8)),
    ),
    (
        "two lines exchanged",
        |log| log.change(1, |lines| lines.swap(6, 7)),
        Some((1, 7)),
    ),
    (
        "the end cut off",
        |log| {
            let last = log.files().len() - 1;
            log.change(last, |lines| drop(lines.pop()));
        },
        None,
    ),
    (
        "a file removed",
        |log| fs::remove_file(log.file(1)).expect("a file"),
        Some((1, 1)),
    ),
    (
        "a session removed",
        |log| {
            let first = first_session(log);
            for file in 0..log.files().len() {
                log.change(file, |lines| lines.retain(|line| !line.contains(&first)));
            }
        },
        None,
    ),
];

/// Eight ways but for the one that needs a key, which is a test of the gate's own
/// (`what_is_signed_anew_with_a_newer_key_is_found`). A verifier that knows the documentation alone agrees.
#[test]
fn each_way_to_tamper_is_found_where_it_is() {
    let ground = rotated();
    let (code, shown) = verified(&ground.path("audit.jsonl"), &[]);
    assert_eq!(
        (code, &shown["state"]),
        (Some(0), &"intact".into()),
        "{shown}"
    );
    assert_eq!(shown["sessions"].as_array().map(Vec::len), Some(2));
    let untouched = places(&Copied::of(&ground));
    assert_eq!(untouched[1].0, Some(0), "{untouched:?}");
    for (what, tamper, place) in TAMPERINGS {
        let copied = Copied::of(&ground);
        tamper(&copied);
        let [ours, others] = places(&copied);
        assert_eq!(
            (ours.0, others.0),
            (Some(4), Some(1)),
            "{what}: {ours:?} {others:?}"
        );
        assert_eq!(ours.1, others.1, "{what}");
        if let Some((file, line)) = place {
            let name = copied.file(file);
            let name = name.file_name().unwrap().display().to_string();
            assert_eq!(ours.1, format!("{name}:{line}"), "{what}");
        }
    }
}

fn first_session(log: &Copied) -> String {
    let text = fs::read_to_string(log.file(0)).expect("a file");
    let record: Value =
        serde_json::from_str(text.lines().next().expect("a line")).expect("a record");
    format!("\"chain\":{}", record.get("chain").expect("a chain"))
}

#[test]
fn copies_that_are_kept_elsewhere_anchor_a_log() {
    let ground = rotated();
    let log = ground.path("audit.jsonl");
    let signed: String = ground
        .log_files()
        .into_iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.contains("\"sig\":"))
        .map(|line| line + "\n")
        .collect();
    fs::write(ground.path("copies"), signed).unwrap();
    let copies = ground.path("copies");
    let (code, shown) = verified(&log, &[&copies]);
    assert_eq!(
        (code, &shown["state"]),
        (Some(0), &"anchored".into()),
        "{shown}"
    );
    // Another log, whole as well.
    let other = rotated();
    let (code, shown) = verified(&other.path("audit.jsonl"), &[&copies]);
    assert_eq!(
        (code, &shown["state"]),
        (Some(4), &"truncated".into()),
        "{shown}"
    );
    fs::write(ground.path("copies"), "{}\n").unwrap();
    let mut command = Command::new(binary("execward"));
    command.args(["audit", "verify", "--anchor"]).arg(&copies);
    let (code, text) = said(command, &log);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("line 1 of"), "{text}");
}

/// Each record once, in order, however many files begin meanwhile.
#[test]
fn two_who_follow_a_log_miss_nothing_as_files_begin() {
    let ground = Ground::full("").option("--audit-segment").option("64K");
    let first = ground.sh("/bin/true");
    assert_eq!(first.code(), Some(0));
    let _records = ground.records_at_rest();
    let mut followers: Vec<_> = (0..2)
        .map(|_| follow(&ground.path("audit.jsonl")))
        .collect();
    begun(
        &ground,
        "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done",
    );
    let records = ground.records_at_rest();
    assert!(ground.log_files().len() > 4);
    for (child, lines) in &mut followers {
        for record in &records {
            let line = lines.next_line().expect("a line");
            let seen: Value = serde_json::from_str(&line).expect("a record");
            assert_eq!(seen["hash"], record["hash"]);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // All else reads through the files, too.
    let mut command = Command::new(binary("execward"));
    command.args(["audit", "tail", "--json", "--exe", "/**/true"]);
    let (code, text) = said(command, &ground.path("audit.jsonl"));
    assert_eq!(code, Some(0));
    assert_eq!(text.lines().count(), 2 * 301);
}

fn follow(log: &Path) -> (std::process::Child, Lines) {
    let mut command = Command::new(binary("execward"));
    command
        .args(["audit", "tail", "--follow", "--json"])
        .arg(log);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("a reader");
    let lines = Lines::of(child.stdout.take().expect("its output"));
    (child, lines)
}

#[test]
fn what_is_not_kept_is_removed_and_the_rest_is_whole() {
    let ground = Ground::full("").option("--audit-segment").option("64K");
    let ground = ground.option("--audit-keep").option("128K");
    let ran = ground.sh("i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done");
    assert_eq!(ran.code(), Some(0));
    let records = ground.records_at_rest();
    let evicted = of_type(&records, "audit.evicted").count();
    assert!(evicted > 0 && ground.log_files().len() < 4);
    let (code, shown) = verified(&ground.path("audit.jsonl"), &[]);
    assert_eq!(
        (code, &shown["state"]),
        (Some(0), &"intact".into()),
        "{shown}"
    );
    // What else is gone is not forgiven.
    fs::remove_file(&ground.log_files()[0]).unwrap();
    let (code, shown) = verified(&ground.path("audit.jsonl"), &[]);
    assert_eq!(
        (code, &shown["state"]),
        (Some(4), &"altered".into()),
        "{shown}"
    );
}

/// What is known to be wrong does not hide what comes.
#[test]
fn a_damaged_log_is_sealed_and_goes_on() {
    let ground = rotated();
    let log = ground.path("audit.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(
        &log,
        text.replacen("\"exec.outcome\"", "\"exec.outcomes\"", 1),
    )
    .unwrap();
    assert_eq!(verified(&log, &[]).0, Some(4));
    let mut command = Command::new(binary("execward"));
    command.args(["audit", "seal", "--reason", "tried out"]);
    let (code, text) = said(command, &log);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("with 1 fault: tried out"), "{text}");
    begun(&ground, "/bin/true");
    let _records = ground.records_at_rest();
    let (code, shown) = verified(&log, &[]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(shown["sealed"][0]["detail"], "tried out");
    fs::write(
        &log,
        fs::read_to_string(&log)
            .unwrap()
            .replacen("true", "trua", 1),
    )
    .unwrap();
    assert_eq!(verified(&log, &[]).0, Some(4));
}
