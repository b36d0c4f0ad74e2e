//! What the gate's thread is doing, for those that must act when it stands still.
//!
//! The gate's thread stores a word when it starts something that may hang and another when it is
//! done; that is all it costs. A thread beside it looks twice a second, acts where a task keeps the
//! gate waiting, or the disk does when the front is gone, and copies the word into memory that the
//! front shares.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::getppid;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::time::{ClockId, clock_gettime};

use crate::kin;
use crate::tracee::{Procfs, Tid};

/// How often the gate is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long the gate may sleep inside one read of a task's memory before the task is killed.
pub(crate) const READ_DEADLINE: Duration = Duration::from_secs(1);

/// How much longer before the session is ended: whoever serves that memory may be another task.
pub(crate) const SESSION_DEADLINE: Duration = Duration::from_secs(5);

/// What the gate's thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Waiting for an event, or computing.
    Free,
    /// Reading the memory or the proc files of this task.
    Reading(Tid),
    /// Writing a record.
    Recording,
}

/// The gate's side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    word: Arc<AtomicU64>,
    killed: Arc<AtomicU32>,
    /// Whether the gate knows that the front is gone, or goes.
    needs_no_front: Arc<AtomicBool>,
}

/// The memory that gate and front share.
#[derive(Debug)]
pub(crate) struct Pulse {
    file: File,
}

/// One look at the gate, as the front sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    /// When the watching thread last looked, on the monotonic clock.
    pub(crate) at: Duration,
    /// What the gate's thread was doing.
    pub(crate) activity: Activity,
    /// Since when without a change.
    pub(crate) since: Duration,
}

impl Activity {
    fn to_word(self) -> u64 {
        match self {
            Self::Free => 0,
            Self::Recording => 1,
            Self::Reading(tid) => 1 << 32 | u64::from(tid.as_u32()),
        }
    }

    fn from_word(word: u64) -> Self {
        match (word >> 32, u32::try_from(word & 0xffff_ffff)) {
            (0, Ok(1)) => Self::Recording,
            (1, Ok(tid)) => Self::Reading(Tid::new(tid)),
            _ => Self::Free,
        }
    }
}

impl Watch {
    /// Runs `act` as `activity`. Twice the same makes two different words, so that a watcher sees
    /// a change even between two reads of one task.
    pub(crate) fn during<T>(&self, activity: Activity, act: impl FnOnce() -> T) -> T {
        let turn = (self.word.load(Ordering::Relaxed) >> 34).wrapping_add(1);
        self.word
            .store(turn << 34 | activity.to_word(), Ordering::Relaxed);
        let result = act();
        self.word.store(turn << 34, Ordering::Relaxed);
        result
    }

    /// Whether `tid` was killed since its memory did not answer. It is told once: numbers come again.
    pub(crate) fn has_killed(&self, tid: Tid) -> bool {
        let number = tid.as_u32();
        let (done, seen) = (Ordering::Acquire, Ordering::Relaxed);
        self.killed.compare_exchange(number, 0, done, seen).is_ok()
    }

    /// From here on the session goes on without its front, also where the disk is slow.
    pub(crate) fn needs_no_front(&self) {
        self.needs_no_front.store(true, Ordering::Relaxed);
    }

    /// Starts the watching thread for the calling thread. `pulse` is what the front shares.
    ///
    /// # Errors
    /// If the thread cannot be had.
    pub(crate) fn start(proc: Procfs, pulse: Pulse) -> io::Result<Self> {
        let watch = Self::default();
        let watched = watch.clone();
        let gate = Tid::own();
        let build = thread::Builder::new()
            .name("watch".into())
            .stack_size(128 << 10);
        build.spawn(move || look_on(&watched, &proc, &pulse, gate))?;
        Ok(watch)
    }
}

