//! Execs out of the audit log: what was called, what the policy was asked with, and what it said.

mod log;
mod question;
mod retrial;
mod said;
mod texts;

use std::borrow::Cow;

use execward_policy::ExecRequest;
use jiff::Timestamp;
use serde::Deserialize;

use crate::audit::{
    ExactBytes, ExecId, Inputs, PolicyNote, RawBytes, RuleNote, Text, decoded, escaped,
};
pub(crate) use log::{Lines, find, find_all, read};
pub(crate) use question::{Missing, Put};
pub(crate) use retrial::{Ground, Retrial, Ruling};
pub(crate) use said::{Said, said};

/// The version of the record format whose names are known here, up to its point.
pub(crate) const READ_MAJOR: &str = "1";

/// A record, as far as execs need it. What is absent is unknown.
#[derive(Debug, Deserialize)]
pub(crate) struct Record<'a> {
    #[serde(default, borrow)]
    v: Cow<'a, str>,
    /// `exec.decision`, `session.start` …
    #[serde(default, rename = "type", borrow)]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    ts: Cow<'a, str>,
    #[serde(default, borrow)]
    session: SessionRef<'a>,
    pub(crate) exec_id: Option<ExecId>,
    #[serde(default, borrow)]
    pub(crate) proc: Option<Proc<'a>>,
    #[serde(default, borrow)]
    pub(crate) decision: Option<Decided<'a>>,
    #[serde(default, borrow)]
    effect: Option<EffectRef<'a>>,
    #[serde(default)]
    approval: Option<serde::de::IgnoredAny>,
    #[serde(default, borrow)]
    outcome: Option<OutcomeRef<'a>>,
    /// The files in force, of a session's start and of another policy.
    #[serde(default)]
    pub(crate) policy: Option<Vec<PolicyNote>>,
    /// The file beside the log that has all of them.
    #[serde(default, borrow)]
    kept: Option<Cow<'a, str>>,
    /// CMD and its arguments, escaped.
    #[serde(default)]
    pub(crate) cmd: Option<Vec<String>>,
    /// Where a session was started, escaped.
    #[serde(default, borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(default)]
    bytes: ExactBytes,
    #[serde(skip)]
    raw: RawBytes,
}

#[derive(Debug, Default, Deserialize)]
struct SessionRef<'a> {
    #[serde(default, borrow)]
    id: Cow<'a, str>,
    #[serde(default, borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct EffectRef<'a> {
    #[serde(borrow)]
    sent: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
struct OutcomeRef<'a> {
    #[serde(borrow)]
    result: Cow<'a, str>,
    #[serde(default, borrow)]
    loaded: Option<LoadedRef<'a>>,
}

#[derive(Debug, Deserialize)]
struct LoadedRef<'a> {
    #[serde(borrow)]
    exe: Cow<'a, str>,
}

/// The exec itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Proc<'a> {
    #[serde(default)]
    pid: Option<u32>,
    #[serde(default, borrow)]
    req_path: Option<Text<'a>>,
    #[serde(default, borrow)]
    path: Option<Text<'a>>,
    #[serde(default)]
    file: Option<FileRef>,
    #[serde(default, borrow)]
    argv: Option<Vec<Text<'a>>>,
    #[serde(default)]
    argv_cut: bool,
    #[serde(default, borrow)]
    cwd: Option<Text<'a>>,
    #[serde(default, borrow)]
    inputs: Option<Inputs<'a>>,
}

#[derive(Debug, Deserialize)]
struct FileRef {
    /// `MAJOR:MINOR`.
    dev: String,
    ino: u64,
}

/// What was said of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Decided<'a> {
    #[serde(borrow)]
    pub(crate) verdict: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) reason: Cow<'a, str>,
    #[serde(default)]
    pub(crate) rule: Option<RuleNote>,
}

/// A program and its arguments, where they were called.
#[derive(Debug)]
pub(crate) struct RecordedCall {
    /// Made absolute by `cwd`, if that is known.
    pub(crate) path: Vec<u8>,
    pub(crate) argv: Vec<Vec<u8>>,
    pub(crate) cwd: Option<Vec<u8>>,
    /// Where `path` led.
    pub(crate) resolved: Option<Vec<u8>>,
}

/// Why a record tells no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(crate) enum NoCall {
    #[error("it has no `proc`")]
    NoProc,
    #[error("it has no `proc.argv`")]
    NoArgv,
    #[error("its argv is cut")]
    Cut,
    #[error("it has no `proc.req_path`")]
    NoPath,
}

impl<'a> Record<'a> {
    /// # Errors
    /// If the line is no record, or one whose names may mean something else.
    pub(crate) fn parse(line: &'a [u8]) -> serde_json::Result<Self> {
        let mut record: Self = serde_json::from_slice(line)?;
        let major = record.v.split('.').next().unwrap_or_default();
        if !major.is_empty() && major != READ_MAJOR {
            let why = format!(
                "of version {}, and this execward reads {READ_MAJOR}",
                escaped(&record.v)
            );
            return Err(serde::de::Error::custom(why));
        }
        let raw = decoded(&record.bytes);
        record.raw = raw.ok_or_else(|| serde::de::Error::custom("its `bytes` are no base64"))?;
        Ok(record)
    }

