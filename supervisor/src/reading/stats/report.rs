//! The figures as they are told: the keys of `--json`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use execward_policy::is_builtin;
use jiff::Timestamp;
use serde::Serialize;

use super::super::counted::Counted;
use super::super::source::Damage;
use super::super::spread::{Percentiles, Spread};
use super::figures::{Figures, RuleFigures};
use super::questions::Answers;
use crate::policy::LoadedPolicy;

/// How many programs, rules and sessions are told of, those with the most first.
const TOLD_MAX: usize = 20;

/// What is told of a log.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    pub(super) log: String,
    pub(super) records: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) span: Option<Span>,
    pub(super) session_count: usize,
    /// Those with the most decisions.
    pub(super) sessions: Vec<Session>,
    pub(super) decisions: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<Rate>,
    pub(super) verdicts: BTreeMap<String, u64>,
    pub(super) effects: BTreeMap<String, u64>,
    pub(super) outcomes: BTreeMap<String, u64>,
    pub(super) refusals_by_reason: BTreeMap<String, u64>,
    pub(super) latency_us: BTreeMap<String, Latency>,
    pub(super) program_count: usize,
    /// Those that were called most.
    pub(super) programs: Vec<Program>,
    /// Calls of programs beyond those that are told apart.
    pub(super) other_programs: u64,
    /// All that were hit, but grants.
    pub(super) rules: Vec<Rule>,
    /// What people said for longer than once.
    pub(super) grants: Vec<Rule>,
    /// `None` where no policy was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules_never_hit: Option<Vec<Unhit>>,
    pub(super) questions: Questions,
    pub(super) gaps: Gaps,
    pub(super) target_missing: u64,
    pub(super) tool_calls: ToolCalls,
    /// Lines that are no records.
    pub(super) damage: &'a Damage,
}

/// From the first record to the last.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Span {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) seconds: f64,
}

/// Decisions a second.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Rate {
    /// Over the whole span; `None` where that has no length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mean: Option<f64>,
    pub(super) busiest: u64,
    /// When that second began.
    pub(super) busiest_at: Timestamp,
}

#[derive(Debug, Serialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) records: u64,
    pub(super) decisions: u64,
    pub(super) refused: u64,
    pub(super) questions: u64,
}

