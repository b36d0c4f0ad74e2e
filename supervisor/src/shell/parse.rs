//! From a text to what stands in it, by tree-sitter's grammar of bash.

use std::ops::ControlFlow;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::analysis::{Analysis, Move, Redirect, Refused, Segment};
use super::meaning::{Meaning, is_builtin, is_plain_test, may_move};
use super::words::{is_gap, joins_lines, literal};

/// How much processor time a text may take with all that is nested in it: on a busy machine a text must
/// not be told another way. A build for debugging is slower.
const PARSE_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 200 } else { 20 });

/// After how many nodes the time is looked at.
const LOOK_EVERY: usize = 64;

/// How deep the tree is followed, and how often a text in a text.
const DEPTH_MAX: usize = 256;
const NESTED_MAX: usize = 8;

/// Most commands of a text.
const SEGMENTS_MAX: usize = 1024;

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
        analysis: Analysis::default(),
    };
    walk.text(text, 0)?;
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

struct Walk {
    parser: Parser,
    /// What [`used`] may say at most.
    until: Duration,
    /// How many nodes were visited.
    visited: usize,
    /// How far the text is told.
    at: usize,
    analysis: Analysis,
}

/// The words of a command, as far as they are written out.
struct Words {
    /// None if one of them is only known when it runs.
    words: Option<Vec<String>>,
    /// The variables that are set for it.
    env: Vec<String>,
    /// The first word.
    name: Option<String>,
}

/// Where a node stands.
#[derive(Clone, Copy)]
struct Place<'t> {
    text: &'t str,
    depth: usize,
    nested: usize,
    /// The pipeline that it is a part of, if it is one.
    pipeline: Option<usize>,
}

impl Walk {
    fn text(&mut self, text: &str, nested: usize) -> Result<(), ParseError> {
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
        let place = Place {
            text,
            depth: 0,
            nested,
            pipeline: None,
        };
        if joins_lines(bytes) {
            self.refuse("line that goes on within a word", tree.root_node(), place);
        }
        let outer = std::mem::take(&mut self.at);
        let visited = self.visit(tree.root_node(), place);
        self.pass_over(text.len(), tree.root_node(), place);
        self.at = outer;
        visited
    }

    /// Refuses what the grammar passes over up to there without a word of it: `\ `.
    fn pass_over(&mut self, to: usize, node: Node<'_>, place: Place<'_>) {
        let passed = place.text.get(self.at..to).unwrap_or_default();
        let passed = passed.replace("\\\n", "");
        if !passed.trim_matches([' ', '\t', '\n']).is_empty() {
            self.refuse("word", node, place);
        }
    }

    fn visit(&mut self, node: Node<'_>, place: Place<'_>) -> Result<(), ParseError> {
        if place.depth > DEPTH_MAX {
            return Err(ParseError::Deep);
        }
        self.visited += 1;
        if self.visited.is_multiple_of(LOOK_EVERY) && used() > self.until {
            return Err(ParseError::Late);
        }
        if node.is_error() || node.is_missing() {
            self.refuse("syntax error", node, place);
        }
        if node.child_count() == 0 {
            self.pass_over(node.start_byte(), node, place);
            self.at = self.at.max(node.end_byte());
        }
        let mut below = Place {
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
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            self.visit(child, below)?;
        }
        Ok(())
    }

    fn new_pipeline(&mut self) -> usize {
        self.analysis.chains.push(Vec::new());
        self.analysis.chains.len() - 1
    }

    /// One command: its words, and the texts among them.
    fn segment(&mut self, node: Node<'_>, place: Place<'_>) -> Result<(), ParseError> {
        if self.analysis.segments.len() >= SEGMENTS_MAX {
            return Err(ParseError::Many);
        }
        let Words { words, env, name } = self.words(node, place);
        let raw = place.text.get(node.byte_range()).unwrap_or_default();
        let position = self.analysis.segments.len();
        let pipeline = place.pipeline.unwrap_or_else(|| self.new_pipeline());
        if let Some(chain) = self.analysis.chains.get_mut(pipeline) {
            chain.push(position);
        }
        let words = words.map(without_builtins);
        let meaning = words.as_ref().map(|words| Meaning::of(words, &env));
        let name = words.as_ref().map_or(name, |words| words.first().cloned());
        let moves = match (&meaning, words.as_deref()) {
            (Some(Meaning::Directory), Some([_, to])) if always_runs(node) => {
                Some(Move::To(to.clone()))
            }
            // What it reads is looked at by itself.
            (Some(Meaning::Text(_)), _) => None,
            _ => may_move(name.as_deref()).then_some(Move::Untold),
        };
        let argv = words.filter(|words| words.first().is_some_and(|name| !name.is_empty()));
        self.analysis.segments.push(Segment {
            raw: raw.to_owned(),
            is_builtin: argv.is_some() && name.is_some_and(|name| is_builtin(&name)),
            argv,
            env,
            moves,
        });
        match meaning {
            Some(Meaning::Text(text)) => self.text(&text, place.nested + 1)?,
            Some(Meaning::Untold(what)) => self.refuse(what, node, place),
            Some(Meaning::Directory) if !always_runs(node) => {
                self.refuse("change of directory", node, place);
            }
            Some(Meaning::Directory | Meaning::Plain) | None => {}
        }
        Ok(())
    }

