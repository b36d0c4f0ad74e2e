//! What people, and other sessions, have to do with the session: who answers, who ends it, which policy they load, and
//! what they say of calls to come.

use super::Ledger;
use crate::audit::{
    ApprovalNote, Approver, Body, Decided, ExecId, GrantNote, LogError, PolicyNote,
};
use crate::policy::Kept;
use crate::watch::{Activity, Watch};

impl Ledger {
    /// Writes down that a question of another session is put to this one's people.
    ///
    /// # Errors
    /// If it is not in the log: it is not put then.
    pub(crate) fn held_for_another(
        &mut self,
        exec_id: ExecId,
        sender: Approver,
        proc: serde_json::Value,
        approval: ApprovalNote,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let body = Body::EscalationHeld {
            exec_id,
            sender,
            proc,
            approval,
        };
        self.append(&body, watch)
    }

    /// Writes down how such a question ended.
    ///
    /// # Errors
    /// If it is not in the log and on the disk: then nobody said yes.
    pub(crate) fn settled_for_another(
        &mut self,
        exec_id: ExecId,
        decision: Decided,
        approval: ApprovalNote,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let body = Body::EscalationSettled {
            exec_id,
            decision,
            approval,
        };
        self.append(&body, watch)?;
        self.sync(watch)
    }

    /// Writes down that a process that may not answer tried to.
    pub(crate) fn refused_sender(&mut self, sender: Approver, detail: String, watch: &Watch) {
        let body = Body::ApprovalRefused { sender, detail };
        if self.append(&body, watch).is_err() {
            tracing::error!(?sender, "a refused sender is missing from the log");
        }
    }

    /// Writes down that somebody ends the session, which it does whether that is written or not.
    pub(crate) fn stopped(&mut self, sender: Approver, kills: bool, watch: &Watch) {
        let body = Body::SessionStop { sender, kills };
        if self.append(&body, watch).is_err() {
            tracing::error!(?sender, "who ends the session is missing from the log");
        }
    }

    /// Writes down which policy is in force from here on, and who says so.
    ///
    /// # Errors
    /// If it is not in the log and on the disk: the policy does not change then.
    pub(crate) fn policy_loaded(
        &mut self,
        sender: Approver,
        policy: Vec<PolicyNote>,
        kept: &Kept,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let in_force = policy.clone();
        let kept = watch.during(Activity::Recording, || self.log.keep(kept));
        let body = Body::PolicyLoaded {
            sender,
            policy,
            kept,
        };
        self.append(&body, watch)?;
        self.sync(watch)?;
        self.policy = in_force;
        Ok(())
    }

    /// Writes down that a policy that was sent is not in force, with the first of what it lacks.
    pub(crate) fn policy_rejected(&mut self, sender: Approver, why: &str, watch: &Watch) {
        let detail = why.lines().take(2).collect::<Vec<_>>().join(": ");
        let body = Body::PolicyRejected { sender, detail };
        if self.append(&body, watch).is_err() {
            tracing::error!(?sender, "a rejected policy is missing from the log");
        }
    }

    /// Writes down what a person said of calls, and that it counts from here on.
    ///
    /// # Errors
    /// If it is not in the log and on the disk: it does not count then.
    pub(crate) fn grant_added(
        &mut self,
        grant: GrantNote,
        sender: Approver,
        watch: &Watch,
    ) -> Result<(), LogError> {
        let grant = Box::new(grant);
        self.append(&Body::GrantAdded { sender, grant }, watch)?;
        self.sync(watch)
    }

    /// Writes down that a grant counts no more: whoever took it back, or why it ended.
    pub(crate) fn grant_removed(
        &mut self,
        grant: GrantNote,
        sender: Option<Approver>,
        detail: Option<String>,
        watch: &Watch,
    ) {
        let grant = Box::new(grant);
        let body = Body::GrantRemoved {
            sender,
            grant,
            detail,
        };
        if self.append(&body, watch).is_err() {
            tracing::error!(?sender, "the end of a grant is missing from the log");
        }
    }
}
