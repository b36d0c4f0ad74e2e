//! Whether the session could have had a hand in which file a name leads to.
//!
//! A user's session cannot change what it may not write and does not own. Root's may write
//! everything; a file in a system directory counts for it as it was when the session began.

use std::collections::HashSet;

use execward_policy::SYSTEM_DIRS;
use rustix::time::{ClockId, clock_gettime};

use crate::changeable;
use crate::exec::FileFacts;
use crate::path::directory;
use crate::root::Root;
use crate::tracee::Credentials;

/// How long before the session's start a change must lie to be surely older. The kernel stamps
/// files by a clock that ticks a few times in this.
const MARGIN_NS: i128 = 50_000_000;

/// When a session began, by the clock that stamps files. That clock may be set: what is changed once it
/// went back an hour has a stamp of an hour before.
#[derive(Clone, Copy, Debug)]
struct Began {
    /// The earliest stamp that a change in the session may have.
    stamp_ns: i128,
    boot_ns: i128,
}

/// The clock that stamps files, and one that nobody sets.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    wall_ns: i128,
    boot_ns: i128,
}

/// Knows which files a session could have had a hand in.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The session's rights as it began.
    session: Credentials,
    own: Credentials,
    /// Below which its paths lie.
    root: Root,
    began: Began,
    /// Directories that are not the session's. It cannot make one its own, and it cannot make
    /// such a one either, so they are remembered and are not many.
    directories: HashSet<Vec<u8>>,
}

impl Settled {
    /// For a session that begins now below `root` with the rights of `session`, under a gate with its
    /// `own`.
    pub(crate) fn since_now(session: Credentials, own: Credentials, root: Root) -> Self {
        Self {
            session,
            own,
            root,
            began: Began::at(Clocks::now()),
            directories: HashSet::new(),
        }
    }

    /// Whether neither the file nor what leads to it from a settled place is the session's work.
    pub(crate) fn is_settled(&mut self, facts: &FileFacts) -> bool {
        let Some(resolved) = &facts.resolved else {
            return false;
        };
        let uid = self.session.fsuid;
        if uid == 0 {
            self.began.heed(Clocks::now());
            let mut names = facts.links.iter().chain([resolved]);
            return self.began.is_after(facts.ctime_ns)
                && names.any(|name| SYSTEM_DIRS.contains(&directory(name)))
                && facts.links.iter().all(|link| self.is_old_link(link));
        }
        const OTHERS_MAY_WRITE: u32 = 0o002;
        if facts.uid == uid
            || facts.mode & OTHERS_MAY_WRITE != 0
            || self.may_write(resolved)
            || !self.is_settled_directory(directory(resolved))
        {
            return false;
        }
        // Once a chain of links has come to a settled place it may not leave it: what lies
        // beyond says where it leads.
        let links = facts.links.iter();
        let are_settled = links.map(|link| self.is_settled_directory(directory(link)));
        are_settled.is_sorted()
    }

    fn is_old_link(&self, path: &[u8]) -> bool {
        self.root.lstat(path).is_ok_and(|seen| {
            let whole = i128::from(seen.st_ctime) * 1_000_000_000;
            self.began.is_after(whole + i128::from(seen.st_ctime_nsec))
        })
    }

    fn is_settled_directory(&mut self, path: &[u8]) -> bool {
        if self.directories.contains(path) {
            return true;
        }
        let is_root = path.is_empty() || path == b"/";
        let is_settled = self.is_anothers(if is_root { b"/" } else { path })
            && (is_root || self.is_settled_directory(directory(path)));
        if is_settled {
            self.directories.insert(path.to_vec());
        }
        is_settled
    }

    /// Whether a directory is not the session's, and the session may not write it.
    fn is_anothers(&self, path: &[u8]) -> bool {
        let seen = self.root.stat(path);
        seen.is_ok_and(|seen| seen.st_uid != self.session.fsuid) && !self.may_write(path)
    }

    fn may_write(&self, path: &[u8]) -> bool {
        changeable::may_write(&self.session, &self.own, &self.root, path)
    }
}

impl Began {
    fn at(now: Clocks) -> Self {
        Self {
            stamp_ns: now.wall_ns,
            boot_ns: now.boot_ns,
        }
    }

    /// Set back, the clock shows less than has gone by since the session began.
    fn heed(&mut self, now: Clocks) {
        let gone_by = now.boot_ns - self.boot_ns;
        self.stamp_ns = self.stamp_ns.min(now.wall_ns - gone_by);
    }

    /// Whether a change lies surely before the session.
    fn is_after(&self, changed_ns: i128) -> bool {
        changed_ns < self.stamp_ns - MARGIN_NS
    }
}

impl Clocks {
    fn now() -> Self {
        let [wall_ns, boot_ns] = [ClockId::Realtime, ClockId::Boottime].map(|clock| {
            let now = clock_gettime(clock);
            i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
        });
        Self { wall_ns, boot_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i128 = 1_000_000_000;

    /// What the clocks show `gone_by` seconds later, the wall clock set by `step` of them.
    fn later(gone_by: i128, step: i128) -> Clocks {
        Clocks {
            wall_ns: (10_000 + gone_by + step) * SECOND,
            boot_ns: (500 + gone_by) * SECOND,
        }
    }

    #[test]
    fn what_is_made_when_the_clock_was_set_back_is_not_older_than_the_session() {
        let mut began = Began::at(later(0, 0));
        assert!(began.is_after(9_999 * SECOND) && !began.is_after(10_000 * SECOND));
        let now = later(60, -3600);
        began.heed(now);
        assert!(!began.is_after(now.wall_ns));
        // Set right again, it leaves the stamps that were made meanwhile.
        began.heed(later(120, 0));
        assert!(!began.is_after(now.wall_ns) && began.is_after(6_000 * SECOND));
    }

    #[test]
    fn a_clock_that_is_set_ahead_makes_nothing_older() {
        let mut began = Began::at(later(0, 0));
        began.heed(later(60, 3600));
        assert!(began.is_after(9_999 * SECOND) && !began.is_after(10_000 * SECOND));
    }
}
