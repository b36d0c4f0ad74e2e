//! `/proc/<tid>/status`, parsed: the one proc file that is safe to read of any task at any time.

use rustix::io::Errno;

use super::{Credentials, Tid, whole_lines};

/// What the gate reads of a task's status. See proc_pid_status(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Status {
    /// One letter: `R` running, `S` sleeping, `D` in the disk's hands, `T` stopped, `Z` ended …
    pub(crate) state: u8,
    /// The process that the thread belongs to.
    pub(crate) tgid: Tid,
    /// Its parent; the subreaper, once the parent is gone.
    pub(crate) ppid: Tid,
    /// Its process group, in the gate's pid namespace; 0 if that is of another.
    pub(crate) group: Tid,
    /// Its tracer; 0 for none.
    pub(crate) tracer: Tid,
    /// The process's numbers in nested pid namespaces, the gate's own first.
    pub(crate) ns_tgids: Vec<u32>,
    /// The thread's, likewise.
    pub(crate) ns_tids: Vec<u32>,
    /// How many threads its process has.
    pub(crate) threads: u32,
    /// Its numbers, ids and file rights.
    pub(crate) credentials: Credentials,
}

/// Why a status could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatusError {
    /// The kernel would not give it; usually the task is gone.
    #[error("cannot read the status: {0}")]
    Read(#[source] Errno),
    /// A line that every supported kernel writes is missing or unreadable.
    #[error("the status has no readable `{0}` line")]
    Line(&'static str),
}

impl Status {
    /// Parses the text of a status file.
    ///
    /// # Errors
    /// If a line that this needs is missing or is not of the documented form.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, StatusError> {
        let lines = Lines(text);
        let [uid, euid, suid, fsuid] = lines.four("Uid")?;
        let [gid, egid, sgid, fsgid] = lines.four("Gid")?;
        Ok(Self {
            state: *lines
                .value("State")?
                .first()
                .ok_or(StatusError::Line("State"))?,
            tgid: Tid::new(lines.number("Tgid")?),
            ppid: Tid::new(lines.number("PPid")?),
            tracer: Tid::new(lines.number("TracerPid")?),
            group: Tid::new(lines.first("NSpgid")?),
            ns_tgids: lines.numbers("NStgid")?,
            ns_tids: lines.numbers("NSpid")?,
            threads: lines.number("Threads")?,
            credentials: Credentials {
                uids: [uid, euid, suid],
                gids: [gid, egid, sgid],
                fsuid,
                fsgid,
                groups: lines.numbers("Groups")?,
                effective: lines.hexadecimal("CapEff")?,
            },
        })
    }

    /// Whether it stands still for job control.
    pub(crate) fn is_stopped(&self) -> bool {
        self.state == b'T'
    }

    /// Whether it has ended and waits to be reaped. Of a process, the first thread: others may go on.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// Whether no thread of the process is left that could do anything.
    pub(crate) fn is_over(&self) -> bool {
        self.is_ended() && self.threads <= 1
    }
}

/// The signals that wait for a task and would act on it now: pending for the thread or its process,
/// and not blocked. Bit N-1 is signal N.
///
/// # Errors
/// As [`Status::parse`].
pub(super) fn deliverable_signals(text: &[u8]) -> Result<u64, StatusError> {
    let lines = Lines(text);
    let pending = lines.hexadecimal("SigPnd")? | lines.hexadecimal("ShdPnd")?;
    Ok(pending & !lines.hexadecimal("SigBlk")?)
}

/// How many seccomp filters a task is under (Linux 5.9).
///
/// # Errors
/// As [`Status::parse`].
pub(super) fn seccomp_filters(text: &[u8]) -> Result<u32, StatusError> {
    Lines(text).number("Seccomp_filters")
}

/// Whether an exec can give a task no rights that it has not: `no_new_privs` of prctl(2).
///
/// # Errors
/// As [`Status::parse`].
pub(super) fn no_new_privs(text: &[u8]) -> Result<bool, StatusError> {
    Ok(Lines(text).number("NoNewPrivs")? != 0)
}

/// The capabilities that a task may make effective.
///
/// # Errors
/// As [`Status::parse`].
pub(super) fn permitted(text: &[u8]) -> Result<u64, StatusError> {
    Lines(text).hexadecimal("CapPrm")
}

struct Lines<'a>(&'a [u8]);

impl<'a> Lines<'a> {
    fn value(&self, name: &'static str) -> Result<&'a [u8], StatusError> {
        whole_lines(self.0)
            .find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))
            .map(<[u8]>::trim_ascii)
            .ok_or(StatusError::Line(name))
    }

    fn text(&self, name: &'static str) -> Result<&'a str, StatusError> {
        str::from_utf8(self.value(name)?).map_err(|_| StatusError::Line(name))
    }

    fn number(&self, name: &'static str) -> Result<u32, StatusError> {
        self.text(name)?
            .parse()
            .map_err(|_| StatusError::Line(name))
    }

    fn numbers(&self, name: &'static str) -> Result<Vec<u32>, StatusError> {
        let words = self.text(name)?.split_ascii_whitespace();
        words
            .map(|word| word.parse().map_err(|_| StatusError::Line(name)))
            .collect()
    }

    fn first(&self, name: &'static str) -> Result<u32, StatusError> {
        let word = self.text(name)?.split_ascii_whitespace().next();
        word.and_then(|word| word.parse().ok())
            .ok_or(StatusError::Line(name))
    }

    fn four(&self, name: &'static str) -> Result<[u32; 4], StatusError> {
        self.numbers(name)?
            .try_into()
            .map_err(|_| StatusError::Line(name))
    }

    fn hexadecimal(&self, name: &'static str) -> Result<u64, StatusError> {
        u64::from_str_radix(self.text(name)?, 16).map_err(|_| StatusError::Line(name))
    }
}

#[cfg(test)]
mod tests;
