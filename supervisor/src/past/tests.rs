use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::SystemTime;

use jiff::Timestamp;

use super::span::Span;
use super::*;

struct Ground {
    directory: tempfile::TempDir,
    past: Past,
}

fn ground() -> Ground {
    let directory = tempfile::tempdir().unwrap();
    let past = Past::open(&directory.path().join("state")).unwrap();
    Ground { directory, past }
}

fn note(name: &str) -> SessionNote {
    let id = uuid::Uuid::now_v7().to_string();
    let name = name.to_owned();
    SessionNote { id, name }
}

impl Ground {
    fn begin(&self, name: &str) -> LiveSession {
        self.past
            .begin(&note(name), &Procfs::open().unwrap())
            .unwrap()
    }

    fn sessions(&self) -> PathBuf {
        self.past.sessions.directory().to_owned()
    }

    fn names(&self) -> Vec<String> {
        let spans = self.past.sessions.settled().unwrap();
        spans.into_iter().map(|span| span.name).collect()
    }

    /// The file `name` with `text`, as it is then.
    fn write(&self, name: &str, text: &str) -> PolicyFile {
        let path = self.directory.path().join(name);
        fs::write(&path, text).unwrap();
        self.look(&path)
    }

    fn look(&self, path: &Path) -> PolicyFile {
        let text = fs::read(path).unwrap();
        let seen = path.metadata().unwrap();
        PolicyFile {
            path: path.to_owned(),
            text,
            changed: stamp(seen.ctime(), seen.ctime_nsec()),
        }
    }

    fn admit(&self, file: &PolicyFile) -> Result<(), String> {
        let admitted = self.past.admit(std::slice::from_ref(file), "the command");
        admitted.map_err(|error| error.to_string())
    }
}

/// Its processes are killed by the front, once the gate is gone.
#[test]
fn a_session_whose_gate_panics_is_alive_until_the_next_looks() {
    let ground = ground();
    assert_eq!(ground.admit(&ground.write("p", "one\n")), Ok(()));
    let session = ground.begin("build");
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _session = session;
        panic!("in the gate");
    }));
    assert!(panicked.is_err());
    let said = ground.admit(&ground.write("p", "two\n")).unwrap_err();
    assert!(said.contains("build"), "{said}");
}

