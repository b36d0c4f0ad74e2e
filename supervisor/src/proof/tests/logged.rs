//! A log to tamper with.

use std::path::{Path, PathBuf};

use crate::audit::{Body, Limits, Log, SessionEnd, SessionNote, SessionStart, Summary};
use crate::proof::State;
use crate::proof::copies::Copies;
use crate::proof::walk::Proof;

/// A log of two sessions in several files, each signed more than once.
pub(super) struct Logged {
    _directory: tempfile::TempDir,
    pub(super) path: PathBuf,
}

pub(super) const SESSIONS: [&str; 2] = ["one", "two"];

impl Logged {
    pub(super) fn written() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        for name in SESSIONS {
            write(&path, name);
        }
        Self {
            _directory: directory,
            path,
        }
    }

    /// The files, the oldest first.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path.parent().unwrap()).unwrap();
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| *file != self.path);
        files.sort();
        files.push(self.path.clone());
        files
    }

    pub(super) fn lines(&self, file: usize) -> Vec<String> {
        let text = std::fs::read_to_string(&self.files()[file]).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    pub(super) fn change(&self, file: usize, change: impl FnOnce(&mut Vec<String>)) {
        let mut lines = self.lines(file);
        change(&mut lines);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&self.files()[file], text).unwrap();
    }

    pub(super) fn proof(&self) -> Proof {
        Proof::of(&self.path, &Copies::default()).unwrap()
    }

    /// What is found, each with the file's place among them and the line.
    pub(super) fn found(&self, state: State) -> Vec<(usize, usize, String)> {
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

/// A session that has begun to write to the log at `path`.
pub(super) fn begun(path: &Path, name: &str) -> Log {
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
    let start = SessionStart::for_tests(prepared);
    log.append(&Body::SessionStart(Box::new(start))).unwrap();
    log
}

/// A session from its beginning to its end.
pub(super) fn write(path: &Path, name: &str) {
    let mut log = begun(path, name);
    for target_missing in 0..50 {
        log.append(&Body::Summary(Summary { target_missing }))
            .unwrap();
    }
    let end = SessionEnd {
        ended: Default::default(),
        count: Default::default(),
    };
    log.append(&Body::SessionEnd(end)).unwrap();
}
