//! A look-up component by component, across links and proc.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, Statx, StatxFlags, openat2, readlinkat, statx};
use rustix::io::Errno;

use super::{Located, Lookup, LookupError, Patience, own_path};
use crate::exec::filesystem::{Filesystem, QUIETLY};
use crate::path::join;
use crate::tracee::Tid;

/// Most links that a path may cross: `MAXSYMLINKS` of the kernel.
const LINKS_MAX: usize = 40;

/// The inode number of every proc file system's root: `PROC_ROOT_INO`.
const PROC_ROOT_INO: u64 = 1;

/// A look-up on its way.
pub(super) struct Walk<'a, 'b> {
    lookup: &'a mut Lookup<'b>,
    here: OwnedFd,
    mount: Option<u64>,
    proc: ProcPosition,
    ahead: VecDeque<Vec<u8>>,
    must_be_directory: bool,
    may_end_at_link: bool,
    crossed: usize,
    path: Option<Vec<u8>>,
    links: Vec<Vec<u8>>,
}

/// Where on a proc file system the walk stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProcPosition {
    Elsewhere,
    /// These components below its root.
    Below(Vec<Vec<u8>>),
    /// On proc, entered other than by its root.
    Unplaced,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn new(
        lookup: &'a mut Lookup<'b>,
        here: OwnedFd,
        path: &[u8],
        may_end_at_link: bool,
    ) -> Result<Self, LookupError> {
        let mut walk = Self {
            lookup,
            here,
            mount: None,
            proc: ProcPosition::Elsewhere,
            ahead: VecDeque::new(),
            must_be_directory: false,
            may_end_at_link,
            crossed: 0,
            path: None,
            links: Vec::new(),
        };
        walk.put_ahead(path);
        walk.arrived()?;
        Ok(walk)
    }

    /// Takes one component; false once none is left.
    pub(super) fn step(&mut self) -> Result<bool, LookupError> {
        let Some(component) = self.ahead.pop_front() else {
            return Ok(false);
        };
        if component == b".." {
            self.step_up()?;
            return Ok(true);
        }
        let next = self.open(&component, OFlags::NOFOLLOW)?;
        let seen = self.look(next.as_fd())?;
        if u32::from(seen.stx_mode) & libc::S_IFMT != libc::S_IFLNK {
            self.here = next;
            if let ProcPosition::Below(components) = &mut self.proc {
                components.push(component);
            }
            self.arrived_at(&seen)?;
        } else if self.ahead.is_empty() && !self.may_end_at_link {
            return Err(LookupError::Kernel(Errno::LOOP));
        } else {
            self.follow(&component, next.as_fd())?;
        }
        Ok(true)
    }

    pub(super) fn finish(self) -> Result<Located, LookupError> {
        if self.must_be_directory {
            let seen = statx(&self.here, "", QUIETLY, StatxFlags::TYPE)
                .map_err(|errno| self.lookup.refuse(errno))?;
            if u32::from(seen.stx_mode) & libc::S_IFMT != libc::S_IFDIR {
                return Err(LookupError::Kernel(Errno::NOTDIR));
            }
        }
        Ok(Located {
            file: self.here,
            path: self.path,
            links: self.links,
        })
    }

    fn step_up(&mut self) -> Result<(), LookupError> {
        if self.lookup.view.is_root(self.here.as_fd()) {
            return Ok(());
        }
        self.here = self.open(b"..", OFlags::DIRECTORY)?;
        if let ProcPosition::Below(components) = &mut self.proc
            && components.pop().is_some()
        {
            return Ok(());
        }
        self.mount = None;
        self.arrived()
    }

    /// Goes where the link `component` leads.
    fn follow(&mut self, component: &[u8], link: BorrowedFd<'_>) -> Result<(), LookupError> {
        self.crossed += 1;
        if self.crossed > LINKS_MAX {
            return Err(LookupError::Kernel(Errno::LOOP));
        }
        if self.ahead.is_empty() {
            let here = self
                .lookup
                .proc
                .name_of(self.here.as_fd())
                .map_err(LookupError::Kernel)?;
            self.links.push(join(here, component));
        }
        match &self.proc {
            ProcPosition::Unplaced => Err(LookupError::Unplaced),
            ProcPosition::Below(at) if at.is_empty() && component == b"self" => {
                let (process, _) = self.numbers_here()?;
                self.ahead.push_front(process.into_bytes());
                Ok(())
            }
            ProcPosition::Below(at) if at.is_empty() && component == b"thread-self" => {
                let (process, thread) = self.numbers_here()?;
                for part in [thread, "task".into(), process] {
                    self.ahead.push_front(part.into_bytes());
                }
                Ok(())
            }
            ProcPosition::Below(at) if at.first().is_some_and(|first| is_number(first)) => {
                self.follow_magic(component)
            }
            ProcPosition::Below(_) | ProcPosition::Elsewhere => self.follow_text(link),
        }
    }

    fn follow_text(&mut self, link: BorrowedFd<'_>) -> Result<(), LookupError> {
        let text = readlinkat(link, "", Vec::new()).map_err(|errno| self.lookup.refuse(errno))?;
        let text = text.into_bytes();
        if text.is_empty() {
            return Err(LookupError::Kernel(Errno::NOENT));
        }
        if text.starts_with(b"/") {
            self.here = self
                .lookup
                .view
                .root(self.lookup.session)
                .try_clone_to_owned()
                .map_err(|_| LookupError::Kernel(Errno::MFILE))?;
            self.mount = None;
            self.arrived()?;
        }
        self.put_ahead(&text);
        self.leap(text.starts_with(b"/"))
    }

    /// Takes the rest at once, if no further link is on it: most paths cross one link at most.
    fn leap(&mut self, is_from_root: bool) -> Result<(), LookupError> {
        let is_plain = !self.must_be_directory && self.proc == ProcPosition::Elsewhere;
        let rest = Vec::from(std::mem::take(&mut self.ahead)).join(&b'/');
        match self.lookup.straight(self.here.as_fd(), &rest) {
            Ok(file) if is_plain && !rest.is_empty() => {
                let is_from_root = is_from_root || self.lookup.view.is_root(self.here.as_fd());
                if is_from_root && !self.lookup.view.is_foreign() {
                    self.path = own_path(&join(Vec::from(b"/"), &rest));
                }
                self.here = file;
                Ok(())
            }
            // What stands in the way is found, and told, step by step.
            Ok(_) | Err(_) => {
                self.ahead = rest
                    .split(|byte| *byte == b'/')
                    .map(<[u8]>::to_vec)
                    .collect();
                self.ahead.retain(|component| !component.is_empty());
                Ok(())
            }
        }
    }

    /// A link of a process's own directory leads to the file itself, not to its text. Another
    /// process's may keep the reader waiting while that process is inside an exec.
    fn follow_magic(&mut self, component: &[u8]) -> Result<(), LookupError> {
        let ProcPosition::Below(at) = &self.proc else {
            return Err(LookupError::Unplaced);
        };
        let owner = at.first().map(Vec::as_slice);
        let is_own = self.numbers_here().is_ok_and(|(process, thread)| {
            owner == Some(process.as_bytes()) || owner == Some(thread.as_bytes())
        });
        if !is_own && self.lookup.patience == Patience::Cached {
            return Err(LookupError::WouldWait);
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        self.here = rustix::fs::openat(&self.here, component, flags, Mode::empty())
            .map_err(|errno| self.lookup.refuse(errno))?;
        self.mount = None;
        self.arrived()
    }

    /// The numbers that this instance of proc has for the task's process and thread.
    ///
    /// Instances of outer pid namespaces are tried first: there the whole list of the task's
    /// numbers shows, and no other process has it.
    fn numbers_here(&self) -> Result<(String, String), LookupError> {
        let status = self.lookup.view.status();
        let root = match &self.proc {
            ProcPosition::Below(at) => self.up(at.len())?,
            ProcPosition::Elsewhere | ProcPosition::Unplaced => return Err(LookupError::Unplaced),
        };
        let levels = status.ns_tgids.iter().zip(&status.ns_tids).enumerate();
        for (level, (tgid, tid)) in levels {
            let shown = crate::tracee::status_below(root.as_fd(), Tid::new(*tgid));
            if shown.is_ok_and(|shown| Some(&*shown.ns_tgids) == status.ns_tgids.get(level..)) {
                return Ok((tgid.to_string(), tid.to_string()));
            }
        }
        Err(LookupError::Unplaced)
    }

    fn up(&self, levels: usize) -> Result<OwnedFd, LookupError> {
        let path = if levels == 0 {
            ".".into()
        } else {
            vec![".."; levels].join("/")
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.here, path, flags, Mode::empty()).map_err(LookupError::Kernel)
    }

    fn open(&self, component: &[u8], flags: OFlags) -> Result<OwnedFd, LookupError> {
        let flags = flags | OFlags::PATH | OFlags::CLOEXEC;
        // Proc makes its entries when they are looked up, from memory: nothing is ever cached.
        let resolve = match self.proc {
            ProcPosition::Elsewhere => self.lookup.cached(),
            ProcPosition::Below(_) | ProcPosition::Unplaced => ResolveFlags::empty(),
        };
        openat2(&self.here, component, flags, Mode::empty(), resolve)
            .map_err(|errno| self.lookup.refuse(errno))
    }

    /// Takes note of a mount that the last step crossed.
    fn arrived(&mut self) -> Result<(), LookupError> {
        let seen = self.look(self.here.as_fd())?;
        self.arrived_at(&seen)
    }

    fn look(&self, file: BorrowedFd<'_>) -> Result<Statx, LookupError> {
        let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::MNT_ID;
        statx(file, "", QUIETLY, wanted).map_err(|errno| self.lookup.refuse(errno))
    }

    fn arrived_at(&mut self, seen: &Statx) -> Result<(), LookupError> {
        if self.mount == Some(seen.stx_mnt_id) {
            return Ok(());
        }
        self.mount = Some(seen.stx_mnt_id);
        let kind = self
            .lookup
            .filesystems
            .of(self.here.as_fd(), self.lookup.view.task())
            .map_err(|errno| self.lookup.refuse(errno))?;
        self.proc = match kind {
            Filesystem::Proc if seen.stx_ino == PROC_ROOT_INO => ProcPosition::Below(Vec::new()),
            Filesystem::Proc => ProcPosition::Unplaced,
            Filesystem::Local | Filesystem::Unstable => ProcPosition::Elsewhere,
        };
        Ok(())
    }

    fn put_ahead(&mut self, path: &[u8]) {
        let names_directory = path.ends_with(b"/") || path.ends_with(b"/.") || path == b".";
        if self.ahead.is_empty() && names_directory {
            self.must_be_directory = true;
        }
        let components = path.split(|byte| *byte == b'/');
        for component in components
            .rev()
            .filter(|part| !part.is_empty() && *part != b".")
        {
            self.ahead.push_front(component.to_vec());
        }
    }
}

fn is_number(component: &[u8]) -> bool {
    !component.is_empty() && component.iter().all(u8::is_ascii_digit)
}
