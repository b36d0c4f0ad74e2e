//! From an image to the question that the policy is asked.

use execward_policy::{ExecRequest, Interpreter, Lineage, Origin, ProgramFile};

use crate::exec::{FileFacts, Image, Kind};
use crate::named::NamedFiles;
use crate::settled::Settled;
use crate::tracee::Credentials;

/// Makes what the policy is asked: knows of files what their names alone do not say.
#[derive(Debug)]
pub(crate) struct Describer {
    pub(crate) settled: Settled,
    pub(crate) named: NamedFiles,
}

impl Describer {
    /// What the policy is asked about a call of `image` by `task`, its surroundings aside.
    pub(crate) fn describe(
        &mut self,
        image: &Image,
        task: &Credentials,
        argv: &[Vec<u8>],
        cwd: &[u8],
        lineage: Lineage,
    ) -> ExecRequest {
        let mut arguments = image
            .target()
            .map(|file| &file.facts().kind)
            .into_iter()
            .chain(image.interpreters().iter().map(|file| &file.facts().kind));
        let interpreters = image.interpreters().iter().map(|file| Interpreter {
            file: self.program(file.facts(), task),
            argument: match arguments.next() {
                Some(Kind::Script { argument, .. }) => argument.clone(),
                _ => None,
            },
        });
        let interpreters = interpreters.collect();
        let program = image
            .target()
            .map_or_else(nameless, |file| self.program(file.facts(), task));
        ExecRequest {
            interpreters,
            // A directory that is gone, or lies outside the root, has no path.
            cwd: Some(cwd.to_vec()).filter(|cwd| cwd.starts_with(b"/")),
            lineage,
            ..ExecRequest::new(program, argv.to_vec())
        }
    }

    /// A file as the policy knows it, were `task` to execute it.
    pub(crate) fn program(&mut self, facts: &FileFacts, task: &Credentials) -> ProgramFile {
        ProgramFile {
            given: facts.given.clone(),
            links: facts.links.clone(),
            resolved: facts.resolved.clone(),
            aliases: self.named.names_of(facts.id, facts.resolved.as_deref()),
            origin: facts.origin,
            is_settled: self.settled.is_settled(facts),
            gains_rights: facts.adds_rights(task),
            brings_rights: facts.brings_rights(),
            sha256: facts.sha256,
        }
    }
}

/// An image without a file, which no lookup makes: allowed by nothing.
fn nameless() -> ProgramFile {
    ProgramFile {
        given: Vec::new(),
        links: Vec::new(),
        resolved: None,
        aliases: Vec::new(),
        origin: Origin::Anonymous,
        is_settled: false,
        gains_rights: false,
        brings_rights: false,
        sha256: None,
    }
}
