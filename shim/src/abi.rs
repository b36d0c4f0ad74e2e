//! Which system calls the filter notifies, per calling convention.
//!
//! Numbers are the kernel's: `arch/x86/entry/syscalls/syscall_{64,32}.tbl` and, for aarch64,
//! `include/uapi/asm-generic/unistd.h`. libc only has those of the architecture it is built for,
//! while a filter must know those of every architecture a task on this machine can enter by.

/// A calling convention, as `seccomp_data.arch` tells it apart.
///
/// x32 shares [`Abi::X86_64`]'s audit architecture and differs by [`X32_BIT`] in the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Abi {
    /// 64-bit x86, x32 included.
    X86_64,
    /// 32-bit x86: `int 0x80`, also from 64-bit code.
    I386,
    /// 64-bit Arm.
    Aarch64,
}

/// Set in the number of every x32 call (`__X32_SYSCALL_BIT`).
pub const X32_BIT: u32 = 0x4000_0000;

/// What a notified call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `execve(2)`.
    Execve,
    /// `execveat(2)`.
    Execveat,
    /// One that can slow down or limit another process, the supervisor included.
    Influence(Influence),
    /// `ioctl(2)` that types on a terminal: what the session leaves there, the person's own shell
    /// would read (`TIOCSTI`, `TIOCLINUX` of ioctl_tty(2)).
    Typing,
}

/// Calls that reach another process by its number (execve aside) and need no right but the uid.
///
/// A task of the supervisor's uid could use them to starve or kill the supervisor: `RLIMIT_CPU` of
/// one second ends a process in 1.4 s. Their arguments are registers, so a judged call cannot be
/// changed before the kernel reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Influence {
    /// `prlimit64(2)` with a new limit.
    Prlimit64,
    /// `sched_setparam(2)`.
    SchedSetparam,
    /// `sched_setscheduler(2)`.
    SchedSetscheduler,
    /// `sched_setaffinity(2)`.
    SchedSetaffinity,
    /// `sched_setattr(2)`.
    SchedSetattr,
    /// `setpriority(2)`.
    Setpriority,
    /// `ioprio_set(2)`.
    IoprioSet,
}

impl Abi {
    /// The conventions that this build's kernel can be entered by.
    pub const NATIVE: &'static [Self] = if cfg!(target_arch = "aarch64") {
        &[Self::Aarch64]
    } else {
        &[Self::X86_64, Self::I386]
    };

    /// `AUDIT_ARCH_*` of linux/audit.h: the ELF machine, with bits for 64-bit and little endian.
    #[must_use]
    pub const fn audit_arch(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::I386 => 0x4000_0003,
            Self::Aarch64 => 0xc000_00b7,
        }
    }

    /// The convention behind an audit architecture, if the filter knows it.
    #[must_use]
    pub fn from_audit_arch(arch: u32) -> Option<Self> {
        [Self::X86_64, Self::I386, Self::Aarch64]
            .into_iter()
            .find(|abi| abi.audit_arch() == arch)
    }

    /// Every notified number of this convention, with what it asks for.
    #[must_use]
    pub const fn calls(self) -> &'static [(u32, Call)] {
        match self {
            Self::X86_64 => X86_64_CALLS,
            Self::I386 => I386_CALLS,
            Self::Aarch64 => AARCH64_CALLS,
        }
    }

    /// What call `number` asks for, if it is one that the filter notifies.
    #[must_use]
    pub fn call(self, number: u32) -> Option<Call> {
        self.calls()
            .iter()
            .find(|(known, _)| *known == number)
            .map(|(_, call)| *call)
    }

    /// Width in bytes of a pointer that call `number` passes, in registers and in memory.
    ///
    /// x32's own exec numbers (520, 545) read arrays of 32-bit pointers; its bit on any other
    /// number changes nothing about the 64-bit handler behind it.
    #[must_use]
    pub const fn pointer_bytes(self, number: u32) -> usize {
        match self {
            Self::I386 => 4,
            Self::X86_64 if matches!(number & !X32_BIT, 520 | 545) => 4,
            Self::X86_64 | Self::Aarch64 => 8,
        }
    }
}

