//! Each way to tamper with a log, and where it is found.

use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;

use super::copies::Copies;
use super::seal::sealed;
use super::walk::Proof;
use super::{ProofError, State};
use crate::audit::{Body, Limits, Log, SessionEnd, SessionNote, Summary, follows, forged};

/// A log of two sessions in several files, each signed more than once.
struct Logged {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

const SESSIONS: [&str; 2] = ["one", "two"];

impl Logged {
    fn written() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        for name in SESSIONS {
            write(&path, name, true);
        }
        Self {
            _directory: directory,
            path,
        }
    }

    /// The files, the oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path.parent().unwrap()).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| *file != self.path);
        files.sort();
        files.push(self.path.clone());
        files
    }

    fn lines(&self, file: usize) -> Vec<String> {
        let text = std::fs::read_to_string(&self.files()[file]).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn change(&self, file: usize, change: impl FnOnce(&mut Vec<String>)) {
        let mut lines = self.lines(file);
        change(&mut lines);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.files()[file], text).unwrap();
    }

    fn proof(&self) -> Proof {
        Proof::of(&self.path, &Copies::default()).unwrap()
    }

    /// What is found, each with the file's place among them and the line.
    fn found(&self, state: State) -> Vec<(usize, usize, String)> {
        let proof = self.proof();
        assert_eq!(proof.state(), state, "{:?}", proof.found);
        let files = self.files();
        let place_of = |name: &str| files.iter().position(|file| file.ends_with(name)).unwrap();
        let found = proof.found.iter().map(|found| {
            let place = found.place.as_ref().unwrap();
            let file = place.file.as_deref().map_or(files.len() - 1, place_of);
            (file, place.line, found.fault.to_string())
        });
        found.collect()
    }
}

fn write(path: &Path, name: &str, ends: bool) {
    let note = SessionNote {
        id: format!("id-of-{name}"),
        name: name.to_owned(),
    };
    let limits = Limits {
        segment_bytes: 9000,
        kept_bytes: None,
    };
    let mut log = Log::open(path, note, limits).unwrap();
    let prepared = log.prepare().unwrap();
    log.append(&Body::SessionStart(Box::new(
        crate::audit::SessionStart::for_tests(prepared),
    )))
    .unwrap();
    for target_missing in 0..50 {
        log.append(&Body::Summary(Summary { target_missing }))
            .unwrap();
    }
    if ends {
        log.append(&Body::SessionEnd(SessionEnd {
            ended: Default::default(),
            count: Default::default(),
        }))
        .unwrap();
    }
}

fn hash_of(line: &str) -> &str {
    line.rsplit('"').nth(1).unwrap()
}

/// Gives every line from `from` on the digests that it would have had, as one who may write the log can.
fn rechain(lines: &mut [String], from: usize) {
    for at in from..lines.len() {
        let prev = hash_of(&lines[at - 1]).to_owned();
        let (body, _) = lines[at].rsplit_once(",\"hash\":").unwrap();
        let (before, behind) = body.rsplit_once("\"prev\":\"").unwrap();
        let body = format!("{before}\"prev\":\"{prev}{}", &behind[64..]);
        let hash = follows(&prev, body.as_bytes()).unwrap();
        lines[at] = format!("{body},\"hash\":\"{hash}\"}}");
    }
}

#[test]
fn a_log_that_nobody_touched_is_intact() {
    let logged = Logged::written();
    let proof = logged.proof();
    assert_eq!(proof.state(), State::Intact, "{:?}", proof.found);
    assert!(proof.found.is_empty() && proof.files > 4);
    assert_eq!(proof.chains.len(), 2);
    for (_, chain) in &proof.chains {
        assert!(chain.is_over && chain.signed() == Some(chain.last));
    }
}

#[test]
fn a_flipped_bit_is_found_in_its_line() {
    let logged = Logged::written();
    logged.change(1, |lines| {
        lines[4] = lines[4].replacen("\"target_missing\":", "\"target_missinG\":", 1);
    });
    let found = logged.found(State::Altered);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1), (1, 5));
    assert!(found[0].2.contains("was changed"));
}

