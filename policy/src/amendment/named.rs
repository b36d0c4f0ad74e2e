//! What a call is called, of which an allow can be made.

use super::script::Script;
use super::{Amendment, CommandName, Content, UseOf, exact};
use crate::image::Image;
use crate::request::ExecRequest;
use crate::rule::Action;

/// A command, or the script that an interpreter or a shell is given.
pub(super) enum Named<'r> {
    Command(CommandName<'r>),
    Script(Script<'r>),
}

impl<'r> Named<'r> {
    /// `None` for what its arguments make of it.
    pub(super) fn of(request: &'r ExecRequest, image: &Image<'r>) -> Option<Self> {
        let kinds = image.kinds();
        if kinds.starts_another || image.is_disguised() {
            return None;
        }
        if kinds.is_interpreter || kinds.is_shell {
            Script::of(request, image).map(Self::Script)
        } else {
            CommandName::of(request).map(Self::Command)
        }
    }

    /// What could be saved, from the least that is covered.
    pub(super) fn amendments(
        &self,
        request: &ExecRequest,
        id: &str,
        image: &Image<'_>,
    ) -> Vec<Amendment> {
        match self {
            Self::Command(name) => name.amendments(Action::Allow, request, id, image),
            Self::Script(script) => vec![script.exact(request, id)],
        }
    }

    /// The one for this call alone.
    pub(super) fn exact(&self, request: &ExecRequest, id: &str, image: &Image<'_>) -> Amendment {
        match self {
            Self::Command(name) => {
                let content = self.content(image);
                exact(Action::Allow, name.path, request, id, content)
            }
            Self::Script(script) => script.exact(request, id),
        }
    }

    /// What its rules are bound to.
    pub(super) fn content(&self, image: &Image<'_>) -> Content {
        match self {
            Self::Command(_) => Content::of(Action::Allow, image),
            Self::Script(script) => script.content(),
        }
    }

    /// The program's path, as its rules have it.
    pub(super) fn path(&self) -> &[u8] {
        match self {
            Self::Command(name) => name.path,
            Self::Script(script) => script.program,
        }
    }

    /// The command that calls like it have in common; none of a script.
    pub(super) fn use_of(&self, image: &Image<'_>) -> Option<UseOf> {
        match self {
            Self::Command(name) => name.use_of(Action::Allow, image),
            Self::Script(_) => None,
        }
    }

    /// The flags of a command, if they can be told.
    pub(super) fn flags(&self, request: &ExecRequest) -> Option<Vec<String>> {
        match self {
            Self::Command(name) => name.flags(request),
            Self::Script(_) => None,
        }
    }
}
