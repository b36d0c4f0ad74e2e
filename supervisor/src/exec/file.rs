//! One file of an exec: who it is, where it lies, what it is to execve(2).

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use execward_policy::{Digest, Origin};
use rustix::fs::{OFlags, Statx, StatxFlags, fgetxattr, statx};
use rustix::io::{Errno, ReadWriteFlags};

use super::filesystem::{Filesystem, QUIETLY, UNIQUE_MOUNT};
use super::header::{HEADER_BYTES, Header};
use super::lookup::{Located, Lookup, LookupError, Patience};
use crate::tracee::{Credentials, as_task};

/// How much of a file is read to tell what it is. The kernel needs [`HEADER_BYTES`]; a person who is asked
/// about a script sees how it begins.
const HEAD_BYTES: usize = 1024;

/// A file, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    /// Device, major and minor.
    pub(crate) device: (u32, u32),
    /// Inode.
    pub(crate) inode: u64,
}

/// What a file is to execve(2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An ELF image.
    Elf,
    /// A `#!` file: the interpreter's path and argument, as written.
    Script {
        interpreter: Vec<u8>,
        argument: Option<Vec<u8>>,
    },
    /// A regular file of no known format: `binfmt_misc`'s, or `ENOEXEC`.
    Other,
    /// Not a regular file: the kernel answers `EACCES`.
    NotRegular,
    /// A regular file whose first bytes neither the gate nor the task may read.
    Unreadable,
}

/// All that is known of a file but the descriptor that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileFacts {
    pub(crate) id: FileId,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Capabilities that it permits whoever executes it: capabilities(7), "File capabilities".
    pub(crate) capabilities: u64,
    pub(crate) size: u64,
    /// Change time, nanoseconds since the epoch.
    pub(crate) ctime_ns: i128,
    /// Modification time, likewise.
    pub(crate) mtime_ns: i128,
    /// The path as passed, made absolute, unresolved.
    pub(crate) given: Vec<u8>,
    /// The path of each link on the way.
    pub(crate) links: Vec<Vec<u8>>,
    /// The kernel's name of the file; none for one without a name.
    pub(crate) resolved: Option<Vec<u8>>,
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    /// How a script begins that the task may read, as seen: at most [`HEAD_BYTES`].
    pub(crate) head: Option<Vec<u8>>,
    /// What the content was when somebody read it whole.
    pub(crate) sha256: Option<Digest>,
}

/// A file that is held, so that its inode number stays its own.
#[derive(Debug)]
pub(crate) struct HeldFile {
    pub(super) fd: OwnedFd,
    pub(super) facts: FileFacts,
}

impl FileFacts {
    /// Whether execve(2) would load it for anybody: a regular file with an execute bit. Else it
    /// answers `EACCES`, to root too.
    pub(crate) fn may_execute(&self) -> bool {
        const EXECUTE: u32 = 0o111;
        self.kind != Kind::NotRegular && self.mode & EXECUTE != 0
    }

    /// Whether the kernel starts it by way of another.
    pub(crate) fn is_script(&self) -> bool {
        matches!(self.kind, Kind::Script { .. })
    }

    /// Whether execve(2) is to give `task` rights that it lacks, whatever keeps the session from
    /// gaining any: set-user-ID, set-group-ID, capabilities of the file. Those of a script count for
    /// nothing, its interpreter's do.
    pub(crate) fn adds_rights(&self, task: &Credentials) -> bool {
        // Of linux/capability.h.
        const CAP_SETGID: u64 = 1 << 6;
        const CAP_SETUID: u64 = 1 << 7;
        let gains_user =
            self.sets_user() && self.uid != task.uids[1] && task.effective & CAP_SETUID == 0;
        let gains_group =
            self.sets_group() && self.gid != task.gids[1] && task.effective & CAP_SETGID == 0;
        let gains_capabilities = self.capabilities & !task.effective != 0;
        self.brings_rights() && (gains_user || gains_group || gains_capabilities)
    }

    /// Whether it has rights of its own, whoever calls it. Of a script nobody minds them.
    pub(crate) fn brings_rights(&self) -> bool {
        let has_rights = self.sets_user() || self.sets_group() || self.capabilities != 0;
        has_rights && !matches!(self.kind, Kind::Script { .. })
    }

    fn sets_user(&self) -> bool {
        self.mode & libc::S_ISUID != 0
    }

