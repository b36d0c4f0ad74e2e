//! Threads for look-ups that may wait on a file system.
//!
//! Whoever serves that file system may be in the session and may never answer. A reader that waits
//! for it must not hold the listener open, so each has a descriptor table of its own
//! (unshare(2), `CLONE_FILES`) from before the listener exists; what it opens reaches the gate by
//! SCM_RIGHTS. Readers are never replaced: when all of them are stuck, the session ends.

use std::collections::VecDeque;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use nix::unistd::close;
use rustix::net::{RecvFlags, SendFlags};

use crate::exec::{Image, ImageFacts, LookupError};
use crate::fdpass;
use crate::jobs::{Found, Job};
use crate::kernel::Kernel;

/// How many look-ups may wait at once. Once all of them are past their deadline, the session ends.
pub(crate) const READERS: usize = 8;

/// How long a look-up may take before its exec is refused.
pub(crate) const DEADLINE: Duration = Duration::from_secs(1);

/// Which look-up: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct JobId(u64);

/// The pool, seen from the gate's thread.
#[derive(Debug)]
pub(crate) struct Readers {
    readers: Vec<Reader>,
    waiting: VecDeque<(JobId, Job, Vec<OwnedFd>)>,
    next: u64,
}

#[derive(Debug)]
struct Reader {
    /// Each with whether files are sent along.
    jobs: Sender<(Job, bool)>,
    results: Receiver<Found<ImageFacts>>,
    socket: OwnedFd,
    at: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Reading {
        job: JobId,
        since: Instant,
    },
    /// Past the deadline: its exec was answered, and its result will be dropped.
    Stuck,
}

/// What the pool has to say.
#[derive(Debug)]
pub(crate) enum Finding {
    /// The look-up is done.
    Done(JobId, Found<Image>),
    /// The look-up is past its deadline.
    Late(JobId),
    /// Every reader is stuck.
    AllStuck,
}

impl Readers {
    /// Starts the readers. No descriptor that the session may depend on being closed may be open
    /// yet, the listener above all.
    ///
    /// # Errors
    /// If a thread, a socket or a copy of a descriptor cannot be had.
    pub(crate) fn start(kernel: &Kernel) -> std::io::Result<Self> {
        let readers = (0..READERS).map(|_| Reader::start(kernel));
        Ok(Self {
            readers: readers.collect::<Result<_, _>>()?,
            waiting: VecDeque::new(),
            next: 0,
        })
    }

    /// Hands a look-up to the next free reader.
    pub(crate) fn look_up(&mut self, job: Job) -> JobId {
        self.look_into(Vec::new(), job)
    }

    /// The same of `files`, at most as many as an image has.
    pub(crate) fn look_into(&mut self, files: Vec<OwnedFd>, job: Job) -> JobId {
        let id = JobId(self.next);
        self.next += 1;
        self.waiting.push_back((id, job, files));
        self.dispatch();
        id
    }

    /// What to poll for [`Readers::findings`].
    pub(crate) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.readers.iter().map(|reader| reader.socket.as_fd())
    }

    /// How many hang in a file system that does not answer, of how many.
    pub(crate) fn stuck(&self) -> (usize, usize) {
        let stuck = self
            .readers
            .iter()
            .filter(|reader| reader.at == State::Stuck);
        (stuck.count(), self.readers.len())
    }

    /// When the next look-up is late.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.readers.iter().filter_map(Reader::deadline).min()
    }

    /// What has come in, and what is late at `now`.
    pub(crate) fn findings(&mut self, now: Instant) -> Vec<Finding> {
        let mut found = Vec::new();
        for reader in &mut self.readers {
            if let Some(finding) = reader.take_result() {
                found.push(finding);
            }
            if let State::Reading { job, since } = reader.at
                && now.duration_since(since) >= DEADLINE
            {
                reader.at = State::Stuck;
                found.push(Finding::Late(job));
            }
        }
        if self.readers.iter().all(|reader| reader.at == State::Stuck) {
            found.push(Finding::AllStuck);
        }
        self.dispatch();
        found
    }

    fn dispatch(&mut self) {
        let mut idle = self
            .readers
            .iter_mut()
            .filter(|reader| reader.at == State::Idle);
        while let Some((id, job, files)) = self.waiting.pop_front() {
            let Some(reader) = idle.next() else {
                self.waiting.push_front((id, job, files));
                return;
            };
            // A reader whose thread is gone is as good as stuck: its look-up runs late.
            if reader.jobs.send((job, reader.hand_over(&files))).is_err() {
                tracing::error!("a reader thread is gone");
            }
            reader.at = State::Reading {
                job: id,
                since: Instant::now(),
            };
        }
    }
}

