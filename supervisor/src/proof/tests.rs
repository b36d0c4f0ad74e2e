//! Each way to tamper with a log, and where it is found.

mod forgery;
mod logged;
mod seals;

use ed25519_dalek::SigningKey;

use self::forgery::{forged_session, rechain};
use self::logged::{Logged, begun, write};
use super::State;
use super::copies::Copies;
use super::walk::Proof;
use crate::audit::{follows, forged};

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
fn no_number_is_too_high_to_be_told() {
    for key in ["\"seq\":", "\"epoch\":", "\"first\":", "\"count\":"] {
        let logged = Logged::written();
        let with_key = |line: &String| line.contains(key);
        let mut lines = (0..logged.files().len()).flat_map(|file| logged.lines(file));
        let line = lines.find(|line| with_key(line)).expect(key);
        let (before, rest) = line.split_once(key).unwrap();
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let forged = format!("{before}{key}{}{behind}", u64::MAX);
        logged.change(1, |lines| {
            lines
                .splice(2..2, [forged.clone(), forged.clone()])
                .for_each(drop)
        });
        assert!(logged.found(State::Altered).len() > 1, "{key}");
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
    let log = begun(&logged.path, "live");
    assert_eq!(logged.proof().state(), State::Intact);
    drop(log);
    assert_eq!(logged.proof().state(), State::Truncated);
    // What begins behind it goes on, and says behind what.
    write(&logged.path, "three");
    assert_eq!(logged.found(State::Truncated).len(), 1);
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
