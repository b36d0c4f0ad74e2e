//! Steps of a session's start that the system refused, in one line with what to do next.

use std::fmt;
use std::io;

use nix::errno::Errno;

/// The last words of a start that the system refused.
pub(crate) const DOCTOR: &str = "`execward doctor` says what holds here";

/// A message without them.
pub(crate) fn without_doctor(message: &str) -> &str {
    let rest = message.strip_suffix(DOCTOR);
    rest.map_or(message, |rest| rest.trim_end_matches("; "))
}

/// Such a step.
#[derive(Debug)]
pub(crate) struct SystemError {
    what: &'static str,
    error: io::Error,
}

/// For `map_err`: the system refused to `what`.
pub(crate) fn cannot<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> SystemError {
    move |error| SystemError {
        what,
        error: error.into(),
    }
}

impl std::error::Error for SystemError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, error } = self;
        write!(f, "cannot {what}: {error}")?;
        if let Some(step) = next_step(error) {
            write!(f, "; {step}")?;
        }
        write!(f, "; {DOCTOR}")
    }
}

/// What whoever started the session can do about it.
#[expect(clippy::wildcard_enum_match_arm, reason = "errnos are an open set")]
fn next_step(error: &io::Error) -> Option<&'static str> {
    match Errno::from_raw(error.raw_os_error()?) {
        Errno::EMFILE => Some("raise the limit of open files (`ulimit -n`)"),
        Errno::EAGAIN => {
            Some("raise the limit of processes (`ulimit -u`, a container's pids limit)")
        }
        Errno::ENOSYS | Errno::EPERM => Some(
            "a seccomp profile (a container's, a service's) or a security module may forbid it: \
             allow it there",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_refuses_is_told_with_the_next_step() {
        let told = |errno: Errno| cannot("start the gate")(errno).to_string();
        assert_eq!(
            told(Errno::EMFILE),
            "cannot start the gate: Too many open files (os error 24); raise the limit of open \
             files (`ulimit -n`); `execward doctor` says what holds here"
        );
        let step = |errno| without_doctor(&told(errno)).to_owned();
        assert!(step(Errno::EAGAIN).ends_with("(`ulimit -u`, a container's pids limit)"));
        assert!(step(Errno::EPERM).ends_with("allow it there"));
        assert!(step(Errno::ENOMEM).ends_with("(os error 12)"));
    }
}
