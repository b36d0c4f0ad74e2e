//! A verdict and its reasons, for people and as JSON.

use std::io::{self, Write};

use execward_policy::{
    Amendment, Basis, Decision, ExecRequest, Explanation, Hit, ProgramFile, Rule, exact_rule,
};
use serde::Serialize;
use serde_json::json;

use super::call::Call;
use crate::approval::ShownAmendment;
use crate::audit::{displayed, escaped, quoted};

/// Verdict, call with what is to be said of it, and each rule that had a say.
pub(super) fn text(call: &str, explanation: &Explanation<'_>, about: &[String]) -> String {
    let verdict = &explanation.verdict;
    let mut text = format!("{}: {}", verdict.decision(), basis(verdict.basis()));
    if let Some(reason) = verdict.rule().and_then(|rule| rule.reason()) {
        text += &format!(": {}", escaped(reason));
    }
    if verdict.decision() == Decision::Ask {
        text += &format!("; if nobody answers: {}", verdict.unanswered());
    }
    text += &format!("\n  {call}\n");
    for about in about {
        text += &format!("  {about}\n");
    }
    for hit in &explanation.hits {
        let end = if hit.is_lifted { " (lifted)" } else { "" };
        text += &format!("  holds: {}{end}\n", rule_in_words(hit.rule));
    }
    for miss in &explanation.misses {
        text += &format!("  fails: {}: {}\n", rule_in_words(miss.rule), miss.key);
    }
    if let Some(objection) = &explanation.objection {
        text += &format!("  {objection}\n");
    }
    text
}

/// What could be saved of a call that is asked about.
pub(super) fn amendments(amendments: &[Amendment]) -> String {
    let lines = amendments.iter().map(|amendment| {
        let covers = escaped(&amendment.covers);
        format!("  could be saved, {}: {covers}\n", amendment.scope)
    });
    lines.collect()
}

/// A verdict as one line of JSON.
#[derive(Serialize)]
struct Shown<'a, C> {
    verdict: &'static str,
    basis: &'static str,
    /// What becomes of a question that nobody answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    unanswered: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<ShownRule<'a>>,
    #[serde(flatten)]
    call: C,
    hits: Vec<ShownRule<'a>>,
    misses: Vec<ShownRule<'a>>,
    /// What alone keeps the call from being allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    objection: Option<String>,
}

/// An exec, as JSON has it.
#[derive(Serialize)]
pub(super) struct ShownExec {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    argv: Vec<String>,
    /// The wrappers that make the call, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    started_by: Vec<Vec<String>>,
    /// The part of the text given to a shell that the verdict is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    /// What could be saved of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    amendments: Vec<ShownAmendment>,
}

impl ShownExec {
    pub(super) fn of(
        request: &ExecRequest,
        outer: &[ExecRequest],
        within: Option<String>,
        amendments: Vec<Amendment>,
    ) -> Self {
        Self {
            amendments: amendments.into_iter().map(ShownAmendment::from).collect(),
            path: request.program.resolved.as_deref().map(displayed),
            argv: argv_of(request),
            started_by: outer.iter().map(argv_of).collect(),
            within,
        }
    }
}

/// One rule of it.
#[derive(Serialize)]
struct ShownRule<'a> {
    id: &'a str,
    action: &'static str,
    layer: &'static str,
    source: &'a str,
    line: usize,
    /// Of a rule that holds: winner, lifted or shadowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    /// Of one that does not: the key that fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'static str>,
}

impl<'a> ShownRule<'a> {
    fn of(rule: &'a Rule) -> Self {
        Self {
            id: rule.id(),
            action: rule.action().as_str(),
            layer: rule.layer().as_str(),
            source: rule.source(),
            line: rule.line(),
            outcome: None,
            failed: None,
        }
    }
}

