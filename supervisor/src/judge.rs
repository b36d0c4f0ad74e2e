//! From an exec to the policy's answer, and to the words that say it.

use std::sync::Arc;

use execward_policy::{
    Ancestor, Basis, Decision, ExecRequest, Lineage, Rule, RuleKey, Ruleset, Verdict,
};
use nix::errno::Errno;

use crate::audit::{Decided, History, Reason, RuleNote};
use crate::clock;
use crate::consent::Said;
use crate::control::Unanswered;
use crate::gate::Gate;
use crate::granting::NotKept;
use crate::remedy::Remedy;
use crate::subject::Subject;
use crate::tracee::{Status, TaskDir, Tid};

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
    /// What the rule is about, where that is a part of the text that a shell is given.
    within: Option<String>,
    /// The allow whose `children` may run below.
    pub(crate) allowed_by: Option<RuleKey>,
    /// What becomes of a question that nobody answers.
    pub(crate) unanswered: Unanswered,
    /// How many refusals there were of late, if those are too many.
    refused_lately: Option<usize>,
    /// Whether the question is for a higher supervisor.
    pub(crate) escalates: bool,
    /// What to do about a question that there was nobody to put to.
    pub(crate) remedy: Option<Remedy>,
}

/// CMD's first exec: allowed once to whoever typed it, exactly as typed.
#[derive(Debug)]
pub(crate) struct OperatorGrant {
    pub(crate) process: Tid,
    pub(crate) argv: Vec<Vec<u8>>,
}

impl Judgement {
    pub(crate) fn of(verdict: Verdict<'_>) -> Self {
        let decision = verdict.decision();
        let rule = verdict.rule();
        let ground = match verdict.basis() {
            Basis::Rule(rule) if rule.is_grant() => Reason::Grant,
            Basis::Rule(_) => Reason::Rule,
            Basis::Children(_) => Reason::Children,
            Basis::SafeBin => Reason::SafeBin,
            Basis::Wrapper => Reason::Wrapper,
            Basis::UnknownTool => Reason::UnknownTool,
            Basis::Default { .. } => Reason::Default,
        };
        Self {
            decision,
            verdict: decision.as_str(),
            ground,
            rule: rule.map(|rule| RuleNote {
                id: rule.id().to_owned(),
                src: format!("{}:{}", rule.source(), rule.line()),
            }),
            reason: rule.and_then(|rule| rule.reason()).map(str::to_owned),
            instead: rule.and_then(|rule| rule.instead()).map(str::to_owned),
            detail: None,
            within: None,
            allowed_by: match verdict.basis() {
                Basis::Rule(rule) => rule.has_children().then(|| rule.key()),
                Basis::Children(_)
                | Basis::SafeBin
                | Basis::Wrapper
                | Basis::UnknownTool
                | Basis::Default { .. } => None,
            },
            unanswered: match verdict.unanswered() {
                Decision::Allow => Unanswered::Allow,
                Decision::Ask | Decision::Deny => Unanswered::Deny,
            },
            refused_lately: None,
            escalates: decision == Decision::Ask && rule.is_some_and(Rule::escalates),
            remedy: None,
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
            within: None,
            allowed_by: None,
            unanswered: Unanswered::Deny,
            refused_lately: None,
            escalates: false,
            remedy: None,
        }
    }

    /// What is said of a part of a shell's text, in words.
    pub(crate) fn within(self, part: String) -> Self {
        let detail = Some(format!("its text: {part}"));
        let within = Some(part);
        Self {
            detail,
            within,
            ..self
        }
    }

    /// A question that nobody answers, on `ground`: refused, unless `ask_fallback` lets it go.
    pub(crate) fn left_unanswered(self, ground: Reason) -> Self {
        if self.unanswered == Unanswered::Allow {
            let (decision, verdict) = (Decision::Allow, Decision::Allow.as_str());
            return Self {
                decision,
                verdict,
                ground,
                ..self
            };
        }
        self.refused(ground)
    }

    /// A question that ends in a refusal, on `ground`.
    pub(crate) fn refused(self, ground: Reason) -> Self {
        Self {
            decision: Decision::Deny,
            verdict: Decision::Deny.as_str(),
            ground,
            ..self
        }
    }

    /// A question that no higher supervisor answers, and why not.
    pub(crate) fn without_route(self, why: String) -> Self {
        Self {
            detail: Some(why),
            reason: None,
            ..self.refused(Reason::NoApprover)
        }
    }

    /// What a person said of a question, for `reason` if there is one.
    pub(crate) fn of_person(self, said: Said, ground: Reason, reason: Option<String>) -> Self {
        let decision = match said {
            Said::Allow => Decision::Allow,
            Said::Deny => Decision::Deny,
        };
        Self {
            decision,
            verdict: decision.as_str(),
            ground,
            reason: reason.or(self.reason),
            ..self
        }
    }

    /// What is said alone, and not done: the exec goes on.
    pub(crate) fn unheeded(self) -> Self {
        Self {
            decision: Decision::Allow,
            ..self
        }
    }

    /// A refusal on execward's own account of what the policy does not deny anyhow.
    pub(crate) fn or_refusal(&self, ground: Reason, detail: String) -> Self {
        match self.verdict == Decision::Deny.as_str() {
            true => self.clone(),
            false => Self::refusal(ground, detail),
        }
    }

    /// A refusal that is one of so many within a minute.
    pub(crate) fn among(self, refused_lately: Option<usize>) -> Self {
        Self {
            refused_lately,
            ..self
        }
    }

    /// What is allowed with `rule`, by whose `children` more may run below.
    pub(crate) fn passing_down(self, rule: Option<RuleKey>) -> Self {
        Self {
            allowed_by: rule.or(self.allowed_by),
            ..self
        }
    }

