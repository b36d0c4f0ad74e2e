//! A call that nobody makes: its file is looked up as the gate would for this very process.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;

use execward_policy::{Ancestor, ExecRequest, Lineage, ProgramFile, Ruleset, ToolCall, Verdict};
use rustix::fs::{Access, AtFlags, CWD, FileType, accessat, stat};

use super::CheckError;
use crate::clock;
use crate::describer::Describer;
use crate::exec::{Destinations, LookupError, Patience, Target, View};
use crate::kernel::Kernel;
use crate::named::NamedFiles;
use crate::preflight::{self, Followed};
use crate::recorded::RecordedCall;
use crate::settled::Settled;
use crate::shell::{self, Analyser, Given};
use crate::tracee::Tid;

/// Most wrappers around one another that are followed.
const WRAPPERS_MAX: usize = 64;

/// Where a bare name is taken to be if no directory of PATH has it.
const BARE_DIRECTORY: &[u8] = b"/usr/bin/";

/// A program and its arguments.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) path: Vec<u8>,
    pub(super) argv: Vec<Vec<u8>>,
    /// Where, if not here.
    pub(super) cwd: Option<Vec<u8>>,
    /// Where `path` led, if that is known.
    pub(super) resolved: Option<Vec<u8>>,
}

impl Call {
    /// The call that a shell would make of these words.
    pub(super) fn typed(words: &[OsString]) -> Result<Self, CheckError> {
        let argv: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let program = argv.first().cloned().unwrap_or_default();
        if program.is_empty() {
            return Err(CheckError::NoProgram);
        }
        let path = if program.contains(&b'/') {
            program
        } else {
            on_path(&program).unwrap_or_else(|| [BARE_DIRECTORY, &program].concat())
        };
        let cwd = None;
        Ok(Self {
            path,
            argv,
            cwd,
            resolved: None,
        })
    }
}

impl From<RecordedCall> for Call {
    fn from(call: RecordedCall) -> Self {
        let RecordedCall {
            path,
            argv,
            cwd,
            resolved,
        } = call;
        Self {
            path,
            argv,
            cwd,
            resolved,
        }
    }
}

/// The first executable file of that name, as execvp(3) searches.
fn on_path(name: &[u8]) -> Option<Vec<u8>> {
    let path = std::env::var_os("PATH")?;
    let candidates = path
        .as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| {
            let directory = if directory.is_empty() {
                b".".as_slice()
            } else {
                directory
            };
            [directory, b"/", name].concat()
        });
    let mut found = candidates.filter(|candidate| {
        let is_file = stat(candidate.as_slice())
            .is_ok_and(|seen| FileType::from_raw_mode(seen.st_mode) == FileType::RegularFile);
        is_file && accessat(CWD, candidate.as_slice(), Access::EXEC_OK, AtFlags::empty()).is_ok()
    });
    found.next()
}

/// What a look-up comes to.
#[derive(Debug)]
pub(super) enum Found {
    /// A question for the policy.
    Request(Box<ExecRequest>),
    /// The kernel would answer with this.
    Missing(String),
}

/// This process, in the place of a task of the session.
#[derive(Debug)]
pub(super) struct Caller {
    kernel: Kernel,
    view: View,
    describer: Describer,
}

impl Caller {
    /// Asks about files that `named` knows by other names.
    pub(super) fn new(named: NamedFiles) -> Result<Self, CheckError> {
        let failed = |error: String| CheckError::LookUp(error);
        let kernel = Kernel::open().map_err(|error| failed(error.to_string()))?;
        let view = kernel.view(Tid::own());
        let view = view.map_err(|errno| failed(errno.to_string()))?;
        let root = kernel.session.root().try_clone();
        let root = root.map_err(|errno| failed(errno.to_string()))?;
        let describer = Describer {
            settled: Settled::since_now(kernel.own.clone(), kernel.own.clone(), root),
            named,
        };
        Ok(Self {
            kernel,
            view,
            describer,
        })
    }

    /// The question that the policy is asked. A file that is not there is taken as if it were,
    /// unless `as_missing`.
    pub(super) fn find(
        &mut self,
        call: &Call,
        rules: &Ruleset,
        as_missing: bool,
    ) -> Result<Found, CheckError> {
        let mut found = self.find_program(call, rules, as_missing)?;
        if let Found::Request(request) = &mut found {
            request.destinations = self.destinations(&rules.named_paths(request))?;
            let failed = |error: LookupError| CheckError::LookUp(error.to_string());
            if rules.wants_digests(request, clock::now()) {
                for path in rules.scripts(request) {
                    let found = self.kernel.digested(&self.view, &path, Patience::Waiting);
                    let found = found.map_err(failed)?;
                    request.destinations.extend(found.map(|it| (path, it)));
                }
            }
        }
        Ok(found)
    }

    /// Where this process works.
    fn directory(&self) -> Option<Vec<u8>> {
        self.view.task().link_text("cwd").ok()
    }

    /// Makes the call one of this process: where it works, and where what it names leads.
    pub(super) fn place(&mut self, call: &mut ToolCall) -> Result<(), CheckError> {
        call.cwd = self.directory();
        call.destinations = self.destinations(&call.named_paths())?;
        Ok(())
    }

