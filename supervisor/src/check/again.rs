//! What a log has is decided again, from its records alone, by the policies that were kept beside it: it must come to the
//! same.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use execward_policy::Decision;
use serde::Serialize;

use super::CheckError;
use crate::audit::escaped;
use crate::exit::ExitStatus;
use crate::policy::{Kept, LoadedPolicy};
use crate::recorded::{Ground, Lines, Missing, Record, Retrial, Ruling, Said, said};

/// Most execs that are told one by one.
const TOLD_MAX: usize = 50;

/// What came of it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Again {
    /// Decisions that a policy made and that are the same again.
    agree: u64,
    disagree: u64,
    /// Of which the record says too little.
    indeterminate: u64,
    /// Which the gate made by itself, or the record is of no file.
    no_policy_made: u64,
    /// Of sessions whose policy is not kept.
    no_policy_kept: u64,
    /// Lines that are no records.
    damaged: u64,
    /// The first that differ or cannot be told, in words.
    told: Vec<String>,
    /// What the last one came to.
    #[serde(skip)]
    last: Option<String>,
}

/// The policies that are kept beside a log.
#[derive(Default)]
struct Policies {
    /// By their names.
    loaded: HashMap<String, LoadedPolicy>,
    of_sessions: HashMap<String, BTreeSet<String>>,
}

impl Again {
    /// Decides all of the log at `path` again.
    ///
    /// # Errors
    /// If the log or a kept policy cannot be read.
    pub(super) fn of(path: &Path) -> Result<Self, CheckError> {
        Self::by(&Policies::beside(path)?, path, |_| true)
    }

    /// Decides again what `record` decided, the exec `id` of the log at `path`, by the policy of its time, which is kept
    /// under that name; what it came to.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn of_exec(
        path: &Path,
        id: &str,
        record: &Record<'_>,
        policy: (&str, LoadedPolicy),
    ) -> Result<String, CheckError> {
        let policies = Policies::of_session(record.session(), policy);
        let is_meant = |it: &Record<'_>| it.exec_id.is_some_and(|own| own.is_meant_by(id));
        let last = Self::by(&policies, path, is_meant)?.last;
        Ok(last.unwrap_or_else(|| "no policy decided it".to_owned()))
    }

    /// Decides what `is_meant` again.
    fn by(
        policies: &Policies,
        path: &Path,
        is_meant: impl Fn(&Record<'_>) -> bool,
    ) -> Result<Self, CheckError> {
        let mut retrials: HashMap<&str, Retrial<'_>> = policies
            .loaded
            .iter()
            .map(|(name, policy)| (name.as_str(), Retrial::of(policy)))
            .collect();
        let mut in_force: HashMap<String, Option<String>> = HashMap::new();
        let mut again = Self::default();
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next()? {
            let Ok(record) = line.record() else {
                again.damaged += 1;
                continue;
            };
            if let Some(kept) = record.kept_policy() {
                in_force.insert(record.session().to_owned(), kept.map(str::to_owned));
            }
            let decides = record.kind == "exec.decision";
            let name = in_force.get(record.session()).cloned().flatten();
            // Each of the session's learns what its images are to those below them; one counts.
            let mut ruling = None;
            for own in policies.of(record.session()) {
                let Some(retrial) = retrials.get_mut(own.as_str()) else {
                    continue;
                };
                retrial.note(&record);
                let own_ruling = decides.then(|| retrial.judge(&record));
                if Some(own) == name.as_ref() {
                    ruling = own_ruling;
                }
            }
            if decides && is_meant(&record) {
                again.take(&record, ruling);
            }
        }
        Ok(again)
    }

    fn take(&mut self, record: &Record<'_>, ruling: Option<Result<Ruling, Missing>>) {
        let Said::Policy(before) = said(record) else {
            self.no_policy_made += 1;
            return;
        };
        let id = record
            .exec_id
            .map_or_else(|| "-".to_owned(), |id| id.to_string());
        match ruling {
            None => self.no_policy_kept += 1,
            Some(Ok(ruling)) if is_same(record, before, &ruling) => {
                self.agree += 1;
                self.last = Some(format!("{}, as then", in_words(&ruling)));
            }
            Some(Ok(ruling)) => {
                self.disagree += 1;
                let words = format!("{}, then {before}", in_words(&ruling));
                self.tell(format!("{id}: {words}"));
                self.last = Some(format!("{words}: THEY DIFFER"));
            }
            Some(Err(missing)) => {
                self.indeterminate += 1;
                self.tell(format!("{id}: cannot be told: {missing}"));
                self.last = Some(format!("cannot be told: {missing}"));
            }
        }
    }

    fn tell(&mut self, what: String) {
        if self.told.len() < TOLD_MAX {
            self.told.push(what);
        }
    }

    pub(super) fn show(&self, as_json: bool, out: &mut impl Write) -> io::Result<ExitStatus> {
        if as_json {
            writeln!(out, "{}", serde_json::to_string(self)?)?;
        } else {
            for told in &self.told {
                writeln!(out, "{}", escaped(told))?;
            }
            let Self {
                agree,
                disagree,
                indeterminate,
                no_policy_made,
                no_policy_kept,
                damaged,
                ..
            } = self;
            writeln!(
                out,
                "decided again by the policies that were kept: {agree} agree, {disagree} disagree, {indeterminate} cannot \
                 be told; {no_policy_made} no policy made, of {no_policy_kept} none is kept, {damaged} lines are no \
                 records"
            )?;
        }
        Ok(match (self.damaged, self.disagree + self.indeterminate) {
            (0, 0) => ExitStatus::Success,
            (0, _) => ExitStatus::Finding,
            _ => ExitStatus::LogDamaged,
        })
    }
}

