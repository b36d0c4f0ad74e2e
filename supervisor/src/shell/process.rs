//! The process that parses: `execward __parse`, which takes texts and sends analyses over the socket
//! that is its standard input, until the other end is closed.

use std::borrow::Cow;
use std::io::{self, stdin};
use std::os::fd::AsFd;
use std::process::ExitCode;

use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::alarm;
use rustix::net::{RecvFlags, SendFlags};
use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use super::message::{Answer, TEXT_MAX_BYTES, TextId};
use super::parse::analyse;
use super::words::UNREADABLE;
use crate::fdpass;

/// The first argument by which execward is this process.
pub(crate) const ARGUMENT: &str = "__parse";

/// Most memory that the process may have, in bytes.
const MEMORY_MAX_BYTES: u64 = 512 << 20;

/// After how many seconds over one text the kernel ends the process. The parser gives up before.
const ALARM_SECONDS: u32 = 2;

/// Confines itself, and serves.
pub(crate) fn main() -> ExitCode {
    match confine().and_then(|()| serve(stdin())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Gives up what parsing does not need: memory beyond what any text takes, files to write, more
/// descriptors, core dumps, processes (getrlimit(2)), and every call but a few. Closes its own memory
/// to others.
fn confine() -> io::Result<()> {
    for (resource, most) in [
        (Resource::RLIMIT_AS, MEMORY_MAX_BYTES),
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_NOFILE, 8),
        (Resource::RLIMIT_NPROC, 0),
        (Resource::RLIMIT_CORE, 0),
    ] {
        setrlimit(resource, most, most).map_err(io::Error::from)?;
    }
    prctl::set_dumpable(false)?;
    prctl::set_no_new_privs()?;
    // What is looked up once, such as the clock's place, is looked up before.
    drop(analyse(""));
    // The parser is C and the text hostile: whatever it is made to do, it can do no more than this.
    let filter = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)
}

/// What parsing calls; anything else ends the process.
const CALLS: [i64; 21] = [
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clock_gettime,
    libc::SYS_setitimer,
    libc::SYS_getrandom,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

fn filter() -> Result<BpfProgram, BackendError> {
    let calls = CALLS.into_iter().chain(ALARM);
    let rules = calls.map(|call| (call, Vec::new())).collect();
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let (other, own) = (SeccompAction::KillProcess, SeccompAction::Allow);
    SeccompFilter::new(rules, other, own, architecture)?.try_into()
}

/// alarm(2), where it is a call of its own.
const ALARM: Option<i64> = {
    #[cfg(target_arch = "x86_64")]
    {
        Some(libc::SYS_alarm)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
};

fn serve(socket: impl AsFd) -> io::Result<()> {
    let mut message = vec![0; TextId::LENGTH + TEXT_MAX_BYTES];
    loop {
        let (length, _) = fdpass::receive(socket.as_fd(), &mut message, RecvFlags::empty())?;
        if length == 0 {
            return Ok(());
        }
        let message = message.get(..length).unwrap_or_default();
        let (id, text) = TextId::split(message).ok_or(io::ErrorKind::InvalidData)?;
        alarm::set(ALARM_SECONDS);
        let answer = answer(text).encode(id)?;
        alarm::cancel();
        fdpass::send(socket.as_fd(), &answer, &[], SendFlags::empty())?;
    }
}

fn answer(text: &[u8]) -> Answer {
    match analyse(&as_text(text)) {
        Ok(analysis) => Answer::Analysed(analysis),
        Err(error) => Answer::NotAnalysed(error.to_string()),
    }
}

/// The text, with [`UNREADABLE`] for what is no UTF-8: no word that has it is told.
fn as_text(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(text) {
        return Cow::Borrowed(text);
    }
    let parts = text.utf8_chunks().flat_map(|chunk| {
        let end = (!chunk.invalid().is_empty()).then_some(UNREADABLE);
        chunk.valid().chars().chain(end)
    });
    Cow::Owned(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_spoil_the_word_that_has_them() {
        let Answer::Analysed(analysis) = answer(b"git push; echo \xff\xff x > y # \xff") else {
            panic!("not analysed");
        };
        let words = analysis.segments.iter().map(|it| it.argv.clone());
        let push = Some(vec!["git".to_owned(), "push".to_owned()]);
        assert_eq!(words.collect::<Vec<_>>(), [push, None]);
        assert_eq!(analysis.redirects.len(), 1);
        assert!(!analysis.ok);
    }
}
