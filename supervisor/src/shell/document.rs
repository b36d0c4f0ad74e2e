//! Up to where it is sure which lines of a text are commands.
//!
//! A here-document's lines are none, and where one ends the grammar tells otherwise than shells do: to
//! it, a line that only begins with the delimiter is the end, and there is one document at a time.

use tree_sitter::{Node, TreeCursor};

/// How far no line of a here-document can have been taken for a command, in bytes.
pub(super) fn sure_up_to(text: &str, root: Node<'_>) -> usize {
    let doubtful = match text.find("<<") {
        None => None,
        Some(first) if root.has_error() => Some(first),
        Some(_) => documents(root)
            .into_iter()
            .find(|document| !is_sure(text, *document))
            .map(|document| document.start_byte()),
    };
    match doubtful {
        Some(at) => at + line(text, at).len(),
        None => text.len(),
    }
}

/// The here-documents below a node, in their order.
fn documents(root: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = root.walk();
    let mut found = Vec::new();
    loop {
        if cursor.node().kind() == "heredoc_redirect" {
            found.push(cursor.node());
        }
        if !cursor.goto_first_child() && !goes_on(&mut cursor) {
            return found;
        }
    }
}

/// Goes to what comes next in the text, out of what ends.
fn goes_on(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// Whether every shell has it end where the tree does: sh(1p), 2.7.4.
fn is_sure(text: &str, document: Node<'_>) -> bool {
    let part = |kind| {
        let mut cursor = document.walk();
        let mut parts = document.children(&mut cursor);
        parts.find(|part| part.kind() == kind)
    };
    let (Some(start), Some(end)) = (part("heredoc_start"), part("heredoc_end")) else {
        return false;
    };
    let raw = text.get(start.byte_range()).unwrap_or_default();
    let rest = line(text, start.end_byte());
    let body = start.end_byte() + rest.len() + 1;
    let sign = text.get(document.start_byte()..start.start_byte());
    let are_tabs_cut = sign.is_some_and(|sign| sign.contains("<<-"));
    let Some(delimiter) = delimiter(raw).filter(|_| ends_there(rest)) else {
        return false;
    };
    let mut at = body;
    for written in text.get(body..).unwrap_or_default().split('\n') {
        let cut = match are_tabs_cut {
            true => written.trim_start_matches('\t'),
            false => written,
        };
        let is_tree_s = (at..=at + written.len()).contains(&end.end_byte());
        if cut == delimiter || is_tree_s {
            return cut == delimiter && is_tree_s;
        }
        // Without quotes around the delimiter the next line belongs to this one.
        if written.ends_with('\\') {
            return false;
        }
        at += written.len() + 1;
    }
    false
}

/// The line that ends a document, if it is plain from how it is written.
fn delimiter(raw: &str) -> Option<&str> {
    let within = |quote| raw.strip_prefix(quote)?.strip_suffix(quote);
    let word = within('\'').or_else(|| within('"')).unwrap_or(raw);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!word.is_empty() && word.bytes().all(is_plain)).then_some(word)
}

/// Whether the document begins on the next line: nothing in this one goes on there, and none begins
/// behind it.
fn ends_there(rest: &str) -> bool {
    let is_even = |quote| rest.matches(quote).count().is_multiple_of(2);
    let is_open = rest.contains(['\\', '`', '(', ')', '{', '}']);
    !is_open && !rest.contains("<<") && is_even('\'') && is_even('"')
}

/// The rest of the line.
fn line(text: &str, from: usize) -> &str {
    let rest = text.get(from..).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default()
}