impl Reader {
    fn start(kernel: &Kernel) -> std::io::Result<Self> {
        let (socket, theirs) = fdpass::pair()?;
        let kernel = kernel.try_clone()?;
        let its_own = kernel.descriptors().into_iter().chain([theirs.as_raw_fd()]);
        let (jobs, job_receiver) = channel();
        let (result_sender, results) = channel();
        let (ready_sender, ready) = channel();
        let build = thread::Builder::new()
            .name("reader".into())
            .stack_size(256 << 10);
        build.spawn(move || {
            let unshared = unshare(CloneFlags::CLONE_FILES);
            let is_ready = unshared.is_ok();
            if ready_sender.send(unshared).is_ok() && is_ready {
                serve(kernel, &job_receiver, &result_sender, theirs.as_fd());
            }
        })?;
        // Not before its table is its own may the gate open what must be closed with it.
        ready.recv().map_err(std::io::Error::other)??;
        // What moved into the thread is open in its table; the same numbers here are copies that
        // nobody owns.
        for copy in its_own {
            close(copy)?;
        }
        Ok(Self {
            jobs,
            results,
            socket,
            at: State::Idle,
        })
    }

    /// Sends copies of `files`; whether there are any to be received.
    fn hand_over(&self, files: &[OwnedFd]) -> bool {
        let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        let sent = || fdpass::send(self.socket.as_fd(), b"f", &files, SendFlags::DONTWAIT);
        !files.is_empty() && sent().is_ok()
    }

    fn deadline(&self) -> Option<Instant> {
        match self.at {
            State::Reading { since, .. } => Some(since + DEADLINE),
            State::Idle | State::Stuck => None,
        }
    }

    fn take_result(&mut self) -> Option<Finding> {
        let received = fdpass::receive(self.socket.as_fd(), &mut [0], RecvFlags::DONTWAIT);
        let (_, fds) = received.ok().filter(|(len, _)| *len > 0)?;
        let result = self.results.try_recv().ok()?;
        let before = std::mem::replace(&mut self.at, State::Idle);
        let State::Reading { job, .. } = before else {
            return None;
        };
        let found = result.map(|facts| {
            let image = Image::from_parts(facts, fds);
            image.ok_or(LookupError::Kernel(rustix::io::Errno::MFILE))
        });
        Some(Finding::Done(job, found))
    }
}

/// A reader's life: one look-up after the other, until the gate is gone.
fn serve(
    mut kernel: Kernel,
    jobs: &Receiver<(Job, bool)>,
    results: &Sender<Found<ImageFacts>>,
    socket: BorrowedFd<'_>,
) {
    while let Ok((job, has_files)) = jobs.recv() {
        let received = has_files.then(|| fdpass::receive(socket, &mut [0], RecvFlags::empty()));
        let files = received.and_then(Result::ok).unwrap_or_default().1;
        let mut held = Vec::new();
        let found = job.run(&files, &mut kernel).map(|image| {
            let (facts, fds) = image.into_parts();
            held = fds;
            Ok(facts)
        });
        let fds: Vec<_> = held.iter().map(AsFd::as_fd).collect();
        let sent = results.send(found).is_ok()
            && fdpass::send(socket, b"r", &fds, SendFlags::empty()).is_ok();
        if !sent {
            return;
        }
    }
}
