//! Copies of records, which somebody else than the log's writer keeps.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::ProofError;
use super::chain::Chain;
use super::entry::Entry;
use super::fault::{Cut, Fault};
use crate::audit::{Position, displayed};
use crate::regular;

/// Copies, by session and `seq`.
#[derive(Debug, Default)]
pub(super) struct Copies {
    chains: HashMap<String, BTreeMap<u64, Copy>>,
}

#[derive(Debug)]
struct Copy {
    hash: String,
    /// In which file.
    file: String,
}

impl Copies {
    /// Those in the files at `paths`: lines of a log as they are.
    ///
    /// # Errors
    /// If one cannot be read, or has a line that is no record or was changed.
    pub(super) fn read<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<Self, ProofError> {
        let mut copies = Self::default();
        for path in paths {
            copies.add(path)?;
        }
        Ok(copies)
    }

    fn add(&mut self, path: &Path) -> Result<(), ProofError> {
        let failed = |error| ProofError::Read {
            path: path.to_owned(),
            error,
        };
        let file = regular::open(path).map_err(failed)?;
        let lines = BufReader::new(file).split(b'\n').enumerate();
        for (at, line) in lines {
            let line = line.map_err(failed)?;
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let none = |why| ProofError::NoCopy {
                path: path.to_owned(),
                line: at + 1,
                why,
            };
            let entry = Entry::of(line).map_err(|error| none(error.to_string()))?;
            if !entry.is_whole {
                return Err(none("it is not what its own digest says".to_owned()));
            }
            let Position { chain, seq, hash } = entry.position();
            let file = displayed(path.as_os_str().as_encoded_bytes());
            let chain = self.chains.entry(chain).or_default();
            chain.insert(seq, Copy { hash, file });
        }
        Ok(())
    }

    /// Holds a record against its copy, if there is one.
    pub(super) fn compare(&self, entry: &Entry<'_>, chain: &mut Chain) -> Option<Fault> {
        let copy = self.chains.get(&*entry.chain)?.get(&entry.seq)?;
        if copy.hash == entry.hash {
            chain.anchored = Some(entry.seq);
            return None;
        }
        Some(Fault::OtherCopy {
            seq: entry.seq,
            file: copy.file.clone(),
        })
    }

    /// The sessions of which there is a copy that the log should have: with `seq` of the last record that it has, if it
    /// has any, and what that makes of it.
    pub(super) fn missing<'a>(
        &'a self,
        last_of: impl Fn(&str) -> Option<u64> + 'a,
    ) -> impl Iterator<Item = (&'a str, Fault)> {
        self.chains.iter().filter_map(move |(id, copies)| {
            let after = last_of(id);
            let (seq, copy) = copies.last_key_value()?;
            let is_there = after.is_some_and(|after| after >= *seq);
            let file = copy.file.clone();
            let why = Cut::Copy { seq: *seq, file };
            (!is_there).then_some((id.as_str(), Fault::Cut { after, why }))
        })
    }
}
