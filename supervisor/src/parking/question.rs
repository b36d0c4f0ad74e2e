//! The question about an exec that waits: its record, and what is shown.

use execward_policy::Variables;
use jiff::{SignedDuration, Timestamp};

use super::Asked;
use crate::approval::{ShownScript, ShownVariables};
use crate::audit::ApprovalNote;
use crate::clock;
use crate::control::{Notice, Request, Required, ShownProcess};
use crate::gate::Gate;
use crate::judge::Judgement;
use crate::pid_namespace::PidNamespace;
use crate::tracee::{Status, Tid};

/// Most processes above one that are shown.
const ANCESTRY_MAX: usize = 16;

impl Gate {
    /// The processes above a task, up to CMD, by what they are now.
    pub(super) fn ancestry(&self, task: &Status) -> Vec<ShownProcess> {
        let mut above = Vec::new();
        let mut next = task.ppid;
        let adopter = self.namespace.as_ref().map(PidNamespace::first);
        // Whoever is below one that has ended is below the gate, or who adopts in its stead.
        while above.len() < ANCESTRY_MAX && next != Tid::own() && Some(next) != adopter {
            let Ok(task) = self.kernel.proc.task(next) else {
                break;
            };
            let (Ok(status), Ok(path)) = (task.status(), task.link_text("exe")) else {
                break;
            };
            above.push(ShownProcess {
                pid: next.as_u32(),
                path: path.escape_ascii().to_string(),
            });
            if next == self.command.pid {
                break;
            }
            next = status.ppid;
        }
        above
    }

    /// Puts a question to whom it is for.
    ///
    /// # Errors
    /// Why nobody will answer.
    pub(super) fn put_question(
        &self,
        higher: Option<&str>,
        argv: &[Vec<u8>],
        mut required: Required,
    ) -> Result<(), String> {
        match higher {
            Some(to) => self.escalate(to, required),
            None => {
                self.notify(&required);
                if self.parking.reveals {
                    required.request.reveal(argv);
                }
                self.parking.tell(Notice::Asked(Box::new(required)));
                Ok(())
            }
        }
    }

    /// The record that an exec is held; and the question.
    pub(super) fn record_question(
        &mut self,
        asked: &Asked,
        judgement: &Judgement,
        ancestry: Vec<ShownProcess>,
        variables: &Variables,
    ) -> Result<Required, String> {
        let asked_at = clock::now();
        let lasts =
            SignedDuration::try_from(self.rules.ask_timeout()).unwrap_or(SignedDuration::MAX);
        let expires_at = asked_at.checked_add(lasts).unwrap_or(Timestamp::MAX);
        let rule = judgement.rule.clone();
        let reason = judgement.reason.clone();
        let mut request = Request::new(
            &asked.program,
            rule,
            reason,
            [asked_at, expires_at],
            judgement.unanswered,
        )
        .map_err(|error| error.to_string())?;
        request.ancestry = ancestry;
        let target = asked.image.target().map(|file| file.facts());
        request.script = target.and_then(|facts| ShownScript::of(facts, &mut request.bytes));
        request.environment = ShownVariables::of(variables, &mut request.bytes);
        request.amendments = self.recent.shown(&asked.offered, &self.rules);
        self.ledger
            .held(
                asked.exec_id,
                asked.program.clone(),
                judgement.decided(),
                ApprovalNote {
                    ttl_s: Some(self.rules.ask_timeout().as_secs()),
                    escalated_to: asked.higher.clone(),
                    ..ApprovalNote::default()
                },
                &self.watch,
            )
            .map_err(|error| error.to_string())?;
        Ok(Required {
            session_id: self.parking.session.id.clone(),
            request_id: asked.exec_id,
            digest: asked.digest.clone(),
            request,
        })
    }
}
