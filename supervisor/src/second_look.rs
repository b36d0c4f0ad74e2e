//! An image that is not the expected one is judged once more, by what is there.

use execward_policy::{Decision, ExecRequest, Interpreter, Origin};

use crate::attached::InFlight;
use crate::audit::Outcome;
use crate::exec::{Difference, Image, LoadedImage, Loader, Patience, Target, View};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::tracee::{TaskDir, Tid};

/// Why an image that differs from the expected one could not be judged.
#[derive(Debug, thiserror::Error)]
enum Unexplained {
    #[error("cannot look at process {0}: {1}")]
    Look(Tid, String),
    #[error("the image cannot be matched with the name that it was loaded by")]
    Name,
}

impl Gate {
    /// The second decision: a full request from what is seen at the stop. Nobody is asked here, and
    /// nothing that was granted for other facts counts.
    pub(crate) fn judge_different(
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
        outcome.set_loaded(&exe, loaded.execfn(), &argv, self.rules.redaction());
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
        let (lineage, _) = self.lineage_of(view.status());
        let task = &view.status().credentials;
        let mut request = self.describer.describe(named, task, &argv, &cwd, lineage);
        self.add_surroundings(&mut request, view.task(), loaded.env().into());
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
}

/// The argv that was passed, from the one that `#!` lines made of it.
fn argv_before_interpreters(
    named: &Image,
    execfn: &[u8],
    argv: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, Unexplained> {
    if !named.target().is_some_and(|file| file.facts().is_script()) {
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
