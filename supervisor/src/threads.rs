//! The gate's threads beside its own.

use crate::audit::Log;
use crate::kernel::Kernel;
use crate::notices::Notices;
use crate::own_process::raise_limits;
use crate::readers::Readers;
use crate::session::SessionError;
use crate::system::cannot;
use crate::watch::{Pulse, Watch};

/// The threads that may wait where the gate may not, each started before the listener exists.
#[derive(Debug)]
pub(crate) struct Threads {
    pub(crate) readers: Readers,
    pub(crate) notices: Notices,
    pub(crate) watch: Watch,
    pub(crate) log: Log,
}

impl Threads {
    /// # Errors
    /// If one cannot be had.
    pub(crate) fn start(kernel: &Kernel, pulse: Pulse, log: Log) -> Result<Self, SessionError> {
        raise_limits();
        let proc = kernel
            .proc
            .try_clone()
            .map_err(cannot("copy a descriptor"))?;
        Ok(Self {
            readers: Readers::start(kernel).map_err(cannot(
                "start the threads that look files up, with descriptor tables of their own \
                 (unshare)",
            ))?,
            notices: Notices::start().map_err(cannot("start the thread that tells of refusals"))?,
            watch: Watch::start(proc, pulse).map_err(cannot("start the watching thread"))?,
            log: log
                .start_syncing()
                .map_err(cannot("start the log's thread"))?,
        })
    }
}
