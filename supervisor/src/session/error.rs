//! Why a session did not start.

use std::io;

use crate::audit::LogError;
use crate::hidden::HideError;
use crate::newcomer::NewcomerError;
use crate::outward;
use crate::pid_namespace::PidNamespaceError;
use crate::sealed;
use crate::system::{DOCTOR, SystemError};
use crate::user::UserError;

/// Why a session did not start. Its text is shown behind `execward: `, and nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error("{0}")]
    Places(#[from] crate::places::PlacesError),
    #[error("{0}")]
    Policy(#[from] crate::policy::PolicyError),
    #[error("{0}")]
    User(#[from] UserError),
    #[error("{0}")]
    Grants(#[from] crate::grants::StoreError),
    #[error("{0}")]
    Hide(#[from] HideError),
    #[error("{0}")]
    Past(#[from] crate::past::PastError),
    #[error("{0}")]
    PidNamespace(#[from] PidNamespaceError),
    #[error("{0}")]
    Outward(#[from] outward::OutwardError),
    #[error("{0}; {DOCTOR}")]
    Seal(#[from] sealed::SealError),
    #[error("{0}")]
    WayOut(#[from] crate::way_out::WayOutError),
    #[error("{0}")]
    Log(#[from] LogError),
    #[error(
        "the audit log `{0}` is on a file system whose type is not known to be local (FUSE, a \
         network's, proc), and whoever serves it could keep the gate waiting; name another with \
         --audit, or keep it there all the same with --audit-unstable"
    )]
    LogNotLocal(String),
    #[error("{0}")]
    System(#[from] SystemError),
    #[error("{0}")]
    Diagnostics(#[from] crate::diagnostics::DiagnosticsError),
    #[error(
        "cannot write to the audit log `{path}`: {error}; make room, or name another with --audit"
    )]
    FirstRecord { path: String, error: LogError },
    #[error("{0}; --prompt none does without")]
    Control(#[from] crate::control::ControlError),
    #[error("{0}; {DOCTOR}")]
    Shim(String),
    #[error("{0}")]
    Newcomer(#[from] NewcomerError),
    #[error("the process that handed itself over is gone: {0}")]
    Gone(io::Error),
}

impl SessionError {
    /// What a process that handed itself over is told: what is the matter with itself, and of nothing else that
    /// execward keeps.
    pub(super) fn for_newcomer(&self) -> String {
        if let Self::Newcomer(error) = self {
            return error.to_string();
        }
        "there is no session; the supervisor's own output says why".to_owned()
    }
}
