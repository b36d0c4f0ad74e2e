//! What could be saved of a script that an interpreter or a shell is given: bound to its content, since
//! that is what runs.

use super::{Amendment, Content, exact, text};
use crate::image::Image;
use crate::operand::Part;
use crate::request::{ExecRequest, FileKind};
use crate::rule::Action;

/// This call; nothing unless it is given one file that is known. With other arguments the interpreter might
/// read another program before it, or instead: no wider rule is offered.
pub(super) fn amendments(request: &ExecRequest, id: &str, image: &Image<'_>) -> Vec<Amendment> {
    let mut scripts = image.files().iter().filter(|it| it.part == Part::Script);
    let (Some(script), None) = (scripts.next(), scripts.next()) else {
        return Vec::new();
    };
    let destination = script.destination.as_ref();
    let destination = destination.filter(|it| it.kind == FileKind::Regular && it.is_proven);
    let (Some(script), Some(program)) = (destination, &request.program.resolved) else {
        return Vec::new();
    };
    let content = Content::Script(script.path.clone());
    let mut this_call = exact(Action::Allow, program, request, id, content);
    this_call.rule += &text::path("script", &script.path);
    vec![this_call]
}
