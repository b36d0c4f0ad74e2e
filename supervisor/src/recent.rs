//! The session's last execs, to tell how many a rule would have covered that somebody might save.

use std::collections::VecDeque;

use execward_policy::{ExecRequest, Lineage, Ruleset};

use crate::approval::{Reach, ShownAmendment};
use crate::clock;
use crate::offered::Offered;

/// Most that are kept.
const MOST: usize = 200;

/// Longest arguments, and paths that they name, of one that is kept, in bytes.
const LONGEST_BYTES: usize = 4 << 10;

/// The last execs that the policy was asked about, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    seen: VecDeque<ExecRequest>,
}

impl Recent {
    /// Takes one in. Very long ones are left out: what is kept must stay small.
    pub(crate) fn note(&mut self, request: &ExecRequest) {
        let words = request.argv.iter().chain(request.destinations.keys());
        if words.map(Vec::len).sum::<usize>() > LONGEST_BYTES {
            return;
        }
        if self.seen.len() == MOST {
            self.seen.pop_front();
        }
        // As if with the environment that the session began with, which is kept once: those of all calls
        // would be long, and what is offered goes by none, nor by history and streams.
        self.seen.push_back(ExecRequest {
            program: request.program.clone(),
            interpreters: request.interpreters.clone(),
            argv: request.argv.clone(),
            cwd: request.cwd.clone(),
            env: request.start_env.clone(),
            start_env: request.start_env.clone(),
            destinations: request.destinations.clone(),
            streams: Default::default(),
            lineage: Lineage::default(),
        });
    }

    /// What could be saved of a question, each with how far it would have reached.
    pub(crate) fn shown(&self, offered: &Offered, rules: &Ruleset) -> Vec<ShownAmendment> {
        let allows = offered.allows();
        let reaches = rules.reaches(allows, &self.seen, clock::now());
        let shown = allows.iter().cloned().zip(reaches);
        let of = self.seen.len();
        shown
            .map(|(amendment, covered)| ShownAmendment {
                reach: Some(Reach { covered, of }),
                ..ShownAmendment::from(amendment)
            })
            .collect()
    }
}
