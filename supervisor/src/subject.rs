//! An exec on its way from the kernel's question to the answer.

use std::time::Instant;

use execward_policy::{ExecRequest, Ruleset};

use crate::approval::{CallDigest, FactsDigest};
use crate::audit::{Caller, History, Program};
use crate::exec::{Destinations, ExecArgs, ExecAttempt, Expectation, Image, View};
use crate::parking::Asked;
use crate::room::Share;
use crate::shell::Analysis;

/// An exec whose path is read and whose file is not yet known. Its strings are read once it is.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) received: Instant,
    pub(crate) caller: Caller,
    pub(crate) program: Program,
    pub(crate) attempt: ExecAttempt,
    pub(crate) args: ExecArgs,
    pub(crate) view: View,
    /// Its place among all that are held.
    pub(crate) share: Share,
    pub(crate) cwd: Vec<u8>,
    /// Whether the digests of its files were taken, or tried.
    pub(crate) is_digested: bool,
    /// The scripts whose digests were.
    pub(crate) scripts: Vec<Vec<u8>>,
    /// The paths that it names, once they are followed.
    pub(crate) named: Option<Vec<Vec<u8>>>,
    /// Where they lead.
    pub(crate) destinations: Destinations,
    /// What is known of the text that it gives to a shell, or why nothing is; present once that was
    /// asked.
    pub(crate) text: Option<Result<Analysis, String>>,
    /// Present once a person was asked about it.
    pub(crate) asked: Option<Box<Asked>>,
}

impl Subject {
    /// Has the record say which arguments it has, and where it works.
    pub(crate) fn keep_strings(&mut self, rules: &Ruleset) {
        self.program.set_argv(&self.args.argv, rules.redaction());
        self.program.set_cwd(&self.cwd);
    }

    /// And which file it is.
    pub(crate) fn keep_file(&mut self, image: &Image, rules: &Ruleset) {
        if let Some(target) = image.target() {
            self.program.set_file(target.facts(), rules.redaction());
        }
    }

    /// And what else the policy was asked with.
    pub(crate) fn keep_inputs(
        &mut self,
        request: &ExecRequest,
        rules: &Ruleset,
        history: Option<History>,
    ) {
        let (variables, redaction) = (rules.variables(request), rules.redaction());
        self.program
            .set_inputs(request, &variables, history, redaction);
    }

    /// What an answer about this exec is bound to, once its strings are read.
    pub(crate) fn digest(&self, image: &Image) -> FactsDigest {
        FactsDigest::of(self, image)
    }

    /// What a no to this exec holds for.
    pub(crate) fn call(&self, image: &Image) -> CallDigest {
        CallDigest::of(&self.args, &self.cwd, image)
    }

    /// What must be found at the exec-stop if `image` is loaded with the subject's strings.
    pub(crate) fn expectation(&self, image: &Image) -> Expectation {
        // A question to the kernel, not an exec: nothing may load.
        let loads = !self.attempt.flags.is_check_only();
        let exe = image.loaded_id().filter(|_| loads);
        let args = &self.args;
        let execfn = args.execfn(&self.attempt);
        let argv = image.final_argv(&args.argv, &execfn);
        Expectation::new(exe, &argv, &args.envp, execfn, self.view.is_foreign())
    }
}
