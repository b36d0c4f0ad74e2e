//! What a policy trusts: the directories where bare names live, and variables that change nothing.
//!
//! A bare name in an allow is the name of a file in one of these directories. In those that
//! every system has, that is believed only of a file which the session cannot have put
//! there or changed. A directory that the policy's author named is the author's statement,
//! and holds whoever may write it.

use crate::path::file_name;
use crate::pattern::PathPattern;
use crate::request::ProgramFile;
use crate::watch::WatchList;

/// The directories of every system in which a bare name is looked for.
pub const SYSTEM_DIRS: [&[u8]; 6] = [
    b"/usr/bin",
    b"/bin",
    b"/usr/sbin",
    b"/sbin",
    b"/usr/local/bin",
    b"/usr/local/sbin",
];

/// What the rules of a policy rest on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trust {
    /// `trusted_dirs`, of every source that may have it.
    pub(crate) named: Vec<PathPattern>,
    /// The variables that no allow passes over.
    pub(crate) watch: WatchList,
}

impl Trust {
    /// Whether `path`, a name of `file`, may be meant by its last component alone.
    pub(crate) fn vouches_for(&self, path: &[u8], file: &ProgramFile) -> bool {
        let directory = path
            .strip_suffix(file_name(path))
            .and_then(|path| path.strip_suffix(b"/"));
        directory.is_some_and(|directory| {
            (file.is_settled && SYSTEM_DIRS.contains(&directory))
                || self.named.iter().any(|named| named.matches(directory))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::places::Places;

    fn vouches(path: &str, is_settled: bool) -> bool {
        let trust = Trust {
            named: vec![
                PathPattern::parse("~/.nvm/*/bin", &Places::of_tests(), Case::Exact).unwrap(),
            ],
            watch: WatchList::default(),
        };
        let file = ProgramFile {
            is_settled,
            ..ProgramFile::at(path)
        };
        trust.vouches_for(path.as_bytes(), &file)
    }

    #[test]
    fn a_system_directory_vouches_for_what_the_session_cannot_change() {
        assert!(vouches("/usr/bin/git", true));
        assert!(!vouches("/usr/bin/git", false));
        assert!(!vouches("/usr/bin/x/git", true));
        assert!(!vouches("/opt/git", true));
    }

    #[test]
    fn a_named_directory_vouches_for_whatever_is_in_it() {
        assert!(vouches("/home/u/.nvm/v20/bin/node", false));
        assert!(!vouches("/home/u/.nvm/v20/lib/node", false));
    }
}
