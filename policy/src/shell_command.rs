//! A command that a shell's text states: what the shell will start, if it comes to that.
//!
//! Its exec is judged when it comes. A deny looks ahead, as it does at what a wrapper starts, so that
//! nothing runs of a text of which a part will be denied.

use std::sync::Arc;

use crate::request::{Ancestor, ExecRequest};
use crate::wrapper;

/// One command of a shell's text, every word of it written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its words, the name first.
    pub argv: Vec<Vec<u8>>,
    /// The variables that are set for it, `NAME=VALUE` each.
    pub env: Vec<Vec<u8>>,
    /// Where it will work, if the text says; what it names by relative paths nobody can tell else.
    pub cwd: Option<Vec<u8>>,
    /// Whether the shell does it itself: then the files that it names are texts to it.
    pub is_builtin: bool,
}

impl ShellCommand {
    /// The call that it is below `shell`, the call of the shell whose text it stands in; `None` if
    /// nobody can tell which file it names. What the paths of its
    /// [`Ruleset::named_paths`](crate::Ruleset::named_paths) and its program lead to is to be put into
    /// [`ExecRequest::destinations`] of `shell` first.
    #[must_use]
    pub fn request(&self, shell: &ExecRequest) -> Option<ExecRequest> {
        let from = ExecRequest {
            cwd: self.cwd.clone(),
            ..shell.clone()
        };
        let mut request = wrapper::unseen(self.argv.clone(), &from)?;
        if let Some(env) = request.env.as_mut().filter(|_| !self.env.is_empty()) {
            *env = env.iter().chain(&self.env).cloned().collect();
        }
        let interpreters = shell.interpreters.iter().map(|level| level.file.clone());
        request.lineage.ancestors.insert(
            0,
            Arc::new(Ancestor {
                files: [shell.program.clone()]
                    .into_iter()
                    .chain(interpreters)
                    .collect(),
                allowed_by: None,
            }),
        );
        Some(request)
    }
}
