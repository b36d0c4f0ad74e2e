//! A call that is asked about, and how its answer is found. Nothing runs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use execward_policy::{Decision, ExecRequest, ToolCall};

use super::answer::{Answer, ExecAnswer};
use super::call::{Call, Caller, Found};
use super::{CheckError, called, recorded_in, shell};
use crate::cli::CheckArgs;
use crate::clock;
use crate::policy::LoadedPolicy;
use crate::recorded;

/// A call, and where it is made.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) what: What,
    /// Where, if not here.
    pub(crate) cwd: Option<PathBuf>,
    /// The variables of its environment, `NAME=VALUE` each.
    pub(crate) env: Vec<OsString>,
    /// The programs below which it is made, the nearest first.
    pub(crate) via: Vec<OsString>,
    /// Whether a file that is not there is taken as the kernel would.
    pub(crate) as_missing: bool,
}

/// What is called.
#[derive(Debug)]
pub(crate) enum What {
    /// A program with its arguments, as typed.
    Program(Vec<OsString>),
    /// The call of an exec.decision record.
    Record(PathBuf),
    /// The commands of a shell's text.
    Shell(Vec<u8>),
    Tool(ToolCall),
}

impl Question {
    /// About `what`, made here.
    pub(crate) fn about(what: What) -> Self {
        Self {
            what,
            cwd: None,
            env: Vec::new(),
            via: Vec::new(),
            as_missing: false,
        }
    }

    /// The one that the arguments put.
    pub(super) fn of(args: &CheckArgs) -> Self {
        let what = if let Some(text) = &args.shell {
            What::Shell(text.as_bytes().to_vec())
        } else if let Some(tool) = &args.tool {
            What::Tool(tool_call(tool, args))
        } else if let Some(path) = &args.request {
            What::Record(path.clone())
        } else {
            What::Program(args.cmd.clone())
        };
        Self {
            what,
            cwd: args.cwd.clone(),
            env: args.env.clone(),
            via: args.via.clone(),
            as_missing: args.missing,
        }
    }

    /// What the policy says. The process works where the call is made from then on.
    ///
    /// # Errors
    /// If the call cannot be looked at.
    pub(crate) fn answer<'p>(self, policy: &'p LoadedPolicy) -> Result<Answer<'p>, CheckError> {
        if let Some(path) = &self.cwd {
            std::env::set_current_dir(path).map_err(|error| CheckError::Directory {
                path: path.clone(),
                error,
            })?;
        }
        match self.what {
            What::Shell(ref text) => shell::judge(text, &self, policy).map(Answer::Text),
            What::Tool(ref call) => self.of_tool(call.clone(), policy),
            What::Record(ref path) => {
                let line = recorded::read(path)?;
                self.of_call(called(&recorded_in(&line)?)?, policy)
            }
            What::Program(ref words) => self.of_call(Call::typed(words)?, policy),
        }
    }

    /// One that gives a text to a shell is judged by that, but for what rules say of the tool itself.
    fn of_tool<'p>(
        &self,
        mut call: ToolCall,
        policy: &'p LoadedPolicy,
    ) -> Result<Answer<'p>, CheckError> {
        Caller::new(policy.named.clone())?.place(&mut call)?;
        let explanation = policy.rules.explain_tool(&call, clock::now());
        if let Some(text) = call.shell_text() {
            let judged = shell::judge(text, self, policy)?;
            if explanation.verdict.decision_of_rules() < Some(judged.decision) {
                return Ok(Answer::Text(judged));
            }
        }
        Ok(Answer::Tool(call, explanation))
    }

    fn of_call<'p>(&self, call: Call, policy: &'p LoadedPolicy) -> Result<Answer<'p>, CheckError> {
        let rules = &policy.rules;
        let mut caller = Caller::new(policy.named.clone())?;
        let mut request = match caller.find(&call, rules, self.as_missing)? {
            Found::Missing(errno) => return Ok(Answer::Missing(errno)),
            Found::Request(request) => request,
        };
        caller.add_ancestors(&mut request, &self.via, rules)?;
        // What a record's environment was nobody knows, unless it is said.
        let is_record = matches!(self.what, What::Record(_));
        if !is_record || !self.env.is_empty() {
            let variables = self.env.iter().map(|variable| variable.as_bytes().to_vec());
            request.env = Some(variables.collect());
        }
        let chain = caller.follow(*request, &self.via, rules)?;
        strictest(policy, &mut caller, chain).map(Answer::exec)
    }
}

fn tool_call(tool: &str, args: &CheckArgs) -> ToolCall {
    let bytes = |texts: &[OsString]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    ToolCall {
        paths: bytes(&args.path),
        urls: bytes(&args.url),
        arguments: args.arg.iter().map(|text| text.clone().into()).collect(),
        ..ToolCall::new(tool)
    }
}

/// The strictest verdict of a call, of those that wrappers make of it in turn, and of the text that the
/// last of them gives to a shell.
pub(super) fn strictest<'p>(
    policy: &'p LoadedPolicy,
    caller: &mut Caller,
    chain: Vec<ExecRequest>,
) -> Result<ExecAnswer<'p>, CheckError> {
    let now = clock::now();
    let explained = chain
        .iter()
        .map(|request| policy.rules.explain(request, now))
        .enumerate();
    let strictest = explained.reduce(|strictest, next| {
        if next.1.verdict.decision() > strictest.1.verdict.decision() {
            next
        } else {
            strictest
        }
    });
    let (Some((mut at, mut explanation)), Some(last)) = (strictest, chain.last()) else {
        return Err(CheckError::NoProgram);
    };
    let mut within = None;
    if explanation.verdict.decision() != Decision::Deny
        && let Some((verdict, part)) = caller.denied_in_text(last, &policy.rules)?
    {
        (at, explanation.verdict, within) = (chain.len() - 1, verdict, Some(part));
    }
    let request = chain.get(at).ok_or(CheckError::NoProgram)?;
    let amendments = policy.rules.amendments(request, "saved", now);
    Ok(ExecAnswer {
        chain,
        at,
        explanation,
        within,
        amendments,
    })
}