    fn sets_group(&self) -> bool {
        // Without the group's execute bit, it means a lock: inode(7).
        const SET_GROUP: u32 = libc::S_ISGID | libc::S_IXGRP;
        self.mode & SET_GROUP == SET_GROUP
    }
}

impl HeldFile {
    pub(crate) fn facts(&self) -> &FileFacts {
        &self.facts
    }

    /// Whether size and change time are still what they were.
    pub(crate) fn is_unchanged(&self) -> bool {
        statx(&self.fd, "", QUIETLY, StatxFlags::BASIC_STATS).is_ok_and(|seen| {
            seen.stx_size == self.facts.size && nanoseconds(&seen.stx_ctime) == self.facts.ctime_ns
        })
    }
}

/// Files that were ELF images when their header was last read, by identity, size and change time,
/// each with the capabilities that it brings.
///
/// These do not bind content: a writer with a mapping changes it unseen. Nothing rests on it either:
/// what the kernel makes of the file shows at the exec-stop, and is judged if it is not this.
#[derive(Debug, Default)]
pub(crate) struct KnownElves {
    known: HashMap<(FileId, u64, i128), u64>,
}

/// Most files remembered; after that the memory starts afresh.
const ELVES_MAX: usize = 4096;

impl KnownElves {
    fn capabilities(&self, seen: &Statx) -> Option<u64> {
        self.known.get(&Self::key(seen)).copied()
    }

    fn add(&mut self, seen: &Statx, capabilities: u64) {
        if self.known.len() >= ELVES_MAX {
            self.known.clear();
        }
        self.known.insert(Self::key(seen), capabilities);
    }

    fn key(seen: &Statx) -> (FileId, u64, i128) {
        (
            FileId::of(seen),
            seen.stx_size,
            nanoseconds(&seen.stx_ctime),
        )
    }
}

/// Looks at a file that a look-up found.
pub(super) fn examine(
    lookup: &mut Lookup<'_>,
    located: Located,
    given: Vec<u8>,
    own: &Credentials,
) -> Result<HeldFile, LookupError> {
    let fd = located.file;
    let wanted = StatxFlags::BASIC_STATS | UNIQUE_MOUNT;
    let seen = statx(&fd, "", QUIETLY, wanted).map_err(LookupError::Kernel)?;
    let filesystem = lookup
        .filesystems
        .of_seen(fd.as_fd(), &seen, lookup.view.task())
        .map_err(LookupError::Kernel)?;
    let origin = origin(lookup, &seen, filesystem, &given);
    let resolved = match (origin, located.path) {
        (Origin::Anonymous, _) => None,
        (_, Some(path)) => Some(path),
        (_, None) => Some(
            lookup
                .proc
                .name_of(fd.as_fd())
                .map_err(LookupError::Kernel)?,
        ),
    };
    let is_regular = u32::from(seen.stx_mode) & libc::S_IFMT == libc::S_IFREG;
    let known = lookup.elves.capabilities(&seen).filter(|_| is_regular);
    let Head {
        kind,
        capabilities,
        shown,
    } = match known {
        Some(capabilities) => Head {
            capabilities,
            ..Head::of(Kind::Elf)
        },
        None if is_regular => head(lookup, fd.as_fd(), filesystem, own)?,
        None => Head::of(Kind::NotRegular),
    };
    if kind == Kind::Elf && filesystem == Filesystem::Local {
        lookup.elves.add(&seen, capabilities);
    }
    let facts = FileFacts {
        id: FileId::of(&seen),
        mode: u32::from(seen.stx_mode),
        uid: seen.stx_uid,
        gid: seen.stx_gid,
        capabilities,
        size: seen.stx_size,
        ctime_ns: nanoseconds(&seen.stx_ctime),
        mtime_ns: nanoseconds(&seen.stx_mtime),
        given,
        links: located.links,
        resolved,
        origin,
        kind,
        head: shown,
        sha256: None,
    };
    Ok(HeldFile { fd, facts })
}

/// Whether the file's path proves anything. In another root or mount namespace it does only if
/// the same path of the session's own root leads to the same file.
fn origin(lookup: &Lookup<'_>, seen: &Statx, filesystem: Filesystem, given: &[u8]) -> Origin {
    if seen.stx_nlink == 0 {
        return Origin::Anonymous;
    }
    if filesystem == Filesystem::Unstable {
        return Origin::Unstable;
    }
    if lookup.view.is_foreign() && lookup.session.file_at(given) != Some(FileId::of(seen)) {
        return Origin::Foreign;
    }
    Origin::Session
}