    /// Where each of `paths`, absolute, leads. Those of which nobody can tell are left out.
    fn destinations(&mut self, paths: &[Vec<u8>]) -> Result<Destinations, CheckError> {
        let found = self
            .kernel
            .destinations(&self.view, paths, Patience::Waiting);
        found.map_err(|error| CheckError::LookUp(error.to_string()))
    }

    fn find_program(
        &mut self,
        call: &Call,
        rules: &Ruleset,
        as_missing: bool,
    ) -> Result<Found, CheckError> {
        let target = Target::of_path(&call.path);
        let cwd = match &call.cwd {
            Some(cwd) => cwd.clone(),
            None => self.directory().unwrap_or_default(),
        };
        let own = &self.kernel.own.clone();
        let found = self.kernel.find(&self.view, target, Patience::Waiting);
        match found {
            Ok(mut image) => {
                let mut ask = |image: &_| {
                    let lineage = Lineage::default();
                    self.describer
                        .describe(image, own, &call.argv, &cwd, lineage)
                };
                let request = ask(&image);
                if !rules.wants_digests(&request, clock::now()) {
                    return Ok(Found::Request(request.into()));
                }
                image.take_digests(&self.kernel.proc, own, own);
                Ok(Found::Request(ask(&image).into()))
            }
            Err(LookupError::Kernel(errno)) if as_missing => Ok(Found::Missing(errno.to_string())),
            Err(LookupError::NotExecutable) => {
                let errno = rustix::io::Errno::ACCESS;
                Ok(Found::Missing(errno.to_string()))
            }
            Err(LookupError::Kernel(_)) => {
                let path = if call.path.starts_with(b"/") {
                    call.path.clone()
                } else {
                    [&cwd, b"/".as_slice(), &call.path].concat()
                };
                let request = ExecRequest::new(ProgramFile::at(path), call.argv.clone());
                let cwd = Some(cwd);
                Ok(Found::Request(Box::new(ExecRequest { cwd, ..request })))
            }
            Err(error) => Err(CheckError::LookUp(error.to_string())),
        }
    }

    /// The call, the one that it makes if it is a wrapper's, and so on.
    pub(super) fn follow(
        &mut self,
        request: ExecRequest,
        via: &[OsString],
        rules: &Ruleset,
    ) -> Result<Vec<ExecRequest>, CheckError> {
        let mut chain = vec![request];
        while let Some(payload) = self.payload(chain.last(), via, rules)? {
            chain.push(payload);
            if chain.len() > WRAPPERS_MAX {
                return Err(CheckError::TooDeep);
            }
        }
        Ok(chain)
    }

    /// The denial of a part of the text that the call gives to a shell, and that part in words.
    pub(super) fn denied_in_text<'r>(
        &mut self,
        request: &ExecRequest,
        rules: &'r Ruleset,
    ) -> Result<Option<(Verdict<'r>, String)>, CheckError> {
        let Some(Given::Text(text)) = shell::given_text(request) else {
            return Ok(None);
        };
        let own = std::env::current_exe().map_err(CheckError::Own)?;
        let mut analyser = Analyser::start(own).map_err(CheckError::Parser)?;
        // Nothing follows from a text of which nothing is known.
        let Ok(analysis) = analyser.analyse(text) else {
            return Ok(None);
        };
        let mut follow = preflight::following(&mut self.kernel, &self.view);
        let mut followed = Followed::by(&mut follow);
        Ok(preflight::denied(&analysis, request, rules, &mut followed))
    }

    fn payload(
        &mut self,
        outer: Option<&ExecRequest>,
        via: &[OsString],
        rules: &Ruleset,
    ) -> Result<Option<ExecRequest>, CheckError> {
        let payload = outer.and_then(|outer| Some((outer, outer.payload_argv()?)));
        let Some((outer, argv)) = payload else {
            return Ok(None);
        };
        // `env NAME=VALUE program`.
        let before = outer.argv.len().saturating_sub(argv.len());
        let set = outer.argv.iter().take(before).skip(1);
        let set = set.filter(|word| word.contains(&b'=') && !word.starts_with(b"-"));
        let words: Vec<OsString> = argv.into_iter().map(OsString::from_vec).collect();
        let Found::Request(mut request) = self.find(&Call::typed(&words)?, rules, false)? else {
            return Ok(None);
        };
        self.add_ancestors(&mut request, via, rules)?;
        let env = outer.env.iter().flat_map(|env| env.iter());
        request.env = Some(env.chain(set).cloned().collect());
        Ok(Some(*request))
    }

    /// Puts the call below these programs, the nearest first.
    pub(super) fn add_ancestors(
        &mut self,
        request: &mut ExecRequest,
        programs: &[OsString],
        rules: &Ruleset,
    ) -> Result<(), CheckError> {
        for program in programs {
            let call = Call::typed(std::slice::from_ref(program))?;
            let Found::Request(ancestor) = self.find(&call, rules, false)? else {
                continue;
            };
            let interpreters = ancestor.interpreters.into_iter().map(|level| level.file);
            let files = [ancestor.program].into_iter().chain(interpreters).collect();
            request.lineage.ancestors.push(Arc::new(Ancestor {
                files,
                allowed_by: None,
            }));
        }
        Ok(())
    }
}
