use std::fs::OpenOptions;

use super::*;
use crate::audit::record::Summary;

fn session() -> SessionNote {
    SessionNote {
        id: "s".into(),
        name: "test".into(),
    }
}

fn body(count: u64) -> Body {
    Body::Summary(Summary {
        target_missing: count,
    })
}

/// Of a log that has one file.
const ONE: Limits = Limits {
    segment_bytes: u64::MAX,
    kept_bytes: None,
};

fn opened(path: &Path) -> Result<Log, LogError> {
    Log::open(path, session(), ONE)
}

/// A log that is ready.
fn ready(path: &Path) -> Log {
    let mut log = opened(path).unwrap();
    log.prepare().unwrap();
    log
}

fn blocks(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).unwrap().blocks()
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn records_are_numbered_and_chained() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/er/audit.jsonl");
    let mut log = ready(&path);
    for count in 0..3 {
        log.append(&body(count)).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let mut head = Link::default();
    for (seq, (raw, line)) in text.lines().zip(lines(&path)).enumerate() {
        let (hashed, hash) = raw.rsplit_once(",\"hash\":").unwrap();
        assert_eq!(line["seq"], seq);
        assert_eq!(line["prev"], head.to_string());
        head = head.next(hashed.as_bytes());
        assert_eq!(hash, format!("\"{head}\"}}"));
    }
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_torn_line_of_an_earlier_writer_is_set_apart_and_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    std::fs::write(&path, "{\"v\":\"1.0\"}\n{\"v\":\"1.0\",\"ty").unwrap();
    let mut log = opened(&path).unwrap();
    assert_eq!(log.prepare().unwrap().recovered_bytes, 14);
    log.append(&body(1)).unwrap();
    assert_eq!(lines(&path).len(), 2);
    let torn = std::fs::read_to_string(directory.path().join("audit.jsonl.torn")).unwrap();
    assert_eq!(torn, "{\"v\":\"1.0\",\"ty\n");
    drop(log);
    assert_eq!(ready(&path).prepare().unwrap().recovered_bytes, 0);
}

/// What a power cut can leave: zeros, with or without something behind them.
#[test]
fn what_did_not_reach_the_disk_is_set_apart_with_all_behind_it() {
    const LINE: &str = "{\"v\":\"1.0\",\"type\":\"x\"}\n";
    const START: &str = "{\"v\":\"1.0\",\"type\":\"session.start\",\"seq\":0}\n";
    let zeros = "\0".repeat(600);
    let whole = format!("{START}{LINE}");
    for lost in [
        zeros.clone(),
        format!("{zeros}{LINE}"),
        format!("{{\"v\":\"1.0\",\"ty{zeros}pe\"}}\n{LINE}{LINE}"),
        format!("{{\"v{zeros}"),
        format!("{LINE}{{\"v{zeros}\n").split_off(LINE.len()),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        std::fs::write(&path, format!("{whole}{lost}")).unwrap();
        let mut log = opened(&path).unwrap();
        let recovered = log.prepare().unwrap().recovered_bytes;
        assert_eq!(recovered, lost.len() as u64, "{lost:?}");
        log.append(&body(1)).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("{whole}{{\"v\":")), "{text:?}");
        let torn = std::fs::read_to_string(directory.path().join("audit.jsonl.torn")).unwrap();
        assert_eq!(torn, format!("{lost}\n"));
    }
}

/// A session that begins behind zeros has left them there: what is behind it was synced.
#[test]
fn zeros_before_a_session_that_began_since_take_nothing_with_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let start = "{\"v\":\"1.0\",\"type\":\"session.start\",\"seq\":0}\n";
    let written = format!("{start}\0\0\n{start}");
    std::fs::write(&path, &written).unwrap();
    assert_eq!(ready(&path).prepare().unwrap().recovered_bytes, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
}

/// A file that is no log is not cut, and beside another session nothing is.
#[test]
fn what_may_be_somebody_elses_is_ended_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes");
    let written = |text: &str| {
        std::fs::write(&path, text).unwrap();
        ready(&path).append(&body(1)).unwrap();
        std::fs::read_to_string(&path).unwrap()
    };
    assert!(written("no log at all").starts_with("no log at all\n{\"v\":"));
    assert!(written("notes\n\0\0").starts_with("notes\n\0\0\n{\"v\":"));
    let other = opened(&path).unwrap();
    let text = written("{\"v\":\"1.0\",\"half");
    assert!(text.starts_with("{\"v\":\"1.0\",\"half\n{\"v\":"), "{text}");
    drop(other);
}

#[test]
fn room_is_set_aside_while_a_log_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = ready(&path);
    log.append(&body(1)).unwrap();
    assert!(blocks(&path) * 512 >= 16 << 20);
    let len = std::fs::metadata(&path).unwrap().len();
    assert!(len < 4096);
    drop(log);
    assert!(blocks(&path) * 512 <= 64 << 10);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), len);
}

/// What one gives back is not what another still counts on.
#[test]
fn two_sessions_share_a_log_and_what_is_set_aside() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let (mut one, mut other) = (ready(&path), ready(&path));
    for count in 0..3 {
        one.append(&body(count)).unwrap();
        other.append(&body(count)).unwrap();
    }
    drop(one);
    assert!(blocks(&path) * 512 >= 16 << 20);
    other.append(&body(3)).unwrap();
    drop(other);
    assert!(blocks(&path) * 512 <= 64 << 10);
    let numbers: Vec<_> = lines(&path)
        .iter()
        .map(|line| line["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [0, 0, 1, 1, 2, 2, 3]);
}

/// Where the clock was set, `seq` and `boot_ns` order them still.
#[test]
fn records_are_ordered_by_a_clock_that_nobody_sets() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = ready(&path);
    for count in 0..3 {
        log.append(&body(count)).unwrap();
    }
    let at: Vec<_> = lines(&path)
        .iter()
        .map(|line| line["boot_ns"].as_u64().unwrap())
        .collect();
    assert!(at[0] > 0 && at.is_sorted(), "{at:?}");
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert!(matches!(opened(&fifo), Err(LogError::NotRegular(_))));
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    assert!(matches!(opened(&link), Err(LogError::Open { .. })));
}

#[test]
fn records_that_fail_are_counted_in_a_gap_before_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = ready(&path);
    log.append(&body(1)).unwrap();
    let whole = log.file.file.try_clone().unwrap();
    // A full device refuses every write as a full disk does.
    log.file.file = OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert!(log.append(&body(2)).is_err());
    assert!(log.append(&body(3)).is_err());
    log.file.file = whole;
    log.append(&body(4)).unwrap();
    let lines = lines(&path);
    let seen: Vec<_> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(seen, ["exec.summary", "audit.gap", "exec.summary"]);
    // The second failure was that of the gap itself, and of the record behind it.
    assert_eq!(lines[1]["gap"]["count"], 2);
    assert_eq!(lines[2]["target_missing"], 4);
}

mod rotation;
