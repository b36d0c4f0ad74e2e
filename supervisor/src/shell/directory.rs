//! Where the commands of a text work.

use tree_sitter::Node;

use super::analysis::{Analysis, Place};
use super::meaning::{Reader, may_move};
use super::parse::{ParseError, Spot, Walk};

/// What runs in a process of its own, or some other time: where that works says nothing of what stands
/// behind.
const CHILDREN: [&str; 5] = [
    "subshell",
    "pipeline",
    "command_substitution",
    "process_substitution",
    "function_definition",
];

impl Walk {
    /// Visits what is below a node; where that leaves the shell depends on what the node is.
    pub(super) fn visit_children(
        &mut self,
        node: Node<'_>,
        place: Spot<'_>,
        below: Spot<'_>,
    ) -> Result<(), ParseError> {
        let before = self.directory.clone();
        if node.kind() == "function_definition" {
            self.define(node, place);
        }
        let mut first = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.visit(child, below)?;
            first.get_or_insert_with(|| self.directory.clone());
        }
        if CHILDREN.contains(&node.kind()) {
            self.directory = before;
        } else if node.kind() == "list" && first.as_ref() != Some(&self.directory) {
            // What stands behind may run though this did not.
            self.refuse("change of directory", node, place);
            self.directory = Place::Untold;
        }
        Ok(())
    }

    /// A function's body runs wherever it is called.
    fn define(&mut self, node: Node<'_>, place: Spot<'_>) {
        let name = node.child_by_field_name("name");
        let name = name.and_then(|name| place.text.get(name.byte_range()));
        self.names.extend(name.map(str::to_owned));
        self.directory = Place::Untold;
    }

    pub(super) fn may_move(&mut self, name: Option<&str>) {
        if may_move(name) {
            self.directory = Place::Untold;
        }
    }

    /// A text in the text.
    pub(super) fn inner(
        &mut self,
        text: &str,
        reader: Reader,
        place: Spot<'_>,
    ) -> Result<(), ParseError> {
        let is_later = reader == Reader::Later;
        let start = if is_later {
            Place::Start
        } else {
            self.directory.clone()
        };
        let before = std::mem::replace(&mut self.directory, start);
        let from = self.found();
        self.text(text, place.nested + 1, place.is_doubtful)?;
        match reader {
            Reader::Itself => {}
            Reader::Child => self.directory = before,
            // Whenever it runs, it may move whatever stands behind.
            Reader::Later if self.directory != Place::Start => self.directory = Place::Untold,
            Reader::Later => self.directory = before,
        }
        if is_later {
            self.later.push((from, self.found()));
        }
        Ok(())
    }

    /// How many commands and redirections are found.
    fn found(&self) -> [usize; 2] {
        [self.analysis.segments.len(), self.analysis.redirects.len()]
    }

    /// What runs some time works where the shell is by then: where it starts, if it never moves.
    pub(super) fn place_later(&mut self) {
        let Analysis {
            segments,
            redirects,
            ..
        } = &mut self.analysis;
        let places = segments.iter().map(|it| &it.place);
        let mut places = places.chain(redirects.iter().map(|it| &it.place));
        if self.directory == Place::Start && places.all(|place| *place == Place::Start) {
            return;
        }
        for ([segment, redirect], [to_segment, to_redirect]) in &self.later {
            let segments = segments
                .get_mut(*segment..*to_segment)
                .into_iter()
                .flatten();
            segments.for_each(|segment| segment.place = Place::Untold);
            let redirects = redirects
                .get_mut(*redirect..*to_redirect)
                .into_iter()
                .flatten();
            redirects.for_each(|redirect| redirect.place = Place::Untold);
        }
    }
}

/// Whether the command runs in its shell, whenever what stands behind it there does.
pub(super) fn always_runs(node: Node<'_>) -> bool {
    let mut child = node;
    while let Some(parent) = child.parent() {
        let mut cursor = parent.walk();
        let is_alternative = parent
            .children(&mut cursor)
            .any(|part| matches!(part.kind(), "||" | "&"));
        if is_alternative {
            return false;
        }
        match parent.kind() {
            "program" | "list" | "redirected_statement" => child = parent,
            "subshell" | "command_substitution" => return true,
            _ => return false,
        }
    }
    true
}
