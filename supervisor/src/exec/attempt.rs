//! The registers of an exec, decoded. Pure.

use execward_shim::abi::{Abi, Call};

use crate::seccomp::SyscallData;

/// Who asks for what, as addresses in the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExecAttempt {
    /// Width of the task's pointers, in bytes.
    pub(crate) pointer_bytes: usize,
    /// Where the path starts.
    pub(crate) path: u64,
    /// Where argv starts; 0 for none.
    pub(crate) argv: u64,
    /// Where envp starts; 0 for none.
    pub(crate) envp: u64,
    /// The directory of a relative path; `AT_FDCWD` for execve.
    pub(crate) dirfd: i32,
    /// execveat's flags; 0 for execve.
    pub(crate) flags: ExecFlags,
}

/// execveat's flags, each known one a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExecFlags(i32);

/// Why registers do not decode to an exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AttemptError {
    /// The filter notifies no such architecture.
    #[error("unknown architecture {0:#x}")]
    Architecture(u32),
    /// The filter notifies no such call as an exec.
    #[error("system call {0:#x} is no exec")]
    NotExec(u32),
    /// A flag that this kernel's execveat does not have: it would answer `EINVAL`.
    #[error("unknown execveat flags {0:#x}")]
    Flags(i32),
}

/// `AT_EXECVE_CHECK` of linux/fcntl.h (Linux 6.14): ask whether an exec would be allowed.
const AT_EXECVE_CHECK: i32 = 0x10000;

impl ExecFlags {
    /// An empty path names the descriptor itself.
    pub(crate) fn has_empty_path(self) -> bool {
        self.0 & libc::AT_EMPTY_PATH != 0
    }

    /// A link as the last component is an error.
    pub(crate) fn has_symlink_nofollow(self) -> bool {
        self.0 & libc::AT_SYMLINK_NOFOLLOW != 0
    }

    /// Nothing is to be loaded: the kernel only answers whether it would.
    pub(crate) fn is_check_only(self) -> bool {
        self.0 & AT_EXECVE_CHECK != 0
    }
}

impl ExecAttempt {
    /// # Errors
    /// If the filter and this decoder disagree about what is an exec, or a flag is unknown.
    pub(crate) fn decode(data: &SyscallData) -> Result<Self, AttemptError> {
        let abi = Abi::from_audit_arch(data.arch).ok_or(AttemptError::Architecture(data.arch))?;
        let pointer_bytes = abi.pointer_bytes(data.number);
        let pointer = |register: u64| {
            if pointer_bytes == 4 {
                register & 0xffff_ffff
            } else {
                register
            }
        };
        let [a, b, c, d, e, _] = data.arguments;
        match abi.call(data.number) {
            Some(Call::Execve) => Ok(Self {
                pointer_bytes,
                path: pointer(a),
                argv: pointer(b),
                envp: pointer(c),
                dirfd: libc::AT_FDCWD,
                flags: ExecFlags::default(),
            }),
            Some(Call::Execveat) => Ok(Self {
                pointer_bytes,
                path: pointer(b),
                argv: pointer(c),
                envp: pointer(d),
                dirfd: int(a),
                flags: flags(int(e))?,
            }),
            Some(Call::Influence(_) | Call::Typing) | None => {
                Err(AttemptError::NotExec(data.number))
            }
        }
    }
}

fn flags(raw: i32) -> Result<ExecFlags, AttemptError> {
    let known = libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW | AT_EXECVE_CHECK;
    if raw & !known == 0 {
        Ok(ExecFlags(raw))
    } else {
        Err(AttemptError::Flags(raw))
    }
}

/// The kernel reads an `int` parameter from a register's low half.
fn int(register: u64) -> i32 {
    let [a, b, c, d, ..] = register.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests;
