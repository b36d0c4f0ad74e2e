//! What logs say of calls that were asked about: who let them run, and who did not.

use std::collections::HashMap;

use execward_policy::{Decision, Digest, ExecRequest};

use crate::audit::{ExecId, displayed, quoted};
use crate::cli::LearnArgs;
use crate::clock;
use crate::policy::LoadedPolicy;
use crate::recorded::{Record, Retrial, Said, said};

/// Most execs that are named of one call.
const IDS_MAX: usize = 3;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// A person let it run, or whoever learns takes it for that.
    Approved,
    /// A person refused it.
    Refused,
    /// No person said anything of it, and no policy let it run.
    Other,
}

/// A call, as often as it was made.
#[derive(Debug)]
pub(super) struct Seen {
    request: ExecRequest,
    pub(super) count: u64,
    /// The first ones.
    pub(super) ids: Vec<ExecId>,
}

/// What makes a call the same as another.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Call {
    part: Part,
    given: Vec<u8>,
    argv: Vec<Vec<u8>>,
    cwd: Option<Vec<u8>>,
    /// Of the program, and of the files that it names, by their paths.
    digests: Vec<(Vec<u8>, Digest)>,
}

/// What logs say of calls, each once.
#[derive(Debug)]
pub(super) struct Witness {
    /// Whether what nobody answered counts as approved.
    pub(super) takes_asked: bool,
    /// Whether what ran while it was only observed does.
    pub(super) takes_observed: bool,
    seen: HashMap<Part, Vec<Seen>>,
    places: HashMap<Call, usize>,
    /// Approved calls of which the log does not say enough.
    pub(super) untold: Vec<(String, ExecId, String)>,
}

impl Witness {
    pub(super) fn of(args: &LearnArgs) -> Self {
        Self {
            takes_asked: args.asked,
            takes_observed: args.observed,
            seen: HashMap::new(),
            places: HashMap::new(),
            untold: Vec::new(),
        }
    }

    /// Takes in a record, whose session the retrial knows from here on.
    pub(super) fn see(&mut self, record: &Record<'_>, retrial: &mut Retrial<'_>) {
        retrial.note(record);
        if record.kind != "exec.decision" {
            return;
        }
        let part = self.part(record);
        let put = retrial.put(record);
        if let (Ok(put), Some(part)) = (&put, part) {
            self.keep(part, &put.request, record.exec_id);
        }
        // What it is to those below it.
        let answered = put.and_then(|put| retrial.answer(record, put));
        if let (Err(missing), Some(Part::Approved)) = (answered, part) {
            let id = record.exec_id.unwrap_or(ExecId(0));
            self.untold
                .push((record.program(), id, missing.to_string()));
        }
    }

    fn part(&self, record: &Record<'_>) -> Option<Part> {
        let decided = record.decision.as_ref()?;
        let is_asked = said(record) == Said::Policy(Decision::Ask);
        if record.is_observed() {
            let is_denied = record.denying_rule().is_some();
            let is_taken = self.takes_observed && said(record) != Said::Nothing && !is_denied;
            return Some(if is_taken {
                Part::Approved
            } else {
                Part::Other
            });
        }
        match (decided.reason.as_ref(), decided.verdict.as_ref()) {
            ("user" | "grant", "allow") => Some(Part::Approved),
            ("user" | "grant", _) => Some(Part::Refused),
            _ if is_asked && self.takes_asked => Some(Part::Approved),
            (_, "deny" | "ask") => Some(Part::Other),
            _ if is_asked => Some(Part::Other),
            _ => None,
        }
    }

    fn keep(&mut self, part: Part, request: &ExecRequest, id: Option<ExecId>) {
        let call = Call {
            part,
            given: request.program.given.clone(),
            argv: request.argv.clone(),
            cwd: request.cwd.clone(),
            digests: digests(request),
        };
        let calls = self.seen.entry(part).or_default();
        let place = *self.places.entry(call).or_insert(calls.len());
        if place == calls.len() {
            calls.push(Seen {
                request: request.clone(),
                count: 0,
                ids: Vec::new(),
            });
        }
        if let Some(seen) = calls.get_mut(place) {
            seen.count += 1;
            if seen.ids.len() < IDS_MAX {
                seen.ids.extend(id);
            }
        }
    }

    pub(super) fn of_part(&self, part: Part) -> &[Seen] {
        self.seen.get(&part).map(Vec::as_slice).unwrap_or_default()
    }

    /// The calls that were approved, refused, and neither.
    pub(super) fn requests(&self) -> [Vec<ExecRequest>; 3] {
        [Part::Approved, Part::Refused, Part::Other].map(|part| {
            let calls = self.of_part(part).iter();
            calls.map(|seen| seen.request.clone()).collect()
        })
    }
}

fn digests(request: &ExecRequest) -> Vec<(Vec<u8>, Digest)> {
    let named = request.destinations.iter();
    let named = named.map(|(path, it)| (path.clone(), it.sha256));
    let all = named.chain([(Vec::new(), request.program.sha256)]);
    let mut digests: Vec<_> = all.filter_map(|(path, it)| Some((path, it?))).collect();
    digests.sort_unstable();
    digests
}

impl Seen {
    /// Whether it would run unasked.
    pub(super) fn runs_under(&self, policy: &LoadedPolicy) -> bool {
        let verdict = policy.rules.decide(&self.request, clock::now());
        verdict.decision() == Decision::Allow
    }

    /// As it could be typed, in printable ASCII.
    pub(super) fn in_words(&self) -> String {
        let program = &self.request.program;
        let path = program.resolved.as_deref().unwrap_or(&program.given);
        let rest = self.request.argv.iter().skip(1).map(Vec::as_slice);
        let words = std::iter::once(path).chain(rest);
        let words: Vec<String> = words.map(|word| quoted(&displayed(word))).collect();
        words.join(" ")
    }
}
