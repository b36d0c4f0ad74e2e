//! The policies: one file a wording, which is its first line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::case::directory;

/// Each policy's text by its wording, and the files that they include.
#[derive(Debug)]
pub(crate) struct CasePolicies {
    by_wording: BTreeMap<String, String>,
    included: BTreeMap<String, String>,
}

impl CasePolicies {
    pub(crate) fn all() -> Self {
        let files = files_of(&directory().join("policies"));
        let count = files.len();
        let by_wording: BTreeMap<_, _> = files.into_values().map(with_wording).collect();
        assert_eq!(by_wording.len(), count, "two files have the same wording");
        let included = files_of(&directory().join("policies/include"));
        Self {
            by_wording,
            included,
        }
    }

    /// The wordings, sorted.
    pub(crate) fn wordings(&self) -> Vec<&str> {
        self.by_wording.keys().map(String::as_str).collect()
    }

    /// The policy of this wording.
    pub(crate) fn of(&self, wording: &str) -> &str {
        let policy = self.by_wording.get(wording);
        policy.expect("a policy of this wording")
    }

    /// Writes the files that policies include into `directory`.
    pub(crate) fn write_included(&self, directory: &Path) {
        fs::create_dir(directory).expect("a directory");
        for (name, text) in &self.included {
            fs::write(directory.join(name), text).expect("a policy");
        }
    }
}

fn with_wording(text: String) -> (String, String) {
    let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
    (first.expect("a wording").to_owned(), text)
}

/// The policy files of a directory, by name.
fn files_of(directory: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(directory).expect("the policies");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let policies = files.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let text = fs::read_to_string(&path).expect("a policy");
        (name.expect("a name").to_owned(), text)
    };
    policies.map(read).collect()
}