#[test]
fn a_dropped_record_is_missing_before_the_next() {
    let logged = Logged::written();
    logged.change(1, |lines| drop(lines.remove(4)));
    let found = logged.found(State::Altered);
    assert_eq!((found[0].0, found[0].1), (1, 5));
    assert!(found[0].2.contains("is missing before it"), "{found:?}");
}

#[test]
fn an_inserted_record_and_a_repeated_one_are_found_behind_it() {
    for is_forged in [false, true] {
        let logged = Logged::written();
        logged.change(1, |lines| {
            let copy = lines[4].replace("\"target_missing\":", "\"target_missing\":1");
            lines.insert(5, if is_forged { copy } else { lines[4].clone() });
            if is_forged {
                rechain(lines, 5);
                lines.truncate(6);
            }
        });
        let found = logged.found(State::Altered);
        assert_eq!((found[0].0, found[0].1), (1, 6), "{found:?}");
        assert!(found[0].2.contains("moved, or added"), "{found:?}");
    }
}

#[test]
fn reordered_records_are_found_where_the_first_is() {
    let logged = Logged::written();
    logged.change(1, |lines| lines.swap(4, 5));
    let found = logged.found(State::Altered);
    assert_eq!((found[0].0, found[0].1), (1, 5), "{found:?}");
}

#[test]
fn a_cut_end_is_said_with_the_record_behind_which() {
    let logged = Logged::written();
    let last = logged.files().len() - 1;
    logged.change(last, |lines| drop(lines.pop()));
    let found = logged.found(State::Truncated);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1), (last, logged.lines(last).len()));
    assert!(found[0].2.contains("it is cut after record"), "{found:?}");
}

#[test]
fn a_dropped_file_is_named_by_the_next() {
    let logged = Logged::written();
    let name = logged.files()[2]
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    std::fs::remove_file(&logged.files()[2]).unwrap();
    let found = logged.found(State::Altered);
    assert_eq!((found[0].0, found[0].1), (2, 1), "{found:?}");
    assert!(found[0].2.contains(&name), "{found:?}");
    let logged = Logged::written();
    std::fs::remove_file(&logged.files()[0]).unwrap();
    assert_eq!(logged.found(State::Altered)[0].1, 1);
}

/// All lines of the first session, in all files.
#[test]
fn a_dropped_session_is_missed_by_the_one_that_began_behind_it() {
    let logged = Logged::written();
    for file in 0..logged.files().len() {
        logged.change(file, |lines| {
            lines.retain(|line| line.contains("id-of-two\",\"name\""))
        });
    }
    let found = logged.found(State::Altered);
    let is_it = |(_, _, what): &(usize, usize, String)| {
        what.contains("session id-of-one, which is not there")
    };
    assert!(found.iter().any(is_it), "{found:?}");
}

/// Who has the gate's key of now has none for what was written before.
#[test]
fn what_is_signed_anew_with_a_newer_key_is_found() {
    for tells_epoch in [true, false] {
        let logged = Logged::written();
        let newer = SigningKey::from_bytes(&[7; 32]);
        logged.change(0, |lines| {
            lines[4] = lines[4].replacen("\"target_missing\":", "\"target_missing\":1", 1);
            rechain(lines, 4);
            let last = lines.len() - 1;
            let key: String = newer
                .verifying_key()
                .as_bytes()
                .iter()
                .map(|b| format!("{b:02x}"))
                .collect();
            let (body, _) = lines[last].rsplit_once(",\"sig\":").unwrap();
            let (before, behind) = body.split_once("\"key\":\"").unwrap();
            let body = format!("{before}\"key\":\"{key}{}", &behind[64..]);
            let body = if tells_epoch {
                body.replace("\"epoch\":0", "\"epoch\":5")
            } else {
                body
            };
            let signature = forged(&newer, body.as_bytes());
            lines[last] = format!("{body},\"sig\":\"{signature}\",\"hash\":\"\"}}");
            rechain(lines, last);
        });
        let found = logged.found(State::Altered);
        assert_eq!(
            (found[0].0, found[0].1),
            (0, logged.lines(0).len()),
            "{found:?}"
        );
        let what = if tells_epoch {
            "key of epoch 5, which came later"
        } else {
            "not signed by the key"
        };
        assert!(found[0].2.contains(what), "{found:?}");
    }
}

