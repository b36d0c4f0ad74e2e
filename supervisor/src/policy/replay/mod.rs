//! `execward policy replay`: what a policy would have said of the execs of a log.

mod changes;

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use super::{LoadedPolicy, PolicyError};
use crate::audit::{ExecId, escaped};
use crate::cli::ReplayArgs;
use crate::exit::ExitStatus;
use crate::places::Places;
use crate::recorded::{Ground, Lines, Record, Retrial, Ruling, Said, said};
use changes::{Change, Changes, Common, Count, Key};

/// Puts each exec of the log to the policy, and says what would have been different.
///
/// # Errors
/// If the policy has faults, or the log cannot be read.
pub(super) fn replay(args: &ReplayArgs, out: &mut impl Write) -> Result<ExitStatus, PolicyError> {
    let policy = LoadedPolicy::load(&args.policy, &Places::find()?)?;
    let mut replay = Replay::by(&policy);
    let mut lines = Lines::open(&args.log)?;
    let mut damage = Vec::new();
    while let Some(line) = lines.next()? {
        match line.record() {
            Ok(record) => replay.take(&record, line.text),
            Err(error) => damage.push(escaped(&error.to_string())),
        }
    }
    let changes = replay.end();
    for damage in &damage {
        show_damage(out, damage, args.json)?;
    }
    if args.json {
        show_json(out, &changes)?;
    } else {
        show(out, &changes)?;
    }
    Ok(match (damage.is_empty(), changes.are_none()) {
        (false, _) => ExitStatus::LogDamaged,
        (true, true) => ExitStatus::Success,
        (true, false) => ExitStatus::Finding,
    })
}

/// A log that is gone through.
struct Replay<'p> {
    retrial: Retrial<'p>,
    /// What waits for its decision, which the log may not have.
    held: HashMap<(String, ExecId), Vec<u8>>,
    changes: Changes,
}

impl<'p> Replay<'p> {
    fn by(policy: &'p LoadedPolicy) -> Self {
        Self {
            retrial: Retrial::of(policy),
            held: HashMap::new(),
            changes: Changes::default(),
        }
    }

    fn take(&mut self, record: &Record<'_>, line: &[u8]) {
        self.retrial.note(record);
        match record.kind.as_ref() {
            "exec.held" => {
                if let Some(id) = record.exec_id {
                    let key = (record.session().to_owned(), id);
                    self.held.insert(key, line.to_vec());
                }
            }
            "exec.decision" => {
                if let Some(id) = record.exec_id
                    && !self.held.is_empty()
                {
                    self.held.remove(&(record.session().to_owned(), id));
                }
                self.judge(record);
            }
            "tool.decision" => self.changes.tool_calls += 1,
            _ => {}
        }
    }

    fn judge(&mut self, record: &Record<'_>) {
        let Said::Policy(before) = said(record) else {
            self.changes.not_judged += 1;
            return;
        };
        let id = record.exec_id.unwrap_or(ExecId(0));
        let (key, why) = match self.retrial.judge(record) {
            Ok(ruling) if ruling.decision == before => {
                self.changes.unchanged += 1;
                return;
            }
            Ok(Ruling { decision, ground }) => {
                let after = decision;
                let grounds = [then(record), ground].map(|ground| ground.in_words());
                (Key::Change(Change { before, after }), grounds.join(" -> "))
            }
            Err(missing) => (Key::Indeterminate, missing.to_string()),
        };
        let program = record.program();
        self.changes.add(key, Common { program, why }, id);
    }

    /// The log ends: what nobody decided was a question.
    fn end(mut self) -> Changes {
        let held = std::mem::take(&mut self.held);
        let mut held: Vec<_> = held.into_iter().collect();
        held.sort_unstable();
        for (_, line) in held {
            if let Ok(record) = Record::parse(&line) {
                self.judge(&record);
            }
        }
        self.changes
    }
}

/// The ground of a decision then.
fn then(record: &Record<'_>) -> Ground {
    let decided = record.decision.as_ref();
    match decided.and_then(|decided| decided.rule.as_ref()) {
        Some(rule) if decided.is_some_and(|it| it.reason == "grant") => {
            Ground::Other(format!("grant {}", rule.id))
        }
        Some(rule) => Ground::Rule(rule.id.clone()),
        None => Ground::Other(decided.map_or_else(String::new, |it| it.reason.to_string())),
    }
}

fn show(out: &mut impl Write, changes: &Changes) -> io::Result<()> {
    for (key, groups) in changes.groups() {
        let count: u64 = groups.iter().map(|(_, count)| count.execs).sum();
        writeln!(out, "{key}: {count}")?;
        for (Common { program, why }, Count { execs, ids }) in groups {
            let shown: Vec<String> = ids.iter().map(ExecId::to_string).collect();
            let is_short = u64::try_from(ids.len()).is_ok_and(|shown| shown < *execs);
            let more = if is_short { " ..." } else { "" };
            let (why, ids) = (escaped(why), shown.join(" "));
            writeln!(out, "  {execs} {program}: {why} [{ids}{more}]")?;
        }
    }
    writeln!(out, "{}", changes.in_words())
}

/// A group as JSON has it.
#[derive(Serialize)]
struct Shown<'a> {
    change: &'static str,
    #[serde(flatten)]
    common: &'a Common,
    #[serde(flatten)]
    count: &'a Count,
}

fn show_json(out: &mut impl Write, changes: &Changes) -> io::Result<()> {
    for (key, groups) in changes.groups() {
        for (common, count) in groups {
            let change = key.as_str();
            let shown = Shown {
                change,
                common,
                count,
            };
            writeln!(out, "{}", serde_json::to_string(&shown)?)?;
        }
    }
    writeln!(out, "{}", serde_json::to_string(&changes.tally())?)
}

fn show_damage(out: &mut impl Write, damage: &str, as_json: bool) -> io::Result<()> {
    if as_json {
        return writeln!(out, "{}", serde_json::json!({ "damaged": damage }));
    }
    writeln!(out, "damaged: {damage}")
}
