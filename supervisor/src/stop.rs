//! What happens when a traced task stands still: its exec has loaded, or failed.

use std::os::fd::BorrowedFd;

use nix::errno::Errno;

use crate::attached::{Attachment, InFlight};
use crate::audit::{Caller, Outcome};
use crate::exec::{
    Destinations, Difference, Image, LoadedError, LoadedImage, LookupError, Patience, Target,
};
use crate::fault::{self, Phase};
use crate::gate::Gate;
use crate::jobs::{ContentsJob, Job};
use crate::ptrace::{ExecStop, Stopped};
use crate::tracee::{TaskDir, Tid};

/// An image that was loaded as the gate expected one, at its stop.
#[derive(Debug)]
pub(crate) struct Met {
    stop: ExecStop,
    former: Tid,
    exec: InFlight,
    task: TaskDir,
    loaded: LoadedImage,
}

impl Met {
    pub(crate) fn tgid(&self) -> Tid {
        self.stop.tgid()
    }

    /// Whether what any of its files holds was read before the decision.
    fn has_digests(&self) -> bool {
        let mut files = self.exec.image.iter().flat_map(Image::digests);
        files.next().is_some() || !self.read_scripts().is_empty()
    }

    /// The scripts that the call names, if what they hold was.
    fn read_scripts(&self) -> Destinations {
        let judged = self.exec.destinations.iter();
        let read = judged.filter(|(_, it)| it.sha256.is_some());
        read.map(|(path, it)| (path.clone(), it.clone())).collect()
    }
}

impl Gate {
    /// Compares a loaded image with what was expected of it, and lets it run or not.
    pub(crate) fn meet_exec(&mut self, stop: ExecStop) {
        fault::at(Phase::AtStop);
        let tgid = stop.tgid();
        let Ok(former) = stop.former_tid() else {
            // Killed in its stop. Its end, which follows, is the outcome.
            return kill(stop);
        };
        match self.attached.take_loaded(former, tgid) {
            Some(exec) => self.verify(stop, former, exec),
            None if self.is_observed => {
                tracing::warn!(%tgid, "an image was loaded that nothing expected");
                let_run(stop);
            }
            None => {
                tracing::error!(%tgid, "an image was loaded that nothing expected: killed");
                kill(stop);
            }
        }
        self.group_is_free(tgid);
    }

    fn verify(&mut self, stop: ExecStop, former: Tid, mut exec: InFlight) {
        let task = exec.task.take();
        match self.look_at(&stop, &exec, task) {
            Ok((task, loaded, difference)) => {
                let image = Met {
                    stop,
                    former,
                    exec,
                    task,
                    loaded,
                };
                match difference {
                    None if image.has_digests() => self.read_again(image),
                    None => self.compare_scripts(image),
                    Some(_) => self.conclude(image, difference),
                }
            }
            Err(error) => {
                let outcome = Outcome {
                    detail: Some(error.to_string()),
                    ..Outcome::of("killed")
                };
                self.close(stop, former, exec, outcome);
            }
        }
    }

    fn look_at(
        &mut self,
        stop: &ExecStop,
        exec: &InFlight,
        task: Option<TaskDir>,
    ) -> Result<(TaskDir, LoadedImage, Option<Difference>), LoadedError> {
        let look =
            |errno: rustix::io::Errno| LoadedError::Look(Errno::from_raw(errno.raw_os_error()));
        let task = match task {
            Some(task) => task,
            None => self.kernel.proc.task(stop.tgid()).map_err(look)?,
        };
        let is_foreign = exec.expectation.is_foreign;
        let loaded = LoadedImage::read(stop, &task, &self.kernel.loaders, is_foreign)?;
        let difference = exec.expectation.difference(&loaded);
        Ok((task, loaded, difference))
    }

    /// Has a reader see whether files still hold what a rule was held against: reading them may
    /// take long, and the task stands still meanwhile. What an interpreter opens later can change
    /// once more: this narrows the time for that, and does not end it.
    fn read_again(&mut self, image: Met) {
        let digests = image.exec.image.iter().flat_map(Image::digests);
        let (files, digests): (Vec<_>, _) = digests.unzip();
        let files = files.iter().map(BorrowedFd::try_clone_to_owned);
        let Ok(files) = files.collect() else {
            return self.conclude(image, Some(Difference::Digest));
        };
        let job = ContentsJob {
            of: image.stop.tgid(),
            digests,
            scripts: image.read_scripts(),
        };
        let id = self.readers.look_into(files, Job::Contents(job.into()));
        self.awaiting.stops.insert(id, image);
    }

    /// What a reader saw, or that it saw nothing in time.
    pub(crate) fn were_read_again(&mut self, image: Met, are_the_same: bool) {
        if are_the_same {
            self.compare_scripts(image);
        } else {
            self.conclude(image, Some(Difference::Digest));
        }
    }

    fn compare_scripts(&mut self, image: Met) {
        let files = image.exec.image.as_ref();
        let has_scripts = files.is_some_and(|image| image.scripts().next().is_some());
        let differs = has_scripts && !self.scripts_are_unchanged(image.stop.tgid(), &image.exec);
        self.conclude(image, differs.then_some(Difference::Script));
    }

