//! A shell's text that nobody runs: what the policy says of each of its commands.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use execward_policy::{Basis, Decision, ExecRequest, Rule, ToolCall, Verdict};
use serde::Serialize;

use super::answer::Advice;
use super::call::{Call, Caller, Found};
use super::{CheckError, Question, shown, status};
use crate::audit::{escaped, quoted};
use crate::clock;
use crate::exit::ExitStatus;
use crate::policy::LoadedPolicy;
use crate::shell::{Analyser, Analysis, Place, Redirect, Segment, Step};

/// What the policy says of one command or one file of a text.
#[derive(Serialize)]
pub(super) struct Judged {
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
    #[serde(skip)]
    advice: Option<Advice>,
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

/// What the policy says of a text.
pub(crate) struct TextVerdict {
    pub(super) decision: Decision,
    not_analysed: Option<String>,
    judged: Vec<Judged>,
    analysis: Option<Analysis>,
}

/// The strictest verdict of the commands of `text`; of a text that cannot be told whole it is never an
/// allow.
pub(super) fn judge(
    text: &[u8],
    question: &Question,
    policy: &LoadedPolicy,
) -> Result<TextVerdict, CheckError> {
    let own = std::env::current_exe().map_err(CheckError::Own)?;
    let mut analyser = Analyser::start(own).map_err(CheckError::Parser)?;
    let analysed = analyser.analyse(text);
    let mut judge = Judge::new(question, policy)?;
    let not_analysed = match &analysed {
        Ok(analysis) => {
            judge.judge(analysis)?;
            analysis.reason.clone().or(judge.doubt)
        }
        Err(error) => Some(error.to_string()),
    };
    let judged = judge.judged;
    let strictest = judged.iter().map(|judged| judged.decision).max();
    let unsure = match (&not_analysed, policy.rules.never_asks()) {
        (None, _) => Decision::Allow,
        (Some(_), false) => Decision::Ask,
        (Some(_), true) => Decision::Deny,
    };
    Ok(TextVerdict {
        decision: strictest.unwrap_or(Decision::Allow).max(unsure),
        not_analysed,
        judged,
        analysis: analysed.ok(),
    })
}

impl TextVerdict {
    /// What is to be said of the commands that are told, of the strictest verdict.
    pub(super) fn advice(&self) -> Option<Advice> {
        let advice = self
            .judged
            .iter()
            .filter_map(|judged| judged.advice.as_ref());
        // Of several the first.
        let strictest = advice.reduce(|strictest, next| match next.decision > strictest.decision {
            true => next,
            false => strictest,
        });
        strictest.cloned()
    }

    /// The rule of the command that decides, if one does.
    pub(super) fn rule(&self) -> Option<&str> {
        let deciding = self.judged.iter().filter(|it| it.decision == self.decision);
        deciding.filter_map(|judged| judged.rule.as_deref()).next()
    }

    /// Says it, with each command's own.
    pub(super) fn say(self, as_json: bool, out: &mut impl Write) -> Result<ExitStatus, CheckError> {
        let decision = self.decision;
        if as_json {
            let shown = Shown {
                verdict: decision.as_str(),
                not_analysed: self.not_analysed,
                judged: &self.judged,
                analysis: self.analysis.as_ref(),
            };
            let line = serde_json::to_string(&shown).map_err(io::Error::other)?;
            writeln!(out, "{line}")?;
        } else {
            let words = in_words(decision, self.not_analysed.as_deref(), &self.judged);
            write!(out, "{words}")?;
        }
        Ok(status(decision))
    }
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

/// Goes through a text as the shell would.
struct Judge<'a> {
    question: &'a Question,
    policy: &'a LoadedPolicy,
    caller: Caller,
    /// Where the shell starts.
    start: PathBuf,
    judged: Vec<Judged>,
    /// What turns out not to be known after all.
    doubt: Option<String>,
}

impl<'a> Judge<'a> {
    fn new(question: &'a Question, policy: &'a LoadedPolicy) -> Result<Self, CheckError> {
        Ok(Self {
            question,
            policy,
            caller: Caller::new(policy.named.clone())?,
            start: std::env::current_dir()?,
            judged: Vec::new(),
            doubt: None,
        })
    }

