//! The thread that has what is written reach the disk, and writes nothing itself.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long the log is left alone between syncs. What is written while one is under way waits for its end,
/// this long, and for the next: with 12 ms for each (the slowest hundredth on an ordinary disk) a power cut
/// takes a tenth of a second.
const SYNC_EVERY: Duration = Duration::from_millis(75);

/// How often a disk that does not sync is complained about.
const COMPLAIN_EVERY: Duration = Duration::from_secs(60);

/// What its thread is told.
#[derive(Debug)]
pub(super) struct Syncer {
    dirty: SyncSender<()>,
    files: Sender<File>,
}

impl Syncer {
    /// Starts the thread, for `file`.
    ///
    /// # Errors
    /// If it cannot be had.
    pub(super) fn start(file: File) -> io::Result<Self> {
        let (dirty, is_dirty) = sync_channel(1);
        let (files, next) = channel();
        thread::Builder::new()
            .name("log-sync".into())
            .stack_size(128 << 10)
            .spawn(move || sync(file, &is_dirty, &next))?;
        Ok(Self { dirty, files })
    }

    /// Tells the thread that something was written; whether it is there to hear it.
    pub(super) fn tell(&self) -> bool {
        match self.dirty.try_send(()) {
            Ok(()) | Err(TrySendError::Full(())) => true,
            Err(TrySendError::Disconnected(())) => false,
        }
    }

    /// What is written from here on is in `file`; all before is on the disk.
    pub(super) fn go_on_with(&self, file: File) {
        if self.files.send(file).is_err() {
            tracing::error!(
                "the thread that syncs the log is gone: each record is synced as it is written"
            );
        }
    }
}

/// Syncs at most every [`SYNC_EVERY`], and only when something was written.
fn sync(mut file: File, dirty: &Receiver<()>, next: &Receiver<File>) {
    let mut failed_at: Option<Instant> = None;
    while dirty.recv().is_ok() {
        thread::sleep(SYNC_EVERY);
        if let Some(newest) = next.try_iter().last() {
            file = newest;
        }
        if let Err(error) = file.sync_data()
            && failed_at.is_none_or(|at| at.elapsed() > COMPLAIN_EVERY)
        {
            failed_at = Some(Instant::now());
            tracing::error!(%error, "cannot sync the audit log");
        }
    }
}
