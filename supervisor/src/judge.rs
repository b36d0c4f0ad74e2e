//! From an exec to the policy's answer, and to the words that say it.

use std::sync::Arc;

use execward_policy::{
    Ancestor, Basis, Decision, ExecRequest, Interpreter, Lineage, ProgramFile, RuleKey, Ruleset,
    Security, Verdict,
};
use jiff::Timestamp;

use crate::audit::{Decided, Reason, RuleNote};
use crate::exec::{FileFacts, Image, Kind};
use crate::gate::Gate;
use crate::pipeline::Subject;
use crate::tracee::{Status, Tid};

/// A verdict with its ground, in words of its own: it outlives the borrow of the ruleset.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(crate) decision: Decision,
    verdict: &'static str,
    pub(crate) ground: Reason,
    pub(crate) rule: Option<RuleNote>,
    pub(crate) reason: Option<String>,
    pub(crate) instead: Option<String>,
    detail: Option<String>,
    /// The allow whose `children` may run below.
    allowed_by: Option<RuleKey>,
}

/// CMD's first exec: allowed once to whoever typed it, exactly as typed.
#[derive(Debug)]
pub(crate) struct OperatorGrant {
    pub(crate) process: Tid,
    pub(crate) argv: Vec<Vec<u8>>,
}

impl Judgement {
    fn of(verdict: Verdict<'_>) -> Self {
        let decision = verdict.decision();
        let rule = verdict.rule();
        let ground = match (decision, verdict.basis()) {
            (Decision::Ask, _) => Reason::NoApprover,
            (_, Basis::Rule(_)) => Reason::Rule,
            (_, Basis::Children(_)) => Reason::Children,
            (_, Basis::Default { .. }) => Reason::Default,
        };
        Self {
            decision,
            verdict: match decision {
                Decision::Allow => "allow",
                Decision::Ask => "ask",
                Decision::Deny => "deny",
            },
            ground,
            rule: rule.map(|rule| RuleNote {
                id: rule.id().to_owned(),
                src: format!("{}:{}", rule.source(), rule.line()),
            }),
            reason: rule.and_then(|rule| rule.reason()).map(str::to_owned),
            instead: rule.and_then(|rule| rule.instead()).map(str::to_owned),
            detail: None,
            allowed_by: match verdict.basis() {
                Basis::Rule(rule) => rule.has_children().then(|| rule.key()),
                Basis::Children(_) | Basis::Default { .. } => None,
            },
        }
    }

    /// A refusal on execward's own account, the policy unasked.
    pub(crate) fn refusal(ground: Reason, detail: String) -> Self {
        Self {
            decision: Decision::Deny,
            verdict: "deny",
            ground,
            rule: None,
            reason: None,
            instead: None,
            detail: Some(detail),
            allowed_by: None,
        }
    }

    /// Nothing was judged: there is no such file.
    pub(crate) fn missing() -> Self {
        Self {
            decision: Decision::Allow,
            verdict: "none",
            ground: Reason::TargetMissing,
            rule: None,
            reason: None,
            instead: None,
            detail: None,
            allowed_by: None,
        }
    }

    fn operator(self) -> Self {
        Self {
            decision: Decision::Allow,
            verdict: "allow",
            ground: Reason::Operator,
            ..self
        }
    }

    /// What the process will be to its descendants.
    pub(crate) fn ancestor(&self, request: &ExecRequest) -> Arc<Ancestor> {
        let interpreters = request.interpreters.iter().map(|level| level.file.clone());
        Arc::new(Ancestor {
            files: [request.program.clone()]
                .into_iter()
                .chain(interpreters)
                .collect(),
            allowed_by: self.allowed_by.clone(),
        })
    }

    /// For the record.
    pub(crate) fn decided(&self) -> Decided {
        Decided {
            verdict: self.verdict,
            reason: self.ground,
            rule: self.rule.clone(),
            detail: self.detail.clone(),
        }
    }