    /// Of a record that says which policy is in force from there on: where that is kept, if it is.
    pub(crate) fn kept_policy(&self) -> Option<Option<&str>> {
        self.policy.as_ref().map(|_| self.kept.as_deref())
    }

    /// Of which session.
    pub(crate) fn session(&self) -> &str {
        &self.session.id
    }

    /// What the operator called it.
    pub(crate) fn session_name(&self) -> &str {
        &self.session.name
    }

    /// Where its session was started, if that is known byte for byte.
    pub(crate) fn started_in(&self) -> Option<Vec<u8>> {
        let plain = self.cwd.as_ref().filter(|cwd| !cwd.contains('\\'));
        plain.map(|cwd| cwd.as_bytes().to_vec())
    }

    /// When; the epoch's start if that cannot be read.
    pub(crate) fn time(&self) -> Timestamp {
        self.ts.parse().unwrap_or_default()
    }

    /// Whether a person was asked, or was to be.
    pub(crate) fn is_of_question(&self) -> bool {
        self.approval.is_some()
    }

    /// Whether it went on though the policy does not let it: its session was only observed.
    pub(crate) fn is_observed(&self) -> bool {
        let decided = self.decision.as_ref();
        let is_let = decided.is_none_or(|it| !matches!(it.verdict.as_ref(), "ask" | "deny"));
        let effect = self.effect.as_ref();
        !is_let && effect.is_some_and(|effect| effect.sent == "continue")
    }

    /// What came of an exec that went on: `verified` …
    pub(crate) fn outcome(&self) -> Option<&str> {
        self.outcome.as_ref().map(|outcome| outcome.result.as_ref())
    }

    /// What was loaded in place of what was judged, for people.
    pub(crate) fn loaded(&self) -> Option<&str> {
        let loaded = self.outcome.as_ref()?.loaded.as_ref();
        loaded.map(|loaded| loaded.exe.as_ref())
    }

    /// The call with its files as they were found; `None` where no policy was asked.
    pub(crate) fn request(&self) -> Option<ExecRequest> {
        let call = self.call().ok()?;
        let inputs = self.proc.as_ref()?.inputs.as_ref()?;
        Some(inputs.request(call.argv, call.cwd, &self.raw))
    }

    /// The call that it is about, byte for byte.
    ///
    /// # Errors
    /// What it lacks.
    pub(crate) fn call(&self) -> Result<RecordedCall, NoCall> {
        let proc = self.proc.as_ref().ok_or(NoCall::NoProc)?;
        let word = |key: &str, text: &Text<'_>| text.bytes(|| format!("/proc/{key}"), &self.raw);
        // One that somebody wrote by hand may have the exact bytes alone.
        let of = |key: &str, text: &Option<Text<'_>>| match text {
            Some(text) => Some(word(key, text)),
            None => self.raw.get(&format!("/proc/{key}")).cloned(),
        };
        if proc.argv_cut {
            return Err(NoCall::Cut);
        }
        let argv = proc.argv.as_ref().ok_or(NoCall::NoArgv)?.iter().enumerate();
        let resolved = of("path", &proc.path);
        let path = of("req_path", &proc.req_path).or_else(|| resolved.clone());
        let path = path.ok_or(NoCall::NoPath)?;
        let cwd = of("cwd", &proc.cwd);
        Ok(RecordedCall {
            path: match &cwd {
                Some(cwd) if !path.starts_with(b"/") => [cwd, b"/".as_slice(), &path].concat(),
                _ => path,
            },
            argv: argv
                .map(|(at, text)| word(&format!("argv/{at}"), text))
                .collect(),
            cwd,
            resolved,
        })
    }

    /// Its program, for people: what the file is called.
    pub(crate) fn program(&self) -> String {
        let proc = self.proc.as_ref();
        let path = proc.and_then(|proc| proc.path.as_ref().or(proc.req_path.as_ref()));
        escaped(path.map_or("-", Text::as_str))
    }

    /// What was decided then, in words.
    ///
    /// `by` is the policy that is asked again.
    pub(crate) fn verdict_in_words(&self, by: &str) -> String {
        let decided = self.decision.as_ref();
        let [verdict, reason] = match decided {
            Some(decided) => [&decided.verdict, &decided.reason].map(|word| escaped(word)),
            None => ["-", "-"].map(str::to_owned),
        };
        let rule = decided.and_then(|decided| decided.rule.as_ref());
        let rule = rule.map_or(String::new(), |rule| {
            format!(", rule {}", escaped(&rule.id))
        });
        let time = escaped(&self.ts);
        let ran = match self.is_observed() {
            true => ", and it went on, since it was only observed",
            false => "",
        };
        format!("then: {verdict} ({reason}{rule}) at {time}{ran}; {by}:")
    }

    /// The rule whose deny it is of, if it is of one.
    pub(crate) fn denying_rule(&self) -> Option<&str> {
        let decided = self.decision.as_ref();
        let denied = decided.filter(|it| it.verdict == "deny" && it.reason == "rule")?;
        denied.rule.as_ref().map(|rule| rule.id.as_str())
    }
}
