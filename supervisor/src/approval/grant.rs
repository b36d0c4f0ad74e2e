//! What a person said for the rest of the session: in memory, gone with the gate.

use std::collections::HashMap;

use execward_policy::Origin;

use super::FactsDigest;
use super::facts::Facts;
use crate::exec::Image;

/// Most grants of one session: no person says more.
const GRANTS_MAX: usize = 4096;

/// What a person said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// What a grant is bound to, scope `exact`: the program by its own path and as it was, the whole
/// argv, the working directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GrantKey(FactsDigest);

/// The grants of a session.
#[derive(Debug, Default)]
pub(crate) struct Grants {
    said: HashMap<GrantKey, Said>,
}

impl GrantKey {
    /// `None` if there is no name that a grant could mean: the file has none, or its path is one
    /// of another root, or its file system may give it another file at each look.
    pub(crate) fn exact(image: &Image, argv: &[Vec<u8>], cwd: &[u8]) -> Option<Self> {
        let mut facts = Facts::default();
        for file in image.files() {
            let seen = file.facts();
            if seen.origin != Origin::Session {
                return None;
            }
            // Another file in its place is another program, and so is the same one rewritten.
            let identity = format!("{:?} {} {}", seen.id, seen.size, seen.ctime_ns);
            facts.add(identity.as_bytes());
        }
        let program = image.target()?.facts();
        facts.add(program.resolved.as_deref()?);
        facts.add_list(argv);
        facts.add(cwd);
        Some(Self(FactsDigest::of_pieces([facts.0])))
    }
}

impl Grants {
    /// Keeps what was said about `key`; the last word holds.
    ///
    /// # Errors
    /// If there are too many already.
    pub(crate) fn keep(&mut self, key: GrantKey, said: Said) -> Result<(), TooMany> {
        self.check_room(&key)?;
        self.said.insert(key, said);
        Ok(())
    }

    /// Whether [`Grants::keep`] would take `key`.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn check_room(&self, key: &GrantKey) -> Result<(), TooMany> {
        if self.said.len() >= GRANTS_MAX && !self.said.contains_key(key) {
            return Err(TooMany);
        }
        Ok(())
    }

    /// What was said about exactly this.
    pub(crate) fn find(&self, key: &GrantKey) -> Option<Said> {
        self.said.get(key).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.said.is_empty()
    }
}

/// No room for another grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session has {GRANTS_MAX} grants, and takes no more; answer once")]
pub(crate) struct TooMany;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> GrantKey {
        GrantKey(FactsDigest::of_pieces([n.to_le_bytes()]))
    }

    #[test]
    fn a_grant_covers_its_key_and_the_last_word_holds() {
        let mut grants = Grants::default();
        assert_eq!(grants.find(&key(1)), None);
        grants.keep(key(1), Said::Allow).unwrap();
        assert_eq!(grants.find(&key(1)), Some(Said::Allow));
        assert_eq!(grants.find(&key(2)), None);
        grants.keep(key(1), Said::Deny).unwrap();
        assert_eq!(grants.find(&key(1)), Some(Said::Deny));
    }

    #[test]
    fn grants_are_limited_and_known_ones_can_still_be_changed() {
        let mut grants = Grants::default();
        for n in 0..GRANTS_MAX as u64 {
            grants.keep(key(n), Said::Allow).unwrap();
        }
        assert_eq!(grants.keep(key(1 << 40), Said::Allow), Err(TooMany));
        grants.keep(key(1), Said::Deny).unwrap();
    }
}
