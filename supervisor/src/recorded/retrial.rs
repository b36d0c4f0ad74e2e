//! What a policy says of the execs of a log, one after the other, each as if it were made again.

use std::collections::HashMap;
use std::sync::Arc;

use execward_policy::{Ancestor, Decision, Doubt, ExecRequest, Gaps, Lineage, RuleKey, Ruleset};
use jiff::Timestamp;

use super::texts::Texts;
use super::{Missing, Put, Record};
use crate::audit::{ExecId, History, PolicyNote, Reason};
use crate::judge::Judgement;
use crate::policy::LoadedPolicy;

/// A policy, and what the records so far say of their sessions.
pub(crate) struct Retrial<'p> {
    policy: &'p LoadedPolicy,
    doubts: HashMap<Gaps, Doubt>,
    sessions: HashMap<String, Session>,
    texts: Texts,
}

/// What the policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) decision: Decision,
    pub(crate) ground: Ground,
}

/// On what ground something was decided: the rule, or the reason where there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    Rule(String),
    Other(String),
}

impl Ground {
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Rule(id) => format!("rule {id}"),
            Self::Other(reason) => reason.clone(),
        }
    }
}

/// A session, as far as its records went.
#[derive(Debug, Default)]
struct Session {
    cmd: Option<Vec<String>>,
    /// CMD's process, of the first decision.
    pid: Option<u32>,
    /// Whether CMD has been loaded: what was typed has been done.
    has_begun: bool,
    /// Whether the policy in force is the one on trial.
    is_under_policy: bool,
    /// What each exec made of its process; none for one that loaded something else.
    images: HashMap<ExecId, Option<Arc<Ancestor>>>,
}

impl<'p> Retrial<'p> {
    pub(crate) fn of(policy: &'p LoadedPolicy) -> Self {
        Self {
            policy,
            doubts: HashMap::new(),
            sessions: HashMap::new(),
            texts: Texts::default(),
        }
    }

    /// Takes in what a record says of its session beside its decisions.
    pub(crate) fn note(&mut self, record: &Record<'_>) {
        match record.kind.as_ref() {
            "session.start" => {
                let session = Session {
                    cmd: record.cmd.clone(),
                    is_under_policy: self.is_policy(record.policy.as_deref()),
                    ..Session::default()
                };
                self.sessions.insert(record.session().to_owned(), session);
            }
            "policy.loaded" => {
                let is_under_policy = self.is_policy(record.policy.as_deref());
                self.session(record).is_under_policy = is_under_policy;
            }
            "exec.outcome" => self.note_outcome(record),
            "session.end" => drop(self.sessions.remove(record.session())),
            _ => {}
        }
    }

    fn note_outcome(&mut self, record: &Record<'_>) {
        let (result, exec) = (record.outcome(), record.exec_id);
        let pid = record.proc.as_ref().and_then(|proc| proc.pid);
        let session = self.session(record);
        let is_cmds = pid.is_some() && pid == session.pid;
        if matches!(result, Some("verified" | "changed")) && is_cmds {
            session.has_begun = true;
        }
        if result == Some("changed")
            && let Some(exec) = exec
        {
            session.images.insert(exec, None);
        }
    }

    fn session(&mut self, record: &Record<'_>) -> &mut Session {
        let id = record.session();
        if !self.sessions.contains_key(id) {
            self.sessions.insert(id.to_owned(), Session::default());
        }
        self.sessions.entry(id.to_owned()).or_default()
    }

    /// Whether these files are the policy's, with whatever grants stood beside them.
    fn is_policy(&self, notes: Option<&[PolicyNote]>) -> bool {
        let own = self.policy.notes.iter().map(|note| &note.sha256);
        let notes = notes.and_then(|notes| notes.get(..own.len()));
        notes.is_some_and(|notes| own.eq(notes.iter().map(|note| &note.sha256)))
    }

    /// The question about the exec of a decision.
    ///
    /// # Errors
    /// If the record says too little for any policy.
    pub(crate) fn put(&mut self, record: &Record<'_>) -> Result<Put, Missing> {
        let policy = self.policy;
        let session = self.session(record);
        let lineage = |history: &History| session.lineage(history);
        record.question(policy, session.is_under_policy, lineage)
    }

    /// What the policy says of the exec of a decision, or of one that is held.
    ///
    /// # Errors
    /// If the record does not say enough to tell.
    pub(crate) fn judge(&mut self, record: &Record<'_>) -> Result<Ruling, Missing> {
        let put = self.put(record)?;
        self.answer(record, put)
    }

