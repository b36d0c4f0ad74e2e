//! The seccomp program: exec calls, those that could slow the supervisor down, and those that type on
//! a terminal are notified.
//!
//! seccompiler compiles one table per architecture. Its 0.5 release knows neither a notify action
//! nor more than one architecture in a program, so two things are done to what it compiles: its own
//! architecture check (which kills) is dropped in favour of the dispatch below, and its stand-in
//! action is replaced by `SECCOMP_RET_USER_NOTIF`. Nothing else of it is touched, and a test runs
//! the result against every (architecture, number) pair.
//!
//! ```text
//! ld arch
//! jeq X86_64 → table of x86-64 and x32
//! jeq I386   → table of i386
//! ret ERRNO(EPERM)                 an architecture that nobody judged runs nothing
//! ```

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use crate::abi::{Abi, Call, Influence};

/// What seccompiler is told to return for a notified call, until it is replaced.
///
/// A `RET_TRACE` datum that nothing else in the program carries.
const STAND_IN: u16 = 0x6577;

/// Instructions of the architecture check that seccompiler puts before a program.
const ARCH_CHECK_LEN: usize = 3;

/// Offset of `arch` in `struct seccomp_data` (seccomp(2)).
const ARCH_OFFSET: u32 = 4;

const LOAD_WORD: u16 = opcode(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS);
const JUMP_IF_EQUAL: u16 = opcode(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
const JUMP: u16 = opcode(libc::BPF_JMP | libc::BPF_JA);
const RETURN: u16 = opcode(libc::BPF_RET | libc::BPF_K);

#[expect(clippy::cast_possible_truncation, reason = "checked, at compile time")]
const fn opcode(bits: u32) -> u16 {
    assert!(bits <= u16::MAX as u32);
    bits as u16
}

/// The program for the architectures of this build.
///
/// # Errors
/// Only if seccompiler refuses the tables of [`crate::abi`], which the tests rule out.
pub fn program() -> Result<BpfProgram, BackendError> {
    program_for(Abi::NATIVE)
}

/// The program for `abis`, dispatched in their order.
fn program_for(abis: &[Abi]) -> Result<BpfProgram, BackendError> {
    let tables = abis
        .iter()
        .map(|abi| table(*abi))
        .collect::<Result<Vec<_>, _>>()?;

    let mut program = vec![instruction(LOAD_WORD, ARCH_OFFSET)];
    let dispatch_len = 2 * abis.len() + 1;
    let mut ahead = dispatch_len;
    for (abi, table) in abis.iter().zip(&tables) {
        ahead -= 2;
        // Conditional jumps reach 255 instructions; the unconditional one has no such limit.
        program.push(sock_filter {
            jf: 1,
            ..instruction(JUMP_IF_EQUAL, abi.audit_arch())
        });
        let distance = u32::try_from(ahead).map_err(|_| BackendError::FilterTooLarge(ahead))?;
        program.push(instruction(JUMP, distance));
        ahead += table.len();
    }
    program.push(instruction(
        RETURN,
        libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs(),
    ));
    program.extend(tables.into_iter().flatten());
    Ok(program)
}

/// seccompiler's program for one architecture, check dropped and stand-in replaced.
fn table(abi: Abi) -> Result<BpfProgram, BackendError> {
    let mut rules = BTreeMap::new();
    for (number, call) in abi.calls() {
        rules.insert(i64::from(*number), conditions(*call)?);
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Trace(u32::from(STAND_IN)),
        // Decides nothing but the check that is dropped: numbers and offsets come from us.
        if cfg!(target_arch = "aarch64") {
            TargetArch::aarch64
        } else {
            TargetArch::x86_64
        },
    )?;
    let compiled = BpfProgram::try_from(filter)?;
    Ok(compiled
        .into_iter()
        .skip(ARCH_CHECK_LEN)
        .map(notify_instead)
        .collect())
}

fn notify_instead(instruction: sock_filter) -> sock_filter {
    let stand_in = libc::SECCOMP_RET_TRACE | u32::from(STAND_IN);
    if instruction.code == RETURN && instruction.k == stand_in {
        sock_filter {
            k: libc::SECCOMP_RET_USER_NOTIF,
            ..instruction
        }
    } else {
        instruction
    }
}

/// When a call is notified: always (no rule), or if one of the rules holds.
///
/// A call on the caller itself (pid 0) is no threat to the supervisor and is left alone, as is
/// `prlimit64` that only reads.
fn conditions(call: Call) -> Result<Vec<SeccompRule>, BackendError> {
    let pid_is_named = || dword_is_not(0, 0);
    let rules = match call {
        Call::Execve | Call::Execveat => vec![],
        Call::Typing => vec![vec![dword_is(1, TIOCSTI)?], vec![dword_is(1, TIOCLINUX)?]],
        Call::Influence(Influence::Prlimit64) => {
            let has_new_limit =
                SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
            vec![vec![pid_is_named()?, has_new_limit]]
        }
        Call::Influence(
            Influence::SchedSetparam
            | Influence::SchedSetscheduler
            | Influence::SchedSetaffinity
            | Influence::SchedSetattr,
        ) => vec![vec![pid_is_named()?]],
        Call::Influence(Influence::Setpriority) => {
            vec![
                vec![dword_is_not(0, PRIO_PROCESS)?],
                vec![dword_is_not(1, 0)?],
            ]
        }
        Call::Influence(Influence::IoprioSet) => {
            vec![
                vec![dword_is_not(0, IOPRIO_WHO_PROCESS)?],
                vec![dword_is_not(1, 0)?],
            ]
        }
    };
    rules.into_iter().map(SeccompRule::new).collect()
}

/// Of `asm-generic/ioctls.h`, alike on every architecture here.
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
/// `PRIO_PROCESS` of setpriority(2).
const PRIO_PROCESS: u32 = 0;
/// `IOPRIO_WHO_PROCESS` of ioprio_set(2).
const IOPRIO_WHO_PROCESS: u32 = 1;

fn dword_is(argument: u8, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Eq,
        u64::from(value),
    )
}

fn dword_is_not(argument: u8, value: u32) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        u64::from(value),
    )
}

fn instruction(code: u16, k: u32) -> sock_filter {
    sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

#[cfg(test)]
mod tests;
