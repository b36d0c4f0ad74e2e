//! A call of a tool: what a host of tools, such as an MCP client, is about to do by itself.
//!
//! No exec shows it, so the host asks. What it names is told by the host, and judged by the same
//! rules as the operands of a command.

use std::collections::HashMap;

use crate::host::{self, Host};
use crate::operand::{Access, FileOperand, Part, text};
use crate::path::{absolute, has_parent_step};
use crate::request::Destination;
use crate::tool;

/// One call of a tool, as the host of the tool describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name: one of the six that the language knows, or any.
    pub tool: String,
    /// The files that the call names, as the host has them.
    pub paths: Vec<Vec<u8>>,
    /// The URLs that it names.
    pub urls: Vec<Vec<u8>>,
    /// Its other arguments, `KEY=VALUE` each.
    pub arguments: Vec<Vec<u8>>,
    /// The directory from which relative paths are meant, resolved, if it has a path.
    pub cwd: Option<Vec<u8>>,
    /// Where the paths of [`ToolCall::named_paths`] lead. Of one that is not here, nobody can tell.
    pub destinations: HashMap<Vec<u8>, Destination>,
}

impl ToolCall {
    /// A call that names nothing yet.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            ..Self::default()
        }
    }

    /// The absolute paths of the files that the call names, to be followed; see
    /// [`ToolCall::destinations`].
    #[must_use]
    pub fn named_paths(&self) -> Vec<Vec<u8>> {
        let named = self.texts().into_iter();
        let mut paths: Vec<_> = named.filter_map(|(text, _)| self.path(text)).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// The texts that may be paths, and what they are to the call.
    ///
    /// Of a tool that the language does not know, every argument may be one: whole, or behind `=`,
    /// `:`, `@` or `,`, as in a command without a table.
    fn texts(&self) -> Vec<(&[u8], Part)> {
        let paths = self.paths.iter().map(Vec::as_slice);
        let urls = self.urls.iter().map(Vec::as_slice);
        let (links, values): (Vec<_>, Vec<_>) = self.values().partition(|value| is_url(value));
        let files = urls.chain(links).filter_map(text::local_path);
        let parts = values.into_iter().flat_map(|value| {
            let parts = text::parts(value);
            std::iter::once(value).chain(parts)
        });
        let named = paths.chain(files).map(|text| (text, Part::Plain));
        let mut texts: Vec<_> = named.chain(parts.map(|text| (text, part(text)))).collect();
        texts.retain(|(text, _)| !text.is_empty() && text::can_be_path(text));
        texts
    }

    /// The values of its arguments, where nobody knows what they are.
    fn values(&self) -> impl Iterator<Item = &[u8]> {
        let arguments = self
            .arguments
            .iter()
            .filter(|_| !tool::is_known(&self.tool));
        arguments.map(|argument| {
            let at = argument.iter().position(|byte| *byte == b'=');
            let value = at.and_then(|at| argument.get(at + 1..));
            value.unwrap_or(argument)
        })
    }

    /// The absolute path that `text` means; `None` if nobody can tell, as where a host may take `~`
    /// for a home directory.
    fn path(&self, text: &[u8]) -> Option<Vec<u8>> {
        let is_of_home = text.starts_with(b"~");
        absolute(text, self.cwd.as_deref()).filter(|_| !is_of_home)
    }
}

/// A call, seen the way a rule looks at it.
#[derive(Debug)]
pub(crate) struct Seen<'c> {
    pub(crate) call: &'c ToolCall,
    /// The files that it names. One that nobody can tell stands for a path that is not given.
    pub(crate) files: Vec<FileOperand>,
    /// The hosts that it names; `None` for one that cannot be told, or is not given.
    pub(crate) hosts: Vec<Option<Host>>,
}

impl<'c> Seen<'c> {
    pub(crate) fn of(call: &'c ToolCall) -> Self {
        Self {
            call,
            files: files(call),
            hosts: hosts(call),
        }
    }
}

fn files(call: &ToolCall) -> Vec<FileOperand> {
    let accesses = tool::accesses(&call.tool);
    // What is deleted goes with all that lies below it.
    let is_walked = accesses.contains(&Access::Delete);
    let file = |path, part| {
        let (accesses, destinations) = (accesses, &call.destinations);
        FileOperand::of_tool(path, part, accesses, is_walked, destinations)
    };
    let texts = call.texts().into_iter();
    let mut files: Vec<_> = texts
        .map(|(text, part)| file(call.path(text), part))
        .collect();
    if files.is_empty() && !accesses.is_empty() {
        files.push(file(None, Part::Plain));
    }
    files
}

/// What an argument is that may be a path or a mere text.
fn part(text: &[u8]) -> Part {
    let leads_away = text.starts_with(b"/") || text.starts_with(b"~");
    match leads_away || has_parent_step(&[b"/", text].concat()) {
        true => Part::Plain,
        false => Part::Guess,
    }
}

fn is_url(text: &[u8]) -> bool {
    text.windows(3).any(|window| window == b"://")
}

fn hosts(call: &ToolCall) -> Vec<Option<Host>> {
    let urls = call.urls.iter().map(Vec::as_slice);
    let texts = urls.chain(call.values().filter(|value| is_url(value)));
    let mut hosts: Vec<_> = texts.map(host::of_url).collect();
    if hosts.is_empty() && call.tool == tool::FETCH {
        hosts.push(None);
    }
    hosts
}
