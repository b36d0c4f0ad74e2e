//! What a question is about, in one digest: an answer holds for exactly this and nothing else.

use std::fmt;

use execward_policy::Digest;
use serde::{Deserialize, Serialize};

use crate::audit::digest;
use crate::exec::{ExecArgs, FileFacts, Image, Kind};
use crate::subject::Subject;

/// SHA-256 over everything that the kernel makes of an exec: path, arguments, environment, working
/// directory, and each file with its identity, size and times. Where the session could change what a file
/// holds, and that was read, its digest too; so it is with scripts.
///
/// Hexadecimal. The environment is in it and not shown; who answers echoes the digest, so that an
/// answer cannot be put to another question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub(crate) struct FactsDigest(String);

impl FactsDigest {
    /// The facts of an exec, read whole.
    pub(crate) fn of(subject: &Subject, image: &Image) -> Self {
        let (attempt, args) = (&subject.attempt, &subject.args);
        let mut facts = Facts::default();
        facts.add(format!("{} {:?}", attempt.dirfd, attempt.flags).as_bytes());
        facts.add(&args.path);
        facts.add_list(&args.argv);
        facts.add_list(&args.envp);
        facts.add(&subject.cwd);
        for file in image.files() {
            facts.add_file(file.facts());
            facts.add_content(file.facts().sha256);
        }
        for (name, script) in &subject.destinations {
            if script.sha256.is_some() {
                facts.add(name);
                facts.add_content(script.sha256);
            }
        }
        Self::of_pieces([facts.0])
    }

    pub(super) fn of_pieces(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        Self(digest(pieces))
    }
}

/// SHA-256 over what a person takes for the same call: arguments, working directory and files, by whatever path
/// it is called and with whatever environment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallDigest(String);

impl CallDigest {
    /// The call of an exec, read whole.
    pub(crate) fn of(args: &ExecArgs, cwd: &[u8], image: &Image) -> Self {
        let mut facts = Facts::default();
        facts.add_list(&args.argv);
        facts.add(cwd);
        for file in image.files() {
            facts.add_file(file.facts());
        }
        Self(digest([facts.0]))
    }

    #[cfg(test)]
    pub(super) fn of_pieces(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        Self(digest(pieces))
    }
}

impl fmt::Display for FactsDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Each piece with its length before it, so that no two lists of pieces read alike.
#[derive(Debug, Default)]
pub(super) struct Facts(pub(super) Vec<u8>);

impl Facts {
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.0.extend((piece.len() as u64).to_le_bytes());
        self.0.extend(piece);
    }

    pub(super) fn add_list(&mut self, list: &[Vec<u8>]) {
        self.0.extend((list.len() as u64).to_le_bytes());
        for piece in list {
            self.add(piece);
        }
    }

    fn add_content(&mut self, sha256: Option<Digest>) {
        let read = sha256.map(|it| it.to_string());
        self.add(read.unwrap_or_default().as_bytes());
    }

    fn add_file(&mut self, facts: &FileFacts) {
        let identity = format!(
            "{:?} {} {} {} {} {} {:?}",
            facts.id,
            facts.mode,
            facts.uid,
            facts.size,
            facts.ctime_ns,
            facts.mtime_ns,
            facts.origin
        );
        self.add(identity.as_bytes());
        self.add(facts.resolved.as_deref().unwrap_or_default());
        if let Kind::Script {
            interpreter,
            argument,
        } = &facts.kind
        {
            self.add(interpreter);
            self.add(argument.as_deref().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_read_alike() {
        let read = |list: &[&str], rest: &[&str]| {
            let mut facts = Facts::default();
            for list in [list, rest] {
                let list: Vec<Vec<u8>> = list.iter().map(|s| s.as_bytes().to_vec()).collect();
                facts.add_list(&list);
            }
            facts.0
        };
        let every = [
            read(&["ab", "c"], &[]),
            read(&["a", "bc"], &[]),
            read(&["abc"], &[]),
            read(&["abc", ""], &[]),
            read(&["ab"], &["c"]),
            read(&[], &["ab", "c"]),
        ];
        for (at, one) in every.iter().enumerate() {
            assert!(every.iter().skip(at + 1).all(|other| other != one), "{at}");
        }
    }
}