/// Who makes the whole log anew is found out by a copy of one record.
#[test]
fn a_copy_elsewhere_tells_a_log_from_another() {
    let logged = Logged::written();
    let kept = logged.path.with_file_name("copies");
    let copies = |lines: &[String]| {
        std::fs::write(&kept, lines.join("\n")).unwrap();
        Copies::read([kept.as_path()]).unwrap()
    };
    let last = logged.files().len() - 1;
    let end = logged.lines(last).pop().unwrap();
    let close = logged.lines(0).pop().unwrap();
    let both = copies(&[close.clone(), end.clone()]);
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(
        Proof::of(&logged.path, &both).unwrap().state(),
        State::Anchored
    );
    // Of one session alone there is none.
    let one = copies(std::slice::from_ref(&end));
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(
        Proof::of(&logged.path, &one).unwrap().state(),
        State::Intact
    );
    // The same, made anew.
    let other = Logged::written();
    let proof = Proof::of(&other.path, &both).unwrap();
    assert_eq!(proof.state(), State::Altered);
    assert!(
        proof.found[0]
            .fault
            .to_string()
            .contains("another than its copy")
    );
    // And one that is cut behind a checkpoint, with an end of its own.
    logged.change(last, |lines| lines.truncate(1));
    let proof = Proof::of(&logged.path, &both).unwrap();
    assert_eq!(proof.state(), State::Truncated);
    let found: Vec<_> = proof
        .found
        .iter()
        .map(|found| found.fault.to_string())
        .collect();
    assert!(
        found
            .iter()
            .any(|what| what.contains("there is a copy of record")),
        "{found:?}"
    );
    std::fs::write(&kept, end.replace("count", "Count")).unwrap();
    assert!(Copies::read([kept.as_path()]).is_err());
}

/// One of one record is quickly made.
#[test]
fn a_session_without_its_beginning_is_none() {
    let logged = Logged::written();
    let last = logged.files().len() - 1;
    logged.change(last, |lines| {
        let zeros = "0".repeat(64);
        let mut line = lines[0].replace("id-of-two", "id-of-six");
        line = line.replacen("\"seq\":", "\"seq\":0,\"was\":", 1);
        let (body, _) = line.rsplit_once(",\"hash\":").unwrap();
        let (before, behind) = body.rsplit_once("\"prev\":\"").unwrap();
        let body = format!("{before}\"prev\":\"{zeros}{}", &behind[64..]);
        let hash = follows(&zeros, body.as_bytes()).unwrap();
        lines.push(format!("{body},\"hash\":\"{hash}\"}}"));
    });
    let found = logged.found(State::Altered);
    let is_it = |(_, _, what): &(usize, usize, String)| what.contains("does not begin");
    assert!(found.iter().any(is_it), "{found:?}");
}

#[test]
fn a_session_that_goes_on_is_not_cut() {
    let logged = Logged::written();
    let note = SessionNote {
        id: "live".to_owned(),
        name: "live".to_owned(),
    };
    let limits = Limits {
        segment_bytes: 9000,
        kept_bytes: None,
    };
    let mut log = Log::open(&logged.path, note, limits).unwrap();
    let prepared = log.prepare().unwrap();
    log.append(&Body::SessionStart(Box::new(
        crate::audit::SessionStart::for_tests(prepared),
    )))
    .unwrap();
    assert_eq!(logged.proof().state(), State::Intact);
    drop(log);
    assert_eq!(logged.proof().state(), State::Truncated);
    // What begins behind it goes on, and says behind what.
    write(&logged.path, "three", true);
    assert_eq!(logged.found(State::Truncated).len(), 1);
}