    /// For the refusal line: on what ground, in parentheses.
    pub(crate) fn ground_in_words(&self) -> String {
        match (&self.rule, self.ground) {
            (Some(rule), Reason::NoApprover) => {
                format!("rule {} asks, and nobody can answer yet", rule.id)
            }
            (None, Reason::NoApprover) => "not in the policy, and nobody can answer yet".into(),
            (Some(rule), _) => format!("rule {}", rule.id),
            (None, Reason::Default) => "not in the policy".into(),
            (None, Reason::ReadDeadline) => "its file system does not answer".into(),
            (None, Reason::Unverifiable) => "what it loads cannot be verified".into(),
            (None, Reason::Unreadable) => "it cannot be read whole".into(),
            (None, _) => "execward failed".into(),
        }
    }

    /// For the refusal line: the rule's reason, or what went wrong.
    pub(crate) fn reason_in_words(&self) -> Option<&str> {
        self.reason.as_deref().or(self.detail.as_deref())
    }
}

impl Gate {
    /// The policy's answer to `request`, or the operator's own if the policy has none.
    pub(crate) fn judge(&self, request: &ExecRequest, subject: &Subject) -> Judgement {
        let rules: &Ruleset = &self.rules;
        let verdict = rules.decide(request, Timestamp::now());
        let is_unmatched = match verdict.basis() {
            Basis::Default { security, .. } => security != Security::Deny,
            Basis::Rule(_) | Basis::Children(_) => false,
        };
        let is_operators = self.operator.as_ref().is_some_and(|grant| {
            grant.process == subject.caller.pid && grant.argv == subject.args.argv
        });
        let judgement = Judgement::of(verdict);
        if is_unmatched && is_operators && verdict.decision() != Decision::Allow {
            judgement.operator()
        } else {
            judgement
        }
    }

    /// The policy's answer alone: for what was loaded, and nobody typed.
    pub(crate) fn judge_loaded(&self, request: &ExecRequest) -> Judgement {
        Judgement::of(self.rules.decide(request, Timestamp::now()))
    }

    /// What the policy is asked about.
    pub(crate) fn describe(
        &mut self,
        image: &Image,
        argv: &[Vec<u8>],
        cwd: &[u8],
        lineage: Lineage,
    ) -> ExecRequest {
        let mut arguments = image
            .target()
            .map(|file| &file.facts().kind)
            .into_iter()
            .chain(image.interpreters().iter().map(|file| &file.facts().kind));
        let interpreters = image.interpreters().iter().map(|file| Interpreter {
            file: self.program(file.facts()),
            argument: match arguments.next() {
                Some(Kind::Script { argument, .. }) => argument.clone(),
                _ => None,
            },
        });
        ExecRequest {
            interpreters: interpreters.collect(),
            program: image
                .target()
                .map_or_else(nameless, |file| self.program(file.facts())),
            argv: argv.to_vec(),
            cwd: Some(cwd.to_vec()).filter(|cwd| cwd.starts_with(b"/")),
            lineage,
        }
    }

    pub(crate) fn program(&mut self, facts: &FileFacts) -> ProgramFile {
        ProgramFile {
            given: facts.given.clone(),
            links: facts.links.clone(),
            resolved: facts.resolved.clone(),
            origin: facts.origin,
            is_settled: self.settled.is_settled(facts),
            sha256: facts.sha256,
        }
    }

    /// The history of a task, if any rule asks for it.
    pub(crate) fn lineage_of(&self, task: &Status) -> Lineage {
        if self.rules.wants_lineage() {
            self.lineages.of(task, self.command.pid, &self.kernel.proc)
        } else {
            Lineage::default()
        }
    }
}

/// An image without a file, which no lookup makes: allowed by nothing.
fn nameless() -> ProgramFile {
    ProgramFile {
        given: Vec::new(),
        links: Vec::new(),
        resolved: None,
        origin: execward_policy::Origin::Anonymous,
        is_settled: false,
        sha256: None,
    }
}
