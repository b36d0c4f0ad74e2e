//! The session's last execs, to tell how many a rule would have covered that somebody might save.

use std::collections::VecDeque;

use execward_policy::{ExecRequest, Lineage, Ruleset};

use crate::approval::{Reach, ShownAmendment};
use crate::clock;
use crate::offered::Offered;

/// Most that are kept: with the one that is asked about, 200.
const MOST: usize = 199;

/// Longest arguments, and paths that they name, of one that is kept, in bytes.
const LONGEST_BYTES: usize = 4 << 10;

/// The last execs that the policy was asked about, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    seen: VecDeque<ExecRequest>,
}

impl Recent {
    /// Takes one in, once it is answered or waits. Very long ones are left out: what is kept must stay small.
    pub(crate) fn note(&mut self, mut request: ExecRequest) {
        let words = request.argv.iter().chain(request.destinations.keys());
        if words.map(Vec::len).sum::<usize>() > LONGEST_BYTES {
            return;
        }
        if self.seen.len() == MOST {
            self.seen.pop_front();
        }
        // As if with the environment that the session began with, which is kept once: those of all calls
        // would be long, and what is offered goes by none, nor by history.
        request.env.clone_from(&request.start_env);
        request.lineage = Lineage::default();
        self.seen.push_back(request);
    }

    /// What could be saved of a question, each with how far it would have reached.
    pub(crate) fn shown(&self, offered: &Offered, rules: &Ruleset) -> Vec<ShownAmendment> {
        let allows = offered.allows();
        let reaches = rules.reaches(allows, &self.seen, clock::now());
        let shown = allows.iter().cloned().zip(reaches);
        // And the one that is asked about, which each of them covers.
        let of = self.seen.len() + 1;
        shown
            .map(|(amendment, before)| ShownAmendment {
                reach: Some(Reach {
                    covered: before + 1,
                    of,
                }),
                ..ShownAmendment::from(amendment)
            })
            .collect()
    }
}