use Call::{Execve, Execveat, Typing};
use Influence::{
    IoprioSet, Prlimit64, SchedSetaffinity, SchedSetattr, SchedSetparam, SchedSetscheduler,
    Setpriority,
};

const X86_64_CALLS: &[(u32, Call)] = &[
    (59, Execve),
    (322, Execveat),
    (520, Execve),
    (545, Execveat),
    (59 | X32_BIT, Execve),
    (322 | X32_BIT, Execveat),
    (520 | X32_BIT, Execve),
    (545 | X32_BIT, Execveat),
    (16, Typing),
    (514, Typing),
    (16 | X32_BIT, Typing),
    (514 | X32_BIT, Typing),
    (141, Call::Influence(Setpriority)),
    (142, Call::Influence(SchedSetparam)),
    (144, Call::Influence(SchedSetscheduler)),
    (203, Call::Influence(SchedSetaffinity)),
    (251, Call::Influence(IoprioSet)),
    (302, Call::Influence(Prlimit64)),
    (314, Call::Influence(SchedSetattr)),
    (141 | X32_BIT, Call::Influence(Setpriority)),
    (142 | X32_BIT, Call::Influence(SchedSetparam)),
    (144 | X32_BIT, Call::Influence(SchedSetscheduler)),
    (203 | X32_BIT, Call::Influence(SchedSetaffinity)),
    (251 | X32_BIT, Call::Influence(IoprioSet)),
    (302 | X32_BIT, Call::Influence(Prlimit64)),
    (314 | X32_BIT, Call::Influence(SchedSetattr)),
];

const I386_CALLS: &[(u32, Call)] = &[
    (11, Execve),
    (358, Execveat),
    (54, Typing),
    (97, Call::Influence(Setpriority)),
    (154, Call::Influence(SchedSetparam)),
    (156, Call::Influence(SchedSetscheduler)),
    (241, Call::Influence(SchedSetaffinity)),
    (289, Call::Influence(IoprioSet)),
    (340, Call::Influence(Prlimit64)),
    (351, Call::Influence(SchedSetattr)),
];

const AARCH64_CALLS: &[(u32, Call)] = &[
    (221, Execve),
    (281, Execveat),
    (29, Typing),
    (30, Call::Influence(IoprioSet)),
    (118, Call::Influence(SchedSetparam)),
    (119, Call::Influence(SchedSetscheduler)),
    (122, Call::Influence(SchedSetaffinity)),
    (140, Call::Influence(Setpriority)),
    (261, Call::Influence(Prlimit64)),
    (274, Call::Influence(SchedSetattr)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_build_architecture_agree_with_libc() {
        let native = if cfg!(target_arch = "aarch64") {
            Abi::Aarch64
        } else {
            Abi::X86_64
        };
        let expected = [
            (libc::SYS_execve, Execve),
            (libc::SYS_execveat, Execveat),
            (libc::SYS_ioctl, Typing),
            (libc::SYS_setpriority, Call::Influence(Setpriority)),
            (libc::SYS_sched_setparam, Call::Influence(SchedSetparam)),
            (
                libc::SYS_sched_setscheduler,
                Call::Influence(SchedSetscheduler),
            ),
            (
                libc::SYS_sched_setaffinity,
                Call::Influence(SchedSetaffinity),
            ),
            (libc::SYS_sched_setattr, Call::Influence(SchedSetattr)),
            (libc::SYS_ioprio_set, Call::Influence(IoprioSet)),
            (libc::SYS_prlimit64, Call::Influence(Prlimit64)),
        ];
        for (number, call) in expected {
            assert_eq!(native.call(u32::try_from(number).unwrap()), Some(call));
        }
    }

    #[test]
    fn only_x32_exec_numbers_and_i386_pass_narrow_pointers() {
        assert_eq!(Abi::X86_64.pointer_bytes(59), 8);
        assert_eq!(Abi::X86_64.pointer_bytes(520 | X32_BIT), 4);
        assert_eq!(Abi::X86_64.pointer_bytes(520), 4);
        assert_eq!(Abi::I386.pointer_bytes(11), 4);
        assert_eq!(Abi::Aarch64.pointer_bytes(221), 8);
    }
}
