//! Execs in a storm of signals: on kernels before 6.18 an answer that meets a signal can be lost, and
//! the exec comes again, to be judged again.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};

use super::inside::{denied, exec};

/// How many execs a storm has, and how long it takes at most.
const EXECS: u32 = 500;
const LONGEST: Duration = Duration::from_secs(3);

/// Between two signals: about as long as an answer takes, so that both meet.
const PAUSE: Duration = Duration::from_micros(20);

/// The signal of a storm.
pub(super) const SIGNAL: Signal = Signal::SIGUSR1;

/// What the execs of a storm met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Storm {
    /// How many were tried.
    pub(super) tried: u32,
    /// How many were refused.
    pub(super) refused: u32,
    /// How many signals were sent meanwhile.
    pub(super) signals: u32,
}

/// From here on [`SIGNAL`] interrupts what this process waits in, and does nothing else. Calls that
/// are interrupted start again (`SA_RESTART`).
pub(super) fn catch_signals() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let _context = runtime.enter();
    // The handler stays when the stream of its signals is gone.
    signal(SignalKind::from_raw(SIGNAL as i32)).map(drop)
}

/// Has a storm over this process, which must have no other thread.
pub(super) fn endure() -> io::Result<Storm> {
    catch_signals()?;
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    let sender = thread::spawn(|| {
        let mut own = SigSet::empty();
        own.add(SIGNAL);
        own.thread_block()?;
        let mut sent = 0;
        while !IS_OVER.load(Ordering::Relaxed) {
            kill(Pid::this(), SIGNAL)?;
            sent += 1;
            thread::sleep(PAUSE);
        }
        Ok::<u32, Errno>(sent)
    });
    let mut storm = Storm::default();
    let began = Instant::now();
    while storm.tried < EXECS && began.elapsed() < LONGEST {
        storm.tried += 1;
        let Err(errno) = exec(&denied(storm.tried));
        storm.refused += u32::from(errno == Errno::EPERM);
    }
    IS_OVER.store(true, Ordering::Relaxed);
    let sent = sender.join().unwrap_or(Err(Errno::EAGAIN));
    storm.signals = sent.unwrap_or(0);
    Ok(storm)
}
