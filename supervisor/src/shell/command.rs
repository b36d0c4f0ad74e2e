//! The commands of a text: their words, the files that they open, and the texts among their words.

use tree_sitter::Node;

use super::analysis::{Place, Redirect, Segment};
use super::directory::always_runs;
use super::meaning::{Meaning, is_builtin};
use super::parse::{ParseError, SEGMENTS_MAX, Spot, Walk};
use super::words::{is_gap, literal};

/// The words of a command, as far as they are written out.
struct Words {
    /// None if one of them is only known when it runs.
    words: Option<Vec<String>>,
    /// The variables that are set for it.
    env: Vec<String>,
    /// The first word.
    name: Option<String>,
}

impl Walk {
    /// One command: its words, and the texts among them.
    pub(super) fn segment(&mut self, node: Node<'_>, place: Spot<'_>) -> Result<(), ParseError> {
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
        let is_renamed = name.as_ref().is_some_and(|name| self.names.contains(name));
        let to = words.as_deref().and_then(|words| words.get(1)).cloned();
        if let Some(["alias", aliases @ ..]) = words.as_deref().map(as_strs).as_deref() {
            let names = aliases.iter().filter_map(|alias| alias.split_once('='));
            self.names.extend(names.map(|(name, _)| name.to_owned()));
        }
        let argv = words.filter(|words| words.first().is_some_and(|name| !name.is_empty()));
        self.analysis.segments.push(Segment {
            raw: raw.to_owned(),
            is_builtin: argv.is_some() && name.as_ref().is_some_and(|name| is_builtin(name)),
            argv,
            env,
            place: self.directory.clone(),
            is_doubtful: is_renamed || place.is_doubtful,
        });
        if is_renamed {
            self.directory = Place::Untold;
        }
        match (meaning, to) {
            (Some(Meaning::Text(text, reader)), _) => self.inner(&text, reader, place)?,
            (Some(Meaning::Directory), Some(to)) if always_runs(node) => {
                self.directory = self.directory.entered(&to);
            }
            (Some(Meaning::Directory), _) => {
                self.directory = Place::Untold;
                self.refuse("change of directory", node, place);
            }
            (Some(Meaning::Untold(what)), _) => {
                self.refuse(what, node, place);
                self.may_move(name.as_deref());
            }
            (Some(Meaning::Plain), _) => {}
            (None, _) => self.may_move(name.as_deref()),
        }
        Ok(())
    }

    /// The words of a command.
    fn words(&mut self, node: Node<'_>, place: Spot<'_>) -> Words {
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

    pub(super) fn redirect(&mut self, node: Node<'_>, place: Spot<'_>) {
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
                place: self.directory.clone(),
                is_doubtful: place.is_doubtful,
            });
        }
    }
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

fn as_strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