impl Policies {
    /// All that the records of the log at `path` name.
    ///
    /// # Errors
    /// If the log or one of them cannot be read.
    fn beside(path: &Path) -> Result<Self, CheckError> {
        let mut policies = Self::default();
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next()? {
            let record = line.record().ok();
            let Some((record, name)) = record
                .as_ref()
                .and_then(|record| Some((record, record.kept_policy()??)))
            else {
                continue;
            };
            if !policies.loaded.contains_key(name) {
                let policy = Kept::load(path, name)?;
                policies.loaded.insert(name.to_owned(), policy);
            }
            policies.note(record.session(), name);
        }
        Ok(policies)
    }

    /// One, of one session.
    fn of_session(session: &str, (name, policy): (&str, LoadedPolicy)) -> Self {
        let mut policies = Self::default();
        policies.loaded.insert(name.to_owned(), policy);
        policies.note(session, name);
        policies
    }

    fn note(&mut self, session: &str, name: &str) {
        let of_session = self.of_sessions.entry(session.to_owned()).or_default();
        of_session.insert(name.to_owned());
    }

    /// The names of those that a session was under.
    fn of(&self, session: &str) -> impl Iterator<Item = &String> {
        self.of_sessions.get(session).into_iter().flatten()
    }
}

/// Whether it is the same decision, by the same rule where a rule made it.
fn is_same(record: &Record<'_>, before: Decision, ruling: &Ruling) -> bool {
    let decided = record
        .decision
        .as_ref()
        .filter(|decided| decided.reason == "rule");
    let rule = decided.and_then(|decided| decided.rule.as_ref());
    let is_by_it = match (rule, &ruling.ground) {
        (Some(rule), Ground::Rule(id)) => rule.id == *id,
        (Some(_), Ground::Other(_)) => false,
        (None, _) => true,
    };
    ruling.decision == before && is_by_it
}

fn in_words(ruling: &Ruling) -> String {
    format!("{} ({})", ruling.decision, ruling.ground.in_words())
}