    /// A question whose answer was to be kept and is not.
    pub(crate) fn unkept(self, error: &NotKept) -> Self {
        Self {
            detail: Some(format!("the answer cannot be kept: {error}")),
            reason: None,
            ..self.refused(Reason::StoreInvalid)
        }
    }

    /// What a refused task is told: to try again, where that may help.
    pub(crate) fn errno(&self) -> Errno {
        if self.ground == Reason::Overload {
            Errno::EAGAIN
        } else {
            Errno::EPERM
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
            within: None,
            allowed_by: None,
            unanswered: Unanswered::Deny,
            refused_lately: None,
            escalates: false,
            remedy: None,
        }
    }

    fn operator(self) -> Self {
        Self {
            detail: None,
            decision: Decision::Allow,
            verdict: "allow",
            ground: Reason::Operator,
            ..self
        }
    }

    /// What the process will be to its descendants.
    fn ancestor(&self, request: &ExecRequest) -> Arc<Ancestor> {
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
            refused_lately: self.refused_lately,
            to_allow: self.remedy.as_ref().and_then(Remedy::rule),
        }
    }

    /// For the refusal line: on what ground, in parentheses.
    pub(crate) fn ground_in_words(&self) -> String {
        let asks = match &self.rule {
            Some(rule) => format!("rule {} asks", rule.id),
            None => "not in the policy".to_owned(),
        };
        match self.ground {
            Reason::NoApprover => format!("{asks}, and nobody can answer"),
            Reason::Timeout => format!("{asks}, and nobody answered"),
            Reason::Signalled => format!("{asks}, and a signal came first"),
            Reason::Withdrawn => format!("{asks}, and the session ends"),
            Reason::Overload => format!("{asks}, and too many others wait"),
            Reason::ChangedSincePrompt => "it changed while it waited for the answer".into(),
            Reason::User => "a person said no".into(),
            Reason::Grant => match &self.rule {
                Some(rule) => format!("a person said no to such calls, grant {}", rule.id),
                None => "a person said no to such calls".into(),
            },
            Reason::StoreInvalid => "a person's answer cannot be kept".into(),
            Reason::ReadDeadline => "its file system does not answer".into(),
            Reason::Unverifiable => "what it loads cannot be verified".into(),
            Reason::Unreadable => "it cannot be read whole".into(),
            Reason::Default | Reason::UnknownTool => "not in the policy".into(),
            Reason::Rule => match (&self.rule, &self.within) {
                (Some(rule), Some(part)) => format!("rule {}, for {part} in its text", rule.id),
                (Some(rule), None) => format!("rule {}", rule.id),
                (None, _) => "not in the policy".into(),
            },
            Reason::Children
            | Reason::SafeBin
            | Reason::Wrapper
            | Reason::Operator
            | Reason::TargetMissing
            | Reason::SupError => "execward failed".into(),
        }
    }

    /// For the refusal line: the rule's reason, or what went wrong.
    pub(crate) fn reason_in_words(&self) -> Option<&str> {
        // What is refused within a text is said with the ground.
        let detail = self.detail.as_deref().filter(|_| self.within.is_none());
        self.reason.as_deref().or(detail)
    }
}

impl Gate {
    /// Puts what surrounds a call to it: its environment, and the standard descriptors where the policy
    /// looks at them.
    pub(crate) fn add_surroundings(
        &self,
        request: &mut ExecRequest,
        task: &TaskDir,
        env: Arc<[Vec<u8>]>,
    ) {
        request.env = Some(env);
        request.start_env = Some(Arc::clone(&self.beginning.env));
        request.streams = if self.rules.wants_streams(request) {
            self.beginning.streams(task)
        } else {
            Default::default()
        };
    }

    /// The policy's answer to `request`, or the operator's own if the policy has none.
    pub(crate) fn judge(&self, request: &ExecRequest, subject: &Subject) -> Judgement {
        let rules: &Ruleset = &self.rules;
        let now = clock::now();
        let verdict = rules.decide(request, now);
        let is_unmatched = verdict.decision_of_rules().is_none();
        let is_operators = self.operator.as_ref().is_some_and(|grant| {
            grant.process == subject.caller.pid && grant.argv == subject.args.argv
        });
        let mut judgement = Judgement::of(verdict);
        if is_unmatched && judgement.decision != Decision::Allow {
            let objection = rules.objection(request, now);
            judgement.detail = objection.map(|objection| objection.to_string());
        }
        if is_unmatched
            && rules.trusts_operator()
            && is_operators
            && verdict.decision() != Decision::Allow
        {
            judgement.operator()
        } else {
            judgement
        }
    }

    /// The policy's answer alone: for what was loaded, and nobody typed.
    pub(crate) fn judge_loaded(&self, request: &ExecRequest) -> Judgement {
        Judgement::of(self.rules.decide(request, clock::now()))
    }

    /// What a process that becomes the image of `request` will be to its descendants, and its
    /// parent, if any rule asks for history.
    pub(crate) fn history(
        &self,
        judgement: &Judgement,
        request: &ExecRequest,
        task: &Status,
    ) -> Option<(Arc<Ancestor>, Tid)> {
        let is_wanted = self.rules.wants_lineage();
        is_wanted.then(|| (judgement.ancestor(request), task.ppid))
    }

    /// The history of a task and its execs, if any rule asks for it.
    pub(crate) fn lineage_of(&self, task: &Status) -> (Lineage, Option<History>) {
        if !self.rules.wants_lineage() {
            return (Lineage::default(), None);
        }
        let (lineage, history) = self.lineages.of(task, self.command.pid, &self.kernel.proc);
        (lineage, Some(history))
    }
}
