//! Tracees that stand still. Each stop is a value that letting go consumes, so that none is
//! resumed twice or forgotten while its table entry lives on.

use std::marker::PhantomData;

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};

use super::sys;
use crate::tracee::Tid;

/// `ptrace(PTRACE_SEIZE, tid, TRACEEXEC | EXITKILL)`: from here to the exec-stop the task is ours,
/// and dies with us.
///
/// # Errors
/// `EPERM`: another tracer, a task that is not dumpable, or Yama. `ESRCH`: gone.
pub(crate) fn seize(tid: Tid) -> Result<(), Errno> {
    let options = Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL;
    ptrace::seize(tid.as_pid(), options)
}

/// `ptrace(PTRACE_INTERRUPT, tid)`: a seized task stops as soon as it leaves its system call.
///
/// # Errors
/// `ESRCH` if it is gone.
pub(crate) fn interrupt(tid: Tid) -> Result<(), Errno> {
    ptrace::interrupt(tid.as_pid())
}

/// A tracee that has just loaded its new image.
#[derive(Debug)]
pub(crate) struct ExecStop {
    tgid: Tid,
    // ptrace(2) binds a tracee to the thread that seized it.
    not_send: PhantomData<*const ()>,
}

/// A tracee in any other stop.
#[derive(Debug)]
pub(crate) struct Stopped {
    tid: Tid,
    signal: i32,
    not_send: PhantomData<*const ()>,
}

/// Where a new image's stack begins, and how wide its words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FirstRegisters {
    /// argc, argv, envp and the auxiliary vector lie from here up.
    pub(crate) stack_pointer: u64,
    /// Where it begins: in its ELF interpreter, if it has one.
    pub(crate) instruction_pointer: u64,
    /// 4 for a 32-bit image, else 8.
    pub(crate) pointer_bytes: usize,
}

/// `__USER32_CS`: the code segment of an i386 image.
#[cfg(target_arch = "x86_64")]
const USER32_CS: u64 = 0x23;
/// `PSR_MODE32_BIT`: set for an AArch32 image.
#[cfg(target_arch = "aarch64")]
const PSR_MODE32_BIT: u64 = 0x10;

impl ExecStop {
    pub(super) fn new(tgid: Tid) -> Self {
        Self {
            tgid,
            not_send: PhantomData,
        }
    }

    /// The process, under whose number the stop of any of its threads arrives.
    pub(crate) fn tgid(&self) -> Tid {
        self.tgid
    }

    /// The thread that called execve, by its number before the call.
    ///
    /// # Errors
    /// `ESRCH` if the tracee was killed meanwhile.
    pub(crate) fn former_tid(&self) -> Result<Tid, Errno> {
        let message = ptrace::getevent(self.tgid.as_pid())?;
        u32::try_from(message)
            .map(Tid::new)
            .map_err(|_| Errno::ERANGE)
    }

    /// The new image's first registers.
    ///
    /// # Errors
    /// `ESRCH` if the tracee was killed meanwhile.
    pub(crate) fn registers(&self) -> Result<FirstRegisters, Errno> {
        let registers = ptrace::getregs(self.tgid.as_pid())?;
        #[cfg(target_arch = "x86_64")]
        return Ok(FirstRegisters {
            stack_pointer: registers.rsp,
            instruction_pointer: registers.rip,
            pointer_bytes: if registers.cs == USER32_CS { 4 } else { 8 },
        });
        #[cfg(target_arch = "aarch64")]
        return Ok(FirstRegisters {
            stack_pointer: registers.sp,
            instruction_pointer: registers.pc,
            pointer_bytes: if registers.pstate & PSR_MODE32_BIT != 0 {
                4
            } else {
                8
            },
        });
    }

    /// Lets the new image run.
    ///
    /// # Errors
    /// `ESRCH` if the tracee was killed meanwhile.
    pub(crate) fn detach(self) -> Result<(), Errno> {
        sys::detach(self.tgid, 0)
    }

    /// Ends the process before its new image runs an instruction. Its end is reaped like any.
    ///
    /// # Errors
    /// `ESRCH` if it is gone already.
    pub(crate) fn kill(self) -> Result<(), Errno> {
        kill(self.tgid.as_pid(), Signal::SIGKILL)
    }
}

impl Stopped {
    /// A stop for a ptrace event, which carries no signal to deliver.
    pub(super) fn at_event(tid: Tid) -> Self {
        Self::with_signal(tid, 0)
    }

    /// A stop in which `signal` waits to be delivered.
    pub(crate) fn with_signal(tid: Tid, signal: i32) -> Self {
        Self {
            tid,
            signal,
            not_send: PhantomData,
        }
    }

    /// The thread that stands still.
    pub(crate) fn tid(&self) -> Tid {
        self.tid
    }

    /// What the system call that it left returned, if that was an error.
    pub(crate) fn failed_call(&self) -> Option<Errno> {
        let registers = ptrace::getregs(self.tid.as_pid()).ok()?;
        #[cfg(target_arch = "x86_64")]
        let result = registers.rax.cast_signed();
        #[cfg(target_arch = "aarch64")]
        let result = registers.regs.first().copied()?.cast_signed();
        // errno(3): the kernel returns -1 to -4095 for errors.
        let errno = i32::try_from(result.checked_neg()?).ok()?;
        (1..=4095).contains(&errno).then(|| Errno::from_raw(errno))
    }

    /// Lets it go, with the signal that it was about to receive.
    ///
    /// # Errors
    /// `ESRCH` if it was killed meanwhile.
    pub(crate) fn detach(self) -> Result<(), Errno> {
        sys::detach(self.tid, self.signal)
    }
}
