//! What could be saved of a script that an interpreter or a shell is given: bound to its content, since
//! that is what runs.

use super::{Amendment, Content, Scope, exact, text};
use crate::image::Image;
use crate::operand::Part;
use crate::request::{ExecRequest, FileKind};
use crate::rule::Action;

/// This call, and this script whatever its arguments; nothing unless it is one file that is known.
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
    let of_script = text::path("script", &script.path);
    let mut this_call = exact(Action::Allow, program, request, id, content.clone());
    this_call.rule += &of_script;
    let of_program = text::head(Action::Allow, id, Scope::Program) + &text::program(program);
    let any_arguments = Amendment {
        scope: Scope::Program,
        rule: of_program + &of_script,
        covers: format!(
            "{} with any arguments{}",
            script.path.escape_ascii(),
            content.in_words()
        ),
        content,
    };
    vec![this_call, any_arguments]
}
