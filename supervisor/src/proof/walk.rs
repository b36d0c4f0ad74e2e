//! A log, line by line.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;

use super::ProofError;
use super::State;
use super::chain::{Chain, SEAL};
use super::copies::Copies;
use super::entry::Entry;
use super::fault::{Cut, Fault};
use super::seal::digest;
use crate::audit::{Place, Position};
use crate::recorded::Lines;
use crate::regular;

/// Most faults that are told one by one.
const TOLD_MAX: usize = 50;

/// Before how many lines a session may have looked for what stood there, and begun: several write to one log.
const BEGINNING_LINES: usize = 10_000;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Found {
    /// Nowhere, where it is the absence of a session.
    pub(super) place: Option<Place>,
    /// The session's name, if it is known.
    pub(super) session: Option<String>,
    pub(super) fault: Fault,
}

/// What was wrong with a log, and is known.
#[derive(Debug, Serialize)]
pub(super) struct Sealed {
    pub(super) faults: u64,
    pub(super) detail: String,
}

/// A log that was gone through.
#[derive(Debug, Default)]
pub(super) struct Proof {
    pub(super) files: u64,
    pub(super) records: u64,
    /// By their IDs, in the order in which they began.
    pub(super) chains: Vec<(String, Chain)>,
    /// The first ones, in the order of the log, and behind them what the log as a whole lacks.
    pub(super) found: Vec<Found>,
    /// How many there are.
    pub(super) faults: u64,
    /// Earlier files that are kept no more, and said to be removed.
    pub(super) evicted: Vec<String>,
    /// What was wrong before each seal, and is as it was.
    pub(super) seals: Vec<Sealed>,
    /// Whether somebody writes to it.
    pub(super) is_live: bool,
    worst: Option<State>,
}

/// The same while it is gone through.
struct Walk<'a> {
    path: &'a Path,
    copies: &'a Copies,
    proof: Proof,
    at: HashMap<String, usize>,
    /// Digests of the last lines.
    recent: VecDeque<String>,
    /// The present file's name and that of the one before.
    file: Option<Place>,
    /// Sessions whose beginning, or what stood before that, may lie in a file that is kept no more.
    pending: Vec<(Found, String)>,
    /// What differs from its copy. Somebody else keeps that, and no seal answers it.
    contradicted: Vec<Found>,
    /// The last records of files that are kept no more, and the records that say so.
    gone: Vec<(Option<Position>, (String, u64))>,
}

impl Proof {
    /// Goes through the log at `path`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn of(path: &Path, copies: &Copies) -> Result<Self, ProofError> {
        let is_live = is_written_to(path);
        let mut walk = Walk {
            path,
            copies,
            proof: Self {
                is_live,
                ..Self::default()
            },
            at: HashMap::new(),
            recent: VecDeque::new(),
            file: None,
            pending: Vec::new(),
            contradicted: Vec::new(),
            gone: Vec::new(),
        };
        let mut lines = Lines::open(path)?;
        while let Some(line) = lines.next()? {
            // A record that is being written.
            if is_live && !line.text.ends_with(b"\n") {
                break;
            }
            let text = line.text.strip_suffix(b"\n").unwrap_or(line.text);
            walk.take(text, line.place());
        }
        // Or one that has begun meanwhile.
        walk.proof.is_live |= is_written_to(path);
        Ok(walk.end())
    }

    pub(super) fn state(&self) -> State {
        let is_anchored = !self.chains.is_empty()
            && self
                .chains
                .iter()
                .all(|(_, chain)| chain.anchored.is_some());
        match self.worst {
            Some(worst) => worst,
            None if is_anchored => State::Anchored,
            None => State::Intact,
        }
    }

    /// All that was found so far is known.
    fn forgive(&mut self, seal: &Entry<'_>) {
        self.seals.push(Sealed {
            faults: seal.faults,
            detail: seal.detail.to_string(),
        });
        self.found.clear();
        (self.faults, self.worst) = (0, None);
        for (_, chain) in &mut self.chains {
            chain.is_sealed |= !chain.is_over;
        }
    }

    fn add(&mut self, found: Found) {
        self.worst = self.worst.max(Some(found.fault.state()));
        self.faults += 1;
        if self.found.len() < TOLD_MAX {
            self.found.push(found);
        }
    }
}

