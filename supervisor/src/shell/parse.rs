//! From a text to what stands in it, by tree-sitter's grammar of bash.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::analysis::{Analysis, BROKEN, Place, Refused};
use super::document::sure_up_to;
use super::meaning::is_plain_test;
use super::words::{joins_lines, literal};

/// How much processor time a text may take with all that is nested in it: on a busy machine a text must
/// not be told another way. A build for debugging is slower.
const PARSE_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 20 });

/// After how many nodes the time is looked at.
const LOOK_EVERY: usize = 64;

/// How deep the tree is followed, and how often a text in a text.
const DEPTH_MAX: usize = 256;
const NESTED_MAX: usize = 8;

/// Most commands of a text.
pub(super) const SEGMENTS_MAX: usize = 1024;

/// How much of what is refused is shown, in characters.
const SHOWN_MAX: usize = 40;

/// Why a text was not analysed at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ParseError {
    #[error("the parser does not start")]
    Parser,
    #[error("it takes too long")]
    Late,
    #[error("it is nested too deep")]
    Deep,
    #[error("it has too many commands")]
    Many,
}

/// Analyses `text`.
///
/// # Errors
/// If its limits are exceeded: nothing is known of it then.
pub(super) fn analyse(text: &str) -> Result<Analysis, ParseError> {
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    parser
        .set_language(&language)
        .map_err(|_| ParseError::Parser)?;
    let mut walk = Walk {
        parser,
        until: used() + PARSE_MAX,
        visited: 0,
        at: 0,
        sure: 0,
        directory: Place::Start,
        names: HashSet::new(),
        later: Vec::new(),
        analysis: Analysis::default(),
    };
    walk.text(text, 0, false)?;
    walk.place_later();
    let mut analysis = walk.analysis;
    analysis.reason = analysis.refused.first().map(Refused::in_words);
    analysis.ok = analysis.refused.is_empty();
    Ok(analysis)
}

/// The processor time that this thread has had.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or(Duration::MAX)
}

/// A text on its way through the tree of it.
pub(super) struct Walk {
    parser: Parser,
    /// What [`used`] may say at most.
    until: Duration,
    /// How many nodes were visited.
    visited: usize,
    /// How far the text is told.
    at: usize,
    /// How far it is sure what is a command.
    sure: usize,
    /// Where the shell works there.
    pub(super) directory: Place,
    /// The names that the text gives to functions and aliases.
    pub(super) names: HashSet<String>,
    /// From where to where reach the texts that run some time: commands and redirections.
    pub(super) later: Vec<([usize; 2], [usize; 2])>,
    pub(super) analysis: Analysis,
}

/// Where a node stands.
#[derive(Clone, Copy)]
pub(super) struct Spot<'t> {
    pub(super) text: &'t str,
    pub(super) depth: usize,
    pub(super) nested: usize,
    /// Whether it may be no command at all.
    pub(super) is_doubtful: bool,
    /// The pipeline that it is a part of, if it is one.
    pub(super) pipeline: Option<usize>,
}

