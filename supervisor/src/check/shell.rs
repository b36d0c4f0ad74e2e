//! A shell's text that nobody runs: what the policy says of each of its commands.

use std::ffi::OsString;
use std::io::{self, Write};

use execward_policy::{Basis, Decision, ExecRequest, Explanation, ToolCall, Verdict};
use jiff::Timestamp;
use serde::Serialize;

use super::call::{Call, Caller, Found};
use super::{CheckError, shown, status};
use crate::audit::{escaped, quoted};
use crate::cli::CheckArgs;
use crate::exit::ExitStatus;
use crate::policy::LoadedPolicy;
use crate::shell::{Analysis, Reader, Redirect};

/// What the policy says of one command or one file of a text.
#[derive(Serialize)]
struct Judged {
    verdict: &'static str,
    basis: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The command, or the redirection.
    of: String,
    #[serde(skip)]
    decision: Decision,
}

/// The verdict as one line of JSON.
#[derive(Serialize)]
struct Shown<'a> {
    verdict: &'static str,
    /// Why it is no allow, where no rule says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_analysed: Option<String>,
    judged: &'a [Judged],
    #[serde(skip_serializing_if = "Option::is_none")]
    analysis: Option<&'a Analysis>,
}

/// Says the strictest verdict of the commands of `text`; of a text that cannot be told whole it is
/// never an allow.
pub(super) fn check(
    text: &OsString,
    args: &CheckArgs,
    policy: &LoadedPolicy,
    out: &mut impl Write,
) -> Result<ExitStatus, CheckError> {
    let own = std::env::current_exe()?;
    let analysed = Reader::of(own).analyse(text.as_encoded_bytes());
    let mut caller = Caller::new(policy.named.clone())?;
    let (judged, not_analysed) = match &analysed {
        Ok(analysis) => {
            let (judged, doubt) = judge(analysis, args, &mut caller, policy)?;
            (judged, analysis.reason.clone().or(doubt))
        }
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let strictest = judged.iter().map(|judged| judged.decision).max();
    let unsure = match (&not_analysed, policy.rules.never_asks()) {
        (None, _) => Decision::Allow,
        (Some(_), false) => Decision::Ask,
        (Some(_), true) => Decision::Deny,
    };
    let decision = strictest.unwrap_or(Decision::Allow).max(unsure);
    if args.json {
        let shown = Shown {
            verdict: decision.as_str(),
            not_analysed,
            judged: &judged,
            analysis: analysed.as_ref().ok(),
        };
        let line = serde_json::to_string(&shown).map_err(io::Error::other)?;
        writeln!(out, "{line}")?;
    } else {
        write!(
            out,
            "{}",
            in_words(decision, not_analysed.as_deref(), &judged)
        )?;
    }
    Ok(status(decision))
}

fn in_words(decision: Decision, not_analysed: Option<&str>, judged: &[Judged]) -> String {
    let mut text = format!("{decision}: a shell's text");
    if let Some(why) = not_analysed {
        text += &format!(", not to be told whole: {}", escaped(why));
    }
    text.push('\n');
    for judged in judged {
        let rule = judged
            .rule
            .as_ref()
            .map_or(judged.basis.to_owned(), |rule| format!("rule {rule}"));
        text += &format!("  {} ({rule}) {}", judged.verdict, judged.of);
        if let Some(reason) = &judged.reason {
            text += &format!(": {}", escaped(reason));
        }
        text.push('\n');
    }
    text
}

/// Judges what is written out: each command with what wrappers make of it, and each file that a
/// redirection writes or reads and a rule is about. And what turns out not to be known after all.
fn judge(
    analysis: &Analysis,
    args: &CheckArgs,
    caller: &mut Caller,
    policy: &LoadedPolicy,
) -> Result<(Vec<Judged>, Option<String>), CheckError> {
    let (mut judged, mut doubt) = (Vec::new(), None);
    let env = args
        .env
        .iter()
        .map(|variable| variable.as_encoded_bytes().to_vec());
    let env: Vec<Vec<u8>> = env.collect();
    let mut redirects = analysis.redirects.iter().peekable();
    for (number, segment) in analysis.segments.iter().enumerate() {
        while let Some(redirect) = redirects.next_if(|redirect| redirect.behind <= number) {
            judged.extend(judge_redirect(redirect, caller, policy)?);
        }
        let Some(argv) = segment.argv.as_ref().filter(|argv| !argv.is_empty()) else {
            continue;
        };
        // From there on relative paths are meant from there.
        if let [cd, directory] = argv.as_slice()
            && cd == "cd"
            && let Err(error) = std::env::set_current_dir(directory)
        {
            let directory = directory.escape_debug();
            doubt = Some(format!("cannot enter `{directory}`: {error}"));
        }
        let words: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let call = Call::typed(&words)?;
        let Found::Request(mut request) = caller.find(&call, &policy.rules, false)? else {
            continue;
        };
        caller.add_ancestors(&mut request, &args.via, &policy.rules)?;
        let own = segment
            .env
            .iter()
            .map(|variable| variable.as_bytes().to_vec());
        request.env = Some(env.iter().cloned().chain(own).collect());
        let chain = match caller.follow(*request, &args.via, &policy.rules) {
            Err(CheckError::TooDeep) => {
                doubt = Some(CheckError::TooDeep.to_string());
                continue;
            }
            chain => chain?,
        };
        let strictest = strictest(&chain, policy);
        // What the shell does itself no rule need allow.
        let is_meant = |judged: &Judged| !segment.is_builtin || judged.rule.is_some();
        judged.extend(strictest.filter(is_meant));
    }
    for redirect in redirects {
        judged.extend(judge_redirect(redirect, caller, policy)?);
    }
    Ok((judged, doubt))
}

/// The verdict about a file that the shell opens, if a rule is about it: no exec shows it, and what
/// no rule is about is left alone.
fn judge_redirect(
    redirect: &Redirect,
    caller: &mut Caller,
    policy: &LoadedPolicy,
) -> Result<Option<Judged>, CheckError> {
    let (tool, sign) = match redirect.writes {
        true => ("file_write", '>'),
        false => ("file_read", '<'),
    };
    let mut call = ToolCall::new(tool);
    call.paths.push(redirect.path.clone().into_bytes());
    call.cwd = caller.directory();
    call.destinations = caller.destinations(&call.named_paths())?;
    let verdict = policy.rules.decide_tool(&call, Timestamp::now());
    let is_of_rule = matches!(verdict.basis(), Basis::Rule(_));
    let of = format!("{sign} {}", quoted(&redirect.path));
    Ok(is_of_rule.then(|| Judged::of(&verdict, of)))
}

fn strictest(chain: &[ExecRequest], policy: &LoadedPolicy) -> Option<Judged> {
    let now = Timestamp::now();
    let judged = chain.iter().map(|request| {
        let explanation: Explanation<'_> = policy.rules.explain(request, now);
        Judged::of(&explanation.verdict, shown::command_line(request))
    });
    judged.reduce(|strictest, next| match next.decision > strictest.decision {
        true => next,
        false => strictest,
    })
}

impl Judged {
    fn of(verdict: &Verdict<'_>, of: String) -> Self {
        let rule = verdict.rule();
        Self {
            verdict: verdict.decision().as_str(),
            basis: shown::basis_word(verdict.basis()),
            rule: rule.map(|rule| rule.id().to_owned()),
            reason: rule.and_then(|rule| rule.reason()).map(str::to_owned),
            of,
            decision: verdict.decision(),
        }
    }
}