impl Walk<'_> {
    fn take(&mut self, line: &[u8], place: &Place) {
        self.proof.records += 1;
        let entry = match Entry::of(line) {
            Ok(entry) => entry,
            Err(why) => {
                self.turn_to(place);
                return self.proof.add(Found {
                    place: Some(place.clone()),
                    session: None,
                    fault: Fault::NoRecord(why.to_string()),
                });
            }
        };
        let has_turned = self.turn_to(place);
        let opens = entry.segment.as_ref().and_then(|it| it.previous.as_deref());
        let before = has_turned.filter(|_| entry.kind == "audit.open").zip(opens);
        let missing = before.filter(|(before, opens)| {
            before.as_deref().map(behind_name) != Some(behind_name(opens))
        });
        if let Some((before, name)) = &missing {
            let found = found(place, &entry, Fault::NoFile((*name).to_owned()));
            // Only the oldest files are removed.
            match before {
                None => self.pending.push((found, entry.prev.to_string())),
                Some(_) => self.proof.add(found),
            }
        }
        if entry.kind == "audit.open" && place.line != 1 {
            self.proof.add(found(place, &entry, Fault::NotFirst));
        }
        self.follow(&entry, place, missing.is_some());
        self.note(&entry, place);
        if entry.kind == SEAL && entry.is_whole {
            self.look_at_seal(&entry, place);
        }
        self.recent.push_back(entry.hash.to_string());
        if self.recent.len() > BEGINNING_LINES {
            self.recent.pop_front();
        }
    }

    /// Whether `place` is in another file than the line before: then the name that this had got, if it had one.
    fn turn_to(&mut self, place: &Place) -> Option<Option<String>> {
        let before = self.file.replace(place.clone());
        match before {
            Some(before) if before.file == place.file => None,
            before => {
                self.proof.files += 1;
                let name = before.and_then(|before| before.file);
                Some(name.map(|name| name.to_string()))
            }
        }
    }

    fn follow(&mut self, entry: &Entry<'_>, place: &Place, lacks_file: bool) {
        let at = self.at.get(&*entry.chain);
        let known = at.and_then(|at| self.proof.chains.get_mut(*at));
        let (mut faults, contradicted) = match known {
            Some((_, chain)) => (
                chain.follow(entry, place),
                self.copies.compare(entry, chain),
            ),
            None => {
                let (mut chain, faults) = Chain::begun(entry, place, lacks_file);
                let contradicted = self.copies.compare(entry, &mut chain);
                self.at
                    .insert(entry.chain.to_string(), self.proof.chains.len());
                self.proof.chains.push((entry.chain.to_string(), chain));
                (faults, contradicted)
            }
        };
        // That is said of the file already.
        faults.retain(|fault| !(lacks_file && matches!(fault, Fault::Missing { .. })));
        for fault in faults {
            self.proof.add(found(place, entry, fault));
        }
        let contradicted = contradicted.map(|fault| found(place, entry, fault));
        self.contradicted.extend(contradicted);
    }

    /// What a record says of others than those of its session.
    fn note(&mut self, entry: &Entry<'_>, place: &Place) {
        if entry.kind == "audit.evicted"
            && let Some(segment) = &entry.segment
        {
            let name = segment.name.as_deref().unwrap_or_default();
            self.proof.evicted.push(name.to_owned());
            let by = (entry.chain.to_string(), entry.seq);
            self.gone.push((segment.last.clone(), by));
        }
        let previous = entry.log.as_ref().and_then(|log| log.previous.clone());
        if let Some(Position { chain, seq, hash }) = previous
            && !self.recent.contains(&hash)
        {
            let found = found(place, entry, Fault::NoPrevious { seq, chain });
            self.pending.push((found, hash));
        }
    }

    /// What is wrong before a seal is known, if it is as it was.
    fn look_at_seal(&mut self, entry: &Entry<'_>, place: &Place) {
        let last = entry.segment.as_ref().and_then(|it| it.previous.as_deref());
        // The one that had the log's name has got another with the seal.
        let names = entry.files.iter().map(|file| &*file.name);
        let names = names.take(entry.files.len().saturating_sub(1)).chain(last);
        let mut is_as_it_was = true;
        for (name, file) in names.zip(&entry.files) {
            let log = self.path.file_name().unwrap_or_default().to_owned();
            let name = [&log, OsStr::new("."), OsStr::new(behind_name(name))];
            let path = self
                .path
                .with_file_name(name.into_iter().collect::<OsString>());
            let now = regular::open(&path).and_then(digest);
            if now.is_ok_and(|now| now == file.sha256) {
                continue;
            }
            is_as_it_was = false;
            let fault = Fault::Unsealed(path.file_name().unwrap_or_default().display().to_string());
            self.proof.add(found(place, entry, fault));
        }
        if is_as_it_was {
            self.pending.clear();
            self.proof.forgive(entry);
        }
    }

    /// What only the whole of the log can say.
    fn end(mut self) -> Proof {
        let mut found = std::mem::take(&mut self.contradicted);
        found.extend(self.unexplained());
        if !self.proof.is_live {
            found.extend(self.unended());
        }
        found.extend(self.missing());
        found.into_iter().for_each(|found| self.proof.add(found));
        self.proof
    }

    fn chain_of(&self, id: &str) -> Option<&Chain> {
        self.proof
            .chains
            .get(*self.at.get(id)?)
            .map(|(_, chain)| chain)
    }

    /// What lacks something that no signed record says is removed.
    fn unexplained(&mut self) -> Vec<Found> {
        let mut pending = std::mem::take(&mut self.pending);
        let is_signed = |(chain, seq): &(String, u64)| {
            self.chain_of(chain).is_some_and(|chain| {
                chain.signed() >= Some(*seq) || self.proof.is_live && !chain.is_over
            })
        };
        let gone = self.gone.iter().filter(|(_, by)| is_signed(by));
        let gone = gone.filter_map(|(last, _)| last.as_ref().map(|it| it.hash.as_str()));
        let gone: HashSet<&str> = gone.collect();
        pending.retain(|(_, hash)| !gone.contains(hash.as_str()));
        pending.into_iter().map(|(found, _)| found).collect()
    }

    /// Sessions that nobody writes to, and that have no last record.
    fn unended(&self) -> impl Iterator<Item = Found> {
        let chains = self.proof.chains.iter().map(|(_, chain)| chain);
        let unended = chains.filter(|chain| !chain.is_over && !chain.is_sealed);
        unended.map(|chain| Found {
            place: Some(chain.place.clone()),
            session: Some(chain.name.clone()),
            fault: Fault::Cut {
                after: Some(chain.last),
                why: Cut::NoEnd,
            },
        })
    }

    /// Records of which there are copies alone.
    fn missing(&self) -> impl Iterator<Item = Found> {
        let missing = self.copies.missing(|id| Some(self.chain_of(id)?.last));
        missing.map(|(id, fault)| {
            let chain = self.chain_of(id);
            Found {
                place: chain.map(|chain| chain.place.clone()),
                session: Some(chain.map_or_else(|| id.to_owned(), |chain| chain.name.clone())),
                fault,
            }
        })
    }
}

fn found(place: &Place, entry: &Entry<'_>, fault: Fault) -> Found {
    Found {
        place: Some(place.clone()),
        session: Some(entry.session.name.to_string()),
        fault,
    }
}

/// What a file has behind the log's name, which a copy of the log may have changed.
fn behind_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Whether a session has the log open: it holds a lock on it.
fn is_written_to(path: &Path) -> bool {
    let held = |file| flock(file, FlockOperation::NonBlockingLockExclusive).is_err();
    regular::open(path).is_ok_and(held)
}
