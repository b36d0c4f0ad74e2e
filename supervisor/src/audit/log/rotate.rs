//! A log goes on in its next file.

use super::{Log, LogError};
use crate::audit::file::share;
use crate::audit::record::{Body, SegmentNote};
use crate::audit::reserve::Claim;
use crate::audit::rotation::Full;

impl Log {
    /// Begins the next file with what `body` makes of its number, and writes nothing else to the log; whether it could:
    /// not where a session writes.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub(crate) fn begin_with(
        mut self,
        body: impl FnOnce(SegmentNote) -> Body,
    ) -> Result<bool, LogError> {
        let Some(mut next) = self.file.successor()? else {
            return Ok(false);
        };
        let name = next.name.display().to_string();
        self.render(&body(SegmentNote::opened(next.number, name)))?;
        next.file.append(&self.line, Claim::Reserve)?;
        self.file.give_way(next)?;
        Ok(true)
    }

    /// Begins the next file of the log where the present one is full or old. What fails is tried again later, and the
    /// present one goes on.
    pub(super) fn rotate_if_due(&mut self) {
        let Some(why) = self.schedule.is_due().filter(|_| self.seal.is_some()) else {
            return;
        };
        match self.rotate(why) {
            Ok(true) => self.schedule.start_over(),
            undone => {
                self.schedule.postpone();
                if let Err(error) = undone {
                    self.complain(format!("the log goes on in a file that is full: {error}"));
                }
                if let Err(errno) = share(&self.file.file) {
                    tracing::error!(%errno, "the log's lock is not shared any more");
                }
                return;
            }
        }
        self.trouble = None;
        if let Err(error) = self.evict() {
            self.complain(format!("more of the log stays than is to be kept: {error}"));
        }
    }

    /// Whether it could: not where another session writes to the same file.
    fn rotate(&mut self, why: Full) -> Result<bool, LogError> {
        let Some(mut next) = self.file.successor()? else {
            return Ok(false);
        };
        let name = next.name.display().to_string();
        let segment = SegmentNote::closed(next.number - 1, why.as_str());
        self.write(&Body::Close { segment })?;
        let segment = SegmentNote::opened(next.number, name);
        let rendered = self.render(&Body::Open { segment })?;
        next.file.append(&self.line, Claim::Reserve)?;
        let syncers = next.file.file.try_clone()?;
        self.file.give_way(next)?;
        self.wrote(rendered);
        if let Some(syncer) = &self.syncer {
            syncer.go_on_with(syncers);
        }
        Ok(true)
    }

    /// Removes earlier files beyond what is kept, each written down before.
    fn evict(&mut self) -> Result<(), LogError> {
        let Some(kept) = self.schedule.kept_bytes() else {
            return Ok(());
        };
        for (segment, bytes) in self.file.surplus(kept)? {
            let last = self.file.last_of(&segment, bytes)?;
            let name = segment.name.display().to_string();
            let note = SegmentNote::evicted(segment.number, name, bytes, last);
            self.write(&Body::Evicted { segment: note })?;
            self.file.remove(&segment)?;
        }
        Ok(())
    }
}
