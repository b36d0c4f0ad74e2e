//! Calls by which the session reaches beyond itself without an exec: refused if they aim at the
//! supervisor, and always if they type on a terminal.

use execward_shim::abi::{Abi, Call, Influence};
use nix::errno::Errno;
use nix::unistd::{getpgrp, getppid};

use crate::seccomp::{Reply, SyscallData};
use crate::tracee::{Procfs, Tid};

/// `PRIO_PROCESS` and `PRIO_USER` of setpriority(2); the I/O classes count one higher.
const BY_PROCESS: u32 = 0;
const BY_GROUP: u32 = 1;

/// The processes that no member of the session may hold back.
#[derive(Debug)]
pub(crate) struct Protected {
    /// The gate and the front.
    pub(crate) processes: [Tid; 2],
    /// The gate's process group.
    group: Tid,
}

impl Protected {
    /// Those of the session whose gate this process is, a child of the front.
    pub(crate) fn of_this_process() -> Self {
        Self {
            processes: [Tid::own(), Tid::new(getppid().as_raw().cast_unsigned())],
            group: Tid::new(getpgrp().as_raw().cast_unsigned()),
        }
    }
}

/// What such a call aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aim {
    Process(u32),
    Group(u32),
    /// Every process of a user: the supervisor's own among them.
    User,
}

impl Protected {
    /// The answer to the call in `data`, if it is one of these. Its arguments are registers, which
    /// nobody changes between this look and the kernel's.
    pub(crate) fn judge(&self, data: &SyscallData, task: Tid, proc: &Procfs) -> Option<Reply> {
        let call = Abi::from_audit_arch(data.arch)?.call(data.number)?;
        let influence = match call {
            Call::Influence(influence) => influence,
            Call::Typing => return Some(Reply::Fail(Errno::EPERM)),
            Call::Execve | Call::Execveat => return None,
        };
        let is_aimed_at_us = match aim(influence, data) {
            Aim::User => true,
            Aim::Group(group) => group == self.group.as_u32() && !has_own_numbers(task, proc),
            Aim::Process(number) => self.includes(number, task, proc),
        };
        Some(if is_aimed_at_us {
            Reply::Fail(Errno::EPERM)
        } else {
            Reply::Continue
        })
    }

    /// Whether `number`, as the task counts, is a thread of ours.
    fn includes(&self, number: u32, task: Tid, proc: &Procfs) -> bool {
        if has_own_numbers(task, proc) {
            return false;
        }
        match proc.status(Tid::new(number)) {
            Ok(named) => self.processes.contains(&named.tgid),
            // Nobody has that number, as the kernel will say.
            Err(_) => self.processes.contains(&Tid::new(number)),
        }
    }
}

/// Whether the task is in a pid namespace of its own, where it has no number for us.
fn has_own_numbers(task: Tid, proc: &Procfs) -> bool {
    proc.status(task)
        .is_ok_and(|status| status.ns_tids.len() > 1)
}

fn aim(influence: Influence, data: &SyscallData) -> Aim {
    let [first, second, ..] = data.arguments.map(low_half);
    match influence {
        Influence::Prlimit64
        | Influence::SchedSetparam
        | Influence::SchedSetscheduler
        | Influence::SchedSetaffinity
        | Influence::SchedSetattr => Aim::Process(first),
        Influence::Setpriority => which(first, second),
        Influence::IoprioSet => which(first.wrapping_sub(1), second),
    }
}

fn which(which: u32, who: u32) -> Aim {
    match which {
        BY_PROCESS => Aim::Process(who),
        BY_GROUP => Aim::Group(who),
        _ => Aim::User,
    }
}

fn low_half(register: u64) -> u32 {
    let [a, b, c, d, ..] = register.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(number: u32, arguments: [u64; 6]) -> Option<Reply> {
        let own = Tid::own();
        let protected = Protected {
            processes: [own, own],
            group: Tid::new(7),
        };
        let data = SyscallData {
            arch: Abi::X86_64.audit_arch(),
            number,
            arguments,
        };
        protected.judge(&data, own, &Procfs::open().unwrap())
    }

    #[test]
    fn what_aims_at_the_supervisor_is_refused_and_the_rest_goes_on() {
        let refused = Some(Reply::Fail(Errno::EPERM));
        let own = u64::from(Tid::own().as_u32());
        assert_eq!(judge(302, [own, 0, 1, 0, 0, 0]), refused);
        assert_eq!(judge(302, [1, 0, 1, 0, 0, 0]), Some(Reply::Continue));
        assert_eq!(judge(141, [0, own, 0, 0, 0, 0]), refused);
        assert_eq!(judge(141, [1, 7, 0, 0, 0, 0]), refused);
        assert_eq!(judge(141, [1, 8, 0, 0, 0, 0]), Some(Reply::Continue));
        assert_eq!(judge(141, [2, 0, 0, 0, 0, 0]), refused);
        assert_eq!(judge(251, [1, own, 0, 0, 0, 0]), refused);
        assert_eq!(judge(251, [3, 0, 0, 0, 0, 0]), refused);
        assert_eq!(judge(16, [0, 0x5412, 0, 0, 0, 0]), refused);
        assert_eq!(judge(59, [own, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn a_thread_of_the_supervisor_is_the_supervisor() {
        let (number, tid) = std::sync::mpsc::channel();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            number.send(nix::unistd::gettid().as_raw()).unwrap();
            wait.recv().unwrap_err();
        });
        let tid = u64::try_from(tid.recv().unwrap()).unwrap();
        assert_eq!(
            judge(203, [tid, 0, 0, 0, 0, 0]),
            Some(Reply::Fail(Errno::EPERM))
        );
        drop(done);
        thread.join().unwrap();
    }
}
