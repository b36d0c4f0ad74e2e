//! What the gate gives up once its session is set up.
//!
//! It reads hostile bytes outside the session's filter, with the user's rights. From here on whatever it
//! is made to do, it starts no program, makes no process, and changes no other's memory or registers: a
//! try ends it, and with it every further exec of the session. Landlock would be more, and is no help: a
//! process under it may not trace whoever is not (landlock(7)).

use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, apply_filter_all_threads,
};

/// Calls that it has no more use for.
#[rustfmt::skip]
const GIVEN_UP: [i64; 22] = [
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_process_vm_writev, libc::SYS_mount,
    libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_setns, libc::SYS_init_module,
    libc::SYS_finit_module, libc::SYS_delete_module, libc::SYS_kexec_load, libc::SYS_kexec_file_load,
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
    libc::SYS_reboot, libc::SYS_swapon, libc::SYS_swapoff, libc::SYS_acct, libc::SYS_personality,
];

/// Ways to make a process that are calls of their own.
#[cfg(target_arch = "x86_64")]
const FORKS: [i64; 2] = [libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: [i64; 0] = [];

/// Requests of ptrace(2) that change a tracee.
const WRITES: [u32; 7] = [
    libc::PTRACE_POKETEXT,
    libc::PTRACE_POKEDATA,
    libc::PTRACE_POKEUSER,
    libc::PTRACE_SETREGS,
    libc::PTRACE_SETFPREGS,
    libc::PTRACE_SETREGSET,
    libc::PTRACE_ATTACH,
];

/// Confines every thread of the process, for good.
///
/// # Errors
/// What prctl(2) or seccomp(2) answer.
pub(crate) fn confine() -> io::Result<()> {
    for program in [fallback(), filter(SeccompAction::KillProcess)] {
        let program = program.map_err(io::Error::other)?;
        apply_filter_all_threads(&program).map_err(io::Error::other)?;
    }
    Ok(())
}

/// clone3(2) passes its flags in memory, where no filter looks. Without it the C library calls clone(2).
fn fallback() -> Result<BpfProgram, BackendError> {
    let rules = [(libc::SYS_clone3, Vec::new())].into_iter();
    let missing = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    compiled(rules, missing)
}

/// What is given up ends in `end`.
fn filter(end: SeccompAction) -> Result<BpfProgram, BackendError> {
    let always = GIVEN_UP.into_iter().chain(FORKS);
    let mut rules: Vec<_> = always.map(|call| (call, Vec::new())).collect();
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let is_no_thread = condition(SeccompCmpOp::MaskedEq(thread), 0)?;
    rules.push((libc::SYS_clone, vec![is_no_thread]));
    let writes = WRITES.map(|request| condition(SeccompCmpOp::Eq, u64::from(request)));
    let writes = writes.into_iter().collect::<Result<_, _>>()?;
    rules.push((libc::SYS_ptrace, writes));
    compiled(rules.into_iter(), end)
}

/// A rule about the first argument.
fn condition(is: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, is, value)?;
    SeccompRule::new(vec![condition])
}

/// The program that lets everything go on but what `rules` say, by the numbers of x32 too.
fn compiled(
    rules: impl Iterator<Item = (i64, Vec<SeccompRule>)>,
    action: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let of_x32 = i64::from(execward_shim::abi::X32_BIT);
    let both = rules.flat_map(|(call, rules)| [(call, rules.clone()), (call | of_x32, rules)]);
    let rules = both.collect();
    SeccompFilter::new(rules, SeccompAction::Allow, action, architecture)?.try_into()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;

    use super::*;

    #[test]
    fn a_confined_thread_starts_threads_and_nothing_else() {
        let confined = thread::spawn(|| {
            let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
            for program in [fallback(), filter(refused)] {
                seccompiler::apply_filter(&program.unwrap()).unwrap();
            }
            let error = Command::new("/bin/true").status().unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EPERM));
            thread::spawn(|| 7).join().unwrap()
        });
        assert_eq!(confined.join().unwrap(), 7);
    }
}
