//! Exit statuses. They are a contract.

use std::process::ExitCode;

use crate::ptrace::CommandStatus;

/// How execward ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Fine.
    Success,
    /// A finding: what was asked for is not so, or not done.
    Finding,
    /// Usage or a policy fault, everywhere but in `run`.
    Usage,
    /// `check`: the call would be asked about.
    WouldAsk,
    /// `check`: it would be denied.
    WouldDeny,
    /// The log is damaged.
    LogDamaged,
    /// No session is live that could answer.
    NoSupervisor,
    /// Input or output failed.
    Io,
    /// `run`: execward itself failed, usage and policy included. Nothing ran uncovered.
    OwnFailure,
    /// `run`: as CMD ended.
    Command(CommandStatus),
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Success | ExitStatus::Command(CommandStatus::Unseen) => 0,
            ExitStatus::Finding => 1,
            ExitStatus::Usage => 2,
            ExitStatus::WouldAsk => 3,
            ExitStatus::WouldDeny | ExitStatus::LogDamaged => 4,
            ExitStatus::NoSupervisor => 6,
            ExitStatus::Io => 7,
            ExitStatus::OwnFailure => 125,
            ExitStatus::Command(CommandStatus::Exited(code)) => code,
            ExitStatus::Command(CommandStatus::Signaled(signal)) => {
                u8::try_from(128 + signal).unwrap_or(u8::MAX)
            }
        })
    }
}