    /// The words of a command.
    fn words(&mut self, node: Node<'_>, place: Place<'_>) -> Words {
        let mut words = Some(Vec::new());
        let (mut env, mut name) = (Vec::new(), None);
        let mut end = node.start_byte();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let gap = place.text.get(end..child.start_byte()).unwrap_or("?");
            if !is_gap(gap, end == node.start_byte()) {
                self.refuse("word", child, place);
            }
            end = child.end_byte();
            match child.kind() {
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
                "variable_assignment" => match assignment(child, place.text) {
                    Some(variable) => env.push(variable),
                    None => self.refuse("variable", child, place),
                },
                _ => match literal(child, place.text) {
                    Ok(word) => {
                        name = name.or_else(|| Some(word.clone()).filter(|_| words.is_some()));
                        words.iter_mut().for_each(|words| words.push(word.clone()));
                    }
                    Err(what) => {
                        words = None;
                        // The tree tells of the others itself.
                        if matches!(what, "wildcard" | "tilde" | "escape" | "word" | "braces") {
                            self.refuse(what, child, place);
                        }
                    }
                },
            }
        }
        Words { words, env, name }
    }

    fn redirect(&mut self, node: Node<'_>, place: Place<'_>) {
        let destination = node.child_by_field_name("destination");
        let path = destination.and_then(|word| literal(word, place.text).ok());
        let raw = place.text.get(node.byte_range()).unwrap_or_default();
        let is_descriptor = raw.contains(">&") || raw.contains("<&");
        let is_number = |to: &String| to.bytes().all(|it| it.is_ascii_digit() || it == b'-');
        // `2>&1` opens nothing.
        if is_descriptor && path.as_ref().is_some_and(is_number) {
            return;
        }
        let writes = raw.contains('>');
        self.refuse("redirection", node, place);
        if let Some(path) = path {
            let behind = self.analysis.segments.len();
            self.analysis.redirects.push(Redirect {
                path,
                writes,
                behind,
            });
        }
    }

    fn refuse(&mut self, token: &str, node: Node<'_>, place: Place<'_>) {
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

/// Whether the command runs in the shell itself, whenever what stands behind it does.
fn always_runs(node: Node<'_>) -> bool {
    let mut child = node;
    while let Some(parent) = child.parent() {
        let mut cursor = parent.walk();
        let is_alternative = parent
            .children(&mut cursor)
            .any(|part| matches!(part.kind(), "||" | "&"));
        if is_alternative || !matches!(parent.kind(), "program" | "list" | "redirected_statement") {
            return false;
        }
        child = parent;
    }
    true
}

/// `NAME=VALUE`, if the value is written out.
fn assignment(node: Node<'_>, text: &str) -> Option<String> {
    let name = node.child_by_field_name("name")?;
    let name = text.get(name.byte_range())?;
    let value = match node.child_by_field_name("value") {
        Some(value) => literal(value, text).ok()?,
        None => String::new(),
    };
    Some(format!("{name}={value}"))
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

/// Without the builtins that run the rest: `command`, `builtin`, `exec`, as far as they have no
/// options.
fn without_builtins(words: Vec<String>) -> Vec<String> {
    let is_builtin = |word: &String| matches!(word.as_str(), "command" | "builtin" | "exec");
    let count = words.iter().take_while(|word| is_builtin(word)).count();
    let has_more = words.get(count).is_some_and(|next| !next.starts_with('-'));
    words
        .into_iter()
        .skip(if has_more { count } else { 0 })
        .collect()
}

#[cfg(test)]
mod tests;
