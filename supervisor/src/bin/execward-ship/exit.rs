//! Exit statuses: those of `execward`, which are a contract.

use std::process::ExitCode;

/// How the shipper ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Fine: the log's end, or somebody ended it.
    Success,
    /// It was not called as it can be.
    Usage,
    /// Lines of the log are no records. The others were shipped.
    LogDamaged,
    /// Input or output failed.
    Io,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Usage => 2,
            Exit::LogDamaged => 4,
            Exit::Io => 7,
        })
    }
}
