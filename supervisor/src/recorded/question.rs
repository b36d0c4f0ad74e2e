//! The question that the policy was asked about a recorded exec, put to another.

use std::fmt;

use execward_policy::{ExecRequest, Gaps, Lineage};

use super::{FileRef, NoCall, Record};
use crate::audit::History;
use crate::exec::FileId;
use crate::policy::LoadedPolicy;

/// A question, and what of it the record does not say though the policy would look at it.
#[derive(Debug)]
pub(crate) struct Put {
    pub(crate) request: ExecRequest,
    pub(crate) gaps: Gaps,
}

/// Why nobody can tell what a policy says of a recorded exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Call(NoCall),
    /// An older gate wrote the record.
    Inputs,
    /// What the policy looks at and the record does not say, and the verdict hangs on.
    Gaps(Gaps),
    /// The text of a shell names paths of which the record does not say where they lead.
    TextPaths,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(why) => write!(f, "{why}"),
            Self::Inputs => f.write_str("the record is of a version that kept too little"),
            Self::Gaps(gaps) => write!(f, "not recorded: {}", gaps.in_words()),
            Self::TextPaths => f.write_str("not recorded: where the paths of its text lead"),
        }
    }
}

impl Record<'_> {
    /// The question, for `policy`.
    ///
    /// Names by which the rules know the program's very file elsewhere are those of the record, or if it has
    /// none, those that they have now. `knows_variables` is whether the policy in force then looked for
    /// the same variables; `lineage` makes a history of the execs that led to the call, if it can.
    ///
    /// # Errors
    /// If the record says too little for any policy.
    pub(crate) fn question(
        &self,
        policy: &LoadedPolicy,
        knows_variables: bool,
        lineage: impl FnOnce(&History) -> Option<Lineage>,
    ) -> Result<Put, Missing> {
        let call = self.call().map_err(Missing::Call)?;
        let proc = self.proc.as_ref().ok_or(Missing::Call(NoCall::NoProc))?;
        let inputs = proc.inputs.as_ref().ok_or(Missing::Inputs)?;
        let rules = &policy.rules;
        let mut request = inputs.request(call.argv, call.cwd, &self.raw);
        if request.program.aliases.is_empty()
            && let Some(id) = proc.file.as_ref().and_then(FileRef::id)
        {
            let path = request.program.resolved.as_deref();
            request.program.aliases = policy.named.names_of(id, path);
        }
        let variables = inputs.variables(&self.raw);
        variables.put_into(&mut request);
        let lineage = match rules.wants_lineage() {
            true => inputs.history().and_then(lineage),
            false => Some(Lineage::default()),
        };
        let is_led = |path: &Vec<u8>| request.destinations.contains_key(path);
        let gaps = Gaps {
            env: rules.watches_others() && !knows_variables,
            variables: rules.wants_values(&variables)
                || rules.names_variables() && !knows_variables,
            paths: !rules.named_paths(&request).iter().all(is_led),
            digests: rules.wants_digests(&request, self.time()),
            streams: !inputs.has_streams() && rules.wants_streams(&request),
            lineage: lineage.is_none(),
        };
        request.lineage = lineage.unwrap_or_default();
        Ok(Put { request, gaps })
    }
}

impl FileRef {
    fn id(&self) -> Option<FileId> {
        let (major, minor) = self.dev.split_once(':')?;
        Some(FileId {
            device: (major.parse().ok()?, minor.parse().ok()?),
            inode: self.ino,
        })
    }
}
