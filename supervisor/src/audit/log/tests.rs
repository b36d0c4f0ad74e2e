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
    let mut log = Log::open(&path, session()).unwrap();
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
fn a_torn_line_of_an_earlier_writer_is_ended_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    std::fs::write(&path, "{\"torn\":").unwrap();
    Log::open(&path, session())
        .unwrap()
        .append(&body(1))
        .unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let (torn, whole) = text.split_once('\n').unwrap();
    assert_eq!(torn, "{\"torn\":");
    assert!(serde_json::from_str::<serde_json::Value>(whole).is_ok());
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
    assert!(matches!(
        Log::open(&fifo, session()),
        Err(LogError::NotRegular(_))
    ));
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    assert!(matches!(
        Log::open(&link, session()),
        Err(LogError::Open { .. })
    ));
}

#[test]
fn records_that_fail_are_counted_in_a_gap_before_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("audit.jsonl");
    let mut log = Log::open(&path, session()).unwrap();
    log.append(&body(1)).unwrap();
    let whole = log.file.try_clone().unwrap();
    // A full device refuses every write as a full disk does.
    log.file = OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert!(log.append(&body(2)).is_err());
    assert!(log.append(&body(3)).is_err());
    log.file = whole;
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
