//! A log of several files, and what is signed in it.

use super::*;
use crate::audit::record::SegmentNote;
use crate::audit::{Checkpoint, Files, is_signed};

/// So that each file holds a few records.
const SMALL: Limits = Limits {
    segment_bytes: 1500,
    kept_bytes: None,
};

fn rotating(path: &Path, limits: Limits) -> Log {
    let mut log = Log::open(path, session(), limits).unwrap();
    log.prepare().unwrap();
    log
}

/// The lines of all files of a log, by file.
fn by_file(path: &Path) -> Vec<Vec<String>> {
    let mut files = Files::of(path).unwrap();
    let mut all = Vec::new();
    while let Some((_, file)) = files.next().unwrap() {
        let text = std::io::read_to_string(file).unwrap();
        all.push(text.lines().map(str::to_owned).collect());
    }
    all
}

/// The records of all files, whose chain holds.
fn chained(path: &Path) -> Vec<serde_json::Value> {
    let mut head = Link::default();
    let mut records = Vec::new();
    for (seq, line) in by_file(path).concat().iter().enumerate() {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            (&record["seq"], &record["prev"]),
            (&seq.into(), &head.to_string().into())
        );
        let (hashed, _) = line.rsplit_once(",\"hash\":").unwrap();
        head = head.next(hashed.as_bytes());
        assert_eq!(record["hash"], head.to_string());
        records.push(record);
    }
    records
}

fn types(lines: &[String]) -> Vec<String> {
    let record = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap();
    lines
        .iter()
        .map(|line| record(line)["type"].as_str().unwrap().to_owned())
        .collect()
}

fn segments(path: &Path) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

#[test]
fn the_next_file_goes_on_where_one_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = rotating(&path, SMALL);
    for count in 0..40 {
        log.append(&body(count)).unwrap();
    }
    let files = by_file(&path);
    assert!(files.len() > 5, "{}", files.len());
    let (last, closed) = files.split_last().unwrap();
    for (at, file) in closed.iter().enumerate() {
        let types = types(file);
        assert_eq!(types.last().unwrap(), "audit.close");
        assert_eq!(types.first().unwrap() == "audit.open", at > 0);
    }
    assert_eq!(types(last)[0], "audit.open");
    let records = chained(&path);
    let counts = records
        .iter()
        .filter_map(|record| record["target_missing"].as_u64());
    assert_eq!(counts.collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    let names = segments(&path);
    assert!(
        names[1]
            .to_str()
            .unwrap()
            .starts_with("audit.jsonl.000001-2"),
        "{names:?}"
    );
    assert!(names[1].to_str().unwrap().ends_with("Z-0"), "{names:?}");
    assert_eq!(names.len(), files.len());
}

/// A gate that dies before the names are exchanged has lost nothing, and left nothing to mistake.
#[test]
fn a_file_that_never_had_the_logs_name_is_none_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = rotating(&path, SMALL);
    log.append(&body(0)).unwrap();
    let mut next = log.file.successor().unwrap().unwrap();
    let name = next.name.display().to_string();
    let segment = SegmentNote::opened(next.number, name);
    log.write(&Body::Close {
        segment: SegmentNote::closed(1, "size"),
    })
    .unwrap();
    log.render(&Body::Open { segment }).unwrap();
    next.file.append(&log.line, Claim::Reserve).unwrap();
    std::mem::forget(next);
    drop(log);
    assert_eq!(segments(&path).len(), 2);
    assert_eq!(by_file(&path).len(), 1);
    // The next session goes on in the same file, and begins the second one.
    let mut log = rotating(&path, SMALL);
    for count in 0..4 {
        log.append(&body(count)).unwrap();
    }
    assert_eq!(by_file(&path).len(), 2);
    assert_eq!(segments(&path).len(), 2);
}

#[test]
fn more_than_is_kept_is_removed_and_written_down_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let kept = 4000;
    let mut log = rotating(
        &path,
        Limits {
            kept_bytes: Some(kept),
            ..SMALL
        },
    );
    for count in 0..60 {
        log.append(&body(count)).unwrap();
    }
    let files = by_file(&path);
    let lines = files.concat();
    let evicted: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|record: &serde_json::Value| record["type"] == "audit.evicted")
        .collect();
    let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    let last = &evicted.last().unwrap()["segment"];
    // What is there begins right behind the last that is gone.
    assert_eq!(first["segment"]["previous"], last["name"]);
    assert_eq!(first["prev"], last["last"]["hash"]);
    assert_eq!(
        first["seq"].as_u64(),
        last["last"]["seq"].as_u64().map(|seq| seq + 1)
    );
    let closed = files.split_last().unwrap().1;
    let bytes: usize = closed.concat().iter().map(|line| line.len() + 1).sum();
    assert!(bytes as u64 <= kept, "{bytes}");
}

