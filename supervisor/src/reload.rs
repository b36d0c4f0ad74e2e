//! Another policy for a session that goes on.
//!
//! An exec is judged by one policy or the other, never by both: the rules are exchanged between two
//! verdicts. What waits for an answer is judged again when the answer comes, so by the new ones.

use execward_policy::{Rule, Ruleset, is_builtin};

use crate::audit::{Approver, PolicyNote};
use crate::control::{ClientId, Notice, PolicyLoaded};
use crate::gate::Gate;
use crate::policy::LoadedPolicy;

/// How many rules files and presets have.
pub(crate) fn own_rules(rules: &Ruleset) -> usize {
    let is_own = |rule: &&Rule| !is_builtin(rule.source()) && !rule.is_grant();
    rules.rules().filter(is_own).count()
}

impl Gate {
    /// Takes the policy that `sender` offers, if it is one; the record precedes it.
    pub(crate) fn hear_policy(
        &mut self,
        offered: Result<Box<LoadedPolicy>, String>,
        sender: Approver,
        client: ClientId,
    ) {
        let heard = offered.and_then(|policy| self.exchange(*policy, sender));
        if let Err(why) = &heard {
            self.ledger.policy_rejected(sender, why, &self.watch);
        }
        self.parking.tell(Notice::PolicyHeard(client, heard));
    }

    fn exchange(&mut self, policy: LoadedPolicy, sender: Approver) -> Result<PolicyLoaded, String> {
        let names = |note: &PolicyNote| note.name.clone();
        let loaded = PolicyLoaded {
            files: policy.notes.iter().map(names).collect(),
            rules: own_rules(&policy.rules),
        };
        self.check_outward(&policy.rules)
            .map_err(|error| error.to_string())?;
        let moved = self.granted.beside(policy.rules);
        let moved = moved.map_err(|error| error.to_string())?;
        self.ledger
            .policy_loaded(sender, policy.notes, &policy.kept, &self.watch)
            .map_err(|error| {
                format!("the policy is not loaded, since it cannot be logged: {error}")
            })?;
        self.go_over(moved);
        self.describer.named = policy.named;
        Ok(loaded)
    }
}