/// The same as [`text`], as one line of JSON.
pub(super) fn json<C: Serialize>(
    call: C,
    explanation: &Explanation<'_>,
) -> serde_json::Result<String> {
    let verdict = &explanation.verdict;
    let winner = verdict.rule();
    let outcome = |hit: &Hit<'_>| {
        let is_winner = winner.is_some_and(|winner| std::ptr::eq(winner, hit.rule));
        match (is_winner, hit.is_lifted) {
            (true, _) => "winner",
            (false, true) => "lifted",
            (false, false) => "shadowed",
        }
    };
    let hits = explanation.hits.iter().map(|hit| ShownRule {
        outcome: Some(outcome(hit)),
        ..ShownRule::of(hit.rule)
    });
    let misses = explanation.misses.iter().map(|miss| ShownRule {
        failed: Some(miss.key),
        ..ShownRule::of(miss.rule)
    });
    let unanswered = Some(verdict.unanswered().as_str());
    serde_json::to_string(&Shown {
        verdict: verdict.decision().as_str(),
        basis: basis_word(verdict.basis()),
        unanswered: unanswered.filter(|_| verdict.decision() == Decision::Ask),
        rule: winner.map(ShownRule::of),
        call,
        hits: hits.collect(),
        misses: misses.collect(),
        objection: explanation.objection.as_ref().map(ToString::to_string),
    })
}

fn argv_of(request: &ExecRequest) -> Vec<String> {
    request.argv.iter().map(|word| displayed(word)).collect()
}

/// What the kernel answers for a file that is not there.
pub(super) fn missing(errno: &str, is_json: bool, out: &mut impl Write) -> io::Result<()> {
    if is_json {
        writeln!(
            out,
            "{}",
            json!({"verdict": "none", "basis": "target_missing", "detail": errno})
        )
    } else {
        writeln!(out, "none: the kernel answers: {errno}")
    }
}

/// A rule that allows exactly this call, ready to be pasted into a policy.
pub(super) fn rule(id: &str, call: &Call) -> String {
    // A pattern has no `.`, no `..` and no empty component.
    let is_straight = |path: &[u8]| {
        let mut steps = path.split(|byte| *byte == b'/').skip(1);
        steps.all(|step| !matches!(step, b"" | b"." | b".."))
    };
    let path = match &call.resolved {
        Some(resolved) if !is_straight(&call.path) => resolved,
        _ => &call.path,
    };
    let id = format!("allow-{}", id.to_ascii_lowercase());
    let request = ExecRequest {
        cwd: call.cwd.clone(),
        ..ExecRequest::new(ProgramFile::at(path.clone()), call.argv.clone())
    };
    exact_rule(&id, &request)
}

fn basis(basis: Basis<'_>) -> String {
    match basis {
        Basis::Rule(rule) => format!("rule {}", place(rule)),
        Basis::Children(rule) => format!("the children of rule {}", place(rule)),
        Basis::SafeBin => "a safe bin".to_owned(),
        Basis::Wrapper => "a wrapper: what it starts is judged by itself".to_owned(),
        Basis::UnknownTool => "neither a rule nor a table names this tool".to_owned(),
        Basis::Default { security, ask } => {
            format!("no rule decides (security = \"{security}\", ask = \"{ask}\")")
        }
    }
}

pub(super) fn basis_word(basis: Basis<'_>) -> &'static str {
    match basis {
        Basis::Rule(_) => "rule",
        Basis::Children(_) => "children",
        Basis::SafeBin => "safe_bin",
        Basis::Wrapper => "wrapper",
        Basis::UnknownTool => "unknown_tool",
        Basis::Default { .. } => "default",
    }
}

fn place(rule: &Rule) -> String {
    format!("{} ({}:{})", rule.id(), escaped(rule.source()), rule.line())
}

fn rule_in_words(rule: &Rule) -> String {
    format!("{} {}, {}", rule.action(), place(rule), rule.layer())
}

/// A call as it could be typed.
pub(super) fn command_line(request: &ExecRequest) -> String {
    let program = &request.program;
    let path = program.resolved.as_deref().unwrap_or(&program.given);
    let rest = request.argv.iter().skip(1).map(Vec::as_slice);
    let words = std::iter::once(path).chain(rest);
    words
        .map(|word| quoted(&displayed(word)))
        .collect::<Vec<_>>()
        .join(" ")
}