/// What has a name of the log's files and is none is left alone, and hinders nothing.
#[test]
fn what_is_no_file_of_the_log_is_not_removed_and_not_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let odd = |number: u32| {
        directory
            .path()
            .join(format!("audit.jsonl.{number:06}-20200101T000000Z-0"))
    };
    std::fs::create_dir(odd(1)).unwrap();
    std::fs::write(odd(2), "x".repeat(10_000)).unwrap();
    nix::unistd::mkfifo(&odd(3), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink("nowhere", odd(4)).unwrap();
    let kept_bytes = Some(4000);
    let mut log = rotating(
        &path,
        Limits {
            kept_bytes,
            ..SMALL
        },
    );
    for count in 0..60 {
        log.append(&body(count)).unwrap();
    }
    assert_eq!(log.trouble(), None);
    assert!((1..=4).all(|number| odd(number).symlink_metadata().is_ok()));
    let own = segments(&path).len() - 4;
    assert!((2..4).contains(&own), "{own}");
}

/// A gate may die, or the disk be full, while it writes it.
#[test]
fn what_is_kept_beside_the_log_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let log = rotating(&path, SMALL);
    let beside = directory.path().join("audit.jsonl.kept");
    let content = b"all of it".as_slice();
    for torn in [None, Some("all of"), Some("all of it, and more"), Some("")] {
        if let Some(torn) = torn {
            std::fs::write(&beside, torn).unwrap();
        }
        let name = log.file.keep_beside(".kept", content).unwrap();
        assert_eq!(name, "audit.jsonl.kept");
        assert_eq!(std::fs::read(&beside).unwrap(), content);
    }
    // One that is as it should be stays.
    let inode = || std::os::unix::fs::MetadataExt::ino(&beside.metadata().unwrap());
    let before = inode();
    log.file.keep_beside(".kept", content).unwrap();
    assert_eq!(inode(), before);
    assert_eq!(segments(&path).len(), 2);
}

/// What another session writes would end up in a file that nobody expects to grow.
#[test]
fn a_log_that_others_write_to_goes_on_in_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let (mut one, other) = (rotating(&path, SMALL), ready(&path));
    for count in 0..20 {
        one.append(&body(count)).unwrap();
    }
    assert_eq!(by_file(&path).len(), 1);
    drop((one, other));
    rotating(&path, SMALL).append(&body(20)).unwrap();
    assert_eq!(by_file(&path).len(), 2);
}

/// The one who opened the file while it was closed is none of those that write to it.
#[test]
fn whoever_opens_a_log_that_is_closed_meanwhile_gets_the_next_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = rotating(&path, SMALL);
    log.append(&body(0)).unwrap();
    let next = log.file.successor().unwrap().unwrap();
    // It waits for the lock, which is kept until the names are exchanged.
    let waits = {
        let path = path.clone();
        std::thread::spawn(move || ready(&path).append(&body(7)).unwrap())
    };
    while !waits_for_lock(&path) {
        std::thread::yield_now();
    }
    log.file.give_way(next).unwrap();
    waits.join().unwrap();
    let files = by_file(&path);
    assert_eq!(files.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
}

/// Whether two descriptors of this process have the file open beside the one that is looked with.
fn waits_for_lock(path: &Path) -> bool {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    let leads = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_link(entry.unwrap().path()).is_ok_and(|to| to == path)
    };
    descriptors.map(leads).filter(|leads| *leads).count() >= 2
}

#[test]
fn every_thousand_records_are_signed_and_the_last_one_ends_the_chain() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = ready(&path);
    let mut key = log.prepare().unwrap().key.unwrap();
    for count in 0..2500 {
        log.append(&body(count)).unwrap();
    }
    assert!(log.next_checkpoint().unwrap() > Instant::now());
    log.append(&Body::SessionEnd(crate::audit::SessionEnd {
        ended: Default::default(),
        count: Default::default(),
    }))
    .unwrap();
    assert!(log.next_checkpoint().is_none());
    let lines = by_file(&path).concat();
    let mut first = 0;
    let mut is_ended = false;
    for line in &lines {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(!is_ended);
        let Some(checkpoint) = record.get("checkpoint") else {
            continue;
        };
        let checkpoint: Checkpoint = serde_json::from_value(checkpoint.clone()).unwrap();
        assert_eq!((checkpoint.first, &checkpoint.key), (first, &key));
        assert!(checkpoint.count <= 1001);
        first += checkpoint.count;
        assert_eq!(record["seq"], first - 1);
        let (signed, behind) = line.rsplit_once(",\"sig\":\"").unwrap();
        let signature = behind.split('"').next().unwrap();
        assert!(is_signed(signed.as_bytes(), &key, signature));
        match checkpoint.next {
            Some(next) => key = next,
            None => is_ended = true,
        }
    }
    assert!(is_ended);
    assert_eq!(first, 2503);
}

/// Who moves the file away has it: the session goes on in that, and says so.
#[test]
fn a_log_whose_name_another_file_has_goes_on_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let moved = directory.path().join("moved");
    let mut log = rotating(&path, SMALL);
    log.append(&body(0)).unwrap();
    std::fs::rename(&path, &moved).unwrap();
    std::fs::write(&path, "another's\n").unwrap();
    for count in 1..10 {
        log.append(&body(count)).unwrap();
    }
    let trouble = log.trouble().unwrap();
    assert!(trouble.contains("another file's"), "{trouble}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "another's\n");
    assert_eq!(lines(&moved).len(), 10);
}
