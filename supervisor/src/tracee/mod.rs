//! Reading a task: its number, its proc directory, its status, its memory, its rights.

mod credentials;
mod held;
mod lines;
mod memory;
mod pidfd;
mod procfs;
mod status;
mod tid;

pub(crate) use credentials::{Credentials, as_task};
pub(crate) use held::HeldProcesses;
pub(crate) use lines::whole_lines;
pub(crate) use memory::{Memory, MemoryError};
pub(crate) use pidfd::is_alive;
pub(crate) use procfs::{Procfs, ProcfsError, TaskDir, status_below};
pub(crate) use status::{Status, StatusError};
pub(crate) use tid::Tid;
