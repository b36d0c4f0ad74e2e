//! A policy, and the grants that count beside it.

use std::fs::File;

use execward_policy::Ruleset;

use super::{LoadedPolicy, PolicyError, Scene};
use crate::audit::{PolicyNote, digest};
use crate::cli::PolicyArgs;
use crate::grants::{Granted, Store, Stored};
use crate::named::NamedFiles;
use crate::past::Past;
use crate::places::Places;

/// What a session of the user is judged by.
#[derive(Debug)]
pub(crate) struct InForce {
    /// The policy with the rules of the grants.
    pub(crate) policy: LoadedPolicy,
    /// The rules without them.
    alone: Ruleset,
    store: Store,
    stored: Stored,
    /// Held until a session goes on from it: see [`Store::hold_still`].
    _still: Option<File>,
}

impl InForce {
    /// # Errors
    /// If a file of the policy or that of the grants cannot be read or has a fault.
    pub(crate) fn load(args: &PolicyArgs, places: &Places) -> Result<Self, PolicyError> {
        Self::load_in(args, places, Scene::here(args, places)?)
    }

    /// The same for another scene than this process's own.
    ///
    /// # Errors
    /// As [`InForce::load`].
    pub(crate) fn load_in(
        args: &PolicyArgs,
        places: &Places,
        scene: Scene,
    ) -> Result<Self, PolicyError> {
        let mut policy = LoadedPolicy::load_in(args, places, scene)?;
        let store = Store::below(places.config());
        let still = store.hold_still();
        let stored = store.read()?;
        policy.files.push(stored.file.clone());
        let rules = stored.beside(&policy.rules, &store, None);
        let alone = std::mem::replace(&mut policy.rules, rules.map_err(PolicyError::Faults)?);
        if stored.file.is_there() {
            policy.named = NamedFiles::of(&policy.rules, &policy.scene.root);
            policy.notes.push(PolicyNote {
                name: store.path().display().to_string(),
                sha256: digest([&stored.file.text]),
            });
        }
        Ok(Self {
            policy,
            alone,
            store,
            stored,
            _still: still,
        })
    }

    /// The policy in force, and what a session goes on from.
    pub(crate) fn into_parts(self, past: Past) -> (LoadedPolicy, Granted) {
        let granted = Granted::new(self.alone, self.store, self.stored, past);
        (self.policy, granted)
    }
}