/// Of execs that nobody was asked about.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latency {
    #[serde(flatten)]
    pub(super) percentiles: Percentiles,
    /// Shares, from 0 to 1.
    pub(super) over_1_ms: f64,
    pub(super) over_10_ms: f64,
    pub(super) over_100_ms: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Program {
    pub(super) path: String,
    pub(super) count: u64,
    pub(super) refused: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Rule {
    pub(super) id: String,
    /// `file:line`.
    pub(super) src: String,
    pub(super) hits: u64,
    pub(super) verdicts: BTreeMap<String, u64>,
}

/// A rule of the named policy that nothing in the log is about.
#[derive(Debug, Serialize)]
pub(super) struct Unhit {
    pub(super) id: String,
    pub(super) action: &'static str,
    pub(super) src: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Questions {
    pub(super) count: u64,
    /// Without a decision in the log.
    pub(super) open: usize,
    /// A session, on the average.
    pub(super) per_session: f64,
    pub(super) wait_ms: Percentiles,
    pub(super) answers: Answers,
}

/// Where records could not be written.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Gaps {
    pub(super) count: u64,
    pub(super) records: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolCalls {
    pub(super) count: u64,
    pub(super) verdicts: BTreeMap<String, u64>,
}

impl<'a> Report<'a> {
    /// Of the figures of `log`, and what of `policy` was hit.
    pub(super) fn of(
        mut figures: Figures,
        log: &Path,
        policy: Option<&LoadedPolicy>,
        damage: &'a Damage,
    ) -> Self {
        let span = figures.span.map(|(first, last)| Span {
            first,
            last,
            seconds: last.duration_since(first).as_secs_f64(),
        });
        let times = std::mem::take(&mut figures.times);
        let waits = std::mem::take(&mut figures.questions.waits);
        let session_count = figures.sessions.len();
        let (grants, rules) = rules(&figures);
        Self {
            log: log.display().to_string(),
            records: figures.records,
            rate: rate(&figures, span),
            span,
            session_count,
            sessions: sessions(&figures),
            decisions: figures.decisions,
            verdicts: words(&figures.verdicts),
            effects: words(&figures.effects),
            outcomes: words(&figures.outcomes),
            refusals_by_reason: words(&figures.refusals),
            latency_us: latency(&times),
            program_count: figures.programs.len(),
            programs: programs(&figures),
            other_programs: figures.programs.others(),
            rules_never_hit: policy.map(|policy| never_hit(policy, &rules)),
            rules,
            grants,
            questions: Questions {
                count: figures.questions.count,
                open: figures.questions.open(),
                per_session: ratio(figures.questions.count, session_count as u64),
                wait_ms: waits.sorted().percentiles(),
                answers: figures.questions.answers,
            },
            gaps: Gaps {
                count: figures.gaps,
                records: figures.lacking,
            },
            target_missing: figures.target_missing,
            tool_calls: ToolCalls {
                count: figures.tool_calls,
                verdicts: words(&figures.tool_verdicts),
            },
            damage,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share is told with a few digits"
)]
fn ratio(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

fn words(counted: &Counted<u64>) -> BTreeMap<String, u64> {
    let ranked = counted.ranked(|_| ());
    let mut words: BTreeMap<_, _> = ranked
        .into_iter()
        .map(|(word, count)| (word.to_owned(), *count))
        .collect();
    if counted.others() > 0 {
        *words.entry("other".to_owned()).or_default() += counted.others();
    }
    words
}

fn rate(figures: &Figures, span: Option<Span>) -> Option<Rate> {
    let busiest = figures.seconds.iter();
    let (second, busiest) = busiest.max_by_key(|(second, count)| (**count, Reverse(**second)))?;
    let seconds = span.map_or(0.0, |span| span.seconds);
    #[expect(
        clippy::cast_precision_loss,
        reason = "a rate is told with a few digits"
    )]
    let mean = (seconds > 0.0).then(|| figures.decisions as f64 / seconds);
    Some(Rate {
        mean,
        busiest: *busiest,
        busiest_at: Timestamp::from_second(*second).ok()?,
    })
}

fn sessions(figures: &Figures) -> Vec<Session> {
    let ranked = figures.sessions.ranked(|it| Reverse(it.decisions));
    let told = ranked.into_iter().take(TOLD_MAX);
    told.map(|(id, it)| Session {
        id: id.to_owned(),
        name: it.name.clone(),
        records: it.records,
        decisions: it.decisions,
        refused: it.refused,
        questions: it.questions,
    })
    .collect()
}

fn latency(times: &Counted<Spread>) -> BTreeMap<String, Latency> {
    let of = |spread: &Spread| {
        let sorted = spread.clone().sorted();
        let percentiles = sorted.percentiles();
        let share = |bound| ratio(sorted.above(bound) as u64, percentiles.count as u64);
        Latency {
            percentiles,
            over_1_ms: share(1_000),
            over_10_ms: share(10_000),
            over_100_ms: share(100_000),
        }
    };
    let ranked = times.ranked(|_| ()).into_iter();
    ranked
        .map(|(what, spread)| (what.to_owned(), of(spread)))
        .collect()
}

fn programs(figures: &Figures) -> Vec<Program> {
    let ranked = figures
        .programs
        .ranked(|it| Reverse((it.count, it.refused)));
    let told = ranked.into_iter().take(TOLD_MAX);
    told.map(|(path, it)| Program {
        path: path.to_owned(),
        count: it.count,
        refused: it.refused,
    })
    .collect()
}

/// The grants, and the rules.
fn rules(figures: &Figures) -> (Vec<Rule>, Vec<Rule>) {
    let ranked = figures.rules.ranked(|it| Reverse(it.hits)).into_iter();
    let told = |it: &RuleFigures| Rule {
        id: it.id.clone(),
        src: it.src.clone(),
        hits: it.hits,
        verdicts: it.verdicts.clone().into_iter().collect(),
    };
    let (grants, rules): (Vec<_>, Vec<_>) = ranked.map(|(_, it)| it).partition(|it| it.is_grant);
    let [grants, rules] = [grants, rules].map(|them| them.into_iter().map(told).collect());
    (grants, rules)
}

/// The rules of a policy, without those that execward brings to each, of which no hit has the name: a policy may
/// lie elsewhere now.
fn never_hit(policy: &LoadedPolicy, hit: &[Rule]) -> Vec<Unhit> {
    let hit: HashSet<_> = hit.iter().map(|rule| rule.id.as_str()).collect();
    let rules = policy.rules.rules();
    let own = rules.filter(|rule| !is_builtin(rule.source()) && !hit.contains(rule.id()));
    own.map(|rule| Unhit {
        id: rule.id().to_owned(),
        action: rule.action().as_str(),
        src: format!("{}:{}", rule.source(), rule.line()),
    })
    .collect()
}