#[test]
fn what_is_changed_while_a_session_is_alive_is_refused_until_it_is_accepted() {
    let ground = ground();
    assert_eq!(ground.admit(&ground.write("p", "one\n")), Ok(()));
    let note = note("build");
    let mut session = ground.past.begin(&note, &Procfs::open().unwrap()).unwrap();
    let changed = ground.write("p", "two\n");
    for _ in ["alive", "ended"] {
        let said = ground.admit(&changed).unwrap_err();
        for part in [&*note.id, "build", "`the command`", "-one\n+two"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        session.end();
    }
    // Undone, it is what was accepted.
    assert_eq!(ground.admit(&ground.write("p", "one\n")), Ok(()));
    let again = ground.write("p", "two\n");
    ground.past.accept(&changed).unwrap();
    assert_eq!(ground.admit(&again), Ok(()));
}

#[test]
fn no_stamp_of_a_change_is_outside_the_span_that_it_was_made_in_nor_one_after_it_inside() {
    const TIMES: usize = 50;
    let ground = ground();
    for time in 0..TIMES {
        let mut session = ground.begin(&time.to_string());
        let inside = ground.write("p", &format!("{time} inside"));
        assert!(ground.admit(&inside).is_err(), "{time}");
        session.end();
        assert!(ground.admit(&inside).is_err(), "{time}");
        let after = ground.write("p", &format!("{time} after"));
        assert_eq!(ground.admit(&after), Ok(()), "{time}");
    }
}

#[test]
fn what_was_never_seen_is_taken_at_its_first_use_unless_a_session_can_have_made_it() {
    let ground = ground();
    let before = ground.write("before", "x");
    clock::pass(before.changed);
    let mut session = ground.begin("one");
    let during = ground.write("during", "x");
    session.end();
    let after = ground.write("after", "x");
    assert_eq!(ground.admit(&before), Ok(()));
    assert!(ground.admit(&during).is_err());
    assert_eq!(ground.admit(&after), Ok(()));
}

#[test]
fn an_older_file_that_is_put_in_the_place_of_an_accepted_one_was_put_there_since() {
    let ground = ground();
    let older = ground.write("older", "two");
    let place = ground.write("p", "one");
    assert_eq!(ground.admit(&place), Ok(()));
    // By a rename of a directory above it, say: it keeps the time of its change.
    let swapped = PolicyFile {
        path: place.path.clone(),
        ..older
    };
    assert_eq!(ground.admit(&swapped), Ok(()));
    assert_eq!(ground.admit(&place), Ok(()));
    ground.begin("one").end();
    assert!(ground.admit(&swapped).unwrap_err().contains("one ("));
}

#[test]
fn a_policy_that_is_gone_is_one_that_was_changed() {
    let ground = ground();
    let file = ground.write("p", "one");
    let gone = PolicyFile {
        text: Vec::new(),
        changed: Timestamp::MIN,
        ..file.clone()
    };
    ground.begin("early").end();
    // One that never was is missing without anyone's doing.
    assert_eq!(ground.admit(&gone), Ok(()));
    assert_eq!(ground.admit(&ground.write("p", "one")), Ok(()));
    ground.begin("late").end();
    assert!(ground.admit(&gone).is_err());
    assert_eq!(ground.admit(&file), Ok(()));
}

#[test]
fn a_session_whose_gate_recorded_no_end_ends_when_the_next_looks() {
    let ground = ground();
    // As a gate that was killed leaves it: nobody holds its lock.
    let killed = Span {
        began: clock::last_tick(),
        ended: None,
        gate: 7,
        filters: 0,
        id: "a".into(),
        name: "killed".into(),
    };
    fs::write(ground.sessions().join(killed.file_name()), "").unwrap();
    let during = ground.write("p", "x");
    assert!(ground.admit(&during).is_err());
    let ended = ground.past.sessions.settled().unwrap();
    assert!(ended.iter().all(|span| span.ended.is_some()), "{ended:?}");
    clock::pass(clock::now());
    assert_eq!(ground.admit(&ground.write("p", "y")), Ok(()));
    assert!(ground.admit(&during).is_err());
}

#[test]
fn what_is_no_record_of_a_session_is_refused_with_its_place() {
    let ground = ground();
    ground.begin("one").end();
    let file = ground.write("p", "x");
    assert_eq!(ground.admit(&file), Ok(()));
    for bad in [
        "garbage",
        "1764384284123456789.live.47",
        "1.2.3.4.5.\u{1b}[2J",
    ] {
        let path = ground.sessions().join(bad);
        fs::write(&path, "").unwrap();
        let said = ground.admit(&file).unwrap_err();
        assert!(said.contains("is no record of a session"), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(ground.admit(&file), Ok(()));
}

#[test]
fn a_state_directory_of_others_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o770)).unwrap();
    let error = Past::open(&state).unwrap_err();
    assert!(matches!(error, PastError::NotOwn { .. }), "{error}");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o750)).unwrap();
    assert!(Past::open(&state).is_ok());
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(
        Past::open(&file)
            .unwrap_err()
            .to_string()
            .contains("--state")
    );
}

#[test]
fn of_very_many_sessions_the_old_ones_become_one_that_covers_them() {
    const COUNT: i128 = 3000;
    let ground = ground();
    let at = |time| Timestamp::from_nanosecond(time).unwrap();
    for time in 0..COUNT {
        let span = Span {
            began: at(time * 10),
            ended: Some(at(time * 10 + 5)),
            gate: 7,
            filters: 0,
            id: "a".into(),
            name: time.to_string(),
        };
        fs::write(ground.sessions().join(span.file_name()), "").unwrap();
    }
    let live = ground.begin("live");
    let spans = ground.past.sessions.settled().unwrap();
    assert_eq!(
        spans.len(),
        512 + 2,
        "with the one of the old ones, and the live one"
    );
    for time in 0..COUNT {
        let time = at(time * 10 + 3);
        assert!(spans.iter().any(|span| span.meets(time, time)), "{time}");
    }
    assert!(ground.names().contains(&"live".to_owned()));
    assert_eq!(
        fs::read_dir(ground.sessions()).unwrap().count(),
        spans.len()
    );
    drop(live);
}

#[test]
fn of_very_many_files_those_that_are_not_used_are_forgotten() {
    let ground = ground();
    let copies = ground.past.accepted.directory();
    for count in 0..1100 {
        let copy = fs::File::create(copies.join(count.to_string())).unwrap();
        copy.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let kept = ground.write("kept", "x");
    ground.past.accept(&kept).unwrap();
    assert!(fs::read_dir(copies).unwrap().count() <= 1024);
    assert!(ground.past.difference(&kept).unwrap().is_none());
}

#[test]
fn whoever_descends_from_a_live_gate_or_has_more_filters_is_inside() {
    let ground = ground();
    let judged = || ground.past.judge_outside();
    assert!(judged().is_ok());
    // This process is the gate, so it is inside of what it gates.
    let session = ground.begin("one");
    let error = judged().unwrap_err();
    assert!(matches!(error, PastError::Inside { .. }), "{error}");
    drop(session);
    assert!(judged().is_ok());
}
