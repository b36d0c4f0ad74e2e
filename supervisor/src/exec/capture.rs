//! What the attempt's addresses hold: path, arguments, environment, as bytes.

use std::sync::Arc;

use nix::errno::Errno;

use super::{ExecAttempt, Target};
use crate::tracee::{Memory, MemoryError, Tid};

/// Longest path of execve(2), its NUL included: `PATH_MAX`.
const PATH_MAX_BYTES: usize = 4096;

/// Most bytes of arguments and environment together, pointers included: three quarters of the
/// kernel's `_STK_LIM` of 8 MiB, whatever the task's own stack limit.
const STRINGS_MAX_BYTES: usize = 6 << 20;

/// The strings of one exec, as the task passed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecArgs {
    /// The path as passed, unresolved.
    pub(crate) path: Vec<u8>,
    /// The arguments. None yet, or at least one: the kernel makes none into one empty string
    /// (Linux 5.18).
    pub(crate) argv: Vec<Vec<u8>>,
    /// The environment.
    pub(crate) envp: Arc<[Vec<u8>]>,
}

/// Why an exec's strings could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CaptureError {
    /// The kernel would not take them either, and answers this.
    #[error("the kernel refuses the arguments: {0}")]
    Kernel(Errno),
    /// The kernel would take what the gate may not read.
    #[error("cannot read the {what} of thread {tid}: {error}")]
    Unreadable {
        /// What was being read.
        what: &'static str,
        /// Of whom.
        tid: Tid,
        /// Why not.
        error: MemoryError,
    },
    /// The task is gone.
    #[error("the task is gone")]
    Gone,
}

impl ExecArgs {
    /// Reads the path alone: most execs of a search along PATH find no file, and need no more.
    ///
    /// # Errors
    /// If any byte of it cannot be read, or the kernel would refuse its length.
    pub(crate) fn name(attempt: &ExecAttempt, tid: Tid) -> Result<Self, CaptureError> {
        let memory = Memory::new(tid, attempt.pointer_bytes);
        let path = memory
            .string(attempt.path, PATH_MAX_BYTES)
            .map_err(|error| CaptureError::of("path", Errno::ENAMETOOLONG, tid, error))?;
        Ok(Self {
            path,
            argv: Vec::new(),
            envp: Arc::default(),
        })
    }

    /// Reads the arguments and the environment to the path. The task waits in its call.
    ///
    /// # Errors
    /// As [`ExecArgs::name`].
    pub(crate) fn complete(&mut self, attempt: &ExecAttempt, tid: Tid) -> Result<(), CaptureError> {
        let memory = Memory::new(tid, attempt.pointer_bytes);
        let mut budget = STRINGS_MAX_BYTES;
        self.argv = memory
            .strings(attempt.argv, &mut budget)
            .map_err(|error| CaptureError::of("argv", Errno::E2BIG, tid, error))?;
        self.envp = memory
            .strings(attempt.envp, &mut budget)
            .map_err(|error| CaptureError::of("environment", Errno::E2BIG, tid, error))?
            .into();
        if self.argv.is_empty() {
            self.argv.push(Vec::new());
        }
        Ok(())
    }

    /// How many bytes it takes to hold these strings.
    pub(crate) fn weight_bytes(&self) -> usize {
        let strings = self.argv.iter().chain(self.envp.iter());
        let each = strings.map(|string| string.len() + size_of::<Vec<u8>>());
        self.path.len() + each.sum::<usize>()
    }

    /// The name that the kernel gives the new image (`AT_EXECFN`) for these strings.
    ///
    /// fs/exec.c: the path as passed, unless it is relative to a descriptor.
    pub(crate) fn execfn(&self, attempt: &ExecAttempt) -> Vec<u8> {
        if !Target::of(attempt, &self.path).is_by_descriptor() {
            return self.path.clone();
        }
        let mut name = format!("/dev/fd/{}", attempt.dirfd).into_bytes();
        if !self.path.is_empty() {
            name.push(b'/');
            name.extend_from_slice(&self.path);
        }
        name
    }
}

impl CaptureError {
    fn of(what: &'static str, too_long: Errno, tid: Tid, error: MemoryError) -> Self {
        match error {
            MemoryError::Gone => Self::Gone,
            MemoryError::Fault(_) => Self::Kernel(Errno::EFAULT),
            MemoryError::TooLong => Self::Kernel(too_long),
            MemoryError::Refused(_) => Self::Unreadable { what, tid, error },
        }
    }
}
