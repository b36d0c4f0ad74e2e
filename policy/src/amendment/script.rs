//! What could be saved of a script that an interpreter or a shell is given: bound to its content, since
//! that is what runs.

use super::{Amendment, Content, exact, text};
use crate::dispatch::loads_more;
use crate::image::Image;
use crate::operand::Part;
use crate::request::{ExecRequest, FileKind};
use crate::rule::Action;

/// A script, and the program that is given it.
pub(super) struct Script<'r> {
    pub(super) program: &'r [u8],
    pub(super) path: Vec<u8>,
}

impl<'r> Script<'r> {
    /// `None` unless it is one file that is known, and all that runs.
    pub(super) fn of(request: &'r ExecRequest, image: &Image<'_>) -> Option<Self> {
        if loads_more(image) {
            return None;
        }
        let mut scripts = image.files().iter().filter(|it| it.part == Part::Script);
        let (Some(script), None) = (scripts.next(), scripts.next()) else {
            return None;
        };
        let destination = script.destination.as_ref();
        let destination = destination.filter(|it| it.kind == FileKind::Regular && it.is_proven)?;
        Some(Self {
            program: request.program.resolved.as_deref()?,
            path: destination.path.clone(),
        })
    }

    pub(super) fn content(&self) -> Content {
        Content::Script(self.path.clone())
    }

    /// This call alone: with other arguments the interpreter might read another program before it, or
    /// instead.
    pub(super) fn exact(&self, request: &ExecRequest, id: &str) -> Amendment {
        let mut amendment = exact(Action::Allow, self.program, request, id, self.content());
        amendment.rule += &text::path("script", &self.path);
        amendment
    }
}