/// What the first bytes of a file say.
struct Head {
    kind: Kind,
    /// Those that it brings.
    capabilities: u64,
    /// The bytes themselves, of a script that the task may read.
    shown: Option<Vec<u8>>,
}

impl Head {
    fn of(kind: Kind) -> Self {
        Self {
            kind,
            capabilities: 0,
            shown: None,
        }
    }
}

/// What a regular file is, by its first bytes.
fn head(
    lookup: &Lookup<'_>,
    fd: BorrowedFd<'_>,
    filesystem: Filesystem,
    own: &Credentials,
) -> Result<Head, LookupError> {
    let is_patient = lookup.patience == Patience::Waiting;
    if filesystem == Filesystem::Unstable && !is_patient {
        return Err(LookupError::WouldWait);
    }
    // A regular file by now, so nothing acts on open. O_NONBLOCK: a lease answers EAGAIN at once
    // instead of waiting up to 45 s for its holder.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let credentials = &lookup.view.status().credentials;
    let as_the_task =
        as_task(credentials, own, || lookup.proc.reopen(fd, flags)).map_err(LookupError::Kernel)?;
    // For the format alone: what the task may not read is neither shown nor hashed.
    let is_readable = as_the_task.is_ok();
    let file = match as_the_task.or_else(|_| lookup.proc.reopen(fd, flags)) {
        Ok(file) => file,
        Err(Errno::AGAIN) => return Err(LookupError::Leased),
        // Nobody runs what the gate cannot read.
        Err(_) => return Ok(Head::of(Kind::Unreadable)),
    };
    let mut buffer = [0; HEAD_BYTES];
    let len = match read_head(file.as_fd(), &mut buffer, is_patient) {
        Ok(len) => len,
        Err(Errno::AGAIN) => return Err(LookupError::WouldWait),
        Err(_) => return Ok(Head::of(Kind::Unreadable)),
    };
    let bytes = buffer.get(..len).unwrap_or_default();
    let kind = match Header::parse(bytes.get(..HEADER_BYTES).unwrap_or(bytes)) {
        Header::Elf => Kind::Elf,
        Header::Script {
            interpreter,
            argument,
        } => Kind::Script {
            interpreter,
            argument,
        },
        Header::Other => Kind::Other,
    };
    let is_script = matches!(kind, Kind::Script { .. });
    Ok(Head {
        kind,
        capabilities: capabilities(file.as_fd()),
        shown: (is_script && is_readable).then(|| bytes.to_vec()),
    })
}

/// The capabilities that a file permits; all of them where that cannot be told.
fn capabilities(file: BorrowedFd<'_>) -> u64 {
    /// `vfs_ns_cap_data` of linux/capability.h: a version, then two words of permitted and
    /// inheritable capabilities each, and a user; the first version has one of the two.
    const BYTES: usize = 24;
    let mut data = [0; BYTES];
    match fgetxattr(file, "security.capability", &mut data) {
        Ok(_) => {
            let word = |at: usize| {
                let bytes = data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
                u64::from(u32::from_le_bytes(bytes.unwrap_or([0xff; 4])))
            };
            word(4) | word(12) << 32
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP) => 0,
        Err(_) => u64::MAX,
    }
}

fn read_head(
    file: BorrowedFd<'_>,
    buffer: &mut [u8; HEAD_BYTES],
    is_patient: bool,
) -> Result<usize, Errno> {
    if !is_patient {
        let mut pieces = [std::io::IoSliceMut::new(&mut buffer[..])];
        match rustix::io::preadv2(file, &mut pieces, 0, ReadWriteFlags::NOWAIT) {
            // tmpfs has no such promise to make, and never waits for a disk.
            Err(Errno::OPNOTSUPP) => {}
            answer => return answer,
        }
    }
    rustix::io::pread(file, &mut buffer[..], 0)
}

impl FileId {
    pub(crate) fn of(seen: &Statx) -> Self {
        Self {
            device: (seen.stx_dev_major, seen.stx_dev_minor),
            inode: seen.stx_ino,
        }
    }
}

fn nanoseconds(time: &rustix::fs::StatxTimestamp) -> i128 {
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

impl FileFacts {
    /// The word of the log for where the file lies.
    pub(crate) const fn origin_word(&self) -> &'static str {
        match self.origin {
            Origin::Session => "session",
            Origin::Foreign => "foreign",
            Origin::Anonymous => "anonymous",
            Origin::Unstable => "unstable",
        }
    }
}