fn look_on(watch: &Watch, proc: &Procfs, pulse: &Pulse, gate: Tid) {
    let mut seen = watch.word.load(Ordering::Relaxed);
    let (mut since, mut since_clock) = (Instant::now(), monotonic());
    let mut has_killed = false;
    let front = getppid();
    loop {
        thread::sleep(LOOK_EVERY);
        let now = watch.word.load(Ordering::Relaxed);
        // A thread that is ready to run and gets no processor does not hang.
        let sleeps = proc
            .status(gate)
            .is_ok_and(|status| matches!(status.state, b'S' | b'D'));
        if now != seen || !sleeps {
            seen = now;
            (since, since_clock) = (Instant::now(), monotonic());
            has_killed = false;
        }
        let activity = Activity::from_word(now & ((1 << 34) - 1));
        pulse.write(Beat {
            at: monotonic(),
            activity,
            since: since_clock,
        });
        if activity == Activity::Recording && since.elapsed() >= READ_DEADLINE && getppid() != front
        {
            // The gate's thread would end the session and cannot. Its own diagnostics may lie on the disk
            // that does not answer.
            kin::kill_descendants(proc, &[gate]);
        }
        let Activity::Reading(tid) = activity else {
            continue;
        };
        if since.elapsed() >= READ_DEADLINE + SESSION_DEADLINE {
            tracing::error!(%tid, "a task's memory cannot be read: ending the session");
            kin::kill_descendants(proc, &[gate]);
        } else if since.elapsed() >= READ_DEADLINE && !has_killed {
            tracing::error!(%tid, "a task's memory cannot be read: killing it");
            watch.killed.store(tid.as_u32(), Ordering::Release);
            if let Err(errno) = kill(tid.as_pid(), Signal::SIGKILL) {
                tracing::error!(%tid, %errno, "cannot kill it");
            }
            has_killed = true;
        }
    }
}

/// Bytes of a beat: three little-endian words.
const BEAT_BYTES: usize = 24;

impl Pulse {
    /// # Errors
    /// What memfd_create(2) answers.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            file: memfd_create("execward-pulse", MemfdFlags::CLOEXEC)?.into(),
        })
    }

    pub(crate) fn from_fd(fd: OwnedFd) -> Self {
        Self { file: fd.into() }
    }

    /// The last look, if there was one.
    pub(crate) fn read(&self) -> Option<Beat> {
        let mut bytes = [0; BEAT_BYTES];
        self.file.read_exact_at(&mut bytes, 0).ok()?;
        let mut words = bytes.chunks_exact(8).map(|raw| {
            raw.iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(*byte))
        });
        let at = Duration::from_nanos(words.next()?);
        let activity = Activity::from_word(words.next()?);
        Some(Beat {
            at,
            activity,
            since: Duration::from_nanos(words.next()?),
        })
    }

    fn write(&self, beat: Beat) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let words = [
            nanoseconds(beat.at),
            beat.activity.to_word(),
            nanoseconds(beat.since),
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if let Err(error) = self.file.write_all_at(&bytes, 0) {
            tracing::debug!(%error, "cannot tell the front how the gate is");
        }
    }
}

impl AsFd for Pulse {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// `CLOCK_MONOTONIC`, which two processes share.
pub(crate) fn monotonic() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_comes_back_as_it_was_written() {
        let pulse = Pulse::new().unwrap();
        assert_eq!(pulse.read(), None);
        for activity in [
            Activity::Free,
            Activity::Recording,
            Activity::Reading(Tid::new(77)),
        ] {
            let beat = Beat {
                at: monotonic(),
                activity,
                since: Duration::from_secs(3),
            };
            pulse.write(beat);
            assert_eq!(pulse.read(), Some(beat));
        }
    }

    #[test]
    fn the_same_activity_twice_makes_two_words() {
        let watch = Watch::default();
        let word = || watch.word.load(Ordering::Relaxed);
        let first = watch.during(Activity::Recording, word);
        let second = watch.during(Activity::Recording, word);
        assert_ne!(first, second);
    }
}
