//! What happens when a traced task stands still: its exec has loaded, or failed.

use execward_policy::{Decision, ExecRequest, Interpreter, Origin};
use nix::errno::Errno;

use crate::attached::{Attachment, InFlight};
use crate::audit::{Caller, Outcome};
use crate::exec::{Difference, Image, LoadedError, LoadedImage, Loader, Patience, Target, View};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::pipeline::is_script;
use crate::ptrace::{ExecStop, Stopped};
use crate::tracee::{TaskDir, Tid};
use crate::watch::Activity;

/// Why an image that differs from the expected one could not be judged.
#[derive(Debug, thiserror::Error)]
enum Unexplained {
    #[error("cannot look at process {0}: {1}")]
    Look(Tid, String),
    #[error("the image cannot be matched with the name that it was loaded by")]
    Name,
}

impl Gate {
    /// Compares a loaded image with what was expected of it, and lets it run or not.
    pub(crate) fn meet_exec(&mut self, stop: ExecStop) {
        let tgid = stop.tgid();
        let found = stop.former_tid().ok().and_then(|former| {
            self.attached
                .take_loaded(former, tgid)
                .map(|exec| (former, exec))
        });
        match found {
            Some((former, exec)) => self.verify(stop, former, exec),
            None => {
                tracing::error!(%tgid, "an image was loaded that nothing expected: killed");
                kill(stop);
            }
        }
        self.group_is_free(tgid);
    }

    fn verify(&mut self, stop: ExecStop, former: Tid, mut exec: InFlight) {
        let task = exec.task.take();
        let caller = Caller {
            pid: stop.tgid(),
            tid: former,
        };
        let outcome = match self.look_at(&stop, &exec, task) {
            Ok((_, _, None)) => Outcome::of("verified"),
            Ok((task, loaded, Some(difference))) => {
                self.judge_different(&mut exec, task, &loaded, difference)
            }
            Err(error) => Outcome {
                detail: Some(error.to_string()),
                ..Outcome::of("killed")
            },
        };
        let runs = outcome.result != "killed";
        // The record comes first; an image whose record is missing does not run.
        if self
            .ledger
            .outcome(exec.exec_id, caller, outcome, &self.watch)
            && runs
        {
            self.consume_operator_grant(stop.tgid());
            if let Some((image, parent)) = exec.history.take() {
                self.lineages.executed(stop.tgid(), parent, image);
            }
            if let Err(errno) = stop.detach() {
                tracing::debug!(%errno, "the verified task was gone");
            }
        } else {
            kill(stop);
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
        let has_scripts = exec
            .image
            .as_ref()
            .is_some_and(|image| image.scripts().next().is_some());
        let difference = match difference {
            None if !self.digests_hold(&task, exec) || !self.pins_hold(stop.tgid(), exec) => {
                Some(Difference::Digest)
            }
            None if has_scripts && !self.scripts_are_unchanged(stop.tgid(), exec) => {
                Some(Difference::Script)
            }
            other => other,
        };
        Ok((task, loaded, difference))
    }

    /// Whether the files have the digests that a rule was held against. Read on this thread: they
    /// are local, and few policies ask for it.
    fn digests_hold(&self, task: &TaskDir, exec: &InFlight) -> bool {
        let Some(image) = exec.image.as_ref().filter(|image| image.is_digested()) else {
            return true;
        };
        let (proc, own) = (&self.kernel.proc, &self.kernel.own);
        self.watch.during(Activity::Reading(task.tid()), || {
            let status = task.status();
            status.is_ok_and(|status| image.has_its_digests(proc, &status.credentials, own))
        })
    }

    /// Whether the scripts that the call names have theirs. The interpreter opens them later: this
    /// narrows the time in which they can change, and does not end it.
    fn pins_hold(&mut self, tgid: Tid, exec: &InFlight) -> bool {
        let judged = exec.destinations.iter();
        let mut pinned = judged.filter(|(_, it)| it.sha256.is_some()).peekable();
        if pinned.peek().is_none() {
            return true;
        }
        let Ok(view) = self.kernel.view(tgid) else {
            return false;
        };
        self.watch.during(Activity::Reading(tgid), || {
            pinned.all(|(path, judged)| {
                let found = self.kernel.digested(&view, path, Patience::Cached);
                found.is_ok_and(|found| found.as_ref() == Some(judged))
            })
        })
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
            Err(crate::exec::LookupError::WouldWait) => true,
            Err(_) => false,
        }
    }

    /// The second decision: a full request from what is seen at the stop. Nobody is asked here, and
    /// nothing that was granted for other facts counts.
    fn judge_different(
        &mut self,
        exec: &mut InFlight,
        task: TaskDir,
        loaded: &LoadedImage,
        difference: Difference,
    ) -> Outcome {
        let argv = loaded.argv();
        let exe = task.link_text("exe").unwrap_or_default();
        let mut outcome = match self.judge_loaded_image(exec, task, loaded, &argv) {
            Ok(judgement) => {
                let result = if judgement.decision == Decision::Allow {
                    "changed"
                } else {
                    "killed"
                };
                Outcome {
                    decision: Some(judgement.decided()),
                    ..Outcome::of(result)
                }
            }
            Err(error) => Outcome {
                detail: Some(error.to_string()),
                ..Outcome::of("killed")
            },
        };
        outcome.difference = Some(difference.as_str());
        outcome.set_loaded(&exe, loaded.execfn(), &argv);
        outcome
    }