    /// Lets an image run that is the expected one, or is allowed as what it is.
    fn conclude(&mut self, image: Met, difference: Option<Difference>) {
        let Met {
            stop,
            former,
            mut exec,
            task,
            loaded,
        } = image;
        let outcome = match difference {
            None => Outcome::of("verified"),
            Some(difference) => self.judge_different(&mut exec, task, &loaded, difference),
        };
        self.close(stop, former, exec, outcome);
    }

    fn close(&mut self, stop: ExecStop, former: Tid, mut exec: InFlight, outcome: Outcome) {
        let caller = Caller {
            pid: stop.tgid(),
            tid: former,
        };
        let outcome = self.lenient(outcome);
        let runs = outcome.result != "killed";
        // The record comes first; an image whose record is missing does not run.
        let is_recorded = self
            .ledger
            .outcome(exec.exec_id, caller, outcome, &self.watch);
        if runs && (is_recorded || self.is_observed) {
            self.consume_operator_grant(stop.tgid());
            if let Some(outsider) = &mut self.command.outsider {
                outsider.executed(stop.tgid());
            }
            if let Some((image, parent)) = exec.history.take() {
                self.lineages
                    .executed(stop.tgid(), parent, exec.exec_id, image);
            }
            let_run(stop);
        } else {
            kill(stop);
        }
    }

    /// Whether the script's name still leads to the file that was judged, unchanged. This catches
    /// accidents: the interpreter opens the name again later, and content is never promised.
    fn scripts_are_unchanged(&mut self, tgid: Tid, exec: &InFlight) -> bool {
        let Some(image) = &exec.image else {
            return false;
        };
        if !image.scripts().all(|script| script.is_unchanged()) {
            return false;
        }
        if Target::of(&exec.attempt, &exec.args.path).is_by_descriptor() {
            return true;
        }
        let Ok(view) = self.kernel.view(tgid) else {
            return false;
        };
        let target = Target::of_path(&exec.args.path);
        match self.kernel.find(&view, target, Patience::Cached) {
            Ok(again) => {
                again.target().map(|file| file.facts().id)
                    == image.target().map(|file| file.facts().id)
            }
            // Not cached, so on no local file system: what is held is all there is to compare.
            Err(LookupError::WouldWait) => true,
            Err(_) => false,
        }
    }

    /// A task stands still, and not because it has loaded an image: its exec has failed.
    pub(crate) fn meet_stop(&mut self, stopped: Stopped) {
        let tid = stopped.tid();
        match self.attached.take(tid) {
            Some(Attachment::InFlight(exec)) => {
                let errno = stopped.failed_call().map(name_of_errno);
                let caller = Caller {
                    pid: exec.tgid,
                    tid,
                };
                let outcome = Outcome {
                    errno,
                    ..Outcome::of("failed")
                };
                self.ledger
                    .outcome(exec.exec_id, caller, outcome, &self.watch);
                detach(stopped);
                self.group_is_free(exec.tgid);
            }
            Some(Attachment::Releasing { .. }) => detach(stopped),
            None => {
                tracing::warn!(%tid, "a task was traced that nobody seized: let go");
                detach(stopped);
            }
        }
    }

    /// A task is gone.
    pub(crate) fn meet_end(&mut self, tid: Tid) {
        if let Some(image) = self.awaiting.take_stop(tid) {
            self.vanish(image.former, &image.exec);
        }
        for (tid, exec) in self.attached.take_ended(tid) {
            self.vanish(tid, &exec);
            self.group_is_free(exec.tgid);
        }
    }

    /// The session is over: whoever is in an exec still is gone, or ends with the gate, which traces it.
    pub(crate) fn meet_end_of_all(&mut self) {
        for image in self.awaiting.take_stops() {
            self.vanish(image.former, &image.exec);
        }
        for (tid, exec) in self.attached.take_all() {
            self.vanish(tid, &exec);
        }
    }

    fn vanish(&mut self, tid: Tid, exec: &InFlight) {
        let pid = exec.tgid;
        let (caller, vanished) = (Caller { pid, tid }, Outcome::of("vanished"));
        self.ledger
            .outcome(exec.exec_id, caller, vanished, &self.watch);
    }

    /// A new exec of a thread whose last one is still open: that one has failed.
    pub(crate) fn conclude_earlier(&mut self, tid: Tid) {
        if !self.attached.is_in_flight(tid) {
            return;
        }
        let Some(tgid) = self.attached.tgid_of(tid) else {
            return;
        };
        if let Some(exec) = self.release(tid, tgid) {
            let caller = Caller { pid: tgid, tid };
            self.ledger
                .outcome(exec.exec_id, caller, Outcome::of("failed"), &self.watch);
            self.group_is_free(tgid);
        }
    }
}

/// `ENOENT` and the like; numbers that have no name are the kernel's own restarts.
fn name_of_errno(errno: Errno) -> String {
    if errno == Errno::UnknownErrno {
        return "restarted".to_owned();
    }
    format!("{errno:?}")
}

fn detach(stopped: Stopped) {
    if let Err(errno) = stopped.detach() {
        tracing::debug!(%errno, "the stopped task was gone");
    }
}

fn let_run(stop: ExecStop) {
    if let Err(errno) = stop.detach() {
        tracing::debug!(%errno, "the image to run was gone");
    }
}

fn kill(stop: ExecStop) {
    if let Err(errno) = stop.kill() {
        tracing::debug!(%errno, "the image to kill was gone");
    }
}
