//! `execward policy learn`: the narrowest rules that would have let run what people approved.

mod evidence;
mod text;

use std::io::{self, Write};
use std::path::Path;

use execward_policy::{Lesson, Lessons, NoRule};

use super::{LoadedPolicy, PolicyError, lint};
use crate::cli::LearnArgs;
use crate::clock;
use crate::exit::ExitStatus;
use crate::front;
use crate::places::Places;
use crate::recorded::{Lines, Retrial};
use crate::regular;
use evidence::{Part, Witness};

/// What the rules are called, with a number behind it.
const PREFIX: &str = "learned";

/// What the source of the rules is called where it is tried.
const NAME: &str = "learned.toml";

/// What was seen, and what is learned of it.
struct Learned {
    witness: Witness,
    lessons: Vec<Lesson>,
    /// Approved calls without a rule, and why.
    untaught: Vec<(usize, String)>,
}

/// Writes a policy of what people approved in these logs, to stand beside the one that asked.
///
/// # Errors
/// If the policy has faults, a log cannot be read, or the output cannot be written.
pub(super) fn learn(args: &LearnArgs, out: &mut impl Write) -> Result<ExitStatus, PolicyError> {
    let places = Places::find()?;
    let policy = LoadedPolicy::load(&args.policy, &places)?;
    let mut witness = Witness::of(args);
    let mut retrial = Retrial::of(&policy);
    let mut is_damaged = false;
    for log in &args.logs {
        let mut lines = Lines::open(log)?;
        while let Some(line) = lines.next()? {
            match line.record() {
                Ok(record) => witness.see(&record, &mut retrial),
                Err(error) => {
                    is_damaged = true;
                    front::say(&format!("damaged: {}: {error}", log.display()));
                }
            }
        }
    }
    let mut learned = Learned::from(witness, &policy);
    learned.try_out(args, &places)?;
    write(args.output.as_deref(), &learned.text(&policy), out)?;
    Ok(match is_damaged {
        true => ExitStatus::LogDamaged,
        false => ExitStatus::Success,
    })
}

/// Where it was asked for, and nothing over another file.
fn write(path: Option<&Path>, text: &str, out: &mut impl Write) -> Result<(), PolicyError> {
    let Some(path) = path else {
        return Ok(out.write_all(text.as_bytes())?);
    };
    let failed = |error: io::Error| {
        let path = path.to_owned();
        if error.kind() == io::ErrorKind::AlreadyExists {
            PolicyError::Exists(path)
        } else {
            PolicyError::Create { path, error }
        }
    };
    regular::create(path, text).map_err(failed)?;
    Ok(writeln!(out, "wrote {}", path.display())?)
}

impl Learned {
    fn from(witness: Witness, policy: &LoadedPolicy) -> Self {
        let [approved, refused, others] = witness.requests();
        let evidence = execward_policy::Evidence {
            approved: &approved,
            refused: &refused,
            others: &others,
        };
        let prefix = free_prefix(policy);
        let learned = policy.rules.learn(evidence, &prefix, clock::now());
        let Lessons { lessons, untaught } = learned;
        let in_words = |(at, why): (usize, NoRule)| (at, why.to_string());
        Self {
            untaught: untaught.into_iter().map(in_words).collect(),
            witness,
            lessons,
        }
    }

    /// Leaves out what `lint` warns of, and what does not let run what it was made of.
    fn try_out(&mut self, args: &LearnArgs, places: &Places) -> Result<(), PolicyError> {
        loop {
            let rules = self.rules();
            let policy = LoadedPolicy::load_with(&args.policy, places, (NAME, &rules))?;
            let warnings = lint::warnings(&policy).into_iter();
            let warned = warnings.filter_map(|warning| {
                let (id, source, _) = warning.rule?;
                (source == NAME).then(|| (id, format!("{} ({})", warning.message, warning.kind)))
            });
            let mut bad: Vec<(String, String)> = warned.collect();
            if bad.is_empty() {
                bad = self.failing(&policy);
            }
            if bad.is_empty() {
                return Ok(());
            }
            for (id, why) in bad {
                self.leave_out(&id, &why);
            }
        }
    }

    /// The rules of which an approved call would be asked about all the same.
    fn failing(&self, policy: &LoadedPolicy) -> Vec<(String, String)> {
        let is_let = |at: &usize| {
            let seen = self.witness.of_part(Part::Approved).get(*at);
            seen.is_some_and(|seen| seen.runs_under(policy))
        };
        let failing = self
            .lessons
            .iter()
            .filter(|it| !it.calls.iter().all(is_let));
        failing
            .map(|lesson| (lesson.id.clone(), NoRule::NoHelp.to_string()))
            .collect()
    }

    fn leave_out(&mut self, id: &str, why: &str) {
        let Some(at) = self.lessons.iter().position(|lesson| lesson.id == id) else {
            return;
        };
        let lesson = self.lessons.remove(at);
        let calls = lesson.calls.into_iter();
        self.untaught
            .extend(calls.map(|call| (call, why.to_owned())));
    }

    /// The rules alone.
    fn rules(&self) -> String {
        let rules = self
            .lessons
            .iter()
            .map(|lesson| lesson.amendment.rule.as_str());
        ["version = 1\n"].into_iter().chain(rules).collect()
    }
}

/// A prefix of ids that no rule of the policy has.
fn free_prefix(policy: &LoadedPolicy) -> String {
    let is_free = |prefix: &String| {
        let start = format!("{prefix}-");
        !policy
            .rules
            .rules()
            .any(|rule| rule.id().starts_with(&start))
    };
    let others = (2..).map(|number| format!("{PREFIX}{number}"));
    let mut prefixes = [PREFIX.to_owned()].into_iter().chain(others);
    prefixes.find(is_free).unwrap_or_else(|| PREFIX.to_owned())
}