    /// Judges what is written out: each command with what wrappers make of it, and each file that a
    /// redirection writes or reads and a rule is about.
    fn judge(&mut self, analysis: &Analysis) -> Result<(), CheckError> {
        analysis.steps().try_for_each(|step| match step {
            Step::Command(segment) => match &segment.argv {
                Some(argv) => self.segment(segment, argv),
                None => Ok(()),
            },
            Step::Redirect(redirect) => self.redirect(redirect),
        })
    }

    /// Works where the text puts what is judged next, as far as it says.
    fn enter(&mut self, place: &Place) {
        let start = self.start.as_os_str().as_bytes();
        let Some(directory) = place.below(start).map(OsString::from_vec) else {
            let why = "where a part of it works only the running shell can tell";
            self.doubt.get_or_insert_with(|| why.to_owned());
            return;
        };
        if let Err(error) = std::env::set_current_dir(&directory) {
            let directory = directory.as_bytes().escape_ascii();
            self.doubt = Some(format!("cannot enter `{directory}`: {error}"));
        }
    }

    fn segment(&mut self, segment: &Segment, argv: &[String]) -> Result<(), CheckError> {
        self.enter(&segment.place);
        let words: Vec<OsString> = argv.iter().map(OsString::from).collect();
        let (rules, via) = (&self.policy.rules, &self.question.via);
        let found = self.caller.find(&Call::typed(&words)?, rules, false)?;
        let Found::Request(mut request) = found else {
            // The kernel refuses it.
            return Ok(());
        };
        self.caller.add_ancestors(&mut request, via, rules)?;
        let given = self.question.env.iter().map(|it| it.as_encoded_bytes());
        let own = segment.env.iter().map(|it| it.as_bytes());
        request.env = Some(given.chain(own).map(<[u8]>::to_vec).collect());
        match self.caller.follow(*request, via, rules) {
            Ok(chain) => {
                self.judged.extend(strictest(segment, &chain, self.policy));
                Ok(())
            }
            Err(CheckError::TooDeep) => {
                self.doubt = Some(CheckError::TooDeep.to_string());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Judges a file that the shell opens, if a rule is about it: no exec shows it, and what no rule
    /// is about is left alone.
    fn redirect(&mut self, redirect: &Redirect) -> Result<(), CheckError> {
        if redirect.is_stream() {
            return Ok(());
        }
        self.enter(&redirect.place);
        let mut call = ToolCall::new(redirect.tool());
        call.paths.push(redirect.path.clone().into_bytes());
        self.caller.place(&mut call)?;
        let verdict = self.policy.rules.decide_tool(&call, clock::now());
        if matches!(verdict.basis(), Basis::Rule(_)) {
            let of = redirect.in_words();
            self.judged.push(Judged::of(&verdict, of.clone(), &of));
        }
        Ok(())
    }
}

/// The strictest verdict of a command and of what it starts in turn.
fn strictest(segment: &Segment, chain: &[ExecRequest], policy: &LoadedPolicy) -> Option<Judged> {
    let now = clock::now();
    let judged = chain.iter().filter_map(|request| {
        let verdict = policy.rules.decide(request, now);
        // What the shell does itself no rule need allow, and the files that it names are texts to it.
        let is_meant = !segment.is_builtin || verdict.rule().is_some_and(Rule::is_of_words);
        let of = shown::command_line(request);
        is_meant.then(|| Judged::of(&verdict, of, &quoted(&segment.raw)))
    });
    judged.reduce(|strictest, next| match next.decision > strictest.decision {
        true => next,
        false => strictest,
    })
}

impl Judged {
    /// Of what is written as `written`.
    fn of(verdict: &Verdict<'_>, of: String, written: &str) -> Self {
        let rule = verdict.rule();
        Self {
            advice: Advice::of(verdict, Some(written)),
            verdict: verdict.decision().as_str(),
            basis: shown::basis_word(verdict.basis()),
            rule: rule.map(|rule| rule.id().to_owned()),
            reason: rule.and_then(|rule| rule.reason()).map(str::to_owned),
            of,
            decision: verdict.decision(),
        }
    }
}