    fn judge_loaded_image(
        &mut self,
        exec: &mut InFlight,
        task: TaskDir,
        loaded: &LoadedImage,
        argv: &[Vec<u8>],
    ) -> Result<Judgement, Unexplained> {
        let tgid = task.tid();
        let look = |error: String| Unexplained::Look(tgid, error);
        let status = task.status().map_err(|error| look(error.to_string()))?;
        let view = View::of(task, status, &self.kernel.session)
            .map_err(|errno| look(errno.to_string()))?;
        let exe = self
            .kernel
            .find_loaded(&view)
            .map_err(|error| look(error.to_string()))?;
        let named = if Target::of(&exec.attempt, &exec.args.path).is_by_descriptor() {
            None
        } else {
            let target = Target::of_path(loaded.execfn());
            let named = self.kernel.find(&view, target, Patience::Cached);
            Some(named.map_err(|error| look(error.to_string()))?)
        };
        let named = named.as_ref().unwrap_or(&exe);
        let judgement = self.judge_as(named, exec, &view, loaded, argv)?;
        if names_file(named, &exe) || judgement.decision != Decision::Allow {
            return Ok(judgement);
        }
        // Loaded by way of something else than the name, which may lead elsewhere by now, and back
        // again: it must be allowed by itself.
        self.judge_as(&exe, exec, &view, loaded, argv)
    }

    /// What the policy says of the loaded image as the file that `named` leads to.
    fn judge_as(
        &mut self,
        named: &Image,
        exec: &mut InFlight,
        view: &View,
        loaded: &LoadedImage,
        argv: &[Vec<u8>],
    ) -> Result<Judgement, Unexplained> {
        let argv = argv_before_interpreters(named, loaded.execfn(), argv)?;
        let cwd = view.task().link_text("cwd").unwrap_or_default();
        let lineage = self.lineage_of(view.status());
        let task = &view.status().credentials;
        let mut request = self.describer.describe(named, task, &argv, &cwd, lineage);
        self.add_surroundings(&mut request, view.task(), || loaded.env().into());
        self.add_loader(&mut request, view, loaded);
        request.destinations = exec.destinations.clone();
        // What a file holds now, nobody has read.
        let destinations = request.destinations.values_mut();
        destinations.for_each(|destination| destination.sha256 = None);
        for path in self.rules.named_paths(&request) {
            // What would have to be waited for, nobody can tell: a task at its stop does not wait.
            if !request.destinations.contains_key(&path)
                && let Ok(found) = self.kernel.destinations(view, &[path], Patience::Cached)
            {
                request.destinations.extend(found);
            }
        }
        let judgement = self.judge_loaded(&request);
        exec.history = self.history(&judgement, &request, view.status());
        Ok(judgement)
    }

    /// Puts an ELF interpreter that is not the system's among the files of a call: it is an image
    /// like any, and what a deny or an allow says of it counts. One that cannot be found by its
    /// name, or lies where names prove nothing, makes the program one that no rule allows.
    fn add_loader(&mut self, request: &mut ExecRequest, view: &View, loaded: &LoadedImage) {
        if loaded.has_plain_loader() {
            return;
        }
        let mut is_proven = false;
        if let Loader::Other(mapped, path) = loaded.loader() {
            let target = Target::of_path(path);
            let found = self.kernel.find(view, target, Patience::Cached).ok();
            if let Some(file) = found.as_ref().and_then(|image| image.target()) {
                is_proven = !view.is_foreign() && file.facts().id.inode == mapped.inode;
                request.interpreters.push(Interpreter {
                    file: self
                        .describer
                        .program(file.facts(), &view.status().credentials),
                    argument: None,
                });
            }
        }
        if !is_proven {
            request.program.origin = Origin::Foreign;
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
        if let Some(Attachment::InFlight(exec)) = self.attached.take(tid) {
            let caller = Caller {
                pid: exec.tgid,
                tid,
            };
            self.ledger
                .outcome(exec.exec_id, caller, Outcome::of("vanished"), &self.watch);
            self.group_is_free(exec.tgid);
        }
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

/// The argv that was passed, from the one that `#!` lines made of it.
fn argv_before_interpreters(
    named: &Image,
    execfn: &[u8],
    argv: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, Unexplained> {
    if !named.target().is_some_and(|file| is_script(file.facts())) {
        return Ok(argv.to_vec());
    }
    let front = named.final_argv(&[], execfn);
    let rest = argv
        .strip_prefix(front.as_slice())
        .ok_or(Unexplained::Name)?;
    Ok([execfn.to_vec()]
        .into_iter()
        .chain(rest.iter().cloned())
        .collect())
}

/// Whether `exe` is the file, or an interpreter, that `named` leads to.
fn names_file(named: &Image, exe: &Image) -> bool {
    named
        .loaded_id()
        .is_some_and(|id| exe.target().is_some_and(|file| file.facts().id == id))
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

fn kill(stop: ExecStop) {
    if let Err(errno) = stop.kill() {
        tracing::debug!(%errno, "the image to kill was gone");
    }
}
