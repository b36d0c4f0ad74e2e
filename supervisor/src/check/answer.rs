//! What the policy says of a call, with what was weighed for it.

use std::io::{self, Write};

use execward_policy::{Amendment, Basis, Decision, ExecRequest, Explanation, ToolCall, Verdict};

use super::shell::TextVerdict;
use super::shown::{self, ShownExec};
use super::{CheckError, status, tool};
use crate::exit::ExitStatus;

/// The answer to one question.
pub(crate) enum Answer<'p> {
    /// There is no such file: the kernel answers so.
    Missing(String),
    Exec(Box<ExecAnswer<'p>>),
    Tool(ToolCall, Explanation<'p>),
    Text(TextVerdict),
}

/// That to a question about an exec.
pub(crate) struct ExecAnswer<'p> {
    /// The call, and those that wrappers make of it in turn.
    pub(super) chain: Vec<ExecRequest>,
    /// Which of them the answer is about.
    pub(super) at: usize,
    pub(super) explanation: Explanation<'p>,
    /// The part of the text given to a shell that the verdict is about.
    pub(super) within: Option<String>,
    /// What could be saved of it.
    pub(super) amendments: Vec<Amendment>,
}

impl<'p> Answer<'p> {
    pub(super) fn exec(answer: ExecAnswer<'p>) -> Self {
        Self::Exec(Box::new(answer))
    }

    /// `None` if nothing was judged.
    pub(crate) fn decision(&self) -> Option<Decision> {
        match self {
            Self::Missing(_) => None,
            Self::Exec(answer) => Some(answer.explanation.verdict.decision()),
            Self::Tool(_, explanation) => Some(explanation.verdict.decision()),
            Self::Text(text) => Some(text.decision),
        }
    }

    /// The rule that it rests on, if it rests on one.
    pub(crate) fn rule(&self) -> Option<&str> {
        let of = |explanation: &Explanation<'p>| explanation.verdict.rule().map(|rule| rule.id());
        match self {
            Self::Missing(_) => None,
            Self::Exec(answer) => of(&answer.explanation),
            Self::Tool(_, explanation) => of(explanation),
            Self::Text(text) => text.rule(),
        }
    }

    /// What is to be said to whoever is about to make the call, if anything: that it is denied, or that a
    /// rule has a person asked. What is asked about because no rule is about it, and what of a text only
    /// the running shell can tell, is left out.
    pub(crate) fn advice(&self) -> Option<Advice> {
        match self {
            Self::Missing(_) => None,
            Self::Exec(answer) => Advice::of(&answer.explanation.verdict, answer.within.as_deref()),
            Self::Tool(_, explanation) => Advice::of(&explanation.verdict, None),
            Self::Text(text) => text.advice(),
        }
    }

    /// Says it. The status is that of the verdict.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn say(self, as_json: bool, out: &mut impl Write) -> Result<ExitStatus, CheckError> {
        match self {
            Self::Missing(errno) => {
                shown::missing(&errno, as_json, out)?;
                Ok(ExitStatus::Success)
            }
            Self::Exec(answer) => answer.say(as_json, out),
            Self::Tool(call, explanation) => {
                if as_json {
                    let line = tool::json(&call, &explanation).map_err(io::Error::other)?;
                    writeln!(out, "{line}")?;
                } else {
                    write!(out, "{}", tool::text(&call, &explanation))?;
                }
                Ok(status(explanation.verdict.decision()))
            }
            Self::Text(text) => text.say(as_json, out),
        }
    }
}

/// How much of a part of a call is said, in characters.
const PART_MAX: usize = 200;

/// What is said to whoever is about to make a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Ask or deny.
    pub(crate) decision: Decision,
    /// Why, in a line.
    pub(crate) because: String,
}

impl Advice {
    /// That of a verdict, about `part` of the call or all of it.
    pub(super) fn of(verdict: &Verdict<'_>, part: Option<&str>) -> Option<Self> {
        let (decision, rule) = (verdict.decision(), verdict.rule());
        let said = match (decision, rule) {
            (Decision::Deny, _) => "denied",
            (Decision::Ask, Some(_)) => "to be asked about:",
            (Decision::Ask, None) | (Decision::Allow, _) => return None,
        };
        let of = part.map(|part| part.chars().take(PART_MAX).collect::<String>());
        let of = of.map_or(String::new(), |part| format!(" {part}"));
        let ground = match (rule, verdict.basis()) {
            (Some(rule), _) => format!("rule {}", rule.id()),
            (None, Basis::UnknownTool) => "neither a rule nor a table names this tool".to_owned(),
            (None, _) => "not in the policy".to_owned(),
        };
        let reason = rule.and_then(|rule| rule.reason());
        let instead = rule.and_then(|rule| rule.instead());
        let mut because = format!("execward: {said}{of} ({ground})");
        because += &reason.map_or(String::new(), |reason| format!(": {reason}"));
        because += &instead.map_or(String::new(), |instead| format!(". Instead: {instead}"));
        Some(Self { decision, because })
    }
}

impl ExecAnswer<'_> {
    pub(super) fn say(self, as_json: bool, out: &mut impl Write) -> Result<ExitStatus, CheckError> {
        let Self {
            chain,
            at,
            explanation,
            within,
            amendments,
        } = self;
        let (outer, rest) = chain.split_at(at);
        let request = rest.first().ok_or(CheckError::NoProgram)?;
        if as_json {
            let call = ShownExec::of(request, outer, within, amendments);
            let line = shown::json(call, &explanation).map_err(io::Error::other)?;
            writeln!(out, "{line}")?;
        } else {
            let outer = outer.iter().map(shown::command_line);
            let outer = outer.map(|outer| format!("started by: {outer}"));
            let within = within.map(|it| format!("its text: {it}"));
            let about: Vec<_> = outer.chain(within).collect();
            let call = shown::command_line(request);
            write!(out, "{}", shown::text(&call, &explanation, &about))?;
            write!(out, "{}", shown::amendments(&amendments))?;
        }
        Ok(status(explanation.verdict.decision()))
    }
}