    /// What the policy says to the question that a record puts.
    ///
    /// # Errors
    /// If the question lacks what the answer hangs on.
    pub(crate) fn answer(&mut self, record: &Record<'_>, put: Put) -> Result<Ruling, Missing> {
        let case = Case {
            is_operators: self.session(record).is_operators(record),
            put: &put,
            now: record.time(),
        };
        let (ruling, allowed_by) = self.rule(&case)?;
        if self.policy.rules.wants_lineage()
            && let Some(exec) = record.exec_id
        {
            let image = Arc::new(ancestor(put.request, allowed_by));
            self.session(record).images.insert(exec, Some(image));
        }
        Ok(ruling)
    }

    fn rule(&mut self, case: &Case<'_>) -> Result<(Ruling, Option<RuleKey>), Missing> {
        let (texts, gaps) = (&mut self.texts, case.put.gaps);
        if gaps.is_empty() {
            return case.by(&self.policy.rules, &case.put.request, texts);
        }
        let doubt = self
            .doubts
            .entry(gaps)
            .or_insert_with(|| Doubt::of(&self.policy.rules, gaps));
        let [strictest, loosest] = doubt.sides(&case.put.request);
        let strictest = case.by(strictest.0, &strictest.1, texts)?;
        let loosest = case.by(loosest.0, &loosest.1, texts)?;
        if strictest.0.decision == loosest.0.decision {
            Ok(loosest)
        } else {
            Err(Missing::Gaps(gaps))
        }
    }
}

/// One exec that is judged again.
struct Case<'a> {
    put: &'a Put,
    /// Whether whoever typed CMD lets it run.
    is_operators: bool,
    now: Timestamp,
}

impl Case<'_> {
    /// As the gate judges: by the rules, the operator, and the text that a shell is given.
    fn by(
        &self,
        rules: &Ruleset,
        request: &ExecRequest,
        texts: &mut Texts,
    ) -> Result<(Ruling, Option<RuleKey>), Missing> {
        let verdict = rules.decide(request, self.now);
        let is_operators = self.is_operators
            && rules.trusts_operator()
            && verdict.decision_of_rules().is_none()
            && verdict.decision() != Decision::Allow;
        let verdict = match verdict.decision() {
            Decision::Deny if !is_operators => verdict,
            Decision::Allow | Decision::Ask | Decision::Deny => {
                match texts.denied(request, rules)? {
                    Some(denied) => denied,
                    None if is_operators => return Ok((Ruling::of_operator(), None)),
                    None => verdict,
                }
            }
        };
        let judgement = Judgement::of(verdict);
        let ground = match judgement.rule {
            Some(rule) => Ground::Rule(rule.id),
            None => Ground::Other(judgement.ground.as_str().to_owned()),
        };
        let decision = judgement.decision;
        Ok((Ruling { decision, ground }, judgement.allowed_by))
    }
}

impl Ruling {
    fn of_operator() -> Self {
        Self {
            decision: Decision::Allow,
            ground: Ground::Other(Reason::Operator.as_str().to_owned()),
        }
    }
}

impl Session {
    /// Whether the exec is CMD's first, as typed.
    fn is_operators(&mut self, record: &Record<'_>) -> bool {
        let Some(pid) = record.proc.as_ref().and_then(|proc| proc.pid) else {
            return false;
        };
        let is_cmds = *self.pid.get_or_insert(pid) == pid;
        match &self.cmd {
            Some(cmd) => is_cmds && !self.has_begun && is_called(record, cmd),
            // The log begins later: what the record itself says.
            None => record
                .decision
                .as_ref()
                .is_some_and(|it| it.reason == "operator"),
        }
    }

    /// The history that these execs make; `None` if one of them is not in the log.
    fn lineage(&self, history: &History) -> Option<Lineage> {
        let images = history
            .execs
            .iter()
            .map(|exec| self.images.get(exec)?.clone());
        Some(Lineage {
            ancestors: images.collect::<Option<_>>()?,
            is_broken: history.is_broken,
        })
    }
}

/// Whether its arguments are these words, which are escaped.
fn is_called(record: &Record<'_>, words: &[String]) -> bool {
    let argv = record.call().map(|call| call.argv).unwrap_or_default();
    let argv = argv.iter().map(|word| word.escape_ascii().to_string());
    argv.eq(words.iter().cloned())
}

/// What the process is to its descendants.
fn ancestor(request: ExecRequest, allowed_by: Option<RuleKey>) -> Ancestor {
    let interpreters = request.interpreters.into_iter().map(|level| level.file);
    Ancestor {
        files: [request.program].into_iter().chain(interpreters).collect(),
        allowed_by,
    }
}