#[test]
fn what_is_sealed_is_known_as_long_as_it_stays_as_it_was() {
    let logged = Logged::written();
    logged.change(1, |lines| drop(lines.remove(4)));
    let last = logged.files().len() - 1;
    logged.change(last, |lines| drop(lines.pop()));
    assert_eq!(logged.proof().state(), State::Altered);
    let proof = sealed(&logged.path, "the disk").unwrap();
    assert_eq!(proof.state(), State::Intact, "{:?}", proof.found);
    assert_eq!((proof.seals.len(), proof.seals[0].faults), (1, 2));
    assert_eq!(logged.files().len(), last + 2);
    // Of a whole log nothing is to be sealed.
    sealed(&logged.path, "again").unwrap();
    assert_eq!(logged.files().len(), last + 2);
    // The log goes on, in further files, and what comes is held to all.
    write(&logged.path, "three", true);
    assert_eq!(
        logged.proof().state(),
        State::Intact,
        "{:?}",
        logged.proof().found
    );
    assert!(logged.files().len() > last + 3);
    logged.change(1, |lines| drop(lines.remove(4)));
    let found = logged.found(State::Altered);
    assert!(
        found
            .iter()
            .any(|(_, _, what)| what.contains("when it was sealed")),
        "{found:?}"
    );
}

#[test]
fn a_log_that_a_session_writes_to_is_not_sealed() {
    let logged = Logged::written();
    logged.change(1, |lines| drop(lines.remove(4)));
    let note = SessionNote {
        id: "live".to_owned(),
        name: "live".to_owned(),
    };
    let limits = Limits {
        segment_bytes: u64::MAX,
        kept_bytes: None,
    };
    let log = Log::open(&logged.path, note, limits).unwrap();
    let files = logged.files().len();
    assert!(matches!(sealed(&logged.path, "no"), Err(ProofError::Busy)));
    drop(log);
    assert_eq!(logged.files().len(), files);
}

/// Lines of a session that never was, each of a type and with more.
fn forged_session(records: &[(&str, &str)]) -> Vec<String> {
    let mut prev = "0".repeat(64);
    let lines = records.iter().enumerate().map(|(seq, (kind, more))| {
        let body = format!(
            r#"{{"v":"1.0","type":"{kind}"{more},"seq":{seq},"ts":"2026-11-30T00:00:00Z","session":{{"id":"f","name":"f"}},"chain":"f","prev":"{prev}""#
        );
        prev = follows(&prev, body.as_bytes()).unwrap();
        format!("{body},\"hash\":\"{prev}\"}}")
    });
    lines.collect()
}

/// Whoever may add a session has removed no file by saying so, unless it is the oldest, and they sign.
#[test]
fn a_file_that_only_a_forged_record_says_is_removed_is_missing() {
    for gone in [0, 2] {
        let logged = Logged::written();
        let files = logged.files();
        let name = files[gone]
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let last: serde_json::Value =
            serde_json::from_str(logged.lines(gone).last().unwrap()).unwrap();
        std::fs::remove_file(&files[gone]).unwrap();
        let evicted = format!(
            r#","segment":{{"number":1,"name":"{name}","last":{{"chain":{},"seq":{},"hash":{}}}}}"#,
            last["chain"], last["seq"], last["hash"]
        );
        let forged = forged_session(&[
            ("session.start", ""),
            ("audit.evicted", &evicted),
            ("session.end", ""),
        ]);
        let active = logged.files().len() - 1;
        logged.change(active, |lines| lines.extend(forged));
        let found = logged.found(State::Altered);
        let is_it = |(_, _, what): &(usize, usize, String)| what.contains(&name);
        assert!(found.iter().any(is_it), "{found:?}");
        let unsigned = |(_, _, what): &(usize, usize, String)| what.contains("are not signed");
        assert!(found.iter().any(unsigned), "{found:?}");
    }
}

/// Nothing stands behind a line's digest, and a file begins where it says so.
#[test]
fn what_is_between_the_lines_and_the_files_is_held_to_the_letter() {
    for end in ["\r", " ", "\t"] {
        let logged = Logged::written();
        logged.change(1, |lines| lines[4] += end);
        let found = logged.found(State::Altered);
        assert_eq!((found[0].0, found[0].1), (1, 5), "{found:?}");
    }
    let logged = Logged::written();
    let moved = logged.lines(2);
    logged.change(1, |lines| lines.extend(moved));
    std::fs::remove_file(&logged.files()[2]).unwrap();
    let found = logged.found(State::Altered);
    let is_it = |(_, _, what): &(usize, usize, String)| what.contains("stands in the middle");
    assert!(found.iter().any(is_it), "{found:?}");
}