impl Walk {
    pub(super) fn text(
        &mut self,
        text: &str,
        nested: usize,
        is_doubtful: bool,
    ) -> Result<(), ParseError> {
        if nested > NESTED_MAX {
            return Err(ParseError::Deep);
        }
        let until = self.until;
        let mut is_late = |_: &ParseState| match used() > until {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let options = ParseOptions::new().progress_callback(&mut is_late);
        let bytes = text.as_bytes();
        let mut from = |at: usize, _| bytes.get(at..).unwrap_or_default();
        self.parser.reset();
        let tree = self
            .parser
            .parse_with_options(&mut from, None, Some(options));
        let tree = tree.ok_or(ParseError::Late)?;
        let place = Spot {
            text,
            depth: 0,
            nested,
            is_doubtful,
            pipeline: None,
        };
        if joins_lines(bytes) {
            self.refuse("line that goes on within a word", tree.root_node(), place);
        }
        let sure = sure_up_to(text, tree.root_node());
        let outer = (
            std::mem::take(&mut self.at),
            std::mem::replace(&mut self.sure, sure),
        );
        let visited = self.visit(tree.root_node(), place);
        self.pass_over(text.len(), tree.root_node(), place);
        (self.at, self.sure) = outer;
        if sure < text.len() {
            self.directory = Place::Untold;
        }
        visited
    }

    /// Refuses what the grammar passes over up to there without a word of it: `\ `.
    fn pass_over(&mut self, to: usize, node: Node<'_>, place: Spot<'_>) {
        let passed = place.text.get(self.at..to).unwrap_or_default();
        let passed = passed.replace("\\\n", "");
        if !passed.trim_matches([' ', '\t', '\n']).is_empty() {
            self.refuse("word", node, place);
        }
    }

    pub(super) fn visit(&mut self, node: Node<'_>, place: Spot<'_>) -> Result<(), ParseError> {
        if place.depth > DEPTH_MAX {
            return Err(ParseError::Deep);
        }
        self.visited += 1;
        if self.visited.is_multiple_of(LOOK_EVERY) && used() > self.until {
            return Err(ParseError::Late);
        }
        if node.is_error() || node.is_missing() {
            self.refuse(BROKEN, node, place);
        }
        if node.child_count() == 0 {
            self.pass_over(node.start_byte(), node, place);
            self.at = self.at.max(node.end_byte());
        }
        let place = Spot {
            is_doubtful: place.is_doubtful || node.start_byte() > self.sure,
            ..place
        };
        let mut below = Spot {
            depth: place.depth + 1,
            pipeline: None,
            ..place
        };
        match node.kind() {
            "command" => self.segment(node, place)?,
            "pipeline" => below.pipeline = Some(self.new_pipeline()),
            // The pipeline goes through these.
            "redirected_statement" | "negated_command" => below.pipeline = place.pipeline,
            "file_redirect" => self.redirect(node, place),
            _ => {}
        }
        if let Some(token) = untold(node, place.text) {
            self.refuse(token, node, place);
        }
        self.visit_children(node, place, below)
    }

    pub(super) fn new_pipeline(&mut self) -> usize {
        self.analysis.chains.push(Vec::new());
        self.analysis.chains.len() - 1
    }

    pub(super) fn refuse(&mut self, token: &str, node: Node<'_>, place: Spot<'_>) {
        let raw = place.text.get(node.byte_range()).unwrap_or_default();
        let at = node.start_position();
        self.analysis.refused.push(Refused {
            token: token.to_owned(),
            line: at.row + 1,
            column: at.column + 1,
            raw: raw.chars().take(SHOWN_MAX).collect(),
        });
    }
}

/// What it is that only the running shell can tell of this very node, if there is such a thing.
fn untold(node: Node<'_>, text: &str) -> Option<&'static str> {
    let raw = text.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "compound_statement" if raw.starts_with("((") => Some("arithmetic"),
        // `{a}`, `{}` and `[]` are words.
        "compound_statement" | "test_command" if !opens_group(raw) => Some("word"),
        "test_command" if !is_plain(raw) => Some("test"),
        // What it counts may be any variable.
        "for_statement" | "c_style_for_statement" | "select_statement" => Some("loop"),
        "heredoc_redirect" => Some("here-document"),
        "herestring_redirect" => Some("here-string"),
        "function_definition" => Some("function"),
        "declaration_command" | "unset_command" => Some("declaration"),
        "variable_assignment" => {
            let is_of_command = node.parent().is_some_and(|it| it.kind() == "command");
            (!is_of_command).then_some("assignment")
        }
        "command_substitution"
        | "process_substitution"
        | "simple_expansion"
        | "expansion"
        | "arithmetic_expansion"
        | "brace_expression" => Some(literal(node, text).err().unwrap_or("expansion")),
        _ => None,
    }
}

/// Whether the brace or bracket is one by itself.
fn opens_group(raw: &str) -> bool {
    let rest = raw.trim_start_matches(['{', '[']);
    rest.starts_with([' ', '\t', '\n'])
}

/// Whether a test is the plain one, in single brackets.
fn is_plain(raw: &str) -> bool {
    let words: Vec<&str> = raw.split_whitespace().collect();
    words.first() == Some(&"[") && is_plain_test(&words)
}

#[cfg(test)]
mod tests;
