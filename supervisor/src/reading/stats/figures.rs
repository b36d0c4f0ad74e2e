//! What is counted of a log, record by record.

use std::collections::HashMap;

use jiff::Timestamp;

use super::super::counted::Counted;
use super::super::entry::{Decided, Entry};
use super::super::spread::Spread;
use super::questions::Questions;

/// Most kinds of times that are told apart, of which a log has a handful.
const TIMES_MAX: usize = 16;

/// Most words of each kind that are told apart: verdicts, reasons, outcomes.
const WORDS_MAX: usize = 64;

/// The figures so far.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) records: u64,
    /// The times of the first and the last record, by the clock.
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// By their IDs.
    pub(super) sessions: Counted<SessionFigures>,
    pub(super) decisions: u64,
    /// Decisions by the second they were written in.
    pub(super) seconds: HashMap<i64, u64>,
    pub(super) verdicts: Counted<u64>,
    /// What the kernel was told.
    pub(super) effects: Counted<u64>,
    pub(super) outcomes: Counted<u64>,
    /// Refused execs by the ground.
    pub(super) refusals: Counted<u64>,
    /// Microseconds of execs that nobody was asked about, by what they were spent on.
    pub(super) times: Counted<Spread>,
    pub(super) programs: Counted<ProgramFigures>,
    pub(super) rules: Counted<RuleFigures>,
    pub(super) questions: Questions,
    pub(super) gaps: u64,
    /// Records that the gaps stand for.
    pub(super) lacking: u64,
    pub(super) target_missing: u64,
    pub(super) tool_calls: u64,
    pub(super) tool_verdicts: Counted<u64>,
}

/// Of one session.
#[derive(Debug, Default)]
pub(super) struct SessionFigures {
    pub(super) name: String,
    pub(super) records: u64,
    pub(super) decisions: u64,
    pub(super) refused: u64,
    pub(super) questions: u64,
}

/// Of one program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProgramFigures {
    pub(super) count: u64,
    pub(super) refused: u64,
}

/// Of one rule, or of what a person said for longer than once.
#[derive(Debug, Default)]
pub(super) struct RuleFigures {
    pub(super) id: String,
    pub(super) src: String,
    pub(super) is_grant: bool,
    pub(super) hits: u64,
    pub(super) verdicts: HashMap<String, u64>,
}

impl Default for Figures {
    fn default() -> Self {
        let words = || Counted::up_to(WORDS_MAX);
        Self {
            records: 0,
            span: None,
            sessions: Counted::default(),
            decisions: 0,
            seconds: HashMap::new(),
            verdicts: words(),
            effects: words(),
            outcomes: words(),
            refusals: words(),
            times: Counted::up_to(TIMES_MAX),
            programs: Counted::default(),
            rules: Counted::default(),
            questions: Questions::default(),
            gaps: 0,
            lacking: 0,
            target_missing: 0,
            tool_calls: 0,
            tool_verdicts: words(),
        }
    }
}

impl Figures {
    /// Counts a record of this time.
    pub(super) fn take(&mut self, entry: &Entry<'_>, time: Option<Timestamp>) {
        self.records += 1;
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        if let Some(session) = self.sessions.of(&entry.session.id) {
            session.records += 1;
            if session.name.is_empty() {
                session.name = entry.session.name.to_string();
            }
        }
        match entry.kind.as_ref() {
            "exec.decision" => self.decision(entry, time),
            "exec.held" => self.questions.held(entry),
            "exec.outcome" => {
                if let Some(outcome) = &entry.outcome {
                    self.outcomes.add(&outcome.result);
                }
            }
            "exec.summary" => self.target_missing += entry.target_missing.unwrap_or(0),
            "tool.decision" => {
                self.tool_calls += 1;
                if let Some(decided) = &entry.decision {
                    self.tool_verdicts.add(&decided.verdict);
                    self.rule(decided);
                }
            }
            "audit.gap" => {
                self.gaps += 1;
                self.lacking += entry.gap.map_or(0, |gap| gap.count);
            }
            _ => {}
        }
    }

    fn decision(&mut self, entry: &Entry<'_>, time: Option<Timestamp>) {
        self.decisions += 1;
        if let Some(time) = time {
            *self.seconds.entry(time.as_second()).or_default() += 1;
        }
        let is_refused = entry.is_refused();
        let is_question = self.questions.decided(entry);
        if let Some(session) = self.sessions.of(&entry.session.id) {
            session.decisions += 1;
            session.refused += u64::from(is_refused);
            session.questions += u64::from(is_question);
        }
        if let Some(effect) = &entry.effect {
            self.effects.add(&effect.sent);
        }
        if let Some(decided) = &entry.decision {
            self.verdicts.add(&decided.verdict);
            if is_refused {
                self.refusals.add(&decided.reason);
            }
            self.rule(decided);
        }
        if !entry.is_missing()
            && let Some(program) = self.programs.of(entry.program())
        {
            program.count += 1;
            program.refused += u64::from(is_refused);
        }
        if entry.approval.is_none() {
            for (what, time) in &entry.lat {
                if let Some(time) = time.as_u64()
                    && let Some(spread) = self.times.of(what)
                {
                    spread.add(time);
                }
            }
        }
    }

    fn rule(&mut self, decided: &Decided<'_>) {
        let Some(rule) = &decided.rule else { return };
        let Some(figures) = self.rules.of(&format!("{}\n{}", rule.id, rule.src)) else {
            return;
        };
        if figures.hits == 0 {
            figures.id.clone_from(&rule.id);
            figures.src.clone_from(&rule.src);
            figures.is_grant = decided.reason == "grant";
        }
        figures.hits += 1;
        if let Some(count) = figures.verdicts.get_mut(decided.verdict.as_ref()) {
            *count += 1;
        } else if figures.verdicts.len() < WORDS_MAX {
            figures.verdicts.insert(decided.verdict.to_string(), 1);
        }
    }
}
